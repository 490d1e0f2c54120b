"""Passes that each break one promise, and one that breaks none."""

from __future__ import annotations

from dataclasses import dataclass

from ge_core.api import AnalysisPass, Graph, GraphPass, InputAnchor, OutputAnchor, PassContext

_count = 0


@dataclass(frozen=True)
class Good(GraphPass, codes=("NOOP", "CHANGES_DTYPE", "WRITTEN")):
    """A Cast to the dtype that its input already has goes, where neither side is written to."""

    limit: int | None = None
    """At most this many removals per graph."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at every Cast."""
        for node in graph.nodes_of("Cast"):
            source = node.inputs[0].source
            if source is None or source.desc != node.outputs[0].desc:
                ctx.missed(node, "CHANGES_DTYPE")
            elif is_written(source, ctx) or is_written(node.outputs[0], ctx):
                ctx.missed(node, "WRITTEN", blame=source)
            else:
                graph.bypass(node)
                ctx.applied(node, "NOOP", bytes=source.desc.nbytes)


def is_written(anchor: OutputAnchor, ctx: PassContext) -> bool:
    """Whether a node writes to the memory of an anchor after its producer."""
    return any(
        isinstance(member, InputAnchor) and ctx.effects.writes(member)
        for member in ctx.aliases.members(anchor)
    )


class Raises(GraphPass):
    """Trips over some nodes."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Take for granted that a Cast is fed by an input of the graph."""
        for node in graph.nodes_of("Cast"):
            source = node.inputs[0].source
            assert source is not None
            if source.node.op != "Data":
                raise KeyError(source.node.op)


class Breaks(GraphPass):
    """Leaves a graph whose ends don't agree."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Forget one end of an edge."""
        for node in graph.nodes_of("Cast"):
            if node.outputs[0].readers:
                graph.set_attr(node, "seen", True)
                node.inputs[0].source = None


class EditsInSecret(GraphPass):
    """Sets an attribute past the graph."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """The graph's version stays."""
        for node in graph.nodes_of("Cast"):
            node._attrs = {**node.attrs, "looked_at": True}


class EditsWhileAnalysing(AnalysisPass):
    """Is an analysis and edits."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Note something in the graph."""
        for node in graph.nodes_of("Cast"):
            graph.set_attr(node, "_looked_at", True)


class ReordersLate(GraphPass):
    """Turns neighbours around when the order is frozen."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Graph inputs may stand in any order, but not any more."""
        inputs = [node for node in graph.nodes if node.op == "Data"]
        if graph.is_root and len(inputs) > 1 and inputs[0].attrs["index"] == 0:
            rest = [node for node in graph.nodes if node.op != "Data"]
            graph.reorder([*reversed(inputs), *rest])


class PreservesWrongly(GraphPass):
    """Says that it keeps the alias classes right."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Ask for them, then make an output the memory of an input."""
        assert ctx.aliases is not None
        for node in graph.nodes_of("Sqrt"):
            if node.inputs[0].source is not None and node.outputs[0].desc.reuse_input is None:
                graph.set_desc(node.outputs[0], node.outputs[0].desc.replace(reuse_input=0))


class IsSilent(GraphPass):
    """Removes moves and doesn't say so."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """A move nobody reads may go, and has to be spoken of."""
        for node in graph.nodes_of("TensorMove"):
            if not node.outputs[0].readers:
                graph.remove(node)


class SaysNothing(GraphPass):
    """Claims to handle moves."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Do nothing about them."""


class GivesUnknownCodes(GraphPass):
    """Has a reason that it didn't declare."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Speak of every Cast."""
        for node in graph.nodes_of("Cast"):
            ctx.analysis(node, "NEVER_DECLARED")


class LeavesReasonsOpen(GraphPass, codes={"SHAPE_IS": "its shape is {shape}"}):
    """Leaves a placeholder in a reason."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Speak of every Cast."""
        for node in graph.nodes_of("Cast"):
            ctx.analysis(node, "SHAPE_IS", reason="its shape is {shape}")


