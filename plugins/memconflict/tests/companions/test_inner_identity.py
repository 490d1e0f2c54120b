"""Copies in front of stores: where they are put, for whom, and when they go again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ge_core
from ge_core.api import Graph, GraphBuilder, Node, OutputAnchor, PassError, Remark, clone

Run = Callable[..., Any]
ADD, DELETE = "InnerIdentityAddPass", "InnerIdentityDeletePass"
STORE = {"reference": True}


def feeder(node: Node, at: int = 0) -> str:
    """The op that feeds an input."""
    source = node.inputs[at].source
    return "" if source is None else source.node.op


def facts(remark: Remark) -> tuple[str, str, list[str | None], int | None]:
    """What a remark says: kind, code, the anchors to blame, bytes."""
    blame: list[str | None] = [one.anchor or one.node for one in remark.blame]
    return str(remark.kind), remark.code, blame, remark.bytes


def store(
    build: GraphBuilder, target: OutputAnchor, value: OutputAnchor, name: str
) -> OutputAnchor:
    """A store in place."""
    return build.op("Assign", target, value, name=name, attrs=STORE, reuse_input=0)


def test_a_store_gets_a_clean_copy_and_later_readers_read_it(run: Run) -> None:
    """Name, marks, description, remark; who reads before the store stays on the original."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.op("Relu", x, name="act")
    view = b.op("Reshape", act, name="view", reuse_input=0)
    pre = b.op("Exp", view, name="pre")
    st = store(b, view, x, "st")
    b.net_output(st, b.op("Exp", view, name="post"), pre)
    env = run(b.graph, ADD)
    copy = b.graph.node("inner_identity_0")
    assert ((), "view:0") == (copy.origin, repr(copy.inputs[0].source))
    marks = {"_inner_identity", "_cannot_be_deleted", "no_need_constant_folding"}
    assert dict.fromkeys(marks, True) == dict(copy.attrs)
    assert None is copy.outputs[0].desc.reuse_input
    readers = [repr(reader) for reader in copy.outputs[0].readers]
    assert ["st@0", "post@0"] == readers
    assert "Reshape" == feeder(b.graph.node("pre"))
    remark = env.remarks.final(copy.name)
    assert ("missed", "INNER_IDENTITY", ["view:0", "st@0"], 64) == facts(remark)
    assert remark.hint is not None


@pytest.mark.parametrize("same", [True, False])
def test_a_shared_subgraph_may_see_the_store_by_another_name(run: Run, same: bool) -> None:
    """One caller would give it the copy, the other the memory itself, if that is what is stored."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.op("Relu", x, name="act")
    view = b.op("Reshape", act if same else b.op("Exp", x), name="view", reuse_input=0)
    st = store(b, act, x, "st")
    inner = b.subgraph("g")
    inner.net_output(inner.op("Exp", inner.data("d", index=0), name="seen"))
    calls = [
        b.op("PartitionedCall", given, name=f"call{at}", subgraphs={"f": inner})
        for at, given in enumerate((act, view))
    ]
    b.net_output(st, *calls)
    env = run(b.graph, ADD)
    said = [remark.code for remark in env.remarks.of("st")]
    assert same is ("COPY_WOULD_HIDE_A_STORE" in said)


def test_what_a_store_waited_for_its_copy_waits_for(run: Run) -> None:
    """Order is kept by the copy."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.op("Relu", x, name="act")
    first = b.op("Exp", x, name="first")
    st = store(b, act, x, "st").node
    b.graph.add_control(first.node, st)
    b.net_output(st.outputs[0], first)
    run(b.graph, ADD)
    copy = b.graph.node("inner_identity_0")
    assert ((first.node,), ()) == (tuple(copy.control_inputs), tuple(st.control_inputs))


