"""Every reason code of HandleMemoryRWConflict, each tripped by a small graph, with its facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ge_core
from ge_core.api import (
    Graph,
    GraphBuilder,
    InputKind,
    OutputAnchor,
    OutputKind,
    TensorDesc,
    clone,
)
from ge_core.passes.manager import PassManager
from ge_core.passes.planning import plan_passes
from ge_core.passes.precedence import ARGUMENTS, Source
from ge_core.passes.remarks import Remarks
from ge_core.session.kernel import default_kernel
from ge_memconflict.readwrite.codes import CODES

STORE = {"reference": True}
PASS = "HandleMemoryRWConflict"
SCRIBBLE = {"_input_mutable": True}

Builds = Callable[[GraphBuilder], Any]
CASES: dict[str, tuple[str, Builds]] = {}
"""Code -> the Identity that ends with it (the start of its name), and what builds the graph."""


def trips(code: str, on: str = "hold") -> Callable[[Builds], Builds]:
    """Enter a builder under its code."""

    def enter(build: Builds) -> Builds:
        CASES[code] = (on, build)
        return build

    return enter


def made(b: GraphBuilder, name: str = "act") -> OutputAnchor:
    """A private value."""
    return b.op("Relu", b.data(f"in_{name}"), name=name)


def hold(b: GraphBuilder, source: OutputAnchor, **facts: Any) -> OutputAnchor:
    """The Identity in question."""
    return b.op("Identity", source, name="hold", **facts)


def view(b: GraphBuilder, source: OutputAnchor, name: str = "view") -> OutputAnchor:
    """Another name for the same memory."""
    return b.op("Reshape", source, name=name, reuse_input=0)


def store(b: GraphBuilder, target: OutputAnchor, name: str = "store", **facts: Any) -> OutputAnchor:
    """Overwrite in place and hand the memory on."""
    return b.op("Foo", target, name=name, attrs=STORE, reuse_input=0, **facts)


def scribble(b: GraphBuilder, *targets: OutputAnchor, name: str = "reduce") -> OutputAnchor:
    """Use up the inputs."""
    return b.op("HcomAllReduce", *targets, name=name, attrs=SCRIBBLE)


def use(b: GraphBuilder, *sources: OutputAnchor, name: str = "use", **facts: Any) -> OutputAnchor:
    """Read only."""
    return b.op("Exp", *sources, name=name, **facts)


def arm(b: GraphBuilder, name: str) -> GraphBuilder:
    """A subgraph that reads the caller's input 1."""
    sub = b.subgraph(name)
    sub.net_output(sub.op("Relu", sub.data(f"{name}/d", index=1), name=f"{name}/r"))
    return sub


# ---- put in -------------------------------------------------------------------------------------


@trips("ISOLATES_CONSTANT", "k_Identity0")
def _(b: GraphBuilder) -> None:
    b.net_output(store(b, b.op("Const", name="k")))


@trips("ISOLATES_SHARED", "act_Identity0")
def _(b: GraphBuilder) -> None:
    act = made(b)
    b.net_output(scribble(b, act), use(b, act))


@trips("ISOLATES_UPDATED", "w_Identity0")
def _(b: GraphBuilder) -> None:
    w = b.op("Variable", name="w")
    b.net_output(scribble(b, w), use(b, w))


@trips("ISOLATES_RESULT", "a/store_Identity0")
def _(b: GraphBuilder) -> None:
    sub = b.subgraph("a")
    sub.data("a/d", index=1)
    w = sub.op("Variable", name="a/w")
    sub.net_output(store(sub, w, name="a/store"))
    branch = b.op("If", b.data("p"), made(b), subgraphs={"t": sub, "e": arm(b, "e")}, name="if")
    b.net_output(store(b, branch))


@trips("ISOLATES_SPLIT", "hold_Identity0")
def _(b: GraphBuilder) -> None:
    copy = hold(b, b.op("Variable", name="w"))
    early = use(b, copy)
    b.net_output(store(b, copy), early)


# ---- taken out ----------------------------------------------------------------------------------


@trips("REMOVED")
def _(b: GraphBuilder) -> None:
    b.net_output(scribble(b, hold(b, made(b))))


@trips("REMOVED_UNREAD")
def _(b: GraphBuilder) -> None:
    act = made(b)
    hold(b, act)
    b.net_output(use(b, act))


@trips("REMOVED_SPLIT")
def _(b: GraphBuilder) -> None:
    copy = hold(b, b.op("Variable", name="w"))
    b.net_output(use(b, copy, name="one"), use(b, copy, name="two"))


# ---- left ---------------------------------------------------------------------------------------


@trips("KEPT_RESERVED")
def _(b: GraphBuilder) -> None:
    b.net_output(use(b, hold(b, made(b), attrs={"_cannot_be_deleted": True})))


@trips("KEPT_INSERTED")
def _(b: GraphBuilder) -> None:
    copy = hold(b, made(b))
    b.graph.set_origin(copy.node, ())
    b.net_output(use(b, copy))


