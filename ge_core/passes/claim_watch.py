"""Claims while passes run: what holds now, and whether a pass broke it.

A claim is looked at only after a pass that edited the graph, and what it compares with is noted
anew only where the graph has changed since.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ge_core.errors import GraphError, PassError
from ge_core.foreign import brief, located
from ge_core.ir import Graph, structural_hash
from ge_core.passes.claim_plan import ClaimPlan, Step
from ge_core.passes.claims import Breach, Claim
from ge_core.passes.registry import PassDeclaration
from ge_core.passes.stages import Place
from ge_core.registry import Owner


@dataclass(slots=True)
class _Held:
    """A claim that holds now.

    Attributes:
        since: how it came to hold, as the end of "the claim ..., which ...".
        giver: the pass that established it; None for a fixed claim.
        memory, version: what its check compares with, and the graph's version when it was noted.
        checked: the version at which it was last found to hold.
    """

    claim: Claim
    since: str
    giver: str | None
    memory: Any = None
    version: int = -1
    checked: int = -1


class ClaimWatch:
    """Enforces the claims of a plan on a root graph.

    Args:
        kernel: whom to name where the kernel's own work breaks a claim.
        audit: look for edits that a check makes past the graph's methods, too.
    """

    def __init__(self, plan: ClaimPlan, root: Graph, kernel: Owner, *, audit: bool = False) -> None:
        self._plan = plan
        self._root = root
        self._kernel = kernel
        self._audit = audit
        self._held: dict[str, _Held] = {}

    def holds(self, claim: str) -> bool:
        """Whether a claim is being enforced."""
        return claim in self._held

    def start(self) -> None:
        """What always holds begins to.

        Raises:
            GraphError: it doesn't hold of the graph as it came in.
            PassError: a check failed; names its owner.
        """
        for claim in self._sorted():
            if claim.always:
                self._begin_fixed(_Held(claim, "always holds", None), "on the incoming graph")

    def enter(self, place: Place) -> None:
        """The passes up to a place are done: what holds after those begins to.

        Raises:
            GraphError: it doesn't hold.
            PassError: a check failed; names its owner.
        """
        for claim in self._sorted():
            if claim.holds_after is None or not claim.holds_at(place) or self.holds(claim.name):
                continue
            after = claim.holds_after
            name = after.stage.value if after == after.stage.after else str(after)
            self._begin_fixed(_Held(claim, f"holds after {name}", None), f"after {name}")

    def _sorted(self) -> list[Claim]:
        return [self._plan.claims[name] for name in sorted(self._plan.claims)]

    def _begin_fixed(self, held: _Held, when: str) -> None:
        breach = self._begin(held, when)
        if breach is not None:
            claim = held.claim
            error = GraphError(f"the graph breaks the claim {claim}, which {held.since}: {breach}")
            error.owner, error.hint = str(claim.owner), breach.hint
            raise error

    def before(self, step: Step) -> None:
        """A pass begins: note what it is compared with, and drop what it may break."""
        said = self._plan.of(step.declaration.name)
        for name in said.invalidates:
            self._held.pop(name, None)
        for name in said.establishes:
            # One that runs again is as free as it was the first time.
            if name in self._held and self._held[name].giver == step.declaration.name:
                del self._held[name]
        for held in self._held.values():
            if held.claim.since == "pass":
                self._remember(held, f"before pass {step.declaration.name!r}")

    def after(self, step: Step, edited: bool) -> None:
        """A pass has ended: what held still holds, and so does what it establishes.

        Raises:
            PassError: it broke a claim, or establishes one that doesn't hold; or a check failed,
                and the error names that check's owner instead.
        """
        declaration = step.declaration
        when = f"after pass {declaration.name!r}"
        for held in self._held.values() if edited else ():
            breach = self._judge(held, when)
            if breach is not None:
                raise _broken(held, breach, declaration)
        for name in self._plan.of(declaration.name).establishes:
            claim = self._plan.claims[name]
            since = f"pass {declaration.name!r} ({declaration.owner}) established"
            breach = self._begin(_Held(claim, since, declaration.name), when)
            if breach is not None:
                text = f"establishes the claim {claim}, which doesn't hold: {breach}"
                raise PassError(text, hint=breach.hint)

    def after_action(self, place: Place) -> None:
        """The kernel itself worked on the graph: a property of the graph must still hold.

        Raises:
            PassError: it doesn't; the kernel is named.
        """
        for held in self._held.values():
            if held.checked == self._root.version:
                continue
            if held.claim.remember is not None and held.claim.since == "pass":
                continue
            breach = self._judge(held, f"after the kernel's work in {place}")
            if breach is not None:
                raise PassError(
                    f"the kernel's work in {place} breaks the claim {held.claim}: {breach}",
                    owner=f"{self._kernel}, {held.claim.owner}",
                )

    # ---- one claim -----------------------------------------------------------------------------

    def _begin(self, held: _Held, when: str) -> Breach | None:
        # What a pass is compared with is noted when there is one.
        if held.claim.since == "established":
            self._remember(held, when)
        self._held[held.claim.name] = held
        return self._judge(held, when) if held.claim.remember is None else None

    def _remember(self, held: _Held, when: str) -> None:
        remember = held.claim.remember
        if remember is not None and held.version != self._root.version:
            held.memory = self._ask(held.claim, "remember", when, remember)
            held.version = self._root.version

    def _judge(self, held: _Held, when: str) -> Breach | None:
        claim = held.claim
        memory = () if claim.remember is None else (held.memory,)
        verdict = self._ask(claim, "check", when, claim.check, *memory)
        if verdict is None:
            held.checked = self._root.version
            return None
        if isinstance(verdict, str) and verdict:
            return Breach(verdict)
        if isinstance(verdict, Breach):
            return verdict
        raise PassError(
            f"the check of claim {claim.name!r} answered {verdict!r} {when}",
            owner=str(claim.owner),
            hint="it answers None, or what is wrong: a text or a Breach",
        )

    def _ask(
        self, claim: Claim, what: str, when: str, function: Callable[..., Any], *more: Any
    ) -> Any:
        """Call a claim's function on the root; it may neither raise nor edit."""
        version = self._root.version
        before = structural_hash(self._root) if self._audit else ""
        try:
            answer = function(self._root, *more)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # SystemExit too: a check must not end the process.
            failure = PassError(
                f"the {what} of claim {claim.name!r} failed {when}: {brief(error)}",
                owner=str(claim.owner),
            )
            raise located(failure, error) from error
        if self._root.version != version or (self._audit and structural_hash(self._root) != before):
            raise PassError(
                f"the {what} of claim {claim.name!r} edited the graph {when}",
                owner=str(claim.owner),
                hint="a claim looks at the graph and changes nothing",
            )
        return answer


def _broken(held: _Held, breach: Breach, declaration: PassDeclaration) -> PassError:
    name, text = held.claim.name, f"breaks the claim {held.claim}, which {held.since}: {breach}"
    if breach.hint is not None or held.giver is None:
        return PassError(text, hint=breach.hint)
    hint = f"declare invalidates=({name!r},) if it may"
    required = {name, name.removeprefix(f"{declaration.owner.name}.")}
    if required.isdisjoint(declaration.requires):
        # One that requires the claim itself can't run before who establishes it.
        hint += f", or before=({held.giver!r},)"
    return PassError(text, hint=hint)
