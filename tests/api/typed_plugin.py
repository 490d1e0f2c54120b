"""A plugin with annotations throughout: it must pass a strict type check against the API.

Lines marked with `E:` are mistakes that the check has to find, with the code behind the mark.
"""

from __future__ import annotations

from dataclasses import dataclass

import ge_core as ge
from ge_core.api import (
    AnchorTypeRegistry,
    Answer,
    AssignerRegistry,
    Budget,
    CheckerRegistry,
    Graph,
    GraphPass,
    InputAnchor,
    Keep,
    Level,
    MemoryProblem,
    Node,
    NodePass,
    OpRegistry,
    OptionRegistry,
    OpTraits,
    OutputAnchor,
    PassContext,
    PassRegistry,
    PipelineRegistry,
    Placement,
    Stage,
    Step,
    Target,
    TargetRegistry,
    TraceCursor,
    TraceRules,
    hookimpl,
)
from ge_core.api import LayoutQuery as Query


@dataclass(frozen=True)
class Drop(GraphPass, codes=("KEPT", "NOOP")):
    """A pass over a graph."""

    limit: int | None = None

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Remove casts to the type that is there."""
        for node in graph.nodes_of("Cast"):
            source = node.inputs[0].source
            if source is None or source.desc.dtype != node.outputs[0].desc.dtype:
                ctx.missed(node, "KEPT", blame=source)
                continue
            graph.bypass(node)
            ctx.applied(node, "NOOP", bytes=source.desc.nbytes)
            ctx.applied(nod=node)  # E: call-arg


class Look(NodePass):
    """A pass over nodes."""

    ops = ("Relu",)

    def visit(self, node: Node, ctx: PassContext) -> None:
        """Nothing."""


class FirstFit:
    """An assigner."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """Each cluster at the lowest offset that is free."""
        for cluster in problem.clusters:
            problem.place(cluster, problem.lowest_free(cluster))
        problem.place("first", 0)  # E: arg-type
        return problem.placement()


def has_bank(anchor: InputAnchor | OutputAnchor) -> bool:
    """An anchor type's marker; an input that nothing feeds has no description."""
    return anchor.desc is not None and "acme.bank" in anchor.desc.attrs


def same_bank(a: InputAnchor | OutputAnchor, b: InputAnchor | OutputAnchor, query: Query) -> Answer:
    """A layout checker."""
    if a.desc == b.desc:
        return query.no_conflict()
    return query.conflict(code="TWO_BANKS", isolate=b)


def through(output: OutputAnchor, trace: TraceCursor) -> Step | None:
    """A trace rule."""
    return trace.through(output.node.inputs[0])


def near(query: object) -> Keep | None:
    """A delete rule."""
    return Keep("FAR")


@hookimpl
def ge_register_passes(passes: PassRegistry) -> None:
    """Passes."""
    passes.add(Drop, levels=Level.O2.and_above(), stage=Stage.OPTIMIZE_STAGE2, before=["B"])
    passes.add(Look, levels=Level.O0.and_above(), stage=Stage.CHECK.before)
    passes.rename("Fell", "Drop", since="1.1", until="1.3")
    passes.add(Drop, level=Level.O2, stage=Stage.CHECK)  # E: call-arg
    passes.rename("Fell", "Drop", since="1.1")  # E: call-arg


@hookimpl
def ge_register_options(options: OptionRegistry) -> None:
    """Options."""
    options.add("bank_bits", type="integer", default="5", help="bits of a bank")


@hookimpl
def ge_register_ops(ops: OpRegistry) -> None:
    """Op traits."""
    ops.add(OpTraits("AcmeGelu", inplace=((0, 0),)), source="onnx")
    ops.add(OpTraits("AcmeGelu", in_place=((0, 0),)))  # E: call-arg


@hookimpl
def ge_register_anchor_types(types: AnchorTypeRegistry) -> None:
    """Anchor types."""
    types.add("BANK", marks=has_bank)


@hookimpl
def ge_register_conflict_checkers(checkers: CheckerRegistry) -> None:
    """Checkers."""
    checkers.always("BANK", "USER_MEMORY_OUTPUT", code="NOT_THE_CALLERS")
    checkers.check("BANK", "BANK", same_bank, codes=("TWO_BANKS",))


@hookimpl
def ge_register_memory_assigners(assigners: AssignerRegistry) -> None:
    """Assigners."""
    assigners.add("first_fit", FirstFit)


@hookimpl
def ge_register_trace_rules(rules: TraceRules) -> None:
    """Trace rules."""
    rules.add("AcmeWindow", step=through)


@hookimpl
def ge_register_targets(targets: TargetRegistry) -> None:
    """Targets."""
    targets.add(Target("acme-npu", align_bytes=256))
    targets.add(Target("acme-npu", align=256))  # E: call-arg


@hookimpl
def ge_register_pipelines(pipelines: PipelineRegistry) -> None:
    """Pipelines."""
    pipelines.add_level("Onpu", extends="O3")
    pipelines.add_text("lean", "Drop{limit=3}")


def use() -> int:
    """A program that compiles."""
    result: ge.Result = ge.compile("model.onnx", level="O4")
    ge.compil("model.onnx")  # E: attr-defined
    result.chek_proof()  # E: attr-defined
    return result.plan.pools["HBM"].bytes