@trips("KEPT_IN_LOOP")
def _(b: GraphBuilder) -> None:
    cond, body = b.subgraph("c"), b.subgraph("b")
    cond.net_output(cond.op("Less", cond.data("c/d"), name="c/l"))
    copy = body.op("Identity", body.op("Relu", body.data("b/d"), name="b/r"), name="hold")
    body.net_output(body.op("Exp", copy, name="b/e"))
    b.net_output(b.op("While", made(b), subgraphs={"cond": cond, "body": body}, name="while"))


@trips("KEPT_PORTS")
def _(b: GraphBuilder) -> None:
    act = made(b)
    node = b.node("Identity", act, act, name="hold", outputs=[TensorDesc.make()] * 2)
    b.net_output(*node.outputs)


@trips("KEPT_UNCONNECTED")
def _(b: GraphBuilder) -> None:
    b.net_output(use(b, b.node("Identity", None, name="hold").outputs[0]))


@trips("KEPT_READERS")
def _(b: GraphBuilder) -> None:
    w = b.op("Variable", name="w")
    copy = hold(b, w)
    stored = store(b, w)
    one, two = use(b, copy, name="one"), use(b, copy, name="two")
    b.net_output(stored, one, two)


@trips("KEPT_STREAM_MERGE")
def _(b: GraphBuilder) -> None:
    b.net_output(b.op("StreamMerge", hold(b, made(b)), made(b, "other"), name="merge"))


@trips("KEPT_NEAR_SUBGRAPH")
def _(b: GraphBuilder) -> None:
    copy = hold(b, made(b))
    subgraphs = {"t": arm(b, "t"), "e": arm(b, "e")}
    b.net_output(b.op("If", b.data("p"), copy, subgraphs=subgraphs, name="if"))


@trips("KEPT_READ_FIRST")
def _(b: GraphBuilder) -> None:
    w = b.op("Variable", name="w")
    copy = hold(b, w)
    early = use(b, copy)
    stored = b.op("Assign", w, made(b), name="assign", reuse_input=0, control=[copy])
    b.net_output(early, stored)


@trips("KEPT_CONFLICT")
def _(b: GraphBuilder) -> None:
    act = made(b)
    b.net_output(scribble(b, hold(b, act)), use(b, act))


@trips("KEPT_UNKNOWN")
def _(b: GraphBuilder) -> None:
    # It says that it stands for a caller's input, and nobody calls.
    b.net_output(use(b, hold(b, b.data("x", attrs={"_parent_node_index": 0}))))


@trips("KEPT_OTHER_MEMORY")
def _(b: GraphBuilder) -> None:
    act = made(b)
    node = b.node("Identity", act, name="hold", outputs=[TensorDesc.make(mem_type="P2P")])
    b.net_output(use(b, node.outputs[0], shape=(1, 16)))


@trips("KEPT_OTHER_TYPE")
def _(b: GraphBuilder) -> None:
    act = made(b)
    node = b.node("Identity", act, name="hold", outputs=[TensorDesc.make("int32", (1, 16))])
    b.net_output(use(b, node.outputs[0]))


@trips("KEPT_PIECES")
def _(b: GraphBuilder) -> None:
    marks = {"_no_padding_continuous_input": True, "_output_reuse_input": True, "_no_task": True}
    copy = hold(b, made(b))
    attrs = {**marks, "concat_dim": 0}
    b.net_output(use(b, b.op("ConcatD", copy, made(b, "b"), attrs=attrs, shape=(2, 16))))


@trips("KEPT_HANDED_TO_BOTH")
def _(b: GraphBuilder) -> None:
    act = made(b)
    inner = b.subgraph("g")
    inner.net_output(use(inner, inner.data("d", index=0)))
    both = [
        b.op("PartitionedCall", given, name=f"call{at}", subgraphs={"f": inner})
        for at, given in enumerate((act, b.op("Reshape", hold(b, act), name="seen")))
    ]
    b.net_output(*both)


@trips("KEPT_OWNED")
def _(b: GraphBuilder) -> None:
    b.net_output(store(b, hold(b, b.op("Variable", name="w"))))


@trips("KEPT_RESULT")
def _(b: GraphBuilder) -> None:
    b.net_output(hold(b, b.data("x")))


@trips("KEPT_WRITTEN_EARLY")
def _(b: GraphBuilder) -> None:
    w = b.op("Variable", name="w")
    copy = hold(b, w)
    stored = store(b, w)
    b.net_output(stored, use(b, copy))


@trips("KEPT_READ_LATE")
def _(b: GraphBuilder) -> None:
    act = made(b)
    stored = store(b, hold(b, act))
    b.net_output(stored, use(b, act))


@trips("KEPT_WAITING")
def _(b: GraphBuilder) -> None:
    copy = hold(b, made(b))
    other = b.op("Exp", b.data("y"), name="other", control=[copy])
    b.net_output(use(b, copy), other)


