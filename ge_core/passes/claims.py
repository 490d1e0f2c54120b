"""Claims: named properties of a graph that passes rely on, and how they are declared.

GE says such things in comments ("nothing may delete nodes after VariableRefDelete"), and nothing
enforces them. Here a pass `establishes` a claim, and from then on every pass that breaks it is an
error that names the breaker; a pass may `invalidate` a claim, which ends it, or `require` one,
which is checked when the passes are planned.

A claim's check looks at the graph as it is (`check(graph)`), or compares it with what `remember`
noted earlier (`check(graph, remembered)`). Either answers what is wrong, or None.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from ge_core.errors import PluginError
from ge_core.ir import Graph, Node
from ge_core.passes.stages import Place, Stage
from ge_core.registry import NOBODY, Entry, Owner, Registry

Since: TypeAlias = Literal["pass", "established"]
SINCES: Final = ("pass", "established")
_PLACEHOLDER: Final = object()


@dataclass(frozen=True, slots=True)
class Breach:
    """What is wrong with a graph by a claim.

    Attributes:
        text: in words, as the end of a sentence about the node: "is gone".
        node: the node at fault, or its name; None where it is no single one.
        hint: what a pass can do about it.
    """

    text: str
    node: Node | str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        if self.node is None:
            return self.text
        name = self.node.name if isinstance(self.node, Node) else self.node
        return f"node {name!r} {self.text}"


Verdict: TypeAlias = "Breach | str | None"


@dataclass(frozen=True, slots=True)
class Claim:
    """One declared claim.

    Attributes:
        name: bare for the kernel's and built-in plugins', `owner.name` for others.
        check: `check(graph)`, or with `remember` `check(graph, remembered)`; the graph is the root.
        remember: what `check` compares with, noted from the root graph.
        since: when it is noted: before each pass (what one pass may not do), or once, when the
            claim is established (what may never differ from then on).
        always: it holds from the incoming graph on; no pass establishes or invalidates it.
        holds_after: it holds after this place, whatever passes say; used as `always` is.
    """

    name: str
    check: Callable[..., Verdict]
    remember: Callable[[Graph], Any] | None = None
    since: Since = "pass"
    always: bool = False
    holds_after: Place | None = None
    summary: str = ""
    owner: Owner = NOBODY

    @property
    def is_fixed(self) -> bool:
        """Whether it holds from a place on, and passes have no say in it."""
        return self.always or self.holds_after is not None

    def holds_at(self, place: Place) -> bool:
        """Whether a fixed claim holds where a pass of that place runs."""
        if self.holds_after is not None:
            return place.rank > self.holds_after.rank
        return self.always

    def __str__(self) -> str:
        return f"{self.name!r} ({self.summary})"


class ClaimRegistry(Registry[Claim]):
    """The declared claims. Authors add to it with `PassRegistry.add_claim`."""

    kind = "claim"

    def add(
        self,
        name: str,
        *,
        check: Callable[..., Verdict],
        summary: str,
        remember: Callable[[Graph], Any] | None = None,
        since: Since = "pass",
        always: bool = False,
        holds_after: Stage | Place | str | None = None,
    ) -> None:
        """Declare a claim; the arguments are the attributes of `Claim`.

        Args:
            summary: what holds, in words that end "the claim that ..."; errors quote it.
            holds_after: a stage means the end of what is registered just after it, too.

        Raises:
            PluginError: the name is taken, or an argument is malformed.
        """
        problem = _problem(name, check, summary, remember, since)
        if always and holds_after is not None:
            problem = "holds always, or after a stage, not both"
        if problem:
            raise PluginError(f"claim {name!r} {problem}")
        place = None if holds_after is None else Place.of(holds_after)
        if place is not None and not isinstance(holds_after, Place) and place.side == 0:
            place = place.stage.after
        claim = Claim(name, check, remember, since, always, place, summary)
        self._put(Entry(name, claim))

    def _stamped(self, entry: Entry[Claim], owner: Owner) -> Entry[Claim]:
        name = owner.full(entry.name)
        return Entry(name, replace(entry.value, name=name, owner=owner), owner)


def _problem(name: object, check: object, summary: str, remember: object, since: object) -> str:
    if not isinstance(name, str) or not name.replace(".", "_").isidentifier():
        return "is no name; claims look like nodes_stay"
    if not summary:
        return "has no summary; say what holds, errors quote it"
    if since not in SINCES:
        return f"has since={since!r}; it is 'pass' or 'established'"
    if remember is None:
        return _uncallable("check", check, 1) or ("" if since == "pass" else _NOTHING_TO_COMPARE)
    return _uncallable("remember", remember, 1) or _uncallable("check", check, 2)


_NOTHING_TO_COMPARE: Final = "has since='established' and no remember to compare with"


def _uncallable(what: str, function: object, arguments: int) -> str:
    taken = "(graph)" if arguments == 1 else "(graph, remembered)"
    if not callable(function):
        return f"has {what}={function!r}, which is not a function {what}{taken}"
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Some built-in functions have none to look at.
        return ""
    try:
        signature.bind(*[_PLACEHOLDER] * arguments)
    except TypeError:
        return f"has a {what} that can't be called as {what}{taken}"
    return ""
