"""Attributes, types and tensors as plain values: nothing is lost on the way there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import AttributeProto, TensorProto, TypeProto, helper, numpy_helper

from ge_core.api import Graph, InputFileError, read_graph, write_graph
from ge_onnx.kernels.compute import unpack
from ge_onnx.proto.dtypes import NAMES, numpy_dtype
from ge_onnx.proto.tensors import pack_strings, read_tensor, unpack_strings, write_tensor
from ge_onnx.proto.types import desc_type, read_type, type_desc, write_type
from ge_onnx.proto.values import read_attribute, write_attribute

HERE = Path()
FLOATS = st.floats(width=32, allow_nan=False)
TENSOR = helper.make_tensor("t", TensorProto.INT32, [2], [1, 2])
INT64 = st.integers(-(2**63), 2**63 - 1)


@given(
    value=st.one_of(
        INT64,
        FLOATS,
        st.text(),
        st.binary(),
        st.lists(INT64),
        st.lists(FLOATS),
        st.lists(st.one_of(st.text(), st.binary())),
    )
)
def test_attributes_survive_json(value: Any) -> None:
    """Every kind of attribute comes back from the graph's JSON form as the message it was."""
    attribute = _attribute(value)
    graph = Graph("g", "onnx")
    graph.add_node("Op", "n", attrs={"onnx.a": read_attribute(attribute, HERE)})
    text = json.dumps(write_graph(graph), allow_nan=False)
    plain = read_graph(json.loads(text)).node("n").attrs["onnx.a"]
    assert write_attribute("a", plain).SerializeToString() == attribute.SerializeToString()


def test_numbers_that_are_none_survive_json() -> None:
    """NaN and the infinities have a form in strict JSON."""
    graph = Graph("g", "onnx")
    value = read_attribute(helper.make_attribute("a", [np.nan, np.inf, -np.inf]), HERE)
    graph.add_node("Op", "n", attrs={"onnx.a": value})
    text = json.dumps(write_graph(graph), allow_nan=False)
    plain = read_graph(json.loads(text)).node("n").attrs["onnx.a"]
    assert np.array_equal(plain, [np.nan, np.inf, -np.inf], equal_nan=True)


def _attribute(value: Any) -> AttributeProto:
    if value == []:
        return AttributeProto(name="a", type=AttributeProto.FLOATS)
    if isinstance(value, list) and isinstance(value[0], (str, bytes)):
        items = [v.encode() if isinstance(v, str) else v for v in value]
        return AttributeProto(name="a", type=AttributeProto.STRINGS, strings=items)
    return helper.make_attribute("a", value)


@pytest.mark.parametrize(
    "attribute",
    [
        helper.make_attribute("a", TENSOR),
        helper.make_attribute("a", helper.make_tensor_type_proto(1, [2, "n"])),
        helper.make_attribute("a", [TENSOR, TENSOR]),
        AttributeProto(name="a", type=AttributeProto.STRINGS),
    ],
    ids=["tensor", "type", "tensors", "no strings"],
)
def test_other_attributes(attribute: AttributeProto) -> None:
    """Tensors become plain, rarer kinds stay messages; both come back as they were."""
    found = write_attribute("a", read_attribute(attribute, HERE))
    if attribute.type == AttributeProto.TENSOR:
        assert np.array_equal(numpy_helper.to_array(found.t), [1, 2])
        assert (found.t.name, found.t.data_type) == ("t", TensorProto.INT32)
    else:
        assert found == attribute


@pytest.mark.parametrize("value", [None, {"what": 1}, [1, "a"], {"dtype": "float32"}, object()])
def test_values_that_are_no_attribute(value: Any) -> None:
    """What no attribute can hold is an error that names the attribute."""
    with pytest.raises(InputFileError, match="not the value of an ONNX attribute") as caught:
        write_attribute("a", value)
    assert caught.value.field == "a"


TYPES = [
    helper.make_tensor_type_proto(TensorProto.FLOAT, [2, "n", None]),
    helper.make_tensor_type_proto(TensorProto.INT4, None),
    helper.make_tensor_type_proto(TensorProto.BOOL, []),
    helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.STRING, None)),
    helper.make_optional_type_proto(
        helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [1]))
    ),
    helper.make_map_type_proto(
        TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    ),
    helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [3]),
    TypeProto(),
    TypeProto(denotation="IMAGE"),
]


@pytest.mark.parametrize("message", TYPES)
def test_types_are_kept(message: TypeProto) -> None:
    """A type is plain where it can be, and the same type afterwards."""
    assert write_type(read_type(message)) == message


def test_types_of_descriptions() -> None:
    """A description's type says what is known: no names for unknown dimensions."""
    assert type_desc(TYPES[0]).shape == (2, -1, -1)
    assert type_desc(TYPES[0], {"n": 7}).shape == (2, 7, -1)
    assert desc_type(type_desc(TYPES[0])) == helper.make_tensor_type_proto(1, [2, None, None])
    for message in TYPES[1:]:
        if not message.denotation:
            assert desc_type(type_desc(message)) == message


@pytest.mark.parametrize("number", sorted(NAMES))
@pytest.mark.parametrize("raw", [True, False])
def test_every_element_type(number: int, raw: bool) -> None:
    """Typed and raw data give the same bytes, and the arrays that onnx makes of them."""
    if number == TensorProto.STRING:
        return
    kind = helper.tensor_dtype_to_np_dtype(number)
    codes = np.array([1, 0, 1, 1, 0, 0, 1], np.int64)
    if number == getattr(TensorProto, "FLOAT8E8M0", None):
        codes += 1  # it has no zero
    array = codes.astype(kind)
    if raw:
        tensor = numpy_helper.from_array(array, "t")
    else:
        tensor = helper.make_tensor("t", number, [7], array)
    desc, value = read_tensor(tensor, HERE)
    assert desc.dtype == NAMES[number]
    assert desc.data_bytes == value.nbytes
    found = unpack(value.read(), desc.dtype, (7,))
    assert found.dtype == numpy_dtype(desc.dtype)
    assert np.array_equal(found.astype(kind), array)
    again = numpy_helper.to_array(write_tensor("t", desc, value.read()))
    assert np.array_equal(again, numpy_helper.to_array(tensor))


@given(codes=st.lists(st.integers(-8, 7), max_size=9))
def test_four_bit_integers(codes: list[int]) -> None:
    """Two to a byte, the first in the low half; an odd one leaves half a byte empty."""
    tensor = helper.make_tensor("t", TensorProto.INT4, [len(codes)], codes)
    desc, value = read_tensor(tensor, HERE)
    assert value.nbytes == (len(codes) + 1) // 2
    assert unpack(value.read(), "int4", (len(codes),)).astype(int).tolist() == codes
    assert desc.shape == (len(codes),)


@given(items=st.lists(st.binary()))
def test_strings(items: list[bytes]) -> None:
    """Strings of any bytes are one run of bytes and come back."""
    assert unpack_strings(pack_strings(items)) == items


@pytest.mark.parametrize("data", [b"\x01", b"\x05\0\0\0abc"])
def test_strings_that_are_none(data: bytes) -> None:
    """Bytes that end inside an element are no strings."""
    with pytest.raises(InputFileError, match="ends early"):
        unpack_strings(data)


def test_float6_is_not_known() -> None:
    """A type that the graph has no name for is refused by name."""
    number = getattr(onnx.TensorProto, "FLOAT6E2M3", None)
    if number is None:
        number = 27
    with pytest.raises(InputFileError, match="unknown element type"):
        read_tensor(TensorProto(name="t", data_type=number, dims=[1]), HERE)
