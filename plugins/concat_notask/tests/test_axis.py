"""The axis test against brute force: numbered elements laid out in memory, joined, and compared."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_concat_notask import axis
from ge_core.api import DEFAULT_BLOCKS, TensorDesc, stored_shape
from ge_core.ir.transfer import expand_mask

Index = tuple[int, ...]
Numbers = dict[Index, object]
PAD = "pad"


# ---- layouts by definition --------------------------------------------------------------------


def lay_out(numbers: Numbers, shape: Index, origin: str, runtime: str, dtype: str) -> list[object]:
    """The elements of an origin tensor in the order in which the runtime format stores them."""
    block = DEFAULT_BLOCKS.of(dtype)

    def element(**at: int) -> object:
        index = tuple(at[letter] for letter in origin)
        return numbers.get(index, PAD)

    if runtime == "FRACTAL_NZ":
        *leading, rows, columns = shape
        return [
            numbers.get((*outer, r * block.m0 + r0, c * block.c0 + c0), PAD)
            for outer in product(*map(range, leading))
            for c in range(-(-columns // block.c0))
            for r in range(-(-rows // block.m0))
            for r0 in range(block.m0)
            for c0 in range(block.c0)
        ]
    size = dict(zip(origin, shape, strict=True))
    if runtime == "NC1HWC0":
        return [
            element(N=n, C=c * block.c0 + c0, H=h, W=w)
            for n in range(size["N"])
            for c in range(-(-size["C"] // block.c0))
            for h in range(size["H"])
            for w in range(size["W"])
            for c0 in range(block.c0)
        ]
    if runtime == "FRACTAL_Z":
        return [
            element(N=n * block.n0 + n0, C=c * block.c0 + c0, H=h, W=w)
            for c in range(-(-size["C"] // block.c0))
            for h in range(size["H"])
            for w in range(size["W"])
            for n in range(-(-size["N"] // block.n0))
            for n0 in range(block.n0)
            for c0 in range(block.c0)
        ]
    return [
        element(**dict(zip(runtime, at, strict=True)))
        for at in product(*(range(size[letter]) for letter in runtime))
    ]


def numbered(shape: Index, tag: object) -> Numbers:
    """A tensor whose elements are all different."""
    return {at: (tag, at) for at in product(*map(range, shape))}


def joins_free(shapes: list[Index], joined: int, origin: str, runtime: str, dtype: str) -> bool:
    """Whether the stored operands, one behind the other, are the stored join."""
    whole: Numbers = {}
    stored: list[object] = []
    start = 0
    for tag, shape in enumerate(shapes):
        piece = numbered(shape, tag)
        stored += lay_out(piece, shape, origin, runtime, dtype)
        for at, number in piece.items():
            whole[(*at[:joined], at[joined] + start, *at[joined + 1 :])] = number
        start += shape[joined]
    total = (*shapes[0][:joined], start, *shapes[0][joined + 1 :])
    return stored == lay_out(whole, total, origin, runtime, dtype)


FORMATS = [
    ("NCHW", "NC1HWC0"),
    ("NHWC", "NC1HWC0"),
    ("HWCN", "NC1HWC0"),
    ("NCHW", "FRACTAL_Z"),
    ("HWCN", "FRACTAL_Z"),
    ("NHWC", "FRACTAL_Z"),
    ("NCHW", "NHWC"),
    ("NHWC", "NCHW"),
    ("HWCN", "NCHW"),
    ("NCHW", "FRACTAL_NZ"),
    ("NCHW", "NCHW"),
]
SIZES = st.sampled_from([1, 1, 1, 2, 3, 15, 16, 17, 32])


@settings(max_examples=80)
@given(
    formats=st.sampled_from(FORMATS),
    base=st.tuples(SIZES, SIZES, SIZES, SIZES).filter(lambda s: prod(s) <= 1500),
    joined=st.integers(0, 3),
    others=st.lists(SIZES, min_size=1, max_size=2),
    dtype=st.sampled_from(["float16", "int8"]),
)
def test_free_axes_are_those_whose_pieces_are_consecutive(
    formats: tuple[str, str], base: Index, joined: int, others: list[int], dtype: str
) -> None:
    """Operands that all pass lie end to end as the join does; if the first fails, they do not.

    The exception that GE makes on purpose: a padded axis is refused even where only the last
    operand is padded.
    """
    origin, runtime = formats
    shapes = [base, *((*base[:joined], size, *base[joined + 1 :]) for size in others)]
    faults = [
        axis.axis_fault(_desc(shape, formats, dtype), joined, DEFAULT_BLOCKS) for shape in shapes
    ]
    free = joins_free(shapes, joined, origin, runtime, dtype)
    if faults == [None] * len(faults):
        assert free
    elif faults[0] is not None:
        assert not free


def _desc(shape: Index, formats: tuple[str, str], dtype: str) -> TensorDesc:
    origin, runtime = formats
    stored = stored_shape(origin, runtime, shape, dtype)
    return TensorDesc.make(dtype, stored, runtime, origin_shape=shape, origin_format=origin)


def test_a_format_of_its_own_width_needs_whole_blocks_of_that_width() -> None:
    """48 columns pass in blocks of 16 and not in blocks of 32; GE asks for 16 in either case."""
    for runtime, fault in (("FRACTAL_NZ", None), ("FRACTAL_NZ_C0_32", axis.PADDED)):
        desc = TensorDesc.make(
            "float16", (3, 1, 16, 16), runtime, origin_shape=(16, 48), origin_format="ND"
        )
        assert axis.axis_fault(desc, 1, DEFAULT_BLOCKS) == fault


def test_groups_have_no_map() -> None:
    """Groups stand outside every axis and the map says nothing of them."""
    for groups, fault in (("", None), (":2", axis.NO_AXIS_MAP)):
        desc = TensorDesc.make(
            "float16",
            (3, 1, 16, 16),
            f"FRACTAL_Z{groups}",
            origin_shape=(16, 16, 1, 3),
            origin_format="NCHW",
        )
        assert axis.axis_fault(desc, 3, DEFAULT_BLOCKS) == fault


def test_axes_left_out_of_the_origin_count_as_one() -> None:
    """A matrix that names H and N of HWCN joins along H: W and C, which it leaves out, are one."""
    desc = TensorDesc.make(
        "float16",
        (4, 1, 16, 16),
        "FRACTAL_Z",
        origin_shape=(4, 16),
        origin_format="HWCN",
        attrs={"_reshape_type_mask": expand_mask("HWCN", "HN")},
    )
    assert axis.axis_fault(desc, 0, DEFAULT_BLOCKS) is None
    assert axis.axis_fault(desc, 1, DEFAULT_BLOCKS) == axis.NOT_OUTERMOST


@pytest.mark.parametrize(
    ("value", "rank", "found"),
    [
        (0, 2, 0),
        (-1, 2, 1),
        (-3, 2, None),
        (2, 2, None),
        ("0", 2, None),
        (True, 2, None),
        (0, 0, None),
    ],
)
def test_axes_are_resolved(value: object, rank: int, found: int | None) -> None:
    """Negative axes count from the end; what is no axis is None."""
    assert axis.resolve_axis(value, rank) == found
