"""What is one memory: both schemes, places, types, joins and their undo."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.analysis import AliasClasses, Anchor, Scheme
from ge_core.errors import LayoutConflict
from ge_core.ir import Graph, GraphBuilder, InputAnchor, TensorDesc
from ge_core.ops import (
    OpRegistry,
    is_subgraph_data,
    output_parent_index,
    ref_of,
    register_builtin_ops,
)
from ge_core.testing.choices import SeededChoices
from ge_core.testing.random_graphs import GraphKnobs, random_graph

OPS = OpRegistry()
register_builtin_ops(OPS)


def anchors(graph: Graph) -> list[Anchor]:
    """All anchors below the root."""
    found: list[Anchor] = []
    for node in graph.all_nodes():
        found += [*node.inputs, *node.outputs]
    return found


def flooded(links: list[tuple[Anchor, Anchor]], all_anchors: list[Anchor]) -> dict[Anchor, int]:
    """A class number per anchor, by flooding along links."""
    near: dict[Anchor, list[Anchor]] = {anchor: [] for anchor in all_anchors}
    for one, other in links:
        near[one].append(other)
        near[other].append(one)
    found: dict[Anchor, int] = {}
    for number, start in enumerate(all_anchors):
        stack = [start]
        while stack:
            anchor = stack.pop()
            if anchor not in found:
                found[anchor] = number
                stack += near[anchor]
    return found


def memory_links(graph: Graph) -> list[tuple[Anchor, Anchor]]:
    """The rules of the call boundary, written down naively."""
    links: list[tuple[Anchor, Anchor]] = []
    for node in graph.all_nodes():
        links += [(a.source, a) for a in node.inputs if a.source is not None]
        for output in node.outputs:
            at = ref_of(output, OPS)
            if at is not None and not is_subgraph_data(node):
                links.append((node.inputs[at], output))
        for sub in node.subgraphs.values():
            for inner in sub.nodes:
                if is_subgraph_data(inner):
                    at = inner.attrs["_parent_node_index"]
                    links.append((node.inputs[at], inner.outputs[0]))
                if inner.op == "NetOutput" and node.op == "PartitionedCall":
                    for anchor in inner.inputs:
                        at = output_parent_index(inner, anchor.index)
                        assert at is not None and anchor.source is not None
                        links.append((node.outputs[at], anchor.source))
    return links


def symbol_links(graph: Graph) -> list[tuple[Anchor, Anchor]]:
    """GE's symbol rules, written down naively."""
    links = memory_links(graph)
    for node in graph.all_nodes():
        for label, sub in node.subgraphs.items():
            if node.op == "While" and label == "cond":
                continue
            for inner in sub.nodes_of("NetOutput"):
                for anchor in inner.inputs:
                    at = output_parent_index(inner, anchor.index)
                    assert at is not None and anchor.source is not None
                    links.append((node.outputs[at], anchor.source))
    return links


def partition(numbers: dict[Anchor, int]) -> set[frozenset[Anchor]]:
    """Sets of anchors with equal numbers."""
    found: dict[int, set[Anchor]] = {}
    for anchor, number in numbers.items():
        found.setdefault(number, set()).add(anchor)
    return {frozenset(members) for members in found.values()}


@given(st.integers(0, 10_000))
def test_memory_classes_agree_with_flooding(seed: int) -> None:
    """One memory is what views, in-place ops, calls and captures connect, and nothing else."""
    graph = random_graph(seed, GraphKnobs(nodes=14))
    classes = AliasClasses(graph, OPS)
    expected = flooded(memory_links(graph), anchors(graph))
    actual = {a: id(classes.root(a)) for a in anchors(graph)}
    assert partition(expected) == partition(actual)
    assert [] == classes.conflicts


@given(st.integers(0, 10_000))
def test_symbols_also_join_the_results_of_arms_and_bodies(seed: int) -> None:
    """GE's table puts what any arm or turn delivers together with the outer output."""
    graph = random_graph(seed, GraphKnobs(nodes=14))
    classes = AliasClasses(graph, OPS, Scheme.SYMBOLS)
    known = [a for a in anchors(graph) if a in classes]
    numbers = flooded(symbol_links(graph), anchors(graph))
    assert partition({a: numbers[a] for a in known}) == partition(
        {a: id(classes.root(a)) for a in known}
    )


