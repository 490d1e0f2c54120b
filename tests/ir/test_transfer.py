"""Format transfer: GE's table of facts, laws of the axis maps, layouts against brute force."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import InputFileError
from ge_core.ir.formats import (
    DEFAULT_BLOCKS,
    PLAIN_AXES,
    Block,
    BlockTable,
    FormatSpec,
    full_rank,
    is_private,
    parse_format,
)
from ge_core.ir.transfer import (
    aligned_shape,
    axis_maps,
    default_mask,
    expand_mask,
    stored_shape,
)

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent.parent / "data" / "format_transfer.json").read_text()
)
NARROW = BlockTable(
    {
        "int8": Block(1, 16),
        "float32": Block(1, 16),
        "int4": Block(1, 32),
        "uint1": Block(1, 128),
    },
    default=Block(1, 8),
)


def _name(row: dict[str, Any]) -> str:
    shape = "x".join(map(str, row["src_shape"]))
    return f"{row['src_format']}-{row['dst_format']}-{row['dtype']}-{shape}"


def _lists(groups: Any) -> Any:
    return None if groups is None else [list(group) for group in groups]


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_every_row_of_the_table_of_facts(row: dict[str, Any]) -> None:
    """Aligned shape, both axis maps and the stored shape are GE's, for all 97 rows."""
    pair = row["src_format"], row["dst_format"]
    shape, mask = row["src_shape"], row.get("reshape_type_mask", 0)
    maps = axis_maps(*pair, len(shape), mask=mask)
    aligned = aligned_shape(*pair, shape, row["dtype"], mask=mask)
    stored = stored_shape(*pair, shape, row["dtype"], mask=mask)
    assert (None if aligned is None else list(aligned)) == row["aligned_shape"]
    assert _lists(maps and maps.forward) == row["src_to_dst_dims"]
    assert _lists(maps and maps.backward) == row["dst_to_src_dims"]
    if "not fixed" not in row.get("note", ""):
        assert (None if stored is None else list(stored)) == row["dst_shape"]


@pytest.mark.parametrize("origin", sorted(PLAIN_AXES))
@pytest.mark.parametrize("runtime", [*sorted(PLAIN_AXES), "NC1HWC0", "NDC1HWC0", "FRACTAL_Z"])
def test_maps_agree_with_each_other(origin: str, runtime: str) -> None:
    """An axis is listed behind each runtime dimension it went to, and behind no other."""
    maps = axis_maps(origin, runtime, len(PLAIN_AXES[origin]))
    if maps is None:
        assert "D" in origin and "D" not in runtime
        return
    for axis, where in enumerate(maps.forward):
        assert list(where) == [at for at, axes in enumerate(maps.backward) if axis in axes]


@given(st.permutations("NCHW"), st.tuples(*[st.integers(1, 5)] * 4))
def test_a_plain_permutation_moves_sizes_as_the_map_says(
    letters: list[str], shape: tuple[int, ...]
) -> None:
    """Between plain formats the stored shape is the origin shape read through the forward map."""
    runtime = "".join(letters)
    if runtime not in PLAIN_AXES:
        return
    maps = axis_maps("NCHW", runtime, 4)
    stored = stored_shape("NCHW", runtime, shape, "float16")
    assert maps is not None and stored is not None
    assert [stored[where[0]] for where in maps.forward] == list(shape)


