"""Asks the registered layout rules: would joining two classes put anchors together that clash?

Only pairs of types that have a rule are looked at, and of two classes that are to be joined only
the pairs with one anchor in either: what clashes inside a class already is nobody's news.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from ge_core.analysis import AliasClasses, Anchor, InputKind, OutputKind
from ge_core.errors import PassError
from ge_core.ir import Graph, InputAnchor, OutputAnchor
from ge_core.memory.checkers import CheckerRegistry, PairRule
from ge_core.ops import OpRegistry, ref_of

PACKED_OUTPUTS: Final = frozenset({"CONTINUOUS_OUTPUT", "NOPADDING_CONTINUOUS_OUTPUT"})
_MOST_STEPS: Final = 100
"""Views looked through on the way to a producer, as in GE."""


class ReadWriteChecker(Protocol):
    """What the registered read/write checker answers."""

    def conflict(self, output: OutputKind, reader: InputKind) -> bool:
        """Whether a reader of this kind needs a copy in front of it, or can't be judged."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A checker's answer; made by `LayoutQuery.conflict` and `no_conflict`.

    Attributes:
        code: the reason, None for no conflict.
        isolate: the anchor that a copy would have to stand at.
    """

    code: str | None
    isolate: Anchor | None = None


_FINE: Final = Answer(None)


@dataclass(frozen=True, slots=True)
class Clash:
    """Two anchors that must not share one memory.

    Attributes:
        types: the types that clash, of `first` and of `second`.
        code: the reason, by the name under which its checker's plugin registered it.
    """

    first: Anchor
    second: Anchor
    types: tuple[str, str]
    code: str
    isolate: Anchor | None
    owner: str


class LayoutQuery:
    """What a checker is asked with.

    Attributes:
        root: the outermost graph.
        ops: op traits.
    """

    def __init__(
        self,
        root: Graph,
        ops: OpRegistry,
        option: Callable[[str], str | None],
        members: Callable[[], Iterator[Anchor]],
        bridge: tuple[Anchor, Anchor] | None = None,
    ) -> None:
        self.root = root
        self.ops = ops
        self._option = option
        self._members = members
        self._bridge = bridge

    def option(self, name: str) -> str | None:
        """The value of a declared option, None where it is absent."""
        return self._option(name)

    def members(self) -> Iterator[Anchor]:
        """All anchors of the memory in question."""
        return self._members()

    def conflict(self, *, code: str, isolate: Anchor | None = None) -> Answer:
        """The two may not share one memory."""
        return Answer(code, isolate)

    def no_conflict(self) -> Answer:
        """The two may share one memory."""
        return _FINE

    def producer(self, anchor: InputAnchor) -> OutputAnchor | None:
        """What an input is fed by, views looked through; None for an unconnected one.

        The copy whose two sides are to be joined counts as a view.
        """
        source = anchor.source
        for _ in range(_MOST_STEPS):
            if source is None:
                return None
            before = self._input_of(source)
            if before is None or before.source is None:
                return source
            source = before.source
        return source

    def _input_of(self, output: OutputAnchor) -> InputAnchor | None:
        """The input whose memory an output is, or will be."""
        if self._bridge is not None and output is self._bridge[1]:
            return self._bridge[0] if isinstance(self._bridge[0], InputAnchor) else None
        at = ref_of(output, self.ops)
        inputs = output.node.inputs
        return inputs[at] if at is not None and 0 <= at < len(inputs) else None


class LayoutChecks:
    """The registered rules, ready to be asked about the classes of one graph.

    Args:
        apart_from: types; rules for two of these are not asked.
    """

    def __init__(
        self,
        checkers: CheckerRegistry,
        root: Graph,
        ops: OpRegistry,
        option: Callable[[str], str | None],
        *,
        apart_from: Container[str] = (),
    ) -> None:
        self._rules = [
            rule
            for rule in checkers
            if rule.kind != "never" and not all(name in apart_from for name in rule.types)
        ]
        self._root = root
        self._ops = ops
        self._option = option

    def __bool__(self) -> bool:
        """Whether any rule could find a clash."""
        return bool(self._rules)

    def first_clash(self, classes: AliasClasses, first: Anchor, second: Anchor) -> Clash | None:
        """The first clash between an anchor of one class and one of another, None for none.

        Args:
            first, second: the two sides of what would join the classes, such as a copy's input and
                output.
        """

        def members() -> Iterator[Anchor]:
            yield from classes.members(first)
            yield from classes.members(second)

        bridge = (first, second)
        query = LayoutQuery(self._root, self._ops, self._option, members, bridge)
        for rule in self._rules:
            for left, right, ones, others in classes.meetings(first, second, (rule.types,)):
                for one in ones:
                    for other in others:
                        clash = self._ask(rule, (left, right), one, other, query)
                        if clash is not None:
                            return clash
        return None

    def _ask(
        self,
        rule: PairRule,
        types: tuple[str, str],
        one: Anchor,
        other: Anchor,
        query: LayoutQuery,
    ) -> Clash | None:
        if one.node is other.node or _names_the_other(types, one, other):
            return None
        if rule.kind == "always":
            # A copy stands in front of an input; two outputs can't be an absolute pair.
            isolate = one if isinstance(one, InputAnchor) else other
            return Clash(one, other, types, rule.codes[0], isolate, str(rule.owner))
        swapped = types != rule.types
        with self._root.read_only():
            answer = rule(other, one, query) if swapped else rule(one, other, query)
        if not isinstance(answer, Answer):
            raise PassError(
                f"checker for {' and '.join(rule.types)} answered {answer!r}",
                owner=str(rule.owner),
                hint="answer query.conflict(code=..., isolate=...) or query.no_conflict()",
            )
        if answer.code is None:
            return None
        code = rule.owner.full(str(answer.code))
        if code not in rule.codes:
            raise PassError(
                f"checker for {' and '.join(rule.types)} gives code {answer.code!r},"
                " which it did not declare",
                near=rule.codes,
                owner=str(rule.owner),
                hint="declare it with the checker: checkers.check(..., codes=(...))",
            )
        if not isinstance(answer.isolate, (InputAnchor, OutputAnchor, type(None))):
            raise PassError(
                f"checker for {' and '.join(rule.types)} answered isolate={answer.isolate!r},"
                " which is no anchor",
                owner=str(rule.owner),
            )
        return Clash(one, other, types, code, answer.isolate, str(rule.owner))


def _names_the_other(types: tuple[str, str], one: Anchor, other: Anchor) -> bool:
    """Whether two outputs are a variable and what refers to it by name, neither being packed."""
    if not isinstance(one, OutputAnchor) or not isinstance(other, OutputAnchor):
        return False
    if PACKED_OUTPUTS.intersection(types):
        return False
    return any(
        a.desc.attrs.get("ref_var_src_var_name") == b.node.name
        for a, b in ((one, other), (other, one))
    )