def test_a_condition_s_verdict_is_in_no_symbol() -> None:
    """What a While's condition returns is not the loop's result, and its input is in no symbol."""
    build = GraphBuilder()
    x = build.op("Relu", build.data("x"))
    cond, body = build.subgraph("c"), build.subgraph("b")
    verdict = cond.net_output(cond.op("Less", cond.data("c/d"), name="less"))
    body.net_output(body.op("Relu", body.data("b/d"), name="turn"))
    build.op("While", x, name="loop", subgraphs={"cond": cond, "body": body})
    symbols = AliasClasses(build.graph, OPS, Scheme.SYMBOLS)
    node = build.graph.node
    assert verdict.inputs[0] not in symbols
    assert symbols.same(node("turn").outputs[0], node("loop").outputs[0])
    assert not symbols.same(node("less").outputs[0], node("loop").outputs[0])


def typed(anchor: Anchor) -> list[str]:
    """Two made-up types."""
    found = ["relu"] if anchor.node.op == "Relu" else []
    return [*found, "in"] if isinstance(anchor, InputAnchor) else found


def counts(classes: AliasClasses, graph: Graph) -> list[tuple[list[Anchor], list[list[Anchor]]]]:
    """Members and lists by type, per anchor."""
    return [
        (
            list(classes.members(a)),
            [classes.of_type(a, name) for name in ("relu", "in")],
        )
        for a in anchors(graph)
    ]


@given(st.integers(0, 10_000))
def test_joins_and_discards_keep_the_lists_and_roll_back(seed: int) -> None:
    """Lists by type are the members of that type, in the members' order, before and after undo."""
    pick = SeededChoices(seed)
    graph = random_graph(seed, GraphKnobs(nodes=8, control_flow=False))
    classes = AliasClasses(graph, OPS, Scheme.SYMBOLS, typed)
    every = anchors(graph)
    before = counts(classes, graph)
    with graph.transaction() as edits:
        for _ in range(6):
            classes.join(pick.pick(every), pick.pick(every))
            classes.discard(pick.pick(every))
            for anchor in every:
                for name in ("relu", "in"):
                    expected = [m for m in classes.members(anchor) if name in typed(m)]
                    assert sorted(map(str, expected)) == sorted(
                        map(str, classes.of_type(anchor, name))
                    )
                    assert len(expected) == classes.count(anchor, name)
        edits.rollback()
    assert before == counts(classes, graph)


def test_only_pairs_of_types_that_meet_are_shown() -> None:
    """A question about joining two classes yields the anchors of asked-for types on either side."""
    build = GraphBuilder()
    one = build.op("Relu", build.data("x"), name="one")
    other = build.op("Exp", build.data("y"), name="other")
    build.op("Tanh", other, name="reader")
    classes = AliasClasses(build.graph, OPS, Scheme.SYMBOLS, typed)
    met = list(classes.meetings(one, other, [("in", "relu"), ("relu", "relu")]))
    reader = build.graph.node("reader").inputs[0]
    assert [("relu", "in", [one], [reader])] == met


def test_a_task_free_join_holds_its_operands_at_their_places() -> None:
    """Operands lie back to back by their unpadded sizes; the result starts with the first."""
    build = GraphBuilder()
    parts = [build.op("Relu", build.data(f"x{at}", (rows, 4))) for at, rows in enumerate((2, 3, 1))]
    marks = {"_no_padding_continuous_input": True, "_output_reuse_input": True, "_no_task": True}
    whole = build.op("ConcatD", *parts, shape=(6, 4), attrs=marks)
    classes = AliasClasses(build.graph, OPS)
    assert [0, 32, 80] == [classes.distance(whole, part) for part in parts]
    symbols = AliasClasses(build.graph, OPS, Scheme.SYMBOLS)
    assert [True, False, False] == [symbols.same(whole, part) for part in parts]


def test_an_inner_axis_gives_pieces_with_gaps() -> None:
    """Joined along an inner axis, operand i is rows of the whole, a pitch apart."""
    build = GraphBuilder()
    parts = [build.op("Relu", build.data(f"x{at}", (2, width))) for at, width in enumerate((4, 8))]
    marks = {
        "_no_padding_continuous_input": True,
        "_output_reuse_input": True,
        "_reuse_input_on_dim_index": 1,
    }
    whole = build.op("ConcatD", *parts, name="whole", shape=(2, 12), attrs=marks)
    classes = AliasClasses(build.graph, OPS)
    piece = classes.piece(whole.node.inputs[1])
    assert piece is not None
    assert (16, 32, 48, 2) == (piece.delta, piece.row, piece.pitch, piece.count)


