"""Where the pieces of joins and splits lie, in plain and in private formats."""

from __future__ import annotations

from ge_core.ir import GraphBuilder, Node, TensorDesc
from ge_core.proof.pieces import Cutting, join_parts, pack_parts, split_parts


def stored(fmt: str, origin: str, shape: tuple[int, ...], runtime: tuple[int, ...]) -> TensorDesc:
    """A half-precision tensor in a format of its own."""
    plain = TensorDesc.make("float16", runtime)
    return plain.replace(format=fmt, origin_format=origin, origin_shape=shape)


def moved(op: str, descs: list[TensorDesc], outputs: list[TensorDesc], **attrs: int) -> Node:
    """One node over inputs and outputs like these."""
    build = GraphBuilder()
    sources = [build.data(f"x{at}", desc=desc) for at, desc in enumerate(descs)]
    return build.node(op, *sources, name="node", outputs=outputs, attrs=attrs)


def fractal(c: int, h: int, w: int) -> TensorDesc:
    """NCHW stored as FRACTAL_Z, one block of output channels."""
    blocks = -(-c // 16) * h * w
    return stored("FRACTAL_Z", "NCHW", (1, c, h, w), (blocks, 1, 16, 16))


def join_rows(part: TensorDesc, whole: TensorDesc, axis: int) -> Cutting | None:
    """How two equal parts lie in a join."""
    found = join_parts(moved("ConcatD", [part, part], [whole], concat_dim=axis))
    return None if found is None else found[1]


def test_no_stated_axis_is_the_first() -> None:
    """ConcatD and SplitD without an axis work along axis 0."""
    part, whole = TensorDesc.make("float32", (2, 4)), TensorDesc.make("float32", (4, 4))
    assert ([0, 1], Cutting(1, (32, 32))) == join_parts(moved("ConcatD", [part, part], [whole]))
    assert (0, Cutting(1, (32, 32))) == split_parts(moved("SplitD", [whole], [part, part]))


def test_an_axis_inside_a_merged_dimension_needs_ones_outside_it() -> None:
    """H stands inside C in FRACTAL_Z: pieces are consecutive when there is one block of C."""
    assert Cutting(1, (15360, 15360)) == join_rows(fractal(16, 5, 6), fractal(16, 10, 6), 2)
    assert Cutting(1, (3072, 3072)) == join_rows(fractal(16, 1, 6), fractal(16, 1, 12), 3)
    assert None is join_rows(fractal(17, 5, 6), fractal(17, 10, 6), 2)
    assert None is join_rows(fractal(16, 2, 6), fractal(16, 2, 12), 3)


def test_pieces_that_differ_elsewhere_are_not_consecutive() -> None:
    """Equal sums of merged dimensions say nothing where their factors differ."""
    parts = [fractal(16, 5, 6), fractal(16, 6, 5)]
    node = moved("ConcatD", parts, [fractal(16, 10, 6)], concat_dim=2)
    assert None is join_parts(node)


def test_groups_are_not_followed() -> None:
    """Groups of a weight stand outside every axis."""
    part = fractal(16, 1, 1).replace(format="FRACTAL_Z:2")
    whole = fractal(32, 1, 1).replace(format="FRACTAL_Z:2")
    assert None is join_rows(part, whole, 1)


def test_a_pack_in_front_of_the_blocks() -> None:
    """Pieces in FRACTAL_NZ are packed as they are stored, but for an axis among the last two."""
    part = stored("FRACTAL_NZ", "ND", (1, 32), (2, 1, 16, 16))
    whole = stored("FRACTAL_NZ", "ND", (2, 1, 32), (2, 2, 1, 16, 16))
    assert Cutting(1, (1024, 1024)) == pack_parts(moved("Pack", [part, part], [whole], axis=0))
    assert Cutting(1, (1024, 1024)) == pack_parts(moved("Pack", [part, part], [whole], axis=-3))
    inner = stored("FRACTAL_NZ", "ND", (1, 2, 32), (1, 2, 1, 16, 16))
    assert None is pack_parts(moved("Pack", [part, part], [inner], axis=1))


def test_an_op_with_too_many_results_is_none_that_moves() -> None:
    """A join with two results, or a Pack, is an op like any other."""
    part, whole = TensorDesc.make("float32", (2, 4)), TensorDesc.make("float32", (4, 4))
    assert None is join_parts(moved("ConcatD", [part, part], [whole, whole], concat_dim=0))
    pair = TensorDesc.make("float32", (2, 2, 4))
    assert None is pack_parts(moved("Pack", [part, part], [pair, pair], axis=0))