@pytest.mark.parametrize("how", ["behind_a_view", "as_a_predicate", "in_a_call", "in_a_loop"])
def test_a_copy_that_would_hide_a_store_is_not_put_in(run: Run, how: str) -> None:
    """Somebody else is meant to see what is stored: the remark names both."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.op("Relu", x, name="act")
    if how == "behind_a_view":
        view = b.op("Reshape", act, name="view", reuse_input=0)
        st = store(b, act, x, "st")
        b.net_output(st, b.op("Exp", view, name="late"))
        expected = ["st@0", "late@0"]
    elif how == "as_a_predicate":
        view = b.op("Reshape", act, name="view", reuse_input=0)
        st = store(b, act, x, "st")
        arms = {"then_branch": b.subgraph("t"), "else_branch": b.subgraph("e")}
        for name, arm in arms.items():
            arm.net_output(arm.op("Relu", arm.data(f"{name}/d", index=1), name=f"{name}/r"))
        branch = b.op("If", view, x, name="if", subgraphs=arms, control=[st])
        b.net_output(branch, st)
        expected = ["st@0", "if@0"]
    else:
        body = b.subgraph("g")
        d = body.data("g/d")
        st = store(body, d, body.op("Exp", d, name="g/e"), "st")
        body.net_output(body.op("Exp", st, name="g/r"))
        call: Any = None
        if how == "in_a_call":
            call = b.op("PartitionedCall", act, name="call", subgraphs={"f": body})
            b.net_output(call, b.op("Exp", act, name="late"))
            expected = ["st@0", "late@0"]
        else:
            for name in ("one", "two"):
                call = b.op("PartitionedCall", act, name=name, subgraphs={"f": body})
            b.net_output(call)
            expected = ["st@0", "g/d:0"]
    before = clone(b.graph)
    env = run(b.graph, ADD)
    assert [] == b.graph.nodes_of("Identity")
    (remark,) = env.remarks.of("st")
    assert ("analysis", "COPY_WOULD_HIDE_A_STORE") == (remark.kind, remark.code)
    assert expected == [one.anchor for one in remark.blame]
    ge_core.compile(before, pipeline=ADD).check_proof()


@pytest.mark.parametrize("how", ["plain", "behind_a_view", "in_a_call", "twice"])
def test_a_copy_of_a_graph_input_hands_back_what_is_stored(run: Run, how: str) -> None:
    """The caller finds it there, and so does who reads later; the delete pass takes all out."""
    b = GraphBuilder()
    x, y = b.data("x"), b.data("y")
    early = b.op("Exp", x, name="early")
    view = b.op("Reshape", x, name="view", reuse_input=0)
    if how == "in_a_call":
        body = b.subgraph("g")
        d, e = body.data("g/d"), body.data("g/e")
        body.net_output(body.op("Exp", store(body, d, e, "g/st"), name="g/r"))
        st = b.op("Mul", x, y, name="st", reuse_input=0, attrs={"reference": True})
        last = b.op("PartitionedCall", x, y, name="last", subgraphs={"f": body})
    else:
        target = view if how == "behind_a_view" else x
        st = last = store(b, target, y, "st")
        if how == "twice":
            last = store(b, x, early, "last")
    b.net_output(early, b.op("Exp", st, name="r"), last, b.op("Exp", view, name="late"))
    before, again = clone(b.graph), clone(b.graph)
    run(b.graph, ADD)
    stores = [node for node in b.graph.nodes_of("Assign") if node.origin == ()]
    target = "view:0" if how == "behind_a_view" else "x:0"
    copy = b.graph.node("inner_identity_0")
    assert b.graph.node("st").inputs[0].source is copy.outputs[0]
    assert (2 if how in ("in_a_call", "twice") else 1) == len(stores)
    assert {(target, "inner_identity_0:0")} == {
        (repr(each.inputs[0].source), repr(each.inputs[1].source)) for each in stores
    }
    size = len(b.graph)
    run(b.graph, ADD)
    assert size == len(b.graph)
    ge_core.compile(before, pipeline=ADD).check_proof()
    result = ge_core.compile(again, level="O0")
    result.check_proof()
    assert ["x:0", "view:0"][how == "behind_a_view"] == repr(
        result.graph.node("st").inputs[0].source
    )
    assert [] == [node for node in result.graph.nodes_of("Assign") if node.origin == ()]


@pytest.mark.parametrize("why", ["two_targets", "a_broadcast_is_stored"])
def test_a_graph_input_that_nothing_can_be_handed_back_to_gets_no_copy(run: Run, why: str) -> None:
    """One node updates it twice, or another pass changes values on purpose."""
    b = GraphBuilder()
    x, y = b.data("x"), b.data("y")
    if why == "two_targets":
        two = b.graph.add_node(
            "TwoRef",
            "st",
            [x, x],
            [x.desc.replace(reuse_input=0), x.desc.replace(reuse_input=1)],
            attrs={"reference": True, "rw": {"inputs": {"0": "write", "1": "write"}}},
        )
        b.net_output(two.outputs[0], two.outputs[1])
    else:
        w = b.op("Variable", name="w")
        attrs = {"_input_mutable": True}
        b.net_output(store(b, x, y, "st"), b.op("HcomBroadcast", w, name="fill", attrs=attrs))
    env = run(b.graph, ADD)
    assert [] == b.graph.nodes_of("Identity")
    assert "COPY_WOULD_HIDE_A_STORE" in [remark.code for remark in env.remarks.of("st")]


@pytest.mark.parametrize("through_a_view", [False, True])
def test_a_constant_stays_what_it_is_for_all_but_the_store(run: Run, through_a_view: bool) -> None:
    """Readers behind the store go on reading the constant; a second store has its own copy."""
    b = GraphBuilder()
    x = b.data("x")
    value = b.const("k", bytes(64), (1, 16))
    if through_a_view:
        value = b.op("Reshape", value, name="view", reuse_input=0)
    st = store(b, value, x, "st")
    after = b.op("Add", st, value, name="after")
    b.net_output(store(b, value, after, "last"))
    before = clone(b.graph)
    run(b.graph, ADD)
    targets = [b.graph.node(name).inputs[0].source for name in ("st", "last")]
    assert ["inner_identity_0:0", "inner_identity_1:0"] == [repr(target) for target in targets]
    assert repr(value) == repr(b.graph.node("after").inputs[1].source)
    ge_core.compile(before, pipeline=ADD).check_proof()


@pytest.mark.parametrize("op", ["Variable", "RefData", "ReadVariableOp"])
def test_who_is_meant_to_change_gets_no_copy(run: Run, op: str) -> None:
    """Through a call and a view too."""
    b = GraphBuilder()
    x = b.data("x")
    w = b.op(op, *([b.op("Relu", x)] if op == "ReadVariableOp" else []), name="w")
    inner = b.subgraph("g")
    view = inner.op("Reshape", inner.data("g/d"), reuse_input=0)
    inner.net_output(store(inner, view, view, "st"))
    b.net_output(b.op("PartitionedCall", w, subgraphs={"f": inner}))
    run(b.graph, ADD)
    assert [] == b.graph.nodes_of("Identity") + b.graph.subgraphs["g"].nodes_of("Identity")


def test_an_open_store_target_is_an_error(run: Run) -> None:
    """It names node, input, and what to do."""
    b = GraphBuilder()
    b.graph.add_node("Assign", "st", [None, b.data("x")], [b.data("y").desc.replace(reuse_input=0)])
    b.graph.set_attr(b.graph.node("st"), "reference", True)
    with pytest.raises(PassError, match="node 'st'.*input 0.*not connected") as caught:
        run(b.graph, ADD)
    assert "connect" in str(caught.value.hint)


def test_a_search_beyond_the_limit_leaves_the_graph_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says so, for putting in and for taking out."""
    monkeypatch.setattr("ge_memconflict.companions.copying._STEPS_PER_NODE", 0)
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    side = b.op("Exp", act, name="side")
    st = store(b, act, side, "st")
    b.net_output(st)
    env = run(b.graph, ADD)
    assert ["SEARCH_LIMIT"] == [remark.code for remark in env.remarks.of("st")]
    hold = b.graph.add_node(
        "Identity", "hold", [act], [act.desc], attrs={"_inner_identity": True}, before=st.node
    )
    b.graph.rewire(st.node.inputs[0], hold.outputs[0])
    env = run(b.graph, DELETE)
    assert "SEARCH_LIMIT" == env.remarks.final("hold").code


