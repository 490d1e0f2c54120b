"""Random graphs contain what is asked for, are whole, and have a meaning of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

from ge_core.errors import UsageError
from ge_core.ir import Graph, Node, verify
from ge_core.ops.builtin import CONST_LIKE
from ge_core.testing import RARE, GraphKnobs, random_graph, strategies

EVERYTHING = tuple(RARE)
Has = Callable[[Node], Any]


def nodes(**facts: Any) -> list[Node]:
    """The nodes of some graphs, those of subgraphs included."""
    graphs = [random_graph(seed, GraphKnobs(**facts)) for seed in range(60)]
    return [node for graph in graphs for node in graph.all_nodes()]


def _is_inner(node: Node) -> bool:
    return node.graph is not None and not node.graph.is_root


def _is_nested(node: Node) -> bool:
    graph, depth = node.graph, 0
    while graph is not None and graph.callers:
        graph, depth = graph.callers[0][0].graph, depth + 1
    return depth > 2


def _copies_beside(node: Node) -> bool:
    readers = [anchor.node.op for output in node.outputs for anchor in output.readers]
    return readers.count("TensorMove") > 1


SHOWS: dict[str, list[Has]] = {
    "sources": [
        lambda node: node.op == "RefData",
        lambda node: node.op == "FileConstant",
        lambda node: node.op in CONST_LIKE and node.outputs[0].desc.dtype != "float32",
        lambda node: node.op == "Variable" and _is_inner(node),
    ],
    "shapes": [
        lambda node: any(output.desc.shape == () for output in node.outputs),
        lambda node: any(output.desc.elements == 0 for output in node.outputs),
        lambda node: any(-1 in (output.desc.shape or ()) for output in node.outputs),
    ],
    "names": [
        lambda node: any("ref_var_src_var_name" in o.desc.attrs for o in node.outputs),
        lambda node: {*node.input_names} & {*node.output_names},
    ],
    "stores": [
        lambda node: len([o for o in node.outputs if o.desc.reuse_input is not None]) > 1,
        lambda node: "rw" in node.attrs,
        lambda node: node.op == "AssignAdd",
    ],
    "copies": [
        _copies_beside,
        lambda node: node.op == "TensorMove" and "TensorMove" in {n.op for n in node.in_nodes},
        lambda node: "_cannot_be_deleted" in node.attrs,
        lambda node: node.op == "Assign" and "ScatterUpdate" in {n.op for n in node.in_nodes},
    ],
    "calls": [
        lambda node: node.subgraphs and len(node.outputs) > 1,
        lambda node: any(len(graph.callers) > 1 for graph in node.subgraphs.values()),
        _is_nested,
        lambda node: node.op == "Assign" and _is_inner(node),
    ],
    "collectives": [
        lambda node: "continuous_input" in node.attrs and "_input_mutable" in node.attrs,
        lambda node: "continuous_output" in node.attrs,
    ],
    "order": [lambda node: len(node.control_inputs) > len(node.in_nodes)],
    "results": [
        lambda node: node.op == "NetOutput" and any(n.op == "Variable" for n in node.in_nodes),
        lambda node: node.op == "NetOutput" and len(set(node.in_nodes)) < len(node.inputs),
    ],
}


def test_every_rare_thing_is_looked_for() -> None:
    """What a name stands for is written down here."""
    assert sorted(RARE) == sorted(SHOWS)


@pytest.mark.parametrize("name", sorted(RARE))
def test_rare_things_come_where_they_are_asked_for(name: str) -> None:
    """Some sixty graphs have each of them."""
    rare = EVERYTHING if name in ("copies", "calls") else (name,)
    found = nodes(nodes=14, rare=rare)
    assert [] == [at for at, has in enumerate(SHOWS[name]) if not any(has(n) for n in found)]


def test_an_unknown_rare_thing_is_refused() -> None:
    """The message names the near ones."""
    with pytest.raises(UsageError, match="'storms' means nothing"):
        GraphKnobs(rare=("storms",))


@settings(max_examples=60)
@given(strategies.graphs(GraphKnobs(nodes=16, streams=2, rare=EVERYTHING)))
def test_rare_graphs_are_whole(graph: Graph) -> None:
    """Whatever is drawn, on two streams."""
    verify(graph)


def test_slices_are_there_where_they_are_asked_for() -> None:
    """And nowhere else."""
    assert any(node.op == "SliceD" for node in nodes(slices=True))
    assert not any(node.op == "SliceD" for node in nodes(rare=EVERYTHING))


@pytest.mark.parametrize("knob", ["writers", "control_flow", "joins"])
def test_knobs_hold_among_rare_things(knob: str) -> None:
    """What is switched off is absent."""
    off: dict[str, Has] = {
        "writers": lambda node: node.op.startswith(("Assign", "Hcom", "Variable", "Scatter")),
        "control_flow": lambda node: node.subgraphs,
        "joins": lambda node: node.op in ("ConcatD", "Pack", "SplitD"),
    }
    found = nodes(rare=EVERYTHING, **{knob: False})
    assert [] == [node.name for node in found if off[knob](node)]
