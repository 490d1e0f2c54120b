"""What can be said in the graph's own terms once shapes are known: axes and pieces."""

from __future__ import annotations

from ge_core.api import Graph, Node
from ge_onnx import ops


def settle(graph: Graph) -> None:
    """Count axes of joins and splits from the front, and give uneven splits their sizes.

    An axis stays negative where the rank is unknown. Sizes of a split "as even as possible" are
    those of the last, smaller piece too; `_onnx_even` says that the file did not spell them out.
    """
    for node in graph.all_nodes():
        if node.op in ops.JOINS:
            _count_from_front(node, "concat_dim", node.outputs[0].desc.shape)
        elif node.op in ops.SPLITS:
            source = node.inputs[0].source
            _count_from_front(node, "split_dim", None if source is None else source.desc.shape)
            _give_sizes(node)


def _count_from_front(node: Node, name: str, shape: tuple[int, ...] | None) -> None:
    axis = node.attrs.get(name)
    if shape is None or not isinstance(axis, int) or not -len(shape) <= axis < 0:
        return
    assert node.graph is not None
    node.graph.set_attr(node, name, axis + len(shape))


def _give_sizes(node: Node) -> None:
    if node.op != "SplitD":
        return
    axis = node.attrs["split_dim"]
    sizes = []
    for output in node.outputs:
        shape = output.desc.shape
        if shape is None or not 0 <= axis < len(shape) or shape[axis] < 0:
            return
        sizes.append(shape[axis])
    if len(set(sizes)) > 1:
        assert node.graph is not None
        node.graph.set_op(node, "SplitVD")
        node.graph.set_attr(node, "size_splits", sizes)
        node.graph.set_attr(node, ops.EVEN, True)