# ---- taking out ----------------------------------------------------------------------------------


def held(source: str = "Relu", *, pre: bool = False, post: bool = False) -> Graph:
    """A store behind an inner copy, with a reader of the source, or of the copy."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.const("act", bytes(64), (1, 16)) if source == "Const" else b.op(source, x, name="act")
    side = b.op("Exp", act, name="side") if pre else None
    hold = b.op("Identity", act, name="hold", attrs={"_inner_identity": True})
    st = store(b, hold, x, "st")
    last = b.op("Exp", hold, name="post") if post else None
    b.net_output(*[value for value in (st, side, last) if value is not None])
    return b.graph


@pytest.mark.parametrize(
    ("graph", "code", "blame", "hint"),
    [
        (held(pre=True), "READER_NOT_BEFORE", ["st@0", "side@0"], "side -> st"),
        (held(post=True), "READER_NOT_BEHIND", ["st@0", "post@0"], "st -> post"),
        (held("Const"), "STORE_INTO_CONSTANT", ["act:0", "st@0"], None),
    ],
    ids=["before", "behind", "constant"],
)
def test_why_a_copy_stays(run: Run, graph: Graph, code: str, blame: list[str], hint: Any) -> None:
    """Two anchors to blame, the bytes, and the edge that would free it."""
    env = run(graph, DELETE)
    remark = env.remarks.final("hold")
    assert ("missed", code, blame, 64) == facts(remark)
    assert hint == (None if remark.hint is None else remark.hint.value)
    if hint is not None:
        before, after = hint.split(" -> ")
        graph.add_control(graph.node(before), graph.node(after))
        run(graph, DELETE)
        assert None is graph.find("hold")


def test_a_copy_into_other_memory_stays(run: Run) -> None:
    """It moves data."""
    graph = held()
    output = graph.node("hold").outputs[0]
    graph.set_desc(output, output.desc.replace(mem_type="L1"))
    env = run(graph, DELETE)
    assert ("missed", "MEMORY_KIND", ["act:0", "hold:0"], 64) == facts(env.remarks.final("hold"))


def test_no_option_makes_a_store_seen(run: Run) -> None:
    """GE removes without looking where its order is stable; a reader behind a view keeps it."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.op("Relu", x, name="act")
    view = b.op("Reshape", act, name="view", reuse_input=0)
    hold = b.op("Identity", act, name="hold", attrs={"_inner_identity": True})
    b.net_output(store(b, hold, x, "st"), b.op("Exp", view, name="late"))
    env = run(b.graph, DELETE, ge__topoSortingMode="3")
    expected = ("missed", "STORE_WOULD_BE_SEEN", ["st@0", "late@0"], 64)
    assert expected == facts(env.remarks.final("hold"))