@given(st.tuples(*[st.integers(1, 40)] * 4), st.sampled_from(["int8", "float16", "int4"]))
def test_storage_is_the_origin_rounded_up_to_whole_blocks(
    shape: tuple[int, ...], dtype: str
) -> None:
    """The stored element count is that of the origin with each axis padded to its granule."""
    for runtime in ("NC1HWC0", "FRACTAL_NZ", "NHWC"):
        aligned = aligned_shape("NCHW", runtime, shape, dtype)
        stored = stored_shape("NCHW", runtime, shape, dtype)
        assert aligned is not None and stored is not None
        padded = [
            -(-size // granule) * granule for size, granule in zip(shape, aligned, strict=True)
        ]
        assert _product(stored) == _product(padded)


def _product(sizes: Any) -> int:
    return next(reversed(list(itertools.accumulate(sizes, int.__mul__, initial=1))))


def test_a_format_with_its_own_width_is_judged_by_it_when_asked() -> None:
    """FRACTAL_NZ_C0_32 stores 32 columns per block: GE's answer says 16, `stored_width` says 32."""
    ask = ("ND", "FRACTAL_NZ_C0_32", (64, 48), "float16")
    assert aligned_shape(*ask) == (16, 16)
    assert aligned_shape(*ask, stored_width=True) == (16, 32)
    assert aligned_shape("NCHW", "NC1HWC0:0:8", (1, 8, 1, 1), "float16", stored_width=True) == (
        1,
        8,
        1,
        1,
    )


def test_block_widths_come_from_the_target() -> None:
    """Another device's table changes granules and stored shapes, and nothing is remembered."""
    for _ in range(2):
        assert aligned_shape("ND", "FRACTAL_NZ", (4, 20), "float32", blocks=NARROW) == (1, 16)
        assert stored_shape("ND", "FRACTAL_NZ", (4, 20), "float16", blocks=NARROW) == (3, 4, 1, 8)
        assert stored_shape("ND", "FRACTAL_NZ", (4, 20), "float16") == (2, 1, 16, 16)
    assert DEFAULT_BLOCKS.of("float64") == Block(16, 16, 16)


def test_unknown_dimensions_stay_unknown() -> None:
    """-1 is neither padded nor multiplied, and an unknown rank has no answer."""
    assert stored_shape("NCHW", "NC1HWC0", (-1, -1, 3, 5), "int8") == (-1, -1, 3, 5, 32)
    assert stored_shape("NCHW", "FRACTAL_Z", (2, 40, -1, 5), "int8") == (-1, 1, 16, 32)
    assert stored_shape("NCHW", "NC1HWC0", None, "int8") is None
    assert aligned_shape("NCHW", "NC1HWC0", None, "int8") is None


def test_scalars_and_plain_nd_are_left_alone() -> None:
    """A scalar has no axis to move, and ND to a plain format keeps its shape."""
    assert stored_shape("NCHW", "NC1HWC0", (), "int8") == ()
    assert stored_shape("ND", "NHWC", (2, 3), "int8") == (2, 3)
    assert stored_shape("ND", "FRACTAL_Z", (2, 3, 4), "int8") is None


@pytest.mark.parametrize(
    ("runtime", "shape", "stored"),
    [
        ("FRACTAL_Z:2", (32, 4, 3, 3), (9, 2, 16, 16)),
        ("FRACTAL_Z:8", (32, 4, 1, 1), (2, 1, 16, 16)),
        ("FRACTAL_Z:4", (2, 4, 1, 1), (1, 1, 16, 16)),
        ("C1HWC0", (1, 40, 3, 5), (3, 3, 5, 16)),
        ("FRACTAL_ZN_LSTM", (64, 48, 1, 1), (3, 4, 16, 16)),
        ("NDC1HWC0", (2, 40, 3, 5), (2, 1, 3, 3, 5, 16)),
        ("FRACTAL_Z_WINO", (2, 40, 3, 5), None),
    ],
)
def test_further_stored_shapes(
    runtime: str, shape: tuple[int, ...], stored: tuple[int, ...] | None
) -> None:
    """Groups fill blocks side by side; rarer formats follow their formula; unknown ones say so."""
    assert stored_shape("NCHW", runtime, shape, "float16") == stored


def test_low_ranks_need_a_mask() -> None:
    """Without a mask a low-rank origin has no map and keeps its shape; a wrong mask fails."""
    assert axis_maps("NCHW", "NC1HWC0", 2) is None
    assert aligned_shape("NCHW", "NC1HWC0", (40, 3), "float16") is None
    assert stored_shape("NCHW", "NC1HWC0", (40, 3), "float16") == (40, 3)
    assert stored_shape("NCHW", "FRACTAL_Z", (40, 3), "float16") == (3, 1, 16, 16)
    assert axis_maps("NCHW", "NC1HWC0", 2, mask=1) is None
    assert stored_shape("NCHW", "NC1HWC0", (40, 3), "float16", mask=1) is None
    assert axis_maps("NCHW", "NC1HWC0", 5) is None
    assert stored_shape("NCHW", "NC1HWC0", (1, 1, 1, 1, 1), "float16") is None
    assert stored_shape("NCDHW", "NC1HWC0", (1, 1, 1, 1, 1), "float16") is None
    assert stored_shape("NCDHW", "NCHW", (1, 1, 1, 1, 1), "float16") is None


def test_default_masks_name_the_axes_ge_assumes() -> None:
    """Rank 2 of NHWC means H and W; full shapes need no mask; other ranks are an error."""
    assert default_mask("NHWC", 2) == expand_mask("NHWC", "HW")
    assert default_mask("NCHW", 1) == 288230376151711757
    assert default_mask("NCHW", 4) == 0
    with pytest.raises(ValueError, match="rank 5"):
        default_mask("NCHW", 5)
    with pytest.raises(ValueError, match="rank 2"):
        default_mask("ND", 2)


def test_names_carry_groups_and_widths() -> None:
    """Qualifiers behind colons are read; anything else is refused by field."""
    assert parse_format("FRACTAL_Z:4") == FormatSpec("FRACTAL_Z", 4, None)
    assert parse_format("FRACTAL_Z:0:8") == FormatSpec("FRACTAL_Z", 1, 8)
    assert parse_format("NC1HWC0_C04") == FormatSpec("NC1HWC0_C04", 1, 4)
    for text in ("FRACTAL_Z:x", "FRACTAL_Z:1:2:3", "FRACTAL_Z:-1"):
        with pytest.raises(InputFileError, match="field 'format'"):
            parse_format(text)
    assert is_private("FRACTAL_Z:4") and not is_private("NHWC") and not is_private("C1HWC0")
    assert [full_rank(name) for name in ("NCHW", "NDHWC", "ND", "NC1HWC0")] == [4, 5, 4, None]
