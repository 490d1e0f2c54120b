"""Types and shapes: what follows is known, what doesn't stays unknown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import parser

from ge_core.api import Graph, InputFileError, UnknownNameError, UsageError
from ge_onnx.frontend import OnnxFrontend
from ge_onnx.shapes.sweep import Sweep
from ge_onnx.work import Work

Load = Callable[..., Graph]


def shapes(graph: Graph) -> dict[str, str]:
    """Description of every first output of a node that computes."""
    skipped = ("Data", "Const", "NetOutput")
    return {n.name: repr(n.outputs[0].desc) for n in graph.all_nodes() if n.op not in skipped}


def test_shape_arithmetic_is_computed(load: Load) -> None:
    """Shapes computed from known shapes are known."""
    graph = load(
        """g (float[2,3,4] x) => (float[m,n] y)
        <int64 i = {1}, int64[1] ax = {0}, int64[1] rest = {-1}> {
          s = Shape(x)
          d = Gather(s, i)
          u = Unsqueeze(d, ax)
          t = Concat<axis = 0>(u, rest)
          y = Reshape(x, t)
        }"""
    )
    assert shapes(graph)["y"] == "float32[3x8]"


def test_computed_bounds_of_a_slice_are_stated_where_they_are_known(load: Load) -> None:
    """Half of an axis, as exporters write it; not where the axis or a step is open."""
    text = """g (float[BATCH,6,4] x) => (float[a,b,c] y, float[d,e,f] z)
        <int64[1] one = {1}, int64[1] two = {2}, int64[1] end = {9223372036854775807}> {
          s = Shape(x)
          d = Gather<axis = 0>(s, one)
          h = Div(d, two)
          m = Neg(h)
          y = Slice(x, m, end, one)
          z = Slice(x, h, end, one, two)
        }"""
    node = load(text.replace("BATCH", "2")).node("y")
    assert node.attrs["offsets"] == [0, 3, 0]
    assert node.attrs["size"] == [2, 3, 4]
    assert "offsets" not in load(text.replace("BATCH", "2")).node("z").attrs
    assert "offsets" not in load(text.replace("BATCH", "n")).node("y").attrs


def test_parts_of_shapes_are_known(load: Load) -> None:
    """An unknown batch leaves the other dimensions known, through arithmetic on the shape."""
    graph = load(
        """g (float[b,3,4] x) => (float[m,n] y, float[p,q,r] z, float[s,t] w)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[2] tail = {2, 6},
         int64[2] k = {1, 2}> {
          s = Shape(x)
          b = Slice(s, zero, one)
          t = Concat<axis = 0>(b, tail)
          z = Reshape(x, t)
          c = Slice(s, one, two)
          m = Mul(c, two)
          u = Concat<axis = 0>(b, m)
          y = Reshape(x, u)
          e = Gather<axis = 0>(s, k)
          w = ConstantOfShape(e)
        }"""
    )
    found = shapes(graph)
    assert found["z"] == "float32[?x2x6]"
    assert found["y"] == "float32[?x6]"
    assert found["w"] == "float32[3x4]"


def test_expand_and_tile_by_partly_known_shapes(load: Load) -> None:
    """Broadcasting settles a dimension from either side."""
    graph = load(
        """g (float[b,3] x, float[1,3] k) => (float[m,n] y, float[p,q] z)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] three = {3}> {
          s = Shape(x)
          b = Slice(s, zero, one)
          t = Concat<axis = 0>(b, three)
          y = Expand(k, t)
          r = Concat<axis = 0>(b, one)
          z = Tile(k, r)
        }"""
    )
    assert shapes(graph)["y"] == "float32[?x3]"
    assert shapes(graph)["z"] == "float32[?x3]"


def test_nothing_is_guessed(load: Load) -> None:
    """How many elements are not zero, or what shape an input holds, is known at run time only."""
    graph = load(
        """g (float[2,3] x, int64[2] s) => (int64[2,6] y, float[2,3] z) {
          y = NonZero(x)
          z = Reshape(x, s)
        }"""
    )
    assert shapes(graph) == {"y": "int64[2x?]", "z": "float32[?x?]"}


def test_declared_shapes_between_are_claims(load: Load) -> None:
    """A file's own shapes are those of one example; they are not believed."""
    graph = load("""g (float[b,3] x) => (float[1,3] y) <float[1,3] t> { t = Neg(x) y = Abs(t) }""")
    assert shapes(graph) == {"t": "float32[?x3]", "y": "float32[?x3]"}


def test_a_default_can_be_overridden(load: Load) -> None:
    """A shape that is an input's default is not known: the caller may give another."""
    text = "g (float[2,3] x, int64[2] s) => (float[m,n] y) <int64[2] s = {3,2}> {y = Reshape(x, s)}"
    assert shapes(load(text))["y"] == "float32[?x?]"


def test_scalars_have_a_shape(load: Load) -> None:
    """No dimensions is one element, not an unknown shape."""
    graph = load("g (float[5] x) => (float y) { y = ReduceSum<keepdims = 0>(x) }")
    assert shapes(graph)["y"] == "float32[]"


