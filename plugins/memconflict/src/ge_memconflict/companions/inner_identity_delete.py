"""`InnerIdentityDeletePass`: removes the copies in front of stores that nothing needs any more.

GE's rules look at direct readers and edges. After them we ask whether anybody could tell, in the
order in which the graph is listed: behind views, in calls, by a reader that no edge puts before the
store. Where the option `ge.topoSortingMode` is 3 GE asks no further; we do ask that.

A copy that `InnerIdentityAddPass` put in front of a store into a graph input always goes, with what
stores its contents in the input: without them the graph is as it came.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ge_core.api import (
    DATA_LIKE,
    Graph,
    GraphPass,
    InputAnchor,
    Keep,
    Node,
    OutputAnchor,
    PassContext,
    blame_two,
)
from ge_memconflict.companions.codes import INNER_DELETE
from ge_memconflict.companions.copying import Copier
from ge_memconflict.companions.handing_back import handing_back
from ge_memconflict.companions.marks import INNER_IDENTITY, SCOPE, is_constant, is_reference
from ge_memconflict.companions.memories import TooLong

_STABLE_ORDER = "3"


@dataclass(frozen=True, slots=True)
class _Keep:
    """Why a copy stays: the code, two to blame, the fields of the text, and a hint."""

    code: str
    blame: tuple[Any, Any]
    fields: dict[str, Any]
    hint: dict[str, str] | None = None


@dataclass(frozen=True)
class InnerIdentityDeletePass(GraphPass, codes=INNER_DELETE):
    """Removes copies in front of stores where all readers are ordered around the store."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at all graphs at once: the root's run does the work."""
        if not graph.is_root:
            return
        copier = Copier(ctx)
        for each in graph.all_graphs():
            for node in each.nodes_of("Identity"):
                if node.attrs.get(INNER_IDENTITY) and node.inputs and node.outputs:
                    _judge(node, copier)


def _judge(copy: Node, copier: Copier) -> None:
    ctx, value = copier.ctx, copy.inputs[0].source
    if value is None or len(copy.inputs) != 1 or len(copy.outputs) != 1:
        return
    size = copy.outputs[0].desc.nbytes
    graph, memories = copy.graph, copier.memories
    assert graph is not None
    stores = handing_back(copy)
    keep: _Keep | Keep | None = None
    for store in stores:
        memories.forget(store)
        graph.remove(store)
    if not stores:
        keep = _area(copy, value, ctx) or _unordered(copy, value, ctx)
        if keep is not None and keep.hint is not None and _kept_otherwise(copy, value, copier):
            keep = replace(keep, hint=None)
        keep = keep or _kept_otherwise(copy, value, copier)
    if keep is not None:
        ctx.missed(copy, keep.code, blame=keep.blame, bytes=size, hint=keep.hint, **keep.fields)
        return
    blame = [value, *copy.outputs[0].readers[:1]]
    graph.bypass(copy)
    memories.removed(value, copy)
    ctx.order.vouch()
    ctx.applied(copy, "INNER_IDENTITY_UNNEEDED", bytes=size, blame=blame)


def _kept_otherwise(copy: Node, value: OutputAnchor, copier: Copier) -> _Keep | Keep | None:
    """What keeps a copy whose readers are all ordered."""
    return _seen(copy, value, copier) or _ruled(copy, copier.ctx)


def _ruled(copy: Node, ctx: PassContext) -> Keep | None:
    """What a plugin's rule says of a copy that came with the graph; others are our own."""
    keep = ctx.kept_by_rule(copy) if copy.origin else None
    return keep and replace(keep, blame=blame_two(copy, keep.blame))


def _area(copy: Node, value: OutputAnchor, ctx: PassContext) -> _Keep | None:
    """A copy from one address area into another moves data, and a constant stays what it is."""
    readers = copy.outputs[0].readers
    from_outside = value.node.op in DATA_LIKE
    moves: InputAnchor | OutputAnchor | None
    marked = [r for r in readers if any(SCOPE in output.desc.attrs for output in r.node.outputs)]
    if SCOPE in copy.outputs[0].desc.attrs:
        moves = None if from_outside else copy.outputs[0]
    else:
        moves = marked[0] if marked and from_outside else None
    if moves is not None:
        return _Keep("MEMORY_AREA", (value, moves), {"value": value, "reader": moves})
    if value.desc.mem_type != copy.outputs[0].desc.mem_type:
        return _Keep("MEMORY_KIND", (value, copy.outputs[0]), {"value": value})
    if is_constant(value.node, ctx.ops):
        store = readers[0] if readers else copy.outputs[0]
        fields = {"value": value, "store": store}
        return _Keep("STORE_INTO_CONSTANT", (value, store), fields)
    return None


