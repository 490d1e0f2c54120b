"""Who writes a memory, found under all its names; whether readers may read another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ge_core.analysis import Effects, Sharing
from ge_core.ir import Graph, GraphBuilder, Node, OutputAnchor, TensorDesc
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.testing import DrawnChoices, GraphKnobs, random_graph

OPS = OpRegistry()
register_builtin_ops(OPS)
FLAT = [TensorDesc.make("float32", (16,), reuse_input=0)]


def writer(build: GraphBuilder, output: OutputAnchor) -> str | None:
    """The node that writes an output's memory."""
    found = Sharing(build.graph, OPS).first_writer(output)
    return None if found is None else found.node.name


def shares(build: GraphBuilder, output: OutputAnchor, source: OutputAnchor) -> bool:
    """`may_share` on the graph as it is."""
    return Sharing(build.graph, OPS).may_share(output, source)


def store(build: GraphBuilder, into: OutputAnchor) -> None:
    """A node that adds to a memory in place."""
    build.op("AssignAdd", into, build.const("one", bytes(64), (16,)), name="store", outputs=FLAT)


def pair(build: GraphBuilder, source: OutputAnchor) -> OutputAnchor:
    """Two transposes that undo each other."""
    once = build.op("Transpose", source, attrs={"perm": [1, 0]})
    return build.op("Transpose", once, attrs={"perm": [1, 0]})


def test_a_writer_behind_a_view_is_found() -> None:
    """A reader of the output only looks at it: what that hands on is written."""
    build = GraphBuilder()
    x = build.data("x", (4, 4))
    output = pair(build, x)
    store(build, build.op("Reshape", output, outputs=[TensorDesc.make("float32", (16,))]))
    assert [False] == [Effects(OPS).writes(reader) for reader in output.readers]
    assert ("store", None) == (writer(build, output), writer(build, x))
    assert not shares(build, output, x)


def test_a_writer_inside_a_call_is_found() -> None:
    """At any depth, behind the inner input."""
    build = GraphBuilder()
    x = build.data("x", (4, 4))
    output = pair(build, x)
    sub = build.subgraph("inner")
    store(sub, sub.op("Reshape", sub.data("inner/d", (4, 4)), outputs=FLAT))
    sub.net_output(sub.const("inner/c", bytes(64), (16,)))
    build.op("PartitionedCall", output, name="call", subgraphs={"f": sub})
    assert writer(build, output) in ("call", "store")
    assert not shares(build, output, x)


def test_a_writer_of_the_source_counts() -> None:
    """The output's readers would see what it writes."""
    build = GraphBuilder()
    x = build.data("x", (4, 4))
    output = pair(build, x)
    store(build, x)
    assert (None, "store") == (writer(build, output), writer(build, x))
    assert not shares(build, output, x)


def test_readers_may_read_a_memory_that_nobody_writes() -> None:
    """However many views of it there are."""
    build = GraphBuilder()
    x = build.data("x", (4, 4))
    output = pair(build, x)
    build.net_output(build.op("Exp", build.op("Reshape", output, outputs=FLAT)))
    assert (None, True) == (writer(build, output), shares(build, output, x))


def test_one_memory_may_be_read_as_itself() -> None:
    """A view's readers read the same bytes already, written or not."""
    build = GraphBuilder()
    x = build.data("x", (16,))
    view = build.op("Reshape", x, outputs=FLAT)
    store(build, view)
    assert shares(build, view, x)


def test_an_output_that_is_a_variable_by_name_is_written() -> None:
    """GE's passes write the name on the output: whoever makes it writes the variable."""
    build = GraphBuilder()
    variable = build.op("Variable", name="v", outputs=[TensorDesc.make("float32", (16,))])
    x = build.data("x", (16,))
    build.op("Relu", x, name="update", outputs=FLAT, attrs={"ref_var_src_var_name": "v"})
    assert "update" == writer(build, variable)


# ---- after edits -----------------------------------------------------------------------------


def copies(graph: Graph) -> list[Node]:
    """Nodes that may be bypassed, writers too: one input, one output, no part in control flow."""
    return [
        node
        for node in graph.all_nodes()
        if not node.subgraphs
        and node.op != "Data"
        and len(node.inputs) == len(node.outputs) == 1
        and node.inputs[0].source is not None
    ]


@given(data=st.data())
def test_after_bypasses_it_answers_as_if_made_anew(data: st.DataObject) -> None:
    """Whatever is bypassed, taken back or edited otherwise in between."""
    graph = random_graph(DrawnChoices(data.draw), GraphKnobs(nodes=14, moves=40))
    kept = Sharing(graph, OPS)
    for _ in range(data.draw(st.integers(1, 6))):
        nodes = copies(graph)
        if not nodes:
            return
        node = data.draw(st.sampled_from(nodes))
        assert node.graph is not None
        step = data.draw(st.sampled_from(["bypass", "bypass", "taken back", "other edit"]))
        if step == "taken back":
            with node.graph.transaction() as edits:
                node.graph.bypass(node)
                _ask(kept, graph)
                edits.rollback()
        elif step == "bypass":
            node.graph.bypass(node)
        else:
            node.graph.set_attr(node, "touched", True)
        assert _ask(Sharing(graph, OPS), graph) == _ask(kept, graph)


def _ask(sharing: Sharing, graph: Graph) -> list[tuple[bool, bool]]:
    return [
        (
            sharing.may_share(node.outputs[0], node.inputs[0].source),
            sharing.first_writer(node.outputs[0]) is None,
        )
        for node in copies(graph)
        if node.inputs[0].source is not None
    ]


def test_a_pass_may_ask_before_each_of_many_bypasses() -> None:
    """The classes are made once, however many bypasses there are between the questions."""
    build = GraphBuilder()
    value = build.data("x", (4,))
    for at in range(200):
        value = build.op("Cast", build.op("Exp", value, name=f"e{at}"), name=f"c{at}")
    build.net_output(value)
    sharing = Sharing(build.graph, OPS)
    for node in list(build.graph.nodes_of("Cast")):
        assert sharing.may_share(node.outputs[0], node.inputs[0].source)
        build.graph.bypass(node)
    assert 1 == sharing.builds
