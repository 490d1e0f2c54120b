"""Claims when passes are planned: every name is known, and what is required holds where it runs.

A claim holds from the pass that establishes it up to one that invalidates it. A pass that requires
it elsewhere would work on something that nobody promised, so the plan is refused, with the passes
that establish and invalidate it, in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, Protocol

from ge_core.errors import GeError, PluginError, UsageError, near_matches
from ge_core.passes.analyses import KERNEL_ANALYSES, Analysis
from ge_core.passes.claims import Claim
from ge_core.passes.kernel_claims import kernel_claims
from ge_core.passes.ordering import resolve
from ge_core.passes.pipeline_text import Repeat
from ge_core.passes.precedence import Because, Decision
from ge_core.passes.registry import PassDeclaration, PassRegistry
from ge_core.passes.stages import Place
from ge_core.registry import Owner

CAPABILITIES: Final = ("layout_checkers", "read_write")
"""What a pass may require besides claims; plugins bring them, or nobody does."""


class Step(Protocol):
    """A scheduled pass, as far as claims ask."""

    @property
    def declaration(self) -> PassDeclaration:
        """The pass."""
        ...

    @property
    def place(self) -> Place:
        """Where it runs."""
        ...

    @property
    def repeat(self) -> Repeat | None:
        """The fixed point that it is part of."""
        ...


@dataclass(frozen=True, slots=True)
class PassClaims:
    """What one pass says of claims and analyses, by full names.

    Attributes:
        needs: the passes that must run before it; each as all names that may stand for one.
    """

    requires: tuple[str, ...] = ()
    establishes: tuple[str, ...] = ()
    invalidates: tuple[str, ...] = ()
    preserves: tuple[str, ...] = ()
    needs: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class ClaimPlan:
    """What there is to enforce while the passes of a schedule run.

    Attributes:
        claims: every declared claim by name.
        analyses: every declared analysis by name.
        passes: what the passes that run say, by their name.
    """

    claims: Mapping[str, Claim] = field(default_factory=kernel_claims)
    analyses: Mapping[str, Analysis] = field(default_factory=dict)
    passes: Mapping[str, PassClaims] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def of(self, name: str) -> PassClaims:
        """What a pass says; nothing for one that was not planned."""
        return self.passes.get(name, PassClaims())


class ClaimPlanner:
    """Plans the claims of one schedule.

    Args:
        capabilities: those that are there.
    """

    def __init__(self, passes: PassRegistry, capabilities: Collection[str]) -> None:
        self._registry = passes
        self._capabilities = capabilities
        declared = {entry.name: entry.value for entry in passes.claims.entries()}
        self.claims = {**kernel_claims(), **declared}
        self.analyses = {entry.name: entry.value for entry in passes.analyses.entries()}
        self._warnings: list[str] = []

    def lack_of_ability(self, declaration: PassDeclaration) -> Because | None:
        """The first capability that a pass requires and nobody brings.

        Raises:
            PluginError: it requires something that is neither a capability nor a claim.
        """
        for name in declaration.requires:
            if name in self._capabilities or self._claim(name, declaration.owner) is not None:
                continue
            if name not in CAPABILITIES:
                known = {*CAPABILITIES, *self._capabilities, *self.claims}
                raise self._unknown(declaration, "requires", name, known)
            return Because("plugins", "requires", f"nobody brings {name!r}")
        return None

    def plan(
        self,
        steps: Sequence[Step],
        decisions: Mapping[str, Decision],
        standing_in: Callable[[PassDeclaration, str], Iterable[str]],
    ) -> ClaimPlan:
        """What the passes that run say, once all of it can be met.

        Args:
            decisions: of every registered pass, to say why one that would help is off.
            standing_in: the names that may stand for a pass that another one needs.

        Raises:
            PluginError: a name that nobody declared, or a claim that is not a pass's to change.
            UsageError: a claim that a pass requires does not hold where it runs.
        """
        passes: dict[str, PassClaims] = {}
        for step in steps:
            declaration = step.declaration
            if declaration.name not in passes:
                passes[declaration.name] = self._read(declaration, standing_in)
        for claim in sorted({name for said in passes.values() for name in said.requires}):
            _Story(self.claims[claim], steps, passes, self._registry, decisions).check()
        return ClaimPlan(self.claims, self.analyses, passes, tuple(self._warnings))

    # ---- names ---------------------------------------------------------------------------------

    def _read(
        self,
        declaration: PassDeclaration,
        standing_in: Callable[[PassDeclaration, str], Iterable[str]],
    ) -> PassClaims:
        required = (self._claim(name, declaration.owner) for name in declaration.requires)
        return PassClaims(
            requires=tuple(name for name in required if name is not None),
            establishes=tuple(self._changed(declaration, "establishes", declaration.establishes)),
            invalidates=tuple(self._changed(declaration, "invalidates", declaration.invalidates)),
            preserves=tuple(self._preserved(declaration)),
            needs=tuple(tuple(standing_in(declaration, need)) for need in declaration.needs),
        )

    def _claim(self, name: str, owner: Owner) -> str | None:
        return resolve(name, owner, self.claims)

    def _changed(
        self, declaration: PassDeclaration, what: str, names: Iterable[str]
    ) -> Iterator[str]:
        for name in names:
            found = self._claim(name, declaration.owner)
            if found is None:
                if what == "establishes" or not self._is_foreign(declaration, what, name):
                    raise self._unknown(declaration, what, name, self.claims)
                continue
            claim = self.claims[found]
            if claim.is_fixed:
                since = "always" if claim.always else f"from {claim.holds_after} on"
                raise PluginError(
                    f"pass {declaration.name!r} {what} claim {found!r},"
                    f" which holds {since} and is no pass's to change",
                    owner=f"{declaration.owner}, {claim.owner}",
                )
            yield found

    def _preserved(self, declaration: PassDeclaration) -> Iterator[str]:
        known = {*KERNEL_ANALYSES, *self.analyses}
        for name in declaration.preserves:
            found = resolve(name, declaration.owner, known)
            if found is not None:
                yield found
            elif not self._is_foreign(declaration, "preserves", name):
                raise self._unknown(declaration, "preserves", name, known)

    def _is_foreign(self, declaration: PassDeclaration, what: str, name: str) -> bool:
        """Whether a name belongs to a plugin that isn't there: a warning, and no harm."""
        prefix, dot, _ = name.partition(".")
        tables = (self._registry, self._registry.claims, self._registry.analyses)
        owners = {entry.owner.name for table in tables for entry in table.entries()}
        if not dot or prefix in owners or prefix == declaration.owner.name:
            return False
        self._warnings.append(
            f"pass {declaration.name} {what} {name!r}, and no plugin {prefix!r} is there"
        )
        return True

    def _unknown(
        self, declaration: PassDeclaration, what: str, name: str, known: Collection[str]
    ) -> GeError:
        prefix = name.partition(".")[0]
        absent = self._registry.absent.get(prefix)
        near = near_matches(name, known) or near_matches(declaration.owner.full(name), known)
        thing = "add_analysis" if what == "preserves" else "add_claim"
        return PluginError(
            f"pass {declaration.name!r} {what} {name!r}, which nobody declared"
            + ("" if absent is None else f": {absent}"),
            near=[self._with_owner(match) for match in near],
            owner=str(declaration.owner),
            hint=(None if near else self._registry.missing_hint)
            or f"declare it with passes.{thing}({name!r}, ...)",
        )

    def _with_owner(self, name: str) -> str:
        found = self.claims.get(name) or self.analyses.get(name)
        return name if found is None else f"{name} ({found.owner})"


