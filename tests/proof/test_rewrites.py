"""Passes that change values: equivalences, new bases, expansions; and what is assumed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ge_core.errors import PassError, UsageError
from ge_core.ir import Graph, GraphBuilder, Node, clone
from ge_core.ops import OpRegistry, OpTraits
from ge_core.proof import Equivalence, ProofResult, Rebase

Found = Callable[..., list[tuple[str, str]]]
Prove = Callable[..., ProofResult]


def pair() -> Graph:
    """y = Add(Mul(x, w), b)."""
    build = GraphBuilder()
    product = build.op("Mul", build.data("x"), build.data("w"), name="product")
    total = build.op("Add", product, build.data("b"), name="total")
    build.net_output(build.op("Relu", total, name="reader"))
    return build.graph


def fused(op: str = "MulAdd") -> Graph:
    """The same with one node for both."""
    graph = pair()
    x, w, b = (graph.node(name).outputs[0] for name in "xwb")
    reader = graph.node("reader")
    node = graph.add_node(
        op, "fused", [x, w, b], [x.desc], origin=("product", "total"), before=reader
    )
    graph.rewire(reader.inputs[0], node.outputs[0])
    graph.remove(graph.node("total"))
    graph.remove(graph.node("product"))
    return graph


def expand_mul_add(node: Node) -> Graph:
    """What MulAdd stands for."""
    build = GraphBuilder("expansion")
    x, w, b = (
        build.data(f"in{anchor.index}", desc=anchor.desc) for anchor in node.inputs if anchor.desc
    )
    build.net_output(build.op("Add", build.op("Mul", x, w), b))
    return build.graph


def expand_wrong(node: Node) -> Graph:
    """Not what MulAdd stands for: it adds first."""
    build = GraphBuilder("expansion")
    x, w, b = (
        build.data(f"in{anchor.index}", desc=anchor.desc) for anchor in node.inputs if anchor.desc
    )
    build.net_output(build.op("Mul", build.op("Add", x, b), w))
    return build.graph


def expand_failing(node: Node) -> Graph:
    """An expansion with a bug."""
    raise ValueError("no idea")


def expand_with_effects(node: Node) -> Graph:
    """An expansion that may not be: it prints."""
    build = GraphBuilder("expansion")
    build.net_output(build.op("Print", build.data("in0")))
    return build.graph


HERE = "tests.proof.test_rewrites"


@pytest.fixture
def expansion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this module importable under a name."""
    import sys

    monkeypatch.setitem(sys.modules, HERE, sys.modules[__name__])


def test_a_fusion_that_nobody_vouches_for_is_found(found: Found, ops: OpRegistry) -> None:
    """A new op is another value, whatever it claims to stand for."""
    ops.add(OpTraits("MulAdd"))
    assert found(fused(), original=pair()) == [("reads", "reader")]


@pytest.mark.usefixtures("expansion")
def test_an_expansion_says_what_a_fused_op_computes(prove: Prove, ops: OpRegistry) -> None:
    """An op with an expansion equals what it expands to; the proof says that it relied on it."""
    ops.add(OpTraits("MulAdd", expansion=f"{HERE}:expand_mul_add"))
    ops.add(OpTraits("AddMul", expansion=f"{HERE}:expand_wrong"))
    result = prove(fused(), original=pair())
    assert result.violations == ()
    assert result.assumptions == ("op MulAdd computes what its expansion says",)
    wrong = prove(fused("AddMul"), original=pair())
    assert [(v.check, v.node) for v in wrong.violations] == [("reads", "reader")]


@pytest.mark.usefixtures("expansion")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (f"{HERE}:expand_failing", "no idea"),
        (f"{HERE}:missing", "missing"),
        ("no_such_module:f", "no_such_module"),
        (f"{HERE}:pair", "fused"),
        (f"{HERE}:expand_with_effects", "has effects"),
    ],
)
def test_a_bad_expansion_names_its_op(
    prove: Prove, ops: OpRegistry, function: str, message: str
) -> None:
    """An expansion that fails is the plugin's error, with the op and the function."""
    ops.add(OpTraits("MulAdd", owner="acme", expansion=function))
    with pytest.raises(PassError, match=message) as caught:
        prove(fused(), original=pair())
    assert "MulAdd" in str(caught.value) and "acme" in str(caught.value)


def test_an_equivalence_is_taken_and_told(prove: Prove, ops: OpRegistry) -> None:
    """A pass may vouch for an output; the proof goes on from there and lists the word it took."""
    ops.add(OpTraits("MulAdd"))
    word = Equivalence("fused:0", "total:0", "acme.Fuse")
    result = prove(fused(), original=pair(), equivalences=[word])
    assert result.violations == ()
    assert result.assumptions == ("acme.Fuse: fused:0 is total:0 of the original",)
    wrong = Equivalence("fused:0", "product:0", "acme.Fuse")
    assert not prove(fused(), original=pair(), equivalences=[wrong]).ok


