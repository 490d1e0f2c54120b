"""Every reason code, each tripped by the smallest graph that gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ge_core.api import GraphBuilder, GraphError, OutputAnchor, TensorDesc
from ge_tensormove.codes import CODES

ALL_INPUTS = {"ge.exec.inputReuseMemIndexes": "0,1,2"}
STORE = {"reference": True}
SCRIBBLE = {"_input_mutable": True}
JOIN = {"_no_padding_continuous_input": True, "_output_reuse_input": True, "_no_task": True}

CASES: dict[str, Callable[[GraphBuilder], Mapping[str, Any] | None]] = {}
"""Code -> builds the graph whose copy `mv` ends with it; answers what the run is to be given."""


def trips(code: str) -> Callable[[Callable[[GraphBuilder], Any]], Callable[[GraphBuilder], Any]]:
    """Enter a builder under its code."""

    def enter(build: Callable[[GraphBuilder], Any]) -> Callable[[GraphBuilder], Any]:
        CASES[code] = build
        return build

    return enter


def made(b: GraphBuilder, name: str = "act") -> OutputAnchor:
    """A private value."""
    return b.op("Relu", b.data(f"in_{name}"), name=name)


def move(b: GraphBuilder, source: OutputAnchor, **facts: Any) -> OutputAnchor:
    """The copy in question."""
    return b.op("TensorMove", source, name="mv", **facts)


def view(b: GraphBuilder, source: OutputAnchor, name: str) -> OutputAnchor:
    """Another name for the same memory."""
    return b.op("Reshape", source, name=name, reuse_input=0)


def store(b: GraphBuilder, target: OutputAnchor, name: str, **facts: Any) -> OutputAnchor:
    """Overwrite in place and hand the memory on."""
    return b.op("Foo", target, name=name, attrs=STORE, reuse_input=0, **facts)


def scribble(b: GraphBuilder, target: OutputAnchor, name: str, **facts: Any) -> OutputAnchor:
    """Use up the input."""
    return b.op("HcomAllReduce", target, name=name, attrs=SCRIBBLE, **facts)


def use(b: GraphBuilder, *sources: OutputAnchor, name: str = "use", **facts: Any) -> OutputAnchor:
    """Read only."""
    return b.op("Add", *sources, name=name, **facts)


def passing_call(b: GraphBuilder, source: OutputAnchor, name: str = "call") -> OutputAnchor:
    """A call that hands its input straight through."""
    sub = b.subgraph("g")
    sub.net_output(sub.data("g/d"))
    return b.op("PartitionedCall", source, name=name, subgraphs={"f": sub})


def arm(b: GraphBuilder, name: str, attrs: Mapping[str, Any], index: int = 0) -> GraphBuilder:
    """A subgraph that uses its input in one node."""
    sub = b.subgraph(name)
    d = sub.data(f"{name}/d", index=index)
    reuse = 0 if attrs is STORE else None
    sub.net_output(sub.op("Foo", d, name=f"{name}/use", attrs=attrs, reuse_input=reuse))
    return sub


@trips("REMOVED")
def _(b: GraphBuilder) -> None:
    use(b, move(b, made(b)))


@trips("REMOVAL_FAILED")
def _(b: GraphBuilder) -> Mapping[str, Any]:
    use(b, move(b, made(b)))
    return {"broken": True}


@trips("R0_CANNOT_BE_DELETED")
def _(b: GraphBuilder) -> None:
    use(b, move(b, made(b), attrs={"_cannot_be_deleted": True}))


@trips("R0_NO_CONSTANT_FOLDING")
def _(b: GraphBuilder) -> None:
    use(b, move(b, made(b), attrs={"no_need_constant_folding": False}))


@trips("R1_UNCONNECTED")
def _(b: GraphBuilder) -> None:
    use(b, b.op("TensorMove", None, name="mv"))


@trips("R1_TRACE_STOPPED")
def _(b: GraphBuilder) -> None:
    sub = b.subgraph("g")
    sub.net_output(use(sub, sub.op("TensorMove", sub.data("g/d"), name="mv"), name="g/use"))
    for name in ("one", "other"):
        b.op("PartitionedCall", made(b, f"act_{name}"), name=name, subgraphs={"f": sub})


@trips("R1_CONTROL_FLOW")
def _(b: GraphBuilder) -> None:
    subs = {"b0": arm(b, "g0", {}), "b1": arm(b, "g1", {})}
    use(b, move(b, b.op("Case", made(b), name="case", subgraphs=subs)))


@trips("R1_FIXED_INSIDE")
def _(b: GraphBuilder) -> None:
    sub = b.subgraph("g")
    sub.net_output(sub.op("Variable", name="g/w"))
    call = b.op("StatefulPartitionedCall", made(b), name="call", subgraphs={"f": sub})
    store(b, move(b, call), "s")


@trips("R1_SPECIAL_TO_VIEW")
def _(b: GraphBuilder) -> None:
    view(b, move(b, b.op("Variable", name="w")), "v")


@trips("R1_SPECIAL_TO_OUTPUT")
def _(b: GraphBuilder) -> None:
    b.net_output(move(b, b.op("FileConstant", name="k")))


@trips("R1_SPECIAL_TO_SUBGRAPH")
def _(b: GraphBuilder) -> None:
    passing_call(b, move(b, b.op("Variable", name="w")))


@trips("R1_SPECIAL_WRITTEN")
def _(b: GraphBuilder) -> None:
    named = TensorDesc.make().with_attr("ref_var_src_var_name", "w")
    b.op("Variable", name="w")
    alias = b.node("Foo", b.data("x"), name="alias", outputs=[named]).outputs[0]
    scribble(b, move(b, alias), "s")


@trips("R1_SPECIAL_NO_OUTPUT")
def _(b: GraphBuilder) -> None:
    b.node("TensorMove", b.op("Variable", name="w"), name="mv", outputs=[])


@trips("R2_NO_INDEX")
def _(b: GraphBuilder) -> Mapping[str, Any]:
    use(b, move(b, b.op("Data", name="x")))
    return {"options": ALL_INPUTS}


@trips("R2_NOT_DECLARED")
def _(b: GraphBuilder) -> None:
    use(b, move(b, view(b, b.data("x"), "v")))


@trips("R2_OTHER_OUTPUT")
def _(b: GraphBuilder) -> Mapping[str, Any]:
    b.net_output(view(b, move(b, b.data("x")), "v"))
    return {"options": {"ge.exec.outputReuseInputMemIndexes": "0,1"}}


@trips("R3_CONTROL_FLOW")
def _(b: GraphBuilder) -> None:
    sub = b.subgraph("g")
    sub.net_output(use(sub, sub.op("TensorMove", sub.data("g/d", index=1), name="mv"), name="g/u"))
    subs = {"then_branch": sub, "else_branch": arm(b, "h", {}, index=1)}
    b.op("If", made(b, "cond"), made(b), name="if", subgraphs=subs)


@trips("R3_HIDDEN_FORK")
def _(b: GraphBuilder) -> None:
    desc = TensorDesc.make(reuse_input=0)
    both = b.node("Foo", made(b), name="both", outputs=[desc, desc]).outputs
    use(b, both[1], name="other")
    use(b, move(b, both[0]))


@trips("R3_SHARED_ABOVE")
def _(b: GraphBuilder) -> None:
    act = made(b)
    use(b, act, name="side")
    use(b, move(b, view(b, act, "v")))


@trips("R3_SIBLING_OUTPUT")
def _(b: GraphBuilder) -> None:
    act = made(b)
    b.net_output(use(b, move(b, act)), act)


@trips("R3_SIBLING_SUBGRAPH")
def _(b: GraphBuilder) -> None:
    act = made(b)
    passing_call(b, act)
    use(b, move(b, act))


@trips("R3_SIBLING_VIEW")
def _(b: GraphBuilder) -> None:
    act = made(b)
    view(b, act, "v")
    use(b, move(b, act))


@trips("R3_BOTH_WRITE")
def _(b: GraphBuilder) -> None:
    act = made(b)
    first = scribble(b, move(b, act), "first")
    scribble(b, act, "second", control=[first])


@trips("R3_WRITER_AND_VIEW")
def _(b: GraphBuilder) -> None:
    act = made(b)
    seen = view(b, move(b, act), "v")
    scribble(b, act, "s", control=[seen])


@trips("R3_WRITER_UNORDERED")
def _(b: GraphBuilder) -> None:
    act = made(b)
    between = use(b, use(b, move(b, act)), name="between")
    scribble(b, act, "s", control=[between])


@trips("R3_SAME_NODE")
def _(b: GraphBuilder) -> None:
    act = made(b)
    b.op("Assign", move(b, act), act, name="s", reuse_input=0)


@trips("R3_WRITER_FIRST")
def _(b: GraphBuilder) -> None:
    act = made(b)
    stored = store(b, move(b, act), "s")
    use(b, act, stored, name="side")


@trips("R3_WRITER_BEHIND_VIEW")
def _(b: GraphBuilder) -> None:
    act = made(b)
    use(b, act, name="side")
    store(b, view(b, move(b, act), "v"), "s")


@trips("R3_READER_BEHIND_VIEW")
def _(b: GraphBuilder) -> None:
    act = made(b)
    through = passing_call(b, move(b, act))
    use(b, through)
    scribble(b, act, "s", control=[through])


@trips("R3_OTHER_NAME")
def _(b: GraphBuilder) -> None:
    act = made(b)
    parts = (made(b, "first"), act)
    whole = b.op("ConcatD", *parts, name="join", attrs=JOIN, shape=(2, 16))
    use(b, move(b, act))
    store(b, whole, "s")


@trips("R3_AFTER_COPY_OUTPUT")
def _(b: GraphBuilder) -> None:
    mv = move(b, made(b))
    b.net_output(mv, use(b, made(b, "other"), name="later", control=[mv]))


@trips("R3_AFTER_COPY_CYCLE")
def _(b: GraphBuilder) -> None:
    mv = move(b, made(b))
    later = use(b, made(b, "other"), name="later", control=[mv])
    use(b, mv, later)


@trips("R3_EDGE_REFUSED")
def _(b: GraphBuilder) -> None:
    # side before the store, the store before later, later before side: each alone would do.
    act = made(b)
    mv = move(b, act)
    later = use(b, made(b, "other"), name="later", control=[mv])
    store(b, mv, "s")
    use(b, act, name="side", control=[later])


@trips("R3_LISTED_ORDER")
def _(b: GraphBuilder) -> None:
    # The store would wait for side, and peek, which the listing puts behind it, would overtake it.
    act = made(b)
    mv = move(b, act)
    seen = view(b, mv, "v")
    store(b, mv, "s")
    use(b, seen, name="peek")
    use(b, act, name="side")


@trips("R3_SEARCH_LIMIT")
def _(b: GraphBuilder) -> Mapping[str, Any]:
    for name in ("a", "b"):
        act = made(b, name)
        mv = b.op("TensorMove", act, name="mv" if name == "b" else "mv_a")
        stored = store(b, mv, f"s_{name}")
        use(b, act, stored, name=f"side_{name}")
    return {"search_limit": 0}


@trips("R4_NO_CHECKER")
def _(b: GraphBuilder) -> Mapping[str, Any]:
    use(b, move(b, made(b)))
    return {"read_write": False}


@trips("R4_CONFLICT")
def _(b: GraphBuilder) -> Mapping[str, Any]:
    scribble(b, move(b, view(b, b.data("x"), "v")), "s")
    return {"options": ALL_INPUTS}


@trips("R4_UNKNOWN")
def _(b: GraphBuilder) -> None:
    subs = {"b0": arm(b, "g0", STORE), "b1": arm(b, "g1", SCRIBBLE)}
    b.op("Case", move(b, made(b)), name="case", subgraphs=subs)


@trips("R4_BEHIND_VIEW")
def _(b: GraphBuilder) -> Mapping[str, Any]:
    scribble(b, view(b, move(b, b.data("x")), "v"), "s")
    return {"options": ALL_INPUTS}


@trips("R5_NO_CHECKERS")
def _(b: GraphBuilder) -> Mapping[str, Any]:
    use(b, move(b, made(b)))
    return {"layout": False}


@trips("R5_MEMORY_KIND")
def _(b: GraphBuilder) -> None:
    desc = TensorDesc.make(mem_type="P2P")
    use(b, b.node("TensorMove", made(b), name="mv", outputs=[desc]).outputs[0])


@trips("R5_TWO_PLACES")
def _(b: GraphBuilder) -> None:
    act = made(b)
    second = b.op("TensorMove", act, name="second")
    b.op("ConcatD", move(b, act), second, name="join", attrs=JOIN, shape=(2, 16))


@trips("R5_CLASH")
def _(b: GraphBuilder) -> Mapping[str, Any]:
    packed = {"continuous_input": True}
    b.op("HcomAllGather", move(b, b.data("x")), made(b), name="gather", attrs=packed)
    return {"options": ALL_INPUTS}


@trips("RAISES_PEAK")
def _(b: GraphBuilder) -> Mapping[str, Any]:
    use(b, move(b, made(b)))
    return {"kept": frozenset({"mv"})}


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_code_is_given_for_its_reason(code: str, delete: Any, monkeypatch: Any) -> None:
    """The copy ends with the code, goes or stays accordingly, and the words name what is meant."""
    build = GraphBuilder()
    given = dict(CASES[code](build) or {})
    if given.pop("broken", False):

        def refuse(*args: Any, **facts: Any) -> None:
            raise GraphError("not today")

        monkeypatch.setattr("ge_core.ir.graph.Graph.bypass", refuse)
    remark = delete(build.graph, given.pop("options", None), **given).remarks.final("mv")
    assert (code, code == "REMOVED") == (remark.code, build.graph.find("mv") is None)
    assert "{" not in remark.reason
    rule = code[:2] if code.startswith("R") and code[1].isdigit() else None
    assert rule == remark.rule