def _unordered(copy: Node, value: OutputAnchor, ctx: PassContext) -> _Keep | None:
    """GE's rules 3 to 5: a reader on either side that no path puts on the right side of a store."""
    if ctx.option("ge.topoSortingMode") == _STABLE_ORDER:
        return None
    readers = copy.outputs[0].readers
    first = next((reader for reader in readers if is_reference(reader.node)), None)
    if first is None:
        return None
    store = first.node
    behind = [r for r in readers if r is not first]
    ahead: list[InputAnchor] = []
    if len(value.readers) > 1:
        ahead = [r for output in value.node.outputs for r in output.readers if r.node is not copy]
    late, early = _not_after(store, behind, ctx), _not_before(store, ahead, ctx)
    if late is not None:
        alone = early is None and _not_after(store, _without(behind, late), ctx) is None
        edge = _edge(store, _real(late.node), ctx) if alone else None
        fields = {"reader": late, "store": store.name}
        return _Keep("READER_NOT_BEHIND", (first, late), fields, edge)
    if early is not None:
        alone = _not_before(store, _without(ahead, early), ctx) is None
        edge = _edge(_real(early.node), store, ctx) if alone else None
        fields = {"reader": early, "store": store.name}
        return _Keep("READER_NOT_BEFORE", (first, early), fields, edge)
    return None


def _without(readers: list[InputAnchor], gone: InputAnchor) -> list[InputAnchor]:
    """The readers that another node stands for."""
    return [reader for reader in readers if _real(reader.node) is not _real(gone.node)]


def _edge(first: Node, second: Node, ctx: PassContext) -> dict[str, str] | None:
    """The edge that would order two nodes; None where there can't be one."""
    ends = "NetOutput" in (first.op, second.op)
    if ends or first.graph is not second.graph or ctx.order.depends(second, first):
        return None
    return {"edge": f"{first.name} -> {second.name}"}


def _not_after(store: Node, readers: list[InputAnchor], ctx: PassContext) -> InputAnchor | None:
    """The first of these readers that the store need not come before."""
    real = {_real(reader.node): reader for reader in reversed(readers)}
    real.pop(store, None)
    missed = ctx.order.missed(store, real)
    return None if missed is None else real[missed]


def _not_before(store: Node, readers: list[InputAnchor], ctx: PassContext) -> InputAnchor | None:
    """The first of these readers that need not come before the store."""
    real = {_real(reader.node): reader for reader in reversed(readers)}
    real.pop(store, None)
    stray = ctx.order.stray(real, store)
    return None if stray is None else real[stray]


def _real(node: Node) -> Node:
    """Who reads behind another inner copy: its first store."""
    if not (node.op == "Identity" and node.attrs.get(INNER_IDENTITY)):
        return node
    for reader in node.outputs[0].readers if node.outputs else ():
        if is_reference(reader.node):
            return reader.node
    return node


def _seen(copy: Node, value: OutputAnchor, copier: Copier) -> _Keep | None:
    """Whether somebody could tell, whatever the edges say."""
    planted = copy.origin == ()
    # A copy that came with the graph and lies in an input's area says that it is the input's place.
    at_home = SCOPE in copy.outputs[0].desc.attrs and value.node.op in DATA_LIKE
    try:
        seen = copier.memories.seen_together(copy, planted=planted or at_home)
    except TooLong:
        reader = next(iter(copy.outputs[0].readers), copy.outputs[0])
        return _Keep("SEARCH_LIMIT", (value, reader), {})
    if seen is None:
        return None
    fields = {"writer": seen.writer, "other": seen.other}
    return _Keep("STORE_WOULD_BE_SEEN", (seen.writer, seen.other), fields)
