"""When the outputs of a Split can simply be parts of its input.

GE decides this in its neural-network engine, with two small optimizers. These rules are the mirror
image of those for joins: GE's axis test on the input and on every output, instead of its special
cases by format pair, some of which accept padded or interleaved pieces. What GE refuses, on grounds
of the producer and of the readers, is refused here too.

Beyond GE: pieces start at aligned bytes, sizes add up, views are looked through on both sides, and
nobody may overwrite the input or a piece. Last, plugins' layout rules are asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ge_concat_notask import axis, producers, strided
from ge_concat_notask.kinds import own_kinds
from ge_concat_notask.marks import CUT, JOINED, NO_TASK, PACKED_IN, SHARES_INPUT
from ge_concat_notask.memory import Chain
from ge_concat_notask.pieces import piece_refusal, sum_refusal
from ge_concat_notask.refusal import Refusal, layout_clash, refuse
from ge_concat_notask.scene import has_unknown_shape, in_unknown_graph
from ge_concat_notask.setting import Setting
from ge_core.api import InputAnchor, Node, OutputAnchor, Piece, is_free_join, split_pieces

_ON_CHIP: Final = ("L1", "L2")
_HANDS_ON: Final = ("Reshape", "TransData")
_COLLECTIVES: Final = (
    "HcomBroadcast",
    "HcomAllGather",
    "HcomAllReduce",
    "HcomReduceScatter",
    "HcomReduce",
)
_AI_CORE: Final = 1
PHONY: Final = "PhonySplit"
"""A split without a kernel, put into graphs to say that tensors are parts of another."""
_BORROWED: Final = ("data", "constant", "variable")


class SplitRules:
    """The checks on one split."""

    def __init__(self, node: Node, at: Setting) -> None:
        self.node = node
        self.setting = at
        self.memory = at.memory
        self.ops = at.ops
        self.edge: InputAnchor | None = node.inputs[0] if node.inputs else None
        self.axis = self.inner_axis() if at.beyond and at.target.strided else 0

    def inner_axis(self) -> int:
        """The stored dimension along which outputs are rows with gaps; 0 where they are not."""
        edge = self.edge
        if edge is None or edge.desc is None:
            return 0
        descs = [edge.desc, *(output.desc for output in self.node.outputs)]
        rank = len(edge.desc.origin_shape or ())
        cut = axis.resolve_axis(self.node.attrs.get("split_dim", 0), rank)
        return 0 if cut is None else strided.rows_axis(descs, cut, self.setting)

    def _rows(self, edge: InputAnchor) -> Iterator[Refusal]:
        """What stands against outputs in rows, or in the rows of an input that has gaps itself."""
        assert edge.source is not None
        chain = self.memory.chain(edge.source)
        yield from strided.cut_refusals(chain, edge, self.pieces(), self.node, self.setting)

    def pieces(self) -> list[Piece] | None:
        """Where the outputs lie in the input; None where a size is not known."""
        return split_pieces(self.node, self.axis or None)

    def refusals(self) -> Iterator[Refusal]:
        """Everything that keeps the task, in order."""
        edge = self.edge
        if edge is None or edge.source is None or edge.desc is None:
            yield refuse("UNTRACED_SOURCE", self.node)
            return
        if has_unknown_shape(self.node):
            yield refuse("UNKNOWN_SHAPE", self.node)
            return
        chain = self.memory.chain(edge.source)
        if not chain.complete:
            yield refuse("UNTRACED_SOURCE", chain.root, edge=edge)
            return
        if self.node.op == PHONY:
            yield from self._phony(edge, chain)
            return
        yield from self._axis(edge)
        yield from self._sizes(edge, chain)
        yield from self._producers(edge, chain)
        for at, output in enumerate(self.node.outputs):
            yield from self._readers(at, output)
        for kind in own_kinds(self.node):
            if kind in _ON_CHIP:
                yield refuse("ON_CHIP_MEMORY", memory=kind)
        if in_unknown_graph(self.node):
            yield refuse("UNKNOWN_GRAPH")
        yield from self._overwritten(edge, chain)
        yield from self._kinds(chain)
        yield from layout_clash(self.setting, [edge, *self.node.outputs])

    def _phony(self, edge: InputAnchor, chain: Chain) -> Iterator[Refusal]:
        """A split without a kernel: GE marks it whatever is around it; we ask that it be right."""
        yield from self._axis(edge)
        sizes = self._sizes(edge, chain)
        yield from (found for found in sizes if found.code != "UNALIGNED_PIECE")
        yield from self._fixed(edge, chain)
        yield from producers.from_subgraph(chain, self.setting, edge)
        yield from producers.claimed(chain.outputs, self.setting, edge)
        yield from producers.also_result(chain, self.setting, edge)
        yield from self._overwritten(edge, chain)
        yield from self._kinds(chain)
        yield from layout_clash(self.setting, [edge, *self.node.outputs])

    # ---- shape ---------------------------------------------------------------------------------

    def _axis(self, edge: InputAnchor) -> Iterator[Refusal]:
        """The axis is outermost, and every piece a whole number of blocks."""
        assert edge.desc is not None and edge.source is not None
        if self.axis:
            yield from self._rows(edge)
            return
        rank = len(edge.desc.origin_shape or ())
        cut = axis.resolve_axis(self.node.attrs.get("split_dim", 0), rank)
        if cut is None:
            yield refuse(axis.OUT_OF_RANGE, edge, rank=rank)
            return
        anchors: tuple[InputAnchor | OutputAnchor, ...] = (edge, *self.node.outputs)
        for anchor in anchors:
            desc = anchor.desc
            assert desc is not None
            fault = axis.axis_fault(desc, cut, self.setting.blocks)
            if fault is not None:
                yield refuse(
                    fault,
                    anchor,
                    axis=cut,
                    rank=len(desc.origin_shape or ()),
                    origin=desc.origin_format,
                    runtime=desc.format,
                )
                return
        if self.memory.chain(edge.source).gaps:
            yield from self._rows(edge)

    def _sizes(self, edge: InputAnchor, chain: Chain) -> Iterator[Refusal]:
        assert edge.source is not None and edge.desc is not None
        outputs = self.node.outputs
        start, last = 0, len(outputs) - 1
        for at, output in enumerate(outputs):
            widest = self.memory.uses(output).widest
            found = piece_refusal(at, output.desc, self.setting.target, start, widest)
            start += output.desc.data_bytes or 0
            # On a target with an alignment the last piece may end anywhere: nothing starts there.
            aligned = self.setting.target.run_align is not None
            if found is not None and not (
                aligned and at == last and found.code == "UNALIGNED_PIECE"
            ):
                yield found
        for whole, pieces in (
            (edge.source.desc, [edge.desc]),
            *([] if chain.whole else [(chain.root.desc, [edge.desc])]),
            (edge.desc, [output.desc for output in outputs]),
        ):
            found = sum_refusal(whole, pieces)
            if found is not None:
                yield found

    # ---- producer ------------------------------------------------------------------------------

    def _producers(self, edge: InputAnchor, chain: Chain) -> Iterator[Refusal]:
        yield from self._fixed(edge, chain)
        yield from producers.from_subgraph(chain, self.setting, edge)
        yield from producers.claimed(chain.outputs, self.setting, edge)
        for output in chain.outputs:
            known = self.setting.is_placed(output.node)
            attribute = None if known else _memory_rule(output.node)
            if attribute is not None:
                yield refuse(
                    "LAID_OUT_PRODUCER",
                    (output.node, edge),
                    edge=edge,
                    producer=output.node.name,
                    attribute=attribute,
                )
        yield from producers.also_result(chain, self.setting, edge)

    def _fixed(self, edge: InputAnchor, chain: Chain) -> Iterator[Refusal]:
        """Constants and variables are out, also through calls; a graph input itself is welcome."""
        assert edge.source is not None
        # A window into a constant is as good as the constant: nobody writes either.
        borrowed = ("data", "variable") if self.setting.beyond else _BORROWED
        for owner in self.memory.outer_sources(edge.source):
            if owner.node.op != "Data" and self.ops.kind(owner.node) in borrowed:
                yield refuse(
                    "FIXED_MEMORY",
                    (owner, edge),
                    edge=edge,
                    producer=owner.node.name,
                    op=owner.node.op,
                )
        yield from producers.variable_memory(chain, edge)
        source = self._graph_input_behind(edge.source)
        if source is not None:
            yield refuse(
                "GRAPH_INPUT_BEHIND",
                (edge.source, source),
                edge=edge,
                producer=edge.source.node.name,
                source=source.node.name,
            )

    def _graph_input_behind(self, source: OutputAnchor) -> OutputAnchor | None:
        """A graph input that a Reshape or TransData hands on: GE patches addresses of Data alone.

        That is a matter of GE's loader, so graphs from elsewhere are not held to it.
        """
        node = source.node
        assert node.graph is not None
        if node.op not in _HANDS_ON or node.graph.source != "ge" or not node.inputs:
            return None
        behind = node.inputs[0].source
        if behind is None:
            return None
        owner = self.memory.chain(behind).root
        return owner if owner.node.op == "Data" else None

    # ---- readers -------------------------------------------------------------------------------

    def _readers(self, at: int, output: OutputAnchor) -> Iterator[Refusal]:
        uses = self.memory.uses(output)
        for result in uses.results[:1]:
            yield refuse("RESULT_READER", (result, output), edge=result, at=at)
        for reader in (*uses.virtual, *uses.placing):
            # A join without a task has said where its operands lie, be it one of ours.
            if is_free_join(reader.node) or not self.setting.is_placed(reader.node):
                yield refuse("VIRTUAL_READER", reader, edge=reader, reader=reader.node.name)
                break
        for reader in uses.readers:
            if not self._may_read(reader):
                yield refuse(
                    "READER_TYPE", reader, edge=reader, reader=reader.node.name, op=reader.node.op
                )

    def _may_read(self, reader: InputAnchor) -> bool:
        """GE's list: collectives, splits, whatever runs off the AI core or clears its outputs."""
        node, attrs = reader.node, reader.node.attrs
        traits = self.ops.traits(node)
        assert node.graph is not None
        if node.op in _COLLECTIVES or traits.collective:
            return False
        if traits.kind == "split" and not self.setting.beyond:
            return False
        if attrs.get(PACKED_IN) or attrs.get(producers.ATOMIC) or attrs.get("_fusion_virtual_op"):
            return False
        if node.subgraphs or traits.has_subgraphs or attrs.get("imply_type", _AI_CORE) != _AI_CORE:
            return False
        if traits.kind != "move":
            return True
        # A copy of a piece that goes straight out costs what the split did: nothing is won.
        handed_out = any(r.node.op == "NetOutput" for o in node.outputs for r in o.readers)
        return node.graph.source != "ge" and not handed_out

    # ---- writers -------------------------------------------------------------------------------

    def _overwritten(self, edge: InputAnchor, chain: Chain) -> Iterator[Refusal]:
        whole = self.memory.uses(chain.root)
        upstream = {output.node for output in chain.outputs}
        # What updated the input on its way here has done so before any piece is read.
        for writer in whole.writers:
            if writer.node not in upstream:
                yield refuse(
                    "OVERWRITTEN", (writer, chain.root), edge=edge, writer=writer.node.name
                )
                break
        for at, output in enumerate(self.node.outputs):
            for writer in self.memory.uses(output).writers[:1]:
                yield refuse(
                    "PIECE_OVERWRITTEN",
                    (writer, chain.root),
                    edge=writer,
                    at=at,
                    writer=writer.node.name,
                )

    def _kinds(self, chain: Chain) -> Iterator[Refusal]:
        """Whoever reads the input or a piece moves the whole buffer to the kind it wants."""
        expected, first = producers.asked_kind(chain, self.setting)
        for output in (chain.root, *self.node.outputs):
            for kind, who in self.memory.uses(output).kinds:
                if kind != expected:
                    yield refuse("MEMORY_KINDS_DIFFER", (who, first), memory=expected, other=kind)
                    return


def _memory_rule(node: Node) -> str | None:
    """GE asks for `_no_task` and cleared outputs; the other marks mean a task-free node as well."""
    for name in (NO_TASK, SHARES_INPUT, JOINED, CUT, producers.ATOMIC):
        if node.attrs.get(name):
            return name
    return None