class _Story:
    """One claim over a schedule: who establishes it, who ends it, who relies on it."""

    def __init__(
        self,
        claim: Claim,
        steps: Sequence[Step],
        passes: Mapping[str, PassClaims],
        registry: PassRegistry,
        decisions: Mapping[str, Decision],
    ) -> None:
        self.claim = claim
        self.steps = steps
        self.passes = passes
        self.registry = registry
        self.decisions = decisions

    def check(self) -> None:
        """Raises `UsageError` at the first pass that requires it where it doesn't hold."""
        claim = self.claim.name
        giver: Step | None = None
        breaker: Step | None = None
        for step in _unrolled(self.steps):
            said = self.passes[step.declaration.name]
            if claim in said.requires and not self._holds(step, giver, breaker):
                raise self._unmet(step, giver, breaker)
            if claim in said.invalidates:
                breaker = step
            if claim in said.establishes:
                giver, breaker = step, None

    def _holds(self, step: Step, giver: Step | None, breaker: Step | None) -> bool:
        if self.claim.is_fixed:
            return self.claim.holds_at(step.place)
        return giver is not None and breaker is None

    def _unmet(self, step: Step, giver: Step | None, breaker: Step | None) -> UsageError:
        asker = step.declaration
        involved = [asker]
        if self.claim.is_fixed:
            why = f"it holds after {self.claim.holds_after} only, and this is {step.place}"
            hint = "register it in a later stage"
        elif giver is not None and breaker is not None:
            involved += [giver.declaration, breaker.declaration]
            first, second = giver.declaration.name, breaker.declaration.name
            why = (
                f"{first!r} establishes it and {second!r} invalidates it before:"
                f" {first} -> {second} -> {asker.name}"
            )
            hint = f"let it run before {second!r}, or let a pass in between establish it again"
        else:
            why, hint, others = self._never_given(asker.name)
            involved += others
        owners = dict.fromkeys(str(declaration.owner) for declaration in involved)
        return UsageError(
            f"pass {asker.name!r} can't run: it requires the claim {self.claim}, and {why}",
            owner=", ".join(owners),
            hint=hint,
        )

    def _never_given(self, asker: str) -> tuple[str, str, list[PassDeclaration]]:
        for other in self.steps:
            if self.claim.name in self.passes[other.declaration.name].establishes:
                name = other.declaration.name
                why = f"{name!r}, which establishes it, runs in {other.place}: {asker} -> {name}"
                return why, f"declare after=({name!r},), or write them so", [other.declaration]
        for declaration in self.registry:
            names = (
                resolve(n, declaration.owner, (self.claim.name,)) for n in declaration.establishes
            )
            if self.claim.name in names:
                name = declaration.name
                decision = self.decisions.get(name)
                because = decision.because[0] if decision and decision.because else None
                told = "" if because is None else f" ({because.rule}: {because.value})"
                return (
                    f"{name!r}, which establishes it, is off{told}",
                    f"--enable {name}",
                    [declaration],
                )
        return "no installed pass establishes it", f"`ge passes why {asker}` says more", []


def _unrolled(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps as they may run: a repeated group twice, since its end meets its beginning."""
    for repeat, group in groupby(steps, key=lambda step: step.repeat):
        turn = list(group)
        yield from turn
        if repeat is not None and repeat.limit > 1:
            yield from turn
