"""`HcclMemcpyPass`: a collective that destroys its inputs gets a copy of what others still need.

"Others" are, as in GE, direct readers that run later; a constant or variable is needed always. Who
needs no copy says so with a mark, and the read/write pass passes over that node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ge_core.api import VARIABLE_OPS, Graph, GraphError, GraphPass, InputAnchor, Node, PassContext
from ge_memconflict.companions.broadcast import store_back
from ge_memconflict.companions.codes import HCCL
from ge_memconflict.companions.copying import Copier
from ge_memconflict.companions.marks import INPUT_MUTABLE, SKIP_CONFLICT, is_constant
from ge_memconflict.identities import NO_FOLDING

_SHAPE_ONLY: Final = frozenset({"Shape", "Rank"})


@dataclass(frozen=True)
class HcclMemcpyPass(GraphPass, codes=HCCL):
    """Gives collectives copies of inputs that they would destroy and others still need."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at all graphs at once: the root's run does the work."""
        if not graph.is_root:
            return
        copier = Copier(ctx)
        for each in graph.all_graphs():
            if len(each) < 2:
                continue
            for node in list(each.nodes):
                if node.attrs.get(INPUT_MUTABLE):
                    _protect(node, copier)


def _protect(node: Node, copier: Copier) -> None:
    needed = [_wants(anchor, copier) for anchor in node.inputs]
    if not any(needed):
        assert node.graph is not None
        if not node.attrs.get(SKIP_CONFLICT):
            node.graph.set_attr(node, SKIP_CONFLICT, True)
        return
    for anchor in node.inputs:
        # Asked again: a copy in front of one input may have freed the next one of the same value.
        code = _wants(anchor, copier)
        if code is None:
            continue
        value = anchor.source
        assert value is not None
        later = _later_reader(anchor, copier)
        copy = copier.in_front(
            anchor,
            f"{node.name}_HcclMemcpyPass_Identity{anchor.index}",
            code,
            attrs={NO_FOLDING: False},
            blame=[anchor, value if later is None else later],
            user=node.name,
            value=value,
            other=later,
        )
        if copy is not None:
            store_back(value, anchor, f"{node.name}_Assign_{anchor.index}", copier)


def _wants(anchor: InputAnchor, copier: Copier) -> str | None:
    """The code of the reason why an input needs a copy; None where it doesn't."""
    value = anchor.source
    if value is None:
        raise GraphError(
            f"input {anchor.index}, which it destroys, is not connected",
            node=anchor.node.name,
            field="inputs",
            hint="connect it, or drop the mark '_input_mutable'",
        )
    if is_constant(value.node, copier.ctx.ops) or value.node.op in VARIABLE_OPS:
        return "DESTROYS_LASTING"
    if len(value.readers) < 2 or _later_reader(anchor, copier) is None:
        return None
    return "DESTROYS_BEFORE_READ"


def _later_reader(anchor: InputAnchor, copier: Copier) -> InputAnchor | None:
    """The first other reader of the same value that needs its contents and runs later."""
    value = anchor.source
    assert value is not None
    before = copier.memories.places.before
    return next(
        (
            reader
            for reader in value.readers
            if reader.node is not anchor.node
            and before(anchor.node, reader.node)
            and not _reads_shape_only(reader)
        ),
        None,
    )


def _reads_shape_only(reader: InputAnchor) -> bool:
    """Whether a node reads no contents: Shape, Rank, or a Reshape that only those read."""
    node = reader.node
    if node.op in _SHAPE_ONLY:
        return True
    return node.op == "Reshape" and all(other.op in _SHAPE_ONLY for other in node.out_nodes)
