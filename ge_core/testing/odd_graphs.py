"""Small graphs of unusual shape, each with moves, joins, splits and the ops that a test is about.

What breaks passes is rarely the ordinary graph: tensors without elements or dimensions, shapes
that nobody knows, an input read twice or handed straight out, a subgraph that two calls share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ge_core.errors import UnknownNameError, near_matches
from ge_core.ir import Graph, GraphBuilder, OutputAnchor, TensorDesc
from ge_core.testing.choices import SeededChoices
from ge_core.testing.random_graphs import OpRecipe

Ops = Sequence[OpRecipe]
Odd = Callable[[Ops], Graph]


def odd_graph(name: str, ops: Sequence[OpRecipe | str] = ()) -> Graph:
    """The odd graph of that name, with nodes of these ops in it.

    Raises:
        UnknownNameError: there is no such graph; names near ones.
    """
    make = ODD_GRAPHS.get(name)
    if make is None:
        raise UnknownNameError(f"no odd graph {name!r}", near=near_matches(name, ODD_GRAPHS))
    return make([OpRecipe.of(op) for op in ops])


def _work(build: GraphBuilder, value: OutputAnchor, ops: Ops, **attrs: object) -> OutputAnchor:
    """A chain from a value through everything a pass may look for, ending like the value."""
    name, like = value.node.name, value.desc.replace(attrs={}, reuse_input=None, size=None)
    pick = SeededChoices(0)
    for at, recipe in enumerate(ops):
        desc = like if recipe.describe is None else recipe.describe(pick, like)
        facts = {**attrs, **{key: values[0] for key, values in recipe.attrs.items()}}
        node = build.node(
            recipe.op,
            *[value] * recipe.inputs,
            name=f"{name}_{recipe.op}{at}",
            outputs=[desc] * recipe.outputs,
            attrs=facts,
        )
        back = build.op("Cast", node.outputs[0], name=f"{node.name}_back", outputs=[like])
        value = back if desc.dtype != like.dtype else node.outputs[0]
    moved = build.op("TensorMove", value, name=f"{name}_moved", outputs=[like], attrs=attrs)
    used = build.op("Relu", moved, name=f"{name}_used", outputs=[like], attrs=attrs)
    shape = like.shape
    if not shape or shape[0] < 0:
        return used
    two = like.replace(shape=(2 * shape[0], *shape[1:]))
    both = build.op(
        "ConcatD",
        used,
        moved,
        name=f"{name}_joined",
        outputs=[two],
        attrs={"concat_dim": 0, **attrs},
    )
    cut = build.node(
        "SplitD",
        build.op("Relu", both, name=f"{name}_whole", outputs=[two], attrs=attrs),
        name=f"{name}_cut",
        outputs=[like, like],
        attrs={"split_dim": 0, "num_split": 2, **attrs},
    )
    add = build.op("Add", *cut.outputs, name=f"{name}_sum", outputs=[like], attrs=attrs)
    return build.op("TensorMove", add, name=f"{name}_last", outputs=[like], attrs=attrs)


def _of(shape: tuple[int, ...] | None, *dtypes: str) -> Odd:
    def make(ops: Ops) -> Graph:
        build = GraphBuilder("root")
        ends = []
        for at, dtype in enumerate(dtypes or ("float32",)):
            x = build.data(f"x{at}", desc=TensorDesc.make(dtype, shape))
            start = build.op("Relu", x, name=f"start{at}")
            ends.append(_work(build, start, ops))
        build.net_output(*ends)
        return build.graph

    return make


def _empty(ops: Ops) -> Graph:
    return Graph("root", "ge")


def _no_results(ops: Ops) -> Graph:
    build = GraphBuilder("root")
    _work(build, build.data("x", (4, 8)), ops)
    return build.graph


def _repeated_inputs(ops: Ops) -> Graph:
    build = GraphBuilder("root")
    x = build.op("Relu", build.data("x", (4, 8)), name="start")
    added = build.op("Add", x, x, name="twice")
    joined = build.op("ConcatD", x, x, x, name="thrice", shape=(12, 8), attrs={"concat_dim": 0})
    packed = build.op("Pack", added, added, name="pack", shape=(2, 4, 8), attrs={"axis": 0})
    build.net_output(_work(build, added, ops), joined, joined, packed)
    return build.graph


def _inputs_are_outputs(ops: Ops) -> Graph:
    build = GraphBuilder("root")
    x, y = build.data("x", (4, 8)), build.data("y", (4, 8))
    moved = build.op("TensorMove", y, name="moved")
    build.net_output(x, moved, _work(build, x, ops), x)
    return build.graph


def _missing_inputs(ops: Ops) -> Graph:
    build = GraphBuilder("root")
    x = build.op("Relu", build.data("x", (4, 8)), name="start")
    some = build.op("Foo", x, None, name="some")
    build.net_output(_work(build, build.op("Foo", None, some, name="more"), ops))
    return build.graph


def _unread(ops: Ops) -> Graph:
    build = GraphBuilder("root")
    x = build.op("Relu", build.data("x", (4, 8)), name="start")
    _work(build, x, ops)
    build.net_output(build.op("Exp", x, name="read"))
    return build.graph


def _two_streams(ops: Ops) -> Graph:
    build = GraphBuilder("root")
    x = build.op("Relu", build.data("x", (4, 8)), name="start", attrs={"stream_id": 0})
    one = build.op("Relu", x, name="one", attrs={"stream_id": 0})
    other = build.op("Exp", x, name="other", attrs={"stream_id": 1})
    ends = [_work(build, one, ops, stream_id=0), _work(build, other, ops, stream_id=1)]
    last = build.op("Add", *ends, name="last", attrs={"stream_id": 1})
    build.net_output(last, ends[0])
    return build.graph


def _inner(build: GraphBuilder, name: str, ops: Ops, index: int) -> GraphBuilder:
    sub = build.subgraph(name)
    given = sub.data(f"{name}_in", (4, 8), index=index)
    sub.net_output(_work(sub, given, ops))
    return sub


def _called_twice(ops: Ops) -> Graph:
    build = GraphBuilder("root")
    x = build.op("Relu", build.data("x", (4, 8)), name="start")
    sub = _inner(build, "f", ops, 0)
    first = build.op("PartitionedCall", x, name="first", subgraphs={"f": sub})
    second = build.op("PartitionedCall", first, name="second", subgraphs={"f": sub})
    build.net_output(second, _work(build, first, ops))
    return build.graph


def _branches(ops: Ops) -> Graph:
    build = GraphBuilder("root")
    x = build.op("Relu", build.data("x", (4, 8)), name="start")
    switch = build.data("switch", (), "bool")
    arms = {
        "then_branch": _inner(build, "then", ops, 1),
        "else_branch": _inner(build, "other", ops, 1),
    }
    chosen = build.op("If", switch, x, name="if", shape=(4, 8), dtype="float32", subgraphs=arms)
    build.net_output(_work(build, chosen, ops))
    return build.graph


def _loop(ops: Ops) -> Graph:
    build = GraphBuilder("root")
    start = build.op("Relu", build.data("x", (4, 8)), name="start")
    x = build.op("TensorMove", start, name="own")
    cond = build.subgraph("cond")
    seen = cond.data("cond_in", (4, 8), index=0)
    cond.net_output(cond.op("Less", seen, name="less", outputs=[TensorDesc.make("bool", ())]))
    subs = {"cond": cond, "body": _inner(build, "body", ops, 0)}
    build.net_output(_work(build, build.op("While", x, name="while", subgraphs=subs), ops))
    return build.graph


ODD_GRAPHS: Final[dict[str, Odd]] = {
    "empty": _empty,
    "no_results": _no_results,
    "zero_size": _of((0, 8)),
    "scalar": _of(()),
    "unknown_dimension": _of((-1, 8)),
    "unknown_rank": _of(None),
    "sixteen_bit": _of((4, 8), "float16", "bfloat16"),
    "four_bit": _of((4, 8), "int4", "uint4"),
    "odd_four_bit": _of((3, 3), "int4"),
    "repeated_inputs": _repeated_inputs,
    "inputs_are_outputs": _inputs_are_outputs,
    "missing_inputs": _missing_inputs,
    "unread": _unread,
    "two_streams": _two_streams,
    "shared_subgraph": _called_twice,
    "branches": _branches,
    "loop": _loop,
}
"""The odd graphs by name; each is made for the ops that a test is about."""