@trips("KEPT_LAYOUT")
def _(b: GraphBuilder) -> None:
    x = b.data("x")
    packed = {"continuous_input": True}
    b.net_output(b.op("HcomAllGather", hold(b, x), made(b), attrs=packed, shape=(2, 16)))


def test_a_reader_that_has_gone_over_ties_nothing_together() -> None:
    """A subgraph takes the value and its copy until the one reader is split off the other."""
    b = GraphBuilder()
    x = b.data("x")
    copy = hold(b, x)
    inner = b.subgraph("g")
    inner.net_output(inner.data("d", index=0))
    for at, given in enumerate((x, copy)):
        b.op("StatefulPartitionedCall", given, name=f"call{at}", subgraphs={"f": inner})
    b.net_output(copy)
    assert "KEPT_RESULT" == final(b, "hold").code


def test_layout_rules_are_not_shown_what_is_gone() -> None:
    """A rule that looks through a memory meets none of the Identities taken out before."""
    b = GraphBuilder()
    x = b.op("RefData", name="x", attrs={"index": 0})
    copies = [b.op("Identity", x, name=f"copy{at}") for at in range(3)]
    copies[2] = b.op("Identity", copies[2], name="again")
    packed = {"continuous_input": True}
    b.net_output(b.op("HcomAllGather", *copies, attrs=packed, shape=(3, 16)))
    assert ["KEPT_LAYOUT"] * 3 == [final(b, name).code for name in ("copy0", "copy1", "again")]


BEYOND = {"ISOLATES_BY_CHECKER", "KEPT_LIMIT"}
"""Tripped where a checker, or an option, is not the usual one."""


def test_every_code_has_a_graph() -> None:
    """No code is declared that no test gives."""
    assert set(CODES) == CASES.keys() | BEYOND


def final(b: GraphBuilder, name: str, **facts: Any) -> Any:
    """The last remark on a node."""
    facts = {"pipeline": "HandleMemoryRWConflict", "prove": False, **facts}
    result = ge_core.compile(b.graph, level="O0", target="ascend", **facts)
    found = result.remarks.final(name)
    assert found is not None, [(r.node, r.code) for r in result.remarks]
    return found


@pytest.mark.parametrize("code", sorted(CASES))
def test_a_code_is_given(code: str) -> None:
    """The graph's Identity ends with the code, who is to blame, and what it copies."""
    name, build = CASES[code]
    b = GraphBuilder()
    build(b)
    remark = final(b, name)
    assert code == remark.code
    assert 1 <= len(remark.blame)
    if code.startswith("ISOLATES"):
        assert 2 <= len(remark.blame)
        assert "missed" == remark.kind
    assert remark.bytes == (128 if code == "KEPT_PORTS" else 64)


def handled(graph: Graph, read_write: Any = None, **fields: Any) -> Remarks:
    """What the pass says of a graph, with this checker and these fields."""
    kernel = default_kernel()
    options = {f"{PASS}.{name}": str(value) for name, value in fields.items()}
    source = Source(ARGUMENTS, options, origin="test")
    schedule = plan_passes(kernel.catalog, [source], pipeline=PASS)
    env = kernel.environment(graph, schedule, kernel.registries.targets.select("ascend"))
    env.read_write = read_write or env.read_write
    PassManager(schedule, env, verify_each=True, audit=True).run()
    return env.remarks


class _Wary:
    def conflict(self, output: OutputKind, reader: InputKind) -> bool:
        return output is OutputKind.SOFT_READ and reader is InputKind.WRITEABLE


def test_another_checker_is_asked() -> None:
    """A pair that GE's matrix lets stand is isolated where the checker in force says so."""
    b = GraphBuilder()
    b.net_output(store(b, made(b)))
    ran = handled(b.graph, read_write=_Wary())
    (remark,) = ran.finals()
    assert ("ISOLATES_BY_CHECKER", "act_Identity0") == (remark.code, remark.node)
    assert ["act:0", "store@0"] == [blame.anchor for blame in remark.blame][:2]


def test_a_search_that_takes_too_long_keeps_the_copy() -> None:
    """The bound is a field of the pass."""
    b = GraphBuilder()
    act = made(b)
    copy = hold(b, act)
    early = use(b, act)
    b.net_output(early, store(b, copy))
    assert "REMOVED" == handled(clone(b.graph)).final("hold").code
    assert "KEPT_LIMIT" == handled(b.graph, search_limit=0).final("hold").code


def test_neighbours_keep_their_copies() -> None:
    """One value can't lie at two places of a row: the copy that tells them apart stays."""
    b = GraphBuilder()
    act = made(b)
    row = b.node("HcomAllGather", act, hold(b, act), name="row", attrs={"continuous_input": True})
    b.net_output(row.outputs[0])
    remark = handled(b.graph).final("hold")
    assert "KEPT_PIECES" == remark.code
    assert ["row@0", "row@1"] == [blame.anchor for blame in remark.blame][:2]