def test_copies_that_came_with_the_graph_protect_the_caller(run: Run) -> None:
    """What the caller hands in is not overwritten because a mark says who planted a copy."""
    b = GraphBuilder()
    x, y = b.data("x"), b.data("y")
    hold = b.op("Identity", x, name="hold", attrs={"_inner_identity": True})
    b.net_output(store(b, hold, y, "st"))
    env = run(b.graph, DELETE)
    assert "STORE_WOULD_BE_SEEN" == env.remarks.final("hold").code


def test_putting_in_and_taking_out_is_nothing(run: Run) -> None:
    """Where all are ordered nothing is left but the remark that it went."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.op("Relu", x, name="act")
    pre = b.op("Exp", act, name="pre")
    st = store(b, act, pre, "st")
    b.net_output(b.op("Add", st, act, name="sum"))
    env = run(b.graph, ADD, DELETE)
    assert [] == b.graph.nodes_of("Identity")
    final = env.remarks.final("inner_identity_0")
    assert ("applied", "INNER_IDENTITY_UNNEEDED", 64) == (final.kind, final.code, final.bytes)
    assert ["act:0", "st@0"] == [one.anchor for one in final.blame]


def chain(count: int) -> Graph:
    """Many stores into one value, and readers between them."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.op("Relu", x, name="act")
    for at in range(count):
        st = store(b, act, x, f"st{at}")
        last = b.op("Exp", act, name=f"read{at}")
    b.net_output(st, last)
    return b.graph


@pytest.mark.parametrize("count", [100, 400])
def test_the_work_grows_with_the_graph(
    run: Run, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """One value with many stores: one copy, and steps in proportion to the accesses."""
    from ge_memconflict.companions import memories

    made: list[memories.Memories] = []
    plain = memories.Memories.__init__

    def noting(self: memories.Memories, *args: Any) -> None:
        plain(self, *args)
        made.append(self)

    monkeypatch.setattr(memories.Memories, "__init__", noting)
    graph = chain(count)
    run(graph, ADD)
    assert 1 == len(graph.nodes_of("Identity"))
    assert made[0].steps <= 20 * count
