"""`HcclContinuousMemcpyPass`: inputs that must lie side by side, or at a peer, get copies.

A value with a home of its own can't be moved there, and a value can lie in one packed area only:
of several packed inputs that it feeds all but the last get a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ge_core.api import Graph, GraphPass, InputAnchor, Node, OutputAnchor, PassContext
from ge_memconflict.companions.broadcast import store_back
from ge_memconflict.companions.codes import HCCL_CONTINUOUS
from ge_memconflict.companions.copying import KEPT, Copier
from ge_memconflict.companions.marks import has_own_home

_CONTINUOUS: Final = "continuous_input"
_MEMORY_TYPE: Final = "_input_memory_type"
_PEER: Final[tuple[int, str]] = (17, "P2P")
"""Peer memory by GE's number, and by name."""


@dataclass(frozen=True)
class HcclContinuousMemcpyPass(GraphPass, codes=HCCL_CONTINUOUS):
    """Gives packed and peer-memory inputs copies of values that can't lie there."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at all graphs at once: the root's run does the work."""
        if not graph.is_root:
            return
        copier, packed = Copier(ctx), _Packed()
        for each in graph.all_graphs():
            for node in list(each.nodes):
                for anchor, code in _wanted(node, ctx, packed):
                    _copy(anchor, code, packed, copier)


class _Packed:
    """How many packed inputs each value feeds at the moment, counted once and kept up."""

    def __init__(self) -> None:
        self._readers: dict[OutputAnchor, dict[InputAnchor, None]] = {}

    def readers(self, value: OutputAnchor) -> dict[InputAnchor, None]:
        """The packed inputs that a value feeds, in linking order."""
        found = self._readers.get(value)
        if found is None:
            packed = (r for r in value.readers if r.node.attrs.get(_CONTINUOUS))
            found = self._readers[value] = dict.fromkeys(packed)
        return found


def _wanted(node: Node, ctx: PassContext, packed: _Packed) -> Iterator[tuple[InputAnchor, str]]:
    """The inputs of a node that need a copy, with the code of the reason."""
    kinds = node.attrs.get(_MEMORY_TYPE)
    kinds = kinds if isinstance(kinds, (list, tuple)) else ()
    is_packed = bool(node.attrs.get(_CONTINUOUS))
    if not is_packed and not any(kind in _PEER for kind in kinds):
        return
    for anchor in node.inputs:
        value = anchor.source
        if value is None:
            continue
        fixed = has_own_home(value, ctx.ops)
        if is_packed and fixed:
            yield anchor, "PACKED_HAS_HOME"
        elif is_packed and len(packed.readers(value)) > 1:
            yield anchor, "PACKED_TWICE"
        elif fixed and anchor.index < len(kinds) and kinds[anchor.index] in _PEER:
            yield anchor, "PEER_HAS_HOME"


def _copy(anchor: InputAnchor, code: str, packed: _Packed, copier: Copier) -> None:
    value, node = anchor.source, anchor.node
    assert value is not None
    others = packed.readers(value)
    others.pop(anchor, None)
    other = next(reversed(others), None)
    copy = copier.in_front(
        anchor,
        f"{value.node.name}_HcclContinuousMemcpyPass_Identity",
        code,
        attrs=KEPT,
        blame=[anchor, value if other is None else other],
        user=node.name,
        value=value,
        other="" if other is None else other.node.name,
    )
    if copy is None:
        return
    if code == "PEER_HAS_HOME" and copy.graph is not None:
        result = copy.outputs[0]
        copy.graph.set_desc(result, result.desc.replace(mem_type=_PEER[1]))
    store_back(value, anchor, f"{value.node.name}_Assign", copier)
