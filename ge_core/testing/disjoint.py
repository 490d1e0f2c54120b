"""Plans in which nothing shares bytes unless it must: what a run is compared with in tests.

Written apart from the planners, so that a mistake in them is not repeated here: alias rules are
followed output by output, and every memory found is put behind the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ge_core.analysis import listed_order
from ge_core.ir import Graph, Node, OutputAnchor
from ge_core.memory import (
    ARENA,
    CONSTANTS,
    VARIABLES,
    Plan,
    PlanTensor,
    PlanWorkspace,
    PoolTotals,
    tensor_name,
)
from ge_core.ops import OpRegistry, output_parent_index, ref_of
from ge_core.tasks import Call

_Tensor = tuple[Call, str, int]
_POOLS = {"constant": CONSTANTS, "variable": VARIABLES}


def disjoint_plan(
    graph: Graph,
    ops: OpRegistry,
    *,
    align: int = 8,
    skew: bool = False,
    unplanned: Iterable[str] = (),
    while_in_place: bool = False,
) -> Plan:
    """A plan where every memory has bytes of its own, in use for the whole run.

    Tensors without a static size get none. Layout marks are not looked at: a graph with task-free
    joins needs a planner.

    Args:
        align: offsets are multiples of it.
        skew: every other memory starts one byte later than that.
        unplanned: names of nodes whose outputs get no place.
        while_in_place: a While works where its inputs lie; else it has slots of its own.
    """
    work = _Disjoint(graph.root, ops, while_in_place)
    left_out = set(unplanned)
    plan = Plan(target="disjoint")
    ends = {ARENA: 0, CONSTANTS: 0, VARIABLES: 0}
    places: dict[_Tensor, tuple[str, int]] = {}
    for key, output in work.tensors.items():
        root = work.root_of(key)
        size = output.desc.nbytes
        if size is None or output.desc.dtype == "string" or root[1] in left_out:
            plan.unplanned.append(tensor_name(*key))
            continue
        if root not in places:
            origin = work.tensors[root]
            pool = _POOLS.get(ops.kind(origin.node), ARENA)
            at = -(-ends[pool] // align) * align + (len(places) % 2 if skew else 0)
            places[root] = pool, at
            ends[pool] = at + (origin.desc.nbytes or 0)
        pool, at = places[root]
        data = output.desc.data_bytes
        alias = None if root == key else tensor_name(*work.shared[key])
        plan.tensors.append(
            PlanTensor(
                *key,
                pool,
                at,
                size if data is None else data,
                alias_of=alias,
                life=(0, len(work.instances) + 1),
            )
        )
    for call, node in work.instances:
        for index, size in enumerate(node.attrs.get("workspace_bytes", ())):
            plan.workspace.append(PlanWorkspace(call, node.name, index, ARENA, ends[ARENA], size))
            ends[ARENA] += size
    plan.pools = {name: PoolTotals(end, 0, end, False) for name, end in ends.items()}
    return plan


class _Disjoint:
    def __init__(self, graph: Graph, ops: OpRegistry, while_in_place: bool) -> None:
        self.graph = graph
        self.ops = ops
        self.while_in_place = while_in_place
        self.instances = list(self._expand(graph, ()))
        self.tensors: dict[_Tensor, OutputAnchor] = {
            (call, node.name, output.index): output
            for call, node in self.instances
            for output in node.outputs
        }
        self.shared: dict[_Tensor, _Tensor] = {}
        for key, output in self.tensors.items():
            other = self._shared_with(key, output)
            if other is not None and other in self.tensors:
                self.shared[key] = other

    def root_of(self, key: _Tensor) -> _Tensor:
        """The tensor whose memory this one is, in the end."""
        while key in self.shared:
            key = self.shared[key]
        return key

    def _expand(self, graph: Graph, call: Call) -> Iterator[tuple[Call, Node]]:
        for node in listed_order(graph):
            yield call, node
            for inner in node.subgraphs.values():
                yield from self._expand(inner, (*call, node.name))

    def _shared_with(self, key: _Tensor, output: OutputAnchor) -> _Tensor | None:
        call, _, at = key
        node = output.node
        kind = self.ops.kind(node)
        if kind == "data":
            return self._outside(call, node) if call else None
        if kind == "call":
            return self._inside(call, node, at)
        if kind == "while":
            return _fed(call, node, at) if self.while_in_place else None
        if node.attrs.get("_output_reuse_input"):
            return None
        source = ref_of(output, self.ops)
        return None if source is None else _fed(call, node, source)

    def _inside(self, call: Call, node: Node, at: int) -> _Tensor | None:
        for inner in node.subgraphs.values():
            out = inner.net_output
            for anchor in () if out is None else out.inputs:
                assert out is not None
                if output_parent_index(out, anchor.index) == at and anchor.source is not None:
                    return (*call, node.name), anchor.source.node.name, anchor.source.index
        return None

    def _outside(self, call: Call, data: Node) -> _Tensor | None:
        index = int(data.attrs["_parent_node_index"])
        caller = self.graph.node(call[-1])
        kind = self.ops.kind(caller)
        taken = len(caller.inputs) - int(caller.attrs.get("captured", 0))
        if kind == "while":
            return call[:-1], caller.name, index
        if kind == "loop" and index < taken:
            return (call[:-1], caller.name, index - 2) if index >= 2 else None
        if kind == "scan" and index < taken:
            states = taken - int(caller.attrs["onnx.num_scan_inputs"])
            return (call[:-1], caller.name, index) if index < states else None
        return _fed(call[:-1], caller, index)


def _fed(call: Call, node: Node, at: int) -> _Tensor | None:
    source = node.inputs[at].source
    return None if source is None else (call, source.node.name, source.index)
