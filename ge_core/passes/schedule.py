"""What planning starts from, and what comes of it: the catalog, the schedule and its steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ge_core.passes.base import Pass
from ge_core.passes.claim_plan import ClaimPlan
from ge_core.passes.levels import WorkingLevel
from ge_core.passes.options import OptionRegistry, OptionValues
from ge_core.passes.pass_options import changed_options
from ge_core.passes.pipeline_text import PassUse, PipelineText, Repeat
from ge_core.passes.pipelines import NamedPipeline, PipelineRegistry
from ge_core.passes.precedence import Decision
from ge_core.passes.registry import PassDeclaration, PassRegistry
from ge_core.passes.stages import Place
from ge_core.targets import Target


@dataclass(frozen=True)
class Catalog:
    """What there is to plan with.

    Attributes:
        capabilities: what passes may require (`read_write`, ...) and is there.
    """

    passes: PassRegistry
    options: OptionRegistry
    pipelines: PipelineRegistry = field(default_factory=PipelineRegistry)
    capabilities: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Scheduled:
    """One pass that runs: where, and with which option values.

    Attributes:
        repeat: the fixed point that it is part of; neighbours with the same one repeat together.
    """

    declaration: PassDeclaration
    place: Place
    options: Mapping[str, Any] = field(default_factory=dict)
    repeat: Repeat | None = None

    @property
    def name(self) -> str:
        """The pass's name."""
        return self.declaration.name

    def make(self) -> Pass:
        """The pass, ready to run."""
        return self.declaration.make(**self.options)


@dataclass(frozen=True)
class Schedule:
    """What runs, in order, and why.

    Attributes:
        decisions: of every registered pass, by name.
        declarations: every registered pass, as the pipeline has it, by name.
        target: the target that the pipeline asks for; of a request, `device` as it was given.
        pipeline: the name of the pipeline in force; the level's where none was given.
        named: that pipeline; None where a level is in force.
        device: the target in force, once a request is known.
        claims: what the passes rely on, establish, invalidate and preserve.
    """

    level: WorkingLevel
    options: OptionValues
    passes: tuple[Scheduled, ...]
    decisions: Mapping[str, Decision]
    declarations: tuple[PassDeclaration, ...]
    pipeline: str
    target: str | None = None
    warnings: tuple[str, ...] = ()
    claims: ClaimPlan = field(default_factory=ClaimPlan)
    named: NamedPipeline | None = None
    device: Target | None = None

    def text(self) -> PipelineText:
        """The schedule as a pipeline: it runs the same passes in the same order."""
        return PipelineText(
            tuple(
                PassUse(
                    step.name,
                    tuple(changed_options(step.declaration, step.options).items()),
                    step.place,
                    step.repeat,
                )
                for step in self.passes
            )
        )
