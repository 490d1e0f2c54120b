"""Descriptions: sizes in bytes, interning, and what a change carries along."""

from __future__ import annotations

import copy
import pickle

import pytest

from ge_core.errors import InputFileError
from ge_core.ir import TensorDesc


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [
        ("float32", (2, 3), 24),
        ("float32", (), 4),
        ("float16", (0, 7), 0),
        ("int4", (3,), 2),
        ("uint1", (9,), 2),
        ("bfloat16", (-1, 3), None),
        ("int8", None, None),
        ("string", (2,), None),
        ("undefined", (2,), None),
    ],
)
def test_bytes(dtype: str, shape: tuple[int, ...] | None, expected: int | None) -> None:
    """Sub-byte types are packed; an unknown dimension or width means no size."""
    assert expected == TensorDesc.make(dtype, shape).nbytes


def test_a_given_size_wins_for_storage_only() -> None:
    """`size` is what storage takes; the data's own bytes stay dtype x shape."""
    desc = TensorDesc.make("float32", (2,), size=64)
    assert (64, 8) == (desc.nbytes, desc.data_bytes)


def test_equal_facts_are_one_object() -> None:
    """Interned also through replace, copies and pickles; 1 and True are different facts."""
    desc = TensorDesc.make("int8", (4,), attrs={"a": [1, {"b": 2}]})
    assert desc is TensorDesc.make("int8", [4], attrs={"a": [1, {"b": 2}]})
    assert desc is desc.replace(dtype="int4").replace(dtype="int8")
    assert desc is copy.deepcopy(desc)
    assert desc is pickle.loads(pickle.dumps(desc))
    assert TensorDesc.make(attrs={"a": 1}) is not TensorDesc.make(attrs={"a": True})


def test_a_new_shape_is_a_new_origin_unless_they_differed() -> None:
    """The origin follows the runtime shape while the two are equal."""
    plain = TensorDesc.make("int8", (4,))
    assert (8,) == plain.replace(shape=(8,)).origin_shape
    stored = TensorDesc.make("int8", (1, 4), "NZ", origin_shape=(4,), origin_format="ND")
    assert (4,) == stored.replace(shape=(2, 2)).origin_shape


def test_an_unknown_dtype_names_what_is_near() -> None:
    """The error lists the closest known names."""
    with pytest.raises(InputFileError) as caught:
        TensorDesc.make("bflaot16")
    assert "bfloat16" in caught.value.near
