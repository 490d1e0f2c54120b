"""Who writes a memory, found under all its names; whether readers may read another."""

from __future__ import annotations

from ge_core.analysis import AliasClasses, Effects, first_writer, may_share
from ge_core.ir import GraphBuilder, OutputAnchor, TensorDesc
from ge_core.ops import OpRegistry, register_builtin_ops

OPS = OpRegistry()
register_builtin_ops(OPS)
FLAT = [TensorDesc.make("float32", (16,), reuse_input=0)]


def writer(build: GraphBuilder, output: OutputAnchor) -> str | None:
    """The node that writes an output's memory."""
    found = first_writer(output, AliasClasses(build.graph, OPS), Effects(OPS))
    return None if found is None else found.node.name


def shares(build: GraphBuilder, output: OutputAnchor, source: OutputAnchor) -> bool:
    """`may_share` on the graph as it is."""
    return may_share(output, source, AliasClasses(build.graph, OPS), Effects(OPS))


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