def test_one_tensor_at_two_places_of_a_join_is_noted() -> None:
    """A contradiction leaves the second link out and is listed."""
    build = GraphBuilder()
    part = build.op("Relu", build.data("x", (2, 4)))
    marks = {"_no_padding_continuous_input": True, "_output_reuse_input": True}
    build.op("ConcatD", part, part, shape=(4, 4), attrs=marks)
    classes = AliasClasses(build.graph, OPS)
    assert 1 == len(classes.conflicts)
    with pytest.raises(LayoutConflict):
        classes.join(part, build.graph.node("ConcatD").inputs[0], 4)


def test_a_task_free_split_s_pieces_lie_in_its_input() -> None:
    """Piece j starts behind the pieces before it."""
    build = GraphBuilder()
    whole = build.op("Relu", build.data("x", (4, 4)))
    marks = {"_no_padding_continuous_output": True, "_output_reuse_input": True}
    desc = TensorDesc.make("float32", (2, 4))
    split = build.node("SplitD", whole, outputs=[desc, desc], attrs=marks)
    classes = AliasClasses(build.graph, OPS)
    assert [0, 32] == [classes.distance(whole, output) for output in split.outputs]


def test_an_output_that_names_a_variable_is_its_memory() -> None:
    """The name on an output's description, or on its node, joins it with the variable."""
    build = GraphBuilder()
    variable = build.op("Variable", name="w")
    named = TensorDesc.make().with_attr("ref_var_src_var_name", "w")
    by_output = build.node("Foo", build.data("x"), outputs=[named]).outputs[0]
    by_node = build.op("Bar", build.data("y"), attrs={"ref_var_src_var_name": "w"})
    classes = AliasClasses(build.graph, OPS)
    assert classes.same(variable, by_output) and classes.same(variable, by_node)


def test_ref_data_names_join_in_symbols() -> None:
    """GE's table follows names to RefData, and from an inner one to the Data that it waits for."""
    build = GraphBuilder()
    ref = build.op("RefData", name="r", attrs={"index": 0})
    named = TensorDesc.make().with_attr("ref_var_src_var_name", "r")
    output = build.node("Foo", build.data("x"), outputs=[named]).outputs[0]
    assert AliasClasses(build.graph, OPS, Scheme.SYMBOLS).same(ref, output)


def test_loop_slots_lie_where_the_loop_s_result_lies() -> None:
    """An ONNX loop's carried values are its outputs' memory; captured ones the outer tensor's."""
    build = GraphBuilder(source="onnx")
    trips, go, start, seen = (build.op("Relu", build.data(n)) for n in "abcd")
    body = build.subgraph("b")
    turn, cond = body.data("b/i"), body.data("b/c")
    slot, captured = body.data("b/s"), body.data("b/k")
    body.net_output(cond, body.op("Add", slot, captured, name="b/add"))
    loop = build.op(
        "Loop", trips, go, start, seen, name="loop", subgraphs={"body": body}, attrs={"captured": 1}
    )
    classes = AliasClasses(build.graph, OPS)
    assert classes.same(slot, loop) and classes.same(captured, seen)
    assert not classes.same(start, slot)
    assert not classes.same(turn, trips) and not classes.same(cond, go)


def test_a_known_anchor_is_not_added_twice() -> None:
    """Adding an anchor again changes nothing; a discarded one is not contained."""
    build = GraphBuilder()
    x = build.data("x")
    classes = AliasClasses(build.graph, OPS)
    classes.add(x)
    assert [x] == list(classes.members(x))
    classes.discard(x)
    assert x not in classes and [] == list(classes.members(x))


def test_distances_are_asked_inside_one_class() -> None:
    """Two memories have no distance."""
    build = GraphBuilder()
    x, y = build.data("x"), build.data("y")
    with pytest.raises(ValueError, match="not one memory"):
        AliasClasses(build.graph, OPS).distance(x, y)