def test_an_equivalence_does_not_excuse_memory(prove: Prove, ops: OpRegistry) -> None:
    """What is vouched for must still be where its readers look."""
    ops.add(OpTraits("MulAdd"))
    graph = fused()
    x = graph.node("x").outputs[0]
    graph.add_node("MatMul", "dead", [x], [x.desc], origin=(), before=graph.node("reader"))
    word = Equivalence("fused:0", "total:0", "acme.Fuse")
    places = {"fused:0": 1024, "dead:0": 1024}
    result = prove(graph, places, original=pair(), equivalences=[word])
    assert [(v.check, v.node) for v in result.violations] == [("reads", "reader")]


def test_an_equivalence_names_outputs(prove: Prove) -> None:
    """Anything else is a usage error that names who said so."""
    with pytest.raises(UsageError, match="p vouches for 'fused', which is no output"):
        prove(pair(), equivalences=[Equivalence("fused", "total:0", "p")])


def test_a_pass_that_changes_values_is_a_new_base(prove: Prove, ops: OpRegistry) -> None:
    """Behind such a pass its result is what counts; before it, the original does."""
    ops.add(OpTraits("FastMul"))
    after = pair()
    after.set_op(after.node("product"), "FastMul")
    compiled = clone(after)
    rebase = Rebase(pair(), after, "acme.Fast")
    assert not prove(compiled, original=pair()).ok
    result = prove(compiled, original=pair(), rebases=[rebase])
    assert result.violations == ()
    assert result.assumptions == ("acme.Fast changed values; judged by what it left",)


def test_what_comes_before_a_new_base_is_judged_too(prove: Prove, ops: OpRegistry) -> None:
    """A pass that breaks the graph in front of a value-changing one is found."""
    ops.add(OpTraits("FastMul"))
    broken = pair()
    broken.rewire(broken.node("total").inputs[1], broken.node("w").outputs[0])
    after = clone(broken)
    after.set_op(after.node("product"), "FastMul")
    rebase = Rebase(broken, after, "acme.Fast")
    result = prove(clone(after), original=pair(), rebases=[rebase])
    assert ("reads", "total") in [(v.check, v.node) for v in result.violations]


def test_a_new_base_does_not_change_the_interface(prove: Prove, ops: OpRegistry) -> None:
    """Inputs and outputs stay the original's across every pass."""
    after = pair()
    data = after.node("x").outputs[0]
    after.set_desc(data, data.desc.replace(dtype="float16"))
    rebase = Rebase(pair(), after, "acme.Half")
    result = prove(clone(after), original=pair(), rebases=[rebase])
    assert [(v.check, v.node) for v in result.violations] == [("interface", "x")]


def test_unknown_ops_are_taken_to_be_pure_and_told(prove: Prove) -> None:
    """An op that nobody declared is equal only to itself, and is listed once."""
    build = GraphBuilder()
    x = build.data("x")
    one, two = (build.op("Mystery", x, name=name) for name in ("one", "two"))
    build.net_output(build.op("Add", one, two, name="sum"))
    original = clone(build.graph)
    result = prove(build.graph, original=original)
    assert result.ok
    assert result.assumptions == ("op Mystery is unknown and taken to be pure: one and 1 more",)
    graph = build.graph
    graph.rewire(graph.node("sum").inputs[1], graph.node("one").outputs[0])
    assert not prove(graph, original=original).ok


def test_a_merge_delivers_whichever_arm_ran(found: Found) -> None:
    """Both inputs of a merge may lie in one place; one of them holds its value at the end."""
    for merged, expected in (("a", []), ("x", [("reads", "merge"), ("reads", "merge")])):
        build = GraphBuilder()
        x = build.data("x")
        switch = build.node("Switch", x, build.data("t"), name="switch", outputs=[x.desc] * 2)
        a = build.op("Mul", switch.outputs[0], name="a")
        b = build.op("Relu", switch.outputs[1], name="b")
        merge = build.op("Merge", a, b, name="merge")
        build.net_output(build.op("Mul", merge, name="reader"))
        build.op("MatMul", x, name="dead")
        places = {"a:0": 4096, "b:0": 4096, "merge:0": 4096}
        if merged == "x":
            graph = build.graph
            graph.reorder(
                [n for n in graph.nodes if n.name not in ("merge", "reader", "NetOutput", "dead")]
                + [graph.node(name) for name in ("dead", "merge", "reader", "NetOutput")]
            )
            places["dead:0"] = 4096
        assert found(build.graph, places) == expected


def test_a_users_word_on_an_op_is_told(prove: Prove, ops: OpRegistry) -> None:
    """Also where the op is gone, because of what the user's file says of it."""
    traits = OpTraits("Copy", kind="move", owner="ops.toml:3", vouched=True)
    ops.vouch(traits, "ge")
    build = GraphBuilder()
    x = build.data("x")
    copy = build.node("Copy", x, name="copy")
    build.net_output(build.op("Relu", copy.outputs[0], name="reader"))
    original = clone(build.graph)
    told = ("op Copy treats memory as ops.toml:3 says: copy",)
    assert prove(build.graph, original=original).assumptions == told
    build.graph.bypass(copy)
    result = prove(build.graph, original=original)
    assert (result.violations, result.assumptions) == ((), told)