def test_sequences_are_not_tensors(load: Load) -> None:
    """A sequence has no bytes to plan; its elements' type is kept."""
    graph = load(
        """g (float[4] x, int64 i) => (float[n] y) {
          s = SplitToSequence(x)
          y = SequenceAt(s, i)
        }"""
    )
    desc = graph.node("s").outputs[0].desc
    assert (desc.dtype, desc.shape, desc.nbytes) == ("undefined", None, None)
    assert "sequence" in desc.attrs["onnx.type"]
    assert graph.node("y").outputs[0].desc.dtype == "float32"


# ---- control flow --------------------------------------------------------------------------------


def test_branches_agree_where_they_can(load: Load) -> None:
    """An If has the dimensions that both branches have."""
    graph = load(
        """g (bool c, float[2,3] x, float[4,3] z) => (float[m,n] y) {
          y = If(c) <
            then_branch = t () => (float[2,3] a) { a = Neg(x) },
            else_branch = e () => (float[4,3] b) { b = Neg(z) }
          >
        }"""
    )
    assert shapes(graph)["y"] == "float32[?x3]"


def test_branches_that_are_sure(load: Load) -> None:
    """A condition that is known picks its branch; the other may be of any shape."""
    graph = load(
        """g (float[2,3] x, float[4,3] z) => (float[m,n] y) <int64 k = {2}, int64[1] ax = {0}> {
          s = Shape(x)
          d = Gather(s, ax)
          e = Squeeze(d)
          p = Equal(e, k)
          y = If(p) <
            then_branch = t () => (float[2,3] a) { a = Neg(x) },
            else_branch = e () => (float[4,3] b) { b = Neg(z) }
          >
        }"""
    )
    assert shapes(graph)["y"] == "float32[2x3]"


def test_carried_shapes_that_grow(load: Load) -> None:
    """A loop that joins something to its state in every turn: that dimension is unknown."""
    graph = load(
        """g (int64 n, float[1,3] x) => (float[m,3] y) {
          y = Loop(n, , x) <body = b (int64 i, bool c, float[p,3] v)
            => (bool co, float[q,3] w) {
              co = Identity(c)
              w = Concat<axis = 0>(v, x)
          }>
        }"""
    )
    assert shapes(graph)["y"] == "float32[?x3]"
    assert shapes(graph)["w"] == "float32[?x3]"


@pytest.mark.parametrize(
    ("count", "start", "end", "expected"),
    [
        ("k", "", "c", "float32[4x2]"),
        ("k", "yes", "c", "float32[4x2]"),
        ("k", "", "yes", "float32[4x2]"),
        ("n", "", "c", "float32[?x2]"),
        ("k", "g", "c", "float32[?x2]"),
        ("k", "", "g", "float32[?x2]"),
        ("", "yes", "c", "float32[?x2]"),
    ],
)
def test_turns_that_are_sure(load: Load, count: str, start: str, end: str, expected: str) -> None:
    """What a loop collects is as long as its count where nothing can end it earlier."""
    graph = load(
        f"""net (int64 n, bool g, float[2] x) => (float[m,2] y)
        <int64 k = {{4}}, bool yes = {{1}}> {{
          f, y = Loop({count}, {start}, x) <body = b (int64 i, bool c, float[2] v)
            => (bool co, float[2] vo, float[2] so) {{
              co = Identity({end}) vo = Neg(v) so = Abs(v)
          }}>
        }}"""
    )
    assert repr(graph.node("f").outputs[1].desc) == expected


