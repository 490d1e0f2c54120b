"""Types of If, Loop and Scan, from those of their bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ge_core.api import Graph, InputFileError, Node, OutputAnchor, TensorDesc
from ge_onnx import ops
from ge_onnx.proto.types import TYPE_ATTR, UNKNOWN
from ge_onnx.work import Work

if TYPE_CHECKING:
    from ge_onnx.shapes.sweep import Sweep

_PATIENCE: Final = 4
"""Sweeps after which a state that still changes loses its whole shape."""


def if_types(sweep: Sweep, node: Node) -> Work:
    """An If has what both of its branches have in common, or all of one that is sure to run."""
    results: list[list[TensorDesc]] = []
    _check_type(node, node.inputs[0].desc, "bool", "cond")
    condition = sweep.known.array(node.inputs[0].source)
    taken = None
    if condition is not None and condition.size == 1:
        taken = "then_branch" if bool(condition.reshape(())) else "else_branch"
    for label, graph in node.subgraphs.items():
        if taken is None or node.graph in sweep.doubtful or label != taken:
            sweep.doubtful.add(graph)
        _hand_in(sweep, node, graph, 1)
        yield sweep.graph(graph)
        if taken in (None, label):
            results.append(_results(graph))
    for at, output in enumerate(node.outputs):
        desc = results[0][at]
        for other in results[1:]:
            desc = _join(desc, other[at], node)
        sweep.describe(output, desc)
    _describe_results(node)


def loop_types(sweep: Sweep, node: Node) -> Work:
    """A Loop's carried values have what holds before the first and after every turn."""
    body = _body(sweep, node)
    captured = int(node.attrs.get("captured", 0))
    carried = len(node.inputs) - 2 - captured
    _check_type(node, node.inputs[0].desc, "int64", "M")
    _check_type(node, node.inputs[1].desc, "bool", "cond")
    data = {graph_input.attrs["_parent_node_index"]: graph_input for graph_input in body.data_nodes}
    for at, dtype in ((0, "int64"), (1, "bool")):
        desc = _scalar(data[at], dtype)
        _check_formal(data[at], desc)
        sweep.describe(data[at].outputs[0], desc)
    _hand_in(sweep, node, body, 2 + carried)
    slots = [data[2 + at] for at in range(carried)]
    yield _settle(sweep, node, body, slots, 2, 1)
    results = _results(body)
    _check_type(node, results[0], "bool", "body")
    for at, output in enumerate(node.outputs):
        if at < carried:
            sweep.describe(output, slots[at].outputs[0].desc)
        else:
            sweep.describe(output, _stacked(results[1 + at], 0, _turns(sweep, node, body)))
    _describe_results(node)


def _turns(sweep: Sweep, node: Node, body: Graph) -> int:
    """How many turns a Loop makes, where that is sure: a known count that nothing cuts short."""
    count = sweep.known.array(node.inputs[0].source)
    if count is None or count.size != 1 or not _stays_true(sweep, node.inputs[1].source):
        return -1
    end = body.net_output
    assert end is not None
    source = end.inputs[0].source
    while source is not None and source.node.op == "TensorMove":
        source = source.node.inputs[0].source
    handed_on = source is not None and source.node.attrs.get("_parent_node_index") == 1
    if not handed_on and (source is None or not _stays_true(sweep, source)):
        return -1
    return max(int(count.reshape(())), 0)


def _stays_true(sweep: Sweep, source: OutputAnchor | None) -> bool:
    """Whether a condition is absent or known to be true."""
    value = sweep.known.array(source)
    return source is None or (value is not None and value.size == 1 and bool(value.reshape(())))


def scan_types(sweep: Sweep, node: Node) -> Work:
    """A Scan's states are like a Loop's; its other outputs are stacks of the turns' results."""
    body = _body(sweep, node)
    captured = int(node.attrs.get("captured", 0))
    scanned = int(node.attrs["onnx.num_scan_inputs"])
    states = len(node.inputs) - captured - scanned
    data = {graph_input.attrs["_parent_node_index"]: graph_input for graph_input in body.data_nodes}
    axes = _axes(node, "onnx.scan_input_axes", scanned)
    length = -1
    for at, axis in enumerate(axes):
        desc = node.inputs[states + at].desc or UNKNOWN
        element, size = _slice(desc, axis, node)
        _check_formal(data[states + at], element)
        length = max(length, size)
        sweep.describe(data[states + at].outputs[0], element)
    _hand_in(sweep, node, body, states + scanned)
    slots = [data[at] for at in range(states)]
    yield _settle(sweep, node, body, slots, 0, 0)
    results = _results(body)
    out_axes = _axes(node, "onnx.scan_output_axes", len(node.outputs) - states)
    for at, output in enumerate(node.outputs):
        if at < states:
            sweep.describe(output, slots[at].outputs[0].desc)
        else:
            sweep.describe(output, _stacked(results[at], out_axes[at - states], length))
    _describe_results(node)


RULES: Final[dict[str, Callable[[Any, Node], Work]]] = {
    "If": if_types,
    "Loop": loop_types,
    "Scan": scan_types,
}


def _body(sweep: Sweep, node: Node) -> Graph:
    body = node.subgraphs["body"]
    if node.graph in sweep.doubtful:
        sweep.doubtful.add(body)
    return body


