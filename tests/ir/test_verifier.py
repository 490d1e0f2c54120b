"""The verifier finds every kind of broken structure and names the node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ge_core.errors import GraphError
from ge_core.ir import Graph, GraphBuilder, InputAnchor, OutputAnchor, TensorDesc, verify


def sample() -> Graph:
    """x -> a -> b, and a caller of a subgraph."""
    build = GraphBuilder()
    x = build.data("x")
    a = build.op("Relu", x, name="a")
    build.op("Relu", a, name="b")
    sub = build.subgraph("g")
    sub.net_output(sub.data("d"))
    build.node("PartitionedCall", a, name="call", subgraphs={"f": sub})
    build.node("NoOp", name="n", outputs=[], control=[a])
    return build.graph


def stale_reader(graph: Graph) -> None:
    """An output lists a reader that reads something else."""
    graph.node("b").inputs[0].source = graph.node("x").outputs[0]


def wrong_index(graph: Graph) -> None:
    """An anchor that calls itself by another index."""
    graph.node("a").inputs[0].index = 3


def foreign_anchor(graph: Graph) -> None:
    """An anchor of another node."""
    graph.node("a").outputs[0] = OutputAnchor(graph.node("b"), 0, TensorDesc.make())


def half_a_control_edge(graph: Graph) -> None:
    """A control edge that only one end knows."""
    graph.node("n")._control_in = None


def bad_reuse(graph: Graph) -> None:
    """An output that reuses an input which is not there."""
    output = graph.node("a").outputs[0]
    graph.set_desc(output, output.desc.replace(reuse_input=4))


def unknown_caller(graph: Graph) -> None:
    """A subgraph that does not know who calls it."""
    graph.subgraphs["g"].callers.clear()


def cycle(graph: Graph) -> None:
    """Two nodes that wait for each other."""
    graph.add_control(graph.node("b"), graph.node("a"))


def recursion(graph: Graph) -> None:
    """A subgraph that calls itself."""
    inner = graph.subgraphs["g"]
    inner.add_node("PartitionedCall", "again", subgraphs={"f": inner})


def crossing(graph: Graph) -> None:
    """An edge between graphs."""
    anchor = InputAnchor(graph.node("d"), 0)
    graph.node("d").inputs.append(anchor)
    anchor.source = graph.node("x").outputs[0]
    graph.node("x").outputs[0].readers.append(anchor)


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (stale_reader, "'x'.*does not list all its readers|'a'.*stale reader b@0"),
        (wrong_index, "'a'.*mislabelled"),
        (foreign_anchor, "'a'.*mislabelled|'b'.*stale"),
        (half_a_control_edge, "broken control edge"),
        (bad_reuse, "'a'.*reuses input 4"),
        (unknown_caller, "'call'.*does not know its caller"),
        (cycle, "a cycle: a -> b -> a|a cycle: b -> a -> b"),
        (recursion, "'g' calls itself"),
        (crossing, "'d'.*another graph"),
    ],
)
def test_broken_structure_is_found(break_it: Callable[[Graph], None], says: str) -> None:
    """A sound graph passes; each way to break it is named."""
    graph = sample()
    verify(graph)
    break_it(graph)
    with pytest.raises(GraphError, match=says):
        verify(graph)