class LosesOrigins(GraphPass):
    """Puts new nodes in the place of others and doesn't say for what they stand."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Make every Cast anew, under another name."""
        for node in graph.nodes_of("Cast"):
            if node.name.endswith("_anew") or node.inputs[0].source is None:
                continue
            twin = graph.add_node(
                node.op,
                f"{node.name}_anew",
                [anchor.source for anchor in node.inputs],
                [output.desc for output in node.outputs],
                attrs=node.attrs,
                control_inputs=node.control_inputs,
                before=node,
            )
            for reader in list(node.outputs[0].readers):
                graph.rewire(reader, twin.outputs[0])
            for later in list(node.control_outputs):
                graph.add_control(twin, later)
            graph.remove(node)


class NeverSettles(GraphPass):
    """Counts its runs in the graph."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Change something every time."""
        if graph.nodes_of("Cast"):
            graph.set_graph_attr("runs", int(graph.attrs.get("runs", 0)) + 1)


class CountsRuns(GraphPass, codes={"RUN": "run number {number}"}):
    """Remembers earlier compiles."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Speak of the number of runs in this process."""
        global _count
        for node in graph.nodes_of("Cast"):
            _count += 1
            ctx.analysis(node, "RUN", number=_count)


class IteratesOverASet(AnalysisPass, codes=("SEEN",)):
    """Speaks of nodes in the order of a set of names."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Another hash seed, another order."""
        for name in {node.name for node in graph.nodes_of("Cast", "Relu", "Add", "Foo")}:
            ctx.analysis(graph.node(name), "SEEN")


class Miscalculates(GraphPass):
    """Takes a Sqrt for an Exp."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing is said of it."""
        for node in graph.nodes_of("Sqrt"):
            graph.set_op(node, "Exp")


class NeedsRows(AnalysisPass, codes=("ROWS",)):
    """Looks at the first dimension."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Scalars have none."""
        for node in graph.nodes_of("Cast"):
            shape = node.outputs[0].desc.shape
            if shape is not None and shape[0] != 0:
                ctx.analysis(node, "ROWS")


class HasNoWork(GraphPass):
    """Works on ops that it doesn't name."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look for something that no graph has."""
        for node in graph.nodes_of("".join(("No", "Such"))):
            graph.remove(node)


@dataclass(frozen=True)
class IsNotExplained(AnalysisPass, codes=("SEEN",)):
    """Has an option without a text."""

    limit: int = 3

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look for a Cast."""
        for node in graph.nodes_of("Cast")[: self.limit]:
            ctx.analysis(node, "SEEN")


class LetsWritersThrough(GraphPass, codes=("NOOP",)):
    """Takes a Cast that changes nothing for a copy whose input and output may be one memory."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Don't ask who writes to either."""
        for node in graph.nodes_of("Cast"):
            source = node.inputs[0].source
            if source is not None and source.desc == node.outputs[0].desc:
                graph.bypass(node)
                ctx.applied(node, "NOOP")


class OnlySaysNo(GraphPass, codes=("NO",)):
    """Looks for an attribute that random graphs don't give, and finds a reason in every case."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Speak of every Swirl, and note an idle one."""
        for node in graph.nodes_of("Swirl"):
            if node.attrs.get("mode") != "idle":
                ctx.missed(node, "NO")
            elif "has_idle_swirls" not in graph.attrs:
                graph.set_graph_attr("has_idle_swirls", True)


class CancelsSwirls(GraphPass):
    """Takes a Swirl for nothing, which no kernel says."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Remove those whose memory nobody writes."""
        for node in graph.nodes_of("Swirl"):
            source = node.inputs[0].source
            if source is None or is_written(source, ctx) or is_written(node.outputs[0], ctx):
                continue
            graph.bypass(node)


class CountsInWords(GraphPass, codes=("MANY",)):
    """Gives texts for numbers."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nobody can add these up."""
        for node in graph.nodes_of("Cast"):
            ctx.missed(node, "MANY", bytes="many")  # type: ignore[arg-type]  # that is the point


class BlamesANumber(GraphPass, codes=("MANY",)):
    """Points at what is no node."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """The third one, perhaps."""
        for node in graph.nodes_of("Cast"):
            ctx.missed(node, "MANY", blame=3)  # type: ignore[arg-type]  # that is the point


class HintsAtNothing(GraphPass, codes=("LIMIT",)):
    """Tells users to set an option that is not there."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Its name has changed since."""
        for node in graph.nodes_of("Cast"):
            ctx.missed(node, "LIMIT", hint={"set": "ge.oo.levle=O3"})