def test_nested_loops_take_few_sweeps(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops inside loops, each of which grows its state, are settled in a few sweeps."""
    depth = 8
    body = "w0 = Concat<axis = 0>(v0, x)"
    for at in range(depth):
        body = (
            f"w{at + 1} = Loop(n, , v{at + 1}) <body = b{at} (int64 i{at}, bool c{at}, "
            f"float[p,3] v{at}) => (bool co{at}, float[q,3] w{at}) "
            f"{{ co{at} = Identity(c{at}) {body} }}>"
        )
    text = f"g (int64 n, float[1,3] x) => (float[m,3] w{depth}) {{ v{depth} = Neg(x) {body} }}"
    sweeps: list[str] = []
    real = Sweep.graph

    def counted(sweep: Sweep, graph: Graph) -> Work:
        sweeps.append(graph.name)
        return real(sweep, graph)

    monkeypatch.setattr(Sweep, "graph", counted)
    assert shapes(load(text))[f"w{depth}"] == "float32[?x3]"
    # Each level changes once and is confirmed once; trying every pairing would take 2 ** depth.
    assert len(sweeps) <= 1 + sum(range(2, 3 * depth))


def test_scan_knows_its_turns(load: Load) -> None:
    """Scan outputs are as long as what is scanned, along the axis that is asked for."""
    graph = load(
        """g (float[2] s, float[5,7] x) => (float[2] f, float[2,7] y) {
          f, y = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
            body = b (float[2] a, float[5] e) => (float[2] o, float[2] p) {
              o = Neg(a) p = Abs(a)
          }>(s, x)
        }"""
    )
    assert [repr(o.desc) for o in graph.node("f").outputs] == ["float32[2]", "float32[2x7]"]


def test_branches_that_cannot_be(load: Load) -> None:
    """In a branch that may never run, a shape that does not fit is no error."""
    graph = load(
        """g (bool c, float[2,3] x) => (float[m] y) <int64[1] ax = {2}> {
          y = If(c) <
            then_branch = t () => (float[m] a) { a = Squeeze(x, ax) },
            else_branch = e () => (float[m] b) { b = ReduceMax<keepdims = 0>(x) }
          >
        }"""
    )
    assert shapes(graph)["a"] == "float32[?]"


# ---- shapes that the caller gives ----------------------------------------------------------------

OPEN = "g (float[b,3,?] x, float[b,2] z, float[?] q) => (float[b,m,n] y) { y = Neg(x) }"


def test_given_shapes(load: Load) -> None:
    """Open dimensions get the given sizes, also where another input names the same dimension."""
    graph = load(OPEN, x=(4, 3, 5))
    assert [repr(d.outputs[0].desc) for d in graph.data_nodes] == [
        "float32[4x3x5]",
        "float32[4x2]",
        "float32[?]",
    ]
    assert shapes(graph)["y"] == "float32[4x3x5]"
    assert graph.attrs["onnx.shapes"] == {"x": [4, 3, 5]}


def test_a_name_with_two_sizes_binds_nothing(load: Load) -> None:
    """Exporters write `?`, or one name for what are two sizes; then nothing follows from it."""
    graph = load(OPEN, x=(4, 3, 5), q=(7,), z=(6, 2))
    assert [d.outputs[0].desc.shape for d in graph.data_nodes] == [(4, 3, 5), (6, 2), (7,)]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"x": (4, 3)}, "has 3 dimensions"),
        ({"x": (4, 2, 5)}, "dimension 1 is 3 in the model, not 2"),
        ({"x": (-1, 3, 5)}, "negative size"),
    ],
)
def test_given_shapes_that_contradict(
    load: Load, given: dict[str, tuple[int, ...]], text: str
) -> None:
    """A shape that the model's type rules out is a usage error."""
    with pytest.raises(UsageError, match=text):
        load(OPEN, **given)


def test_given_shapes_for_nothing(load: Load) -> None:
    """An unknown name is an error that shows what is near."""
    with pytest.raises(UnknownNameError, match="no input 'X'") as caught:
        load(OPEN, X=(1,))
    assert "x" in caught.value.near


def test_given_shapes_that_do_not_work(load: Load) -> None:
    """A shape that an op inside can't take is an error that names the op."""
    with pytest.raises(InputFileError, match="MatMul"):
        load(
            "g (float[n,k] x) => (float[n,2] y) <float[3,2] w = {1,2,3,4,5,6}> "
            "{ y = MatMul(x, w) }",
            x=(2, 5),
        )


@settings(max_examples=60)
@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    picks=st.lists(st.integers(-4, 3), min_size=1, max_size=4),
    hidden=st.integers(0, 15),
)
def test_partly_known_agrees_with_known(
    tmp_path_factory: pytest.TempPathFactory, shape: list[int], picks: list[int], hidden: int
) -> None:
    """What is said with some dimensions unknown is true when they become known."""
    picks = [pick for pick in picks if -len(shape) <= pick < len(shape)] or [0]
    dims = [f"d{at}" if hidden >> at & 1 else str(size) for at, size in enumerate(shape)]
    text = (
        '<ir_version: 8, opset_import: ["": 17]> '
        f"g (float[{','.join(dims)}] x) => (float[n] y) "
        f"<int64[{len(picks)}] p = {{{','.join(map(str, picks))}}}, int64[1] two = {{2}}> "
        "{ s = Shape(x) g = Gather(s, p) m = Mul(g, two) c = Concat<axis = 0>(g, m) "
        "z = ConstantOfShape(c) f = Shape(z) y = Cast<to = 1>(f) }"
    )
    path = tmp_path_factory.getbasetemp() / "partial.onnx"
    path.write_bytes(parser.parse_model(text).SerializeToString())
    open_desc = _desc(path, None)
    full_desc = _desc(path, tuple(shape))
    expected = [shape[pick] for pick in picks]
    assert full_desc == tuple(expected + [2 * size for size in expected])
    assert all(a in (-1, b) for a, b in zip(open_desc, full_desc, strict=True))
    known = [not (hidden >> (pick % len(shape)) & 1) for pick in picks]
    assert [size >= 0 for size in open_desc] == known * 2


def _desc(path: Path, shape: tuple[int, ...] | None) -> tuple[int, ...]:
    given = {} if shape is None else {"x": shape}
    found = OnnxFrontend().load(path, input_shapes=given).node("z").outputs[0].desc.shape
    assert found is not None
    return found