def _settle(
    sweep: Sweep, node: Node, body: Graph, slots: Sequence[Node], first: int, results_from: int
) -> Work:
    """Sweep the body until the slots hold in every turn.

    Args:
        first: the node's input that is the first slot's value before the first turn.
        results_from: the body's output that is its value after a turn.
    """
    for at, slot in enumerate(slots):
        given = node.inputs[first + at].desc or UNKNOWN
        old = sweep.states.get(slot.outputs[0])
        state = given.replace(reuse_input=None, attrs=_kept(given))
        _check_formal(slot, state)
        sweep.states[slot.outputs[0]] = state if old is None else _join(old, state, node)
    turn = 0
    while True:
        for slot in slots:
            sweep.describe(slot.outputs[0], sweep.states[slot.outputs[0]])
        yield sweep.graph(body)
        changed = False
        results = _results(body)
        for at, slot in enumerate(slots):
            state = sweep.states[slot.outputs[0]]
            new = _join(state, results[results_from + at], node)
            if new != state:
                changed = True
                new = new.replace(shape=None) if turn >= _PATIENCE else new
                sweep.states[slot.outputs[0]] = new
        if not changed:
            return
        turn += 1


def _hand_in(sweep: Sweep, node: Node, graph: Graph, first: int) -> None:
    """Captured values: the inner Data is the outer value, known elements included."""
    for data in graph.data_nodes:
        at = data.attrs["_parent_node_index"]
        if at < first:
            continue
        source = node.inputs[at].source
        if source is None:
            continue
        output = data.outputs[0]
        desc = source.desc.replace(reuse_input=None, attrs=_kept(source.desc))
        sweep.describe(output, desc)
        sweep.known.set(output, sweep.known.get(source))


def _results(graph: Graph) -> list[TensorDesc]:
    end = graph.net_output
    assert end is not None
    return [
        UNKNOWN
        if anchor.source is None
        else anchor.source.desc.replace(reuse_input=None, attrs=_kept(anchor.source.desc))
        for anchor in end.inputs
    ]


def _describe_results(node: Node) -> None:
    for graph in node.subgraphs.values():
        end = graph.net_output
        assert end is not None
        for anchor, desc in zip(end.inputs, _results(graph), strict=True):
            graph.set_desc(anchor, desc.with_attr("_parent_node_index", anchor.index))


def _kept(desc: TensorDesc) -> dict[str, Any]:
    return {name: value for name, value in desc.attrs.items() if name == TYPE_ATTR}


def _check_formal(data: Node, desc: TensorDesc) -> None:
    """What a body declares its input to be must be what it is handed."""
    declared = data.attrs.get(ops.INPUT_INFO, {}).get("type", {}).get("tensor")
    if declared and desc.dtype not in (declared, "undefined"):
        raise InputFileError(
            f"the body declares its input as {declared}, it is handed {desc.dtype}",
            node=data.name,
            field="graph.input.type",
        )


def _check_type(node: Node, desc: TensorDesc | None, dtype: str, field: str) -> None:
    if desc is None or desc == UNKNOWN:
        return
    if desc.dtype != dtype:
        what = "no tensor" if desc.dtype == "undefined" else desc.dtype
        raise InputFileError(
            f"{node.op} needs {dtype} here, this is {what}", node=node.name, field=field
        )


def _scalar(data: Node, dtype: str) -> TensorDesc:
    """Iteration number and condition: scalars, unless the body wants them as [1]."""
    shape = data.outputs[0].desc.shape
    return TensorDesc.make(dtype, (1,) if shape == (1,) else ())


def _join(a: TensorDesc, b: TensorDesc, node: Node) -> TensorDesc:
    """What holds for both."""
    if a == b:
        return a
    if "undefined" in (a.dtype, b.dtype):
        return _join_plain(a, b)
    if a.dtype != b.dtype:
        raise InputFileError(f"a value is {a.dtype} and {b.dtype}", node=node.name, field="body")
    if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        return a.replace(shape=None)
    return a.replace(
        shape=tuple(x if x == y else -1 for x, y in zip(a.shape, b.shape, strict=True))
    )


def _join_plain(a: TensorDesc, b: TensorDesc) -> TensorDesc:
    """Of sequences and optionals: the kind, without shapes, where the elements are of one type."""
    left, right = (_without_shapes(desc.attrs.get(TYPE_ATTR)) for desc in (a, b))
    return UNKNOWN if left is None or left != right else UNKNOWN.with_attr(TYPE_ATTR, left)


def _without_shapes(plain: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    return {key: _without_shapes(value) for key, value in plain.items() if key != "shape"}


def _axes(node: Node, name: str, count: int) -> list[int]:
    given = node.attrs.get(name)
    if not isinstance(given, list):
        return [0] * count
    if len(given) != count:
        raise InputFileError(f"{len(given)} axes for {count} values", node=node.name, field=name)
    return [int(axis) for axis in given]


def _slice(desc: TensorDesc, axis: int, node: Node) -> tuple[TensorDesc, int]:
    """What one turn sees of a scan input, and the number of turns."""
    if desc.shape is None:
        return TensorDesc.make(desc.dtype, None), -1
    rank = len(desc.shape)
    if not -rank <= axis < rank:
        raise InputFileError(f"axis {axis} of {desc!r}", node=node.name, field="scan_input_axes")
    axis %= rank
    shape = desc.shape[:axis] + desc.shape[axis + 1 :]
    return TensorDesc.make(desc.dtype, shape), desc.shape[axis]


def _stacked(desc: TensorDesc, axis: int, length: int) -> TensorDesc:
    if desc.dtype == "undefined":
        return UNKNOWN
    if desc.shape is None:
        return TensorDesc.make(desc.dtype, None)
    at = axis % (len(desc.shape) + 1)
    return TensorDesc.make(desc.dtype, (*desc.shape[:at], length, *desc.shape[at:]))
