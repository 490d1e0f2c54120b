"""First and last marks: per stream, run and kernel library."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.ir import Graph, GraphBuilder
from ge_core.memory import Plan
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.tasks import generate_tasks, set_marks


def _marks(graph: Graph) -> tuple[list[str], list[str]]:
    ops = OpRegistry()
    register_builtin_ops(ops)
    tasks = generate_tasks(graph, ops, Plan())
    set_marks(graph, tasks)
    first = [node.name for node in graph.all_nodes() if node.attrs.get("is_first_node")]
    last = [node.name for node in graph.all_nodes() if node.attrs.get("is_last_node")]
    return first, last


def _chain(build: GraphBuilder, *nodes: tuple[str, str, dict[str, object]]) -> None:
    value = build.data("x")
    for name, op, attrs in nodes:
        value = build.op(op, value, name=name, attrs=attrs)
    build.net_output(value)


def test_a_task_free_node_is_neither_first_nor_last() -> None:
    """The marks go to the nodes that really run beside it."""
    build = GraphBuilder()
    quiet: dict[str, object] = {"_no_task": True}
    _chain(build, ("n0", "Foo", quiet), ("a", "Relu", {}), ("b", "Relu", {}), ("n1", "Foo", quiet))
    assert (["a"], ["b"]) == _marks(build.graph)


def test_every_stream_has_its_own() -> None:
    """Marks are per stream, in running order."""
    build = GraphBuilder()
    _chain(
        build,
        ("a", "Relu", {"stream_id": 0}),
        ("b", "Relu", {"stream_id": 1}),
        ("c", "Relu", {"stream_id": 0}),
        ("d", "Relu", {"stream_id": 1}),
    )
    assert (["a", "b"], ["c", "d"]) == _marks(build.graph)


def test_every_library_has_its_own() -> None:
    """Within a run each kernel library has a first and a last, by either attribute."""
    build = GraphBuilder()
    _chain(
        build,
        ("a", "Relu", {}),
        ("b", "Relu", {"_ge_attr_op_kernel_lib_name": "aicpu"}),
        ("c", "Relu", {}),
        ("d", "Relu", {"op_kernel_lib": "aicpu"}),
    )
    assert (["a", "b"], ["c", "d"]) == _marks(build.graph)


def test_switches_cut_runs_and_belong_to_none() -> None:
    """Behind a label or stream switch a new run begins."""
    build = GraphBuilder()
    _chain(
        build,
        ("a", "Relu", {}),
        ("b", "Relu", {}),
        ("switch", "StreamSwitch", {}),
        ("c", "Relu", {}),
    )
    assert (["a", "c"], ["b", "c"]) == _marks(build.graph)


def _with_call(streams: tuple[int, int]) -> Graph:
    build = GraphBuilder()
    own, other = ({"stream_id": stream} for stream in streams)
    x = build.data("x")
    a = build.op("Relu", x, name="a", attrs=own)
    body = build.subgraph("g")
    inner = body.op("Relu", body.data("g/x"), name="g/b", attrs=own)
    body.net_output(inner)
    call = build.op("PartitionedCall", a, name="call", subgraphs={"f": body}, attrs=own)
    c = build.op("Relu", call, name="c", attrs=own)
    build.net_output(build.op("Relu", c, name="d", attrs=other))
    return build.graph


def test_a_node_with_subgraphs_cuts_only_beside_other_streams() -> None:
    """With one stream it is an ordinary member; with more a run ends before it."""
    assert (["a"], ["d"]) == _marks(_with_call((0, 0)))
    assert (["a", "d", "g/b"], ["a", "c", "d"]) == _marks(_with_call((0, 1)))


def test_stale_marks_go() -> None:
    """Setting marks again leaves only those that hold."""
    build = GraphBuilder()
    _chain(build, ("a", "Relu", {"is_last_node": True}), ("b", "Relu", {"is_first_node": True}))
    assert (["a"], ["b"]) == _marks(build.graph)


ITEMS = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["Relu", "Relu", "Relu", "LabelSet", "LabelGotoEx", "StreamSwitch", "call"]),
    st.sampled_from(["aicore", "aicpu", ""]),
    st.sampled_from([False, False, True]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ITEMS, max_size=14))
def test_marks_are_those_of_the_definition(items: list[tuple[int, str, str, bool]]) -> None:
    """First: nothing of its stream and library before it up to the nearest cut; last: behind it.

    Nodes that are told to have no task, or name no library, have no mark and cut nothing.
    """
    build = GraphBuilder()
    value = build.data("x")
    for at, (stream, op, library, quiet) in enumerate(items):
        attrs: dict[str, object] = {"stream_id": stream, "_ge_attr_op_kernel_lib_name": library}
        if quiet:
            attrs["_no_task"] = True
        if op == "call":
            body = build.subgraph(f"g{at}")
            body.net_output(body.data(f"g{at}/x"))
            value = build.op(
                "PartitionedCall", value, name=f"n{at}", subgraphs={"f": body}, attrs=attrs
            )
        else:
            value = build.op(op, value, name=f"n{at}", attrs=attrs)
    build.net_output(value)
    alive = [at for at, (_, _, library, quiet) in enumerate(items) if library and not quiet]
    several = len({items[at][0] for at in alive}) > 1

    def cuts(at: int) -> bool:
        return items[at][1] not in ("Relu", "call") or (several and items[at][1] == "call")

    def has_like(at: int, others: list[int]) -> bool:
        for other in others:
            if items[other][0] != items[at][0]:
                continue
            if cuts(other):
                return False
            if items[other][2] == items[at][2]:
                return True
        return False

    members = [at for at in alive if not cuts(at)]
    first = {f"n{at}" for at in members if not has_like(at, [o for o in alive if o < at][::-1])}
    last = {f"n{at}" for at in members if not has_like(at, [o for o in alive if o > at])}
    found = _marks(build.graph)
    assert (first, last) == (set(found[0]), set(found[1]))
