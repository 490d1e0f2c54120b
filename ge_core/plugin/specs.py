"""The hooks of the plugin API, version 1. A plugin implements those it wants with `@hookimpl`.

A `ge_register_*` hook gets one registry and adds objects to it; it is called once, when the plugin
is loaded, and must not look at what other plugins registered. The others are instruments: they are
called while compiling, look at what happens and change nothing. Loops over nodes stay in the
kernel, which calls the plain objects that were registered: a hook call costs as much as 25
function calls.

A hook added after version 1.0 is called by kernels that know it; mark its implementation
`@hookimpl(optionalhook=True)` to have the plugin load on older ones too. An implementation may
leave out arguments. Hooks never lose arguments within version 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from ge_core.analysis import TraceRules
    from ge_core.errors import GeError
    from ge_core.memory.anchor_types import AnchorTypeRegistry
    from ge_core.memory.assigners import AssignerRegistry
    from ge_core.memory.checkers import CheckerRegistry
    from ge_core.ops import OpRegistry
    from ge_core.passes.context import PassContext
    from ge_core.passes.delete_rules import DeleteRules
    from ge_core.passes.instruments import CompileEnded, CompileStarted
    from ge_core.passes.options import OptionRegistry
    from ge_core.passes.pipelines import PipelineRegistry
    from ge_core.passes.precedence import Because
    from ge_core.passes.registry import PassRegistry
    from ge_core.targets import TargetRegistry
    from ge_core.tasks import Kernels

PROJECT = "ge_core"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin as the implementation of the hook of its name."""

# ---- what plugins contribute ---------------------------------------------------------------------


@hookspec
def ge_register_ops(ops: OpRegistry) -> None:
    """Op traits: `ops.add(OpTraits("AcmeGelu", inplace=((0, 0),)), source="onnx")`."""


@hookspec
def ge_register_options(options: OptionRegistry) -> None:
    """Typed options: `options.add("bank_bits", type="integer", default="5", help="...")`."""


@hookspec
def ge_register_passes(passes: PassRegistry) -> None:
    """Passes: `passes.add(MyPass, levels=Level.O3.and_above(), stage=Stage.TENSOR_MOVE)`."""


@hookspec
def ge_register_trace_rules(rules: TraceRules) -> None:
    """Source-trace steps: `rules.add("AcmeWindow", step=lambda anchor, trace: ...)`."""


@hookspec
def ge_register_delete_rules(rules: DeleteRules) -> None:
    """Further rules of a removal pass: `rules.add("bank", same_bank, codes=("OTHER_BANK",))`."""


@hookspec
def ge_register_anchor_types(types: AnchorTypeRegistry) -> None:
    """Anchor attributes: `types.add("PINNED_BANK", marks=lambda anchor: ...)`."""


@hookspec
def ge_register_conflict_checkers(checkers: CheckerRegistry) -> None:
    """What two anchor types in one memory mean: `checkers.always(a, b, code=...)`, ..."""


@hookspec
def ge_register_memory_assigners(assigners: AssignerRegistry) -> None:
    """Named planners: `assigners.add("first_fit", "acme_memory:FirstFit")`."""


@hookspec
def ge_register_targets(targets: TargetRegistry) -> None:
    """Devices: `targets.add(Target("acme-npu", align_bytes=256))`."""


@hookspec
def ge_register_kernels(kernels: Kernels) -> None:
    """How the executor computes an op: `kernels.add("AcmeGelu", "acme.kernels:gelu")`."""


@hookspec
def ge_register_pipelines(pipelines: PipelineRegistry) -> None:
    """Named pipelines, overlays on them, and level sets with the level that each extends."""


# ---- instruments ---------------------------------------------------------------------------------


@hookspec
def ge_compile_started(event: CompileStarted) -> None:
    """A compile begins: graph, level, target and the passes that will run."""


@hookspec(firstresult=True)
def ge_veto_pass(ctx: PassContext) -> str | None:
    """Asked before a pass begins: in words, why it must not run; None lets it. Not for required."""


@hookspec
def ge_before_pass(ctx: PassContext) -> None:
    """A pass begins; `ctx.declaration` is the pass, `ctx.graph` the root graph."""


@hookspec
def ge_after_pass(ctx: PassContext, changed: bool, seconds: float) -> None:
    """A pass has run on the root graph and all subgraphs."""


@hookspec
def ge_pass_failed(ctx: PassContext, error: GeError) -> None:
    """A pass raised; its edits are undone and the compile stops."""


@hookspec
def ge_pass_skipped(name: str, because: Sequence[Because]) -> None:
    """A registered pass does not run; the decisions say why."""


@hookspec
def ge_compile_finished(event: CompileEnded) -> None:
    """A compile has ended, well or not."""
