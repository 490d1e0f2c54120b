"""Vetoes: passes that were planned and do not run, because an instrument says no.

What needs a vetoed pass, or requires a claim that only it would have established, does not run
either, as where that pass is switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ge_core.errors import PluginError
from ge_core.passes.claim_plan import ClaimPlan, Step
from ge_core.passes.context import PassContext
from ge_core.passes.instruments import Instrument, Veto, check_reason
from ge_core.passes.precedence import Because

VETO = "veto"
"""The rule of a decision by an instrument."""


class Vetoes:
    """Who was vetoed so far.

    Args:
        holds: whether a claim holds now.
    """

    def __init__(
        self,
        plan: ClaimPlan,
        instruments: Sequence[Instrument],
        holds: Callable[[str], bool],
    ) -> None:
        self._plan = plan
        self._instruments = tuple(instruments)
        self._holds = holds
        self._vetoed: dict[str, None] = {}
        self._ran: set[str] = set()

    def ran(self, name: str) -> None:
        """A pass has run."""
        self._ran.add(name)

    def has_run(self, name: str) -> bool:
        """Whether a pass has run, if only once."""
        return name in self._ran

    def against(self, step: Step, ctx: PassContext) -> Because | None:
        """Why a pass must not run now, or None.

        Raises:
            PluginError: the pass is required, or an instrument gives no reason.
        """
        found = self._lack(step) or self._veto(ctx)
        if found is None:
            return None
        if step.declaration.required:
            owner = str(step.declaration.owner)
            raise PluginError(
                f"pass {step.declaration.name!r} is required and was kept from running"
                f" ({found.rule}: {found.value})",
                owner=f"{owner}, {found.source}" if found.rule == VETO else owner,
            )
        self._vetoed[step.declaration.name] = None
        return found

    def _lack(self, step: Step) -> Because | None:
        said = self._plan.of(step.declaration.name)
        for names in said.needs:
            gone = next((name for name in names if name in self._vetoed), None)
            if gone is not None and not self._ran.intersection(names):
                return Because("passes", "needs", f"{gone} did not run")
        for claim in said.requires:
            gone = next((n for n in self._vetoed if claim in self._plan.of(n).establishes), None)
            if gone is not None and not self._holds(claim):
                return Because(
                    "passes", "requires", f"{gone} did not run, so {claim} does not hold"
                )
        return None

    def _veto(self, ctx: PassContext) -> Because | None:
        for instrument in self._instruments:
            answer: Any = instrument.veto_pass(ctx)
            if answer is None:
                continue
            veto = answer if isinstance(answer, Veto) else Veto(answer, type(instrument).__name__)
            check_reason(veto.reason, f"instrument {veto.owner}")
            return Because(veto.owner, VETO, veto.reason)
        return None
