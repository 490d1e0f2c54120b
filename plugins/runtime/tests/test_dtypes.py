"""Element types: arrays and their packed storage, and tensors of every type in an arena."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.api import GraphBuilder, OpRegistry, Plan, PlanTensor, Region, bits, generate_tasks
from ge_core.ir.dtypes import BITS
from ge_core.memory import PoolTotals, Strided
from ge_core.tasks import TaskList
from ge_runtime.dtypes import from_storage, numpy_dtype, to_storage
from ge_runtime.executor import NumpyExecutor
from ge_runtime.pools import Pools
from ge_runtime.ports import ArenaPort
from ge_runtime.sources import make_feeds

STORED = sorted(name for name, width in BITS.items() if width is not None)


@pytest.mark.parametrize("dtype", STORED)
@given(raw=st.binary(min_size=16, max_size=16), count=st.integers(0, 8))
def test_storage_comes_back_bit_for_bit(dtype: str, raw: bytes, count: int) -> None:
    """Bytes to an array and back are the same bytes, for every type and odd numbers of elements."""
    width = bits(dtype)
    assert width is not None
    count = min(count, 16 * 8 // width)
    size = -(-count * width // 8)
    stored = np.frombuffer(raw, np.uint8)[:size].copy()
    if count * width % 8:
        stored[-1] &= (1 << count * width % 8) - 1
    array = from_storage(stored, dtype, (count,))
    assert (numpy_dtype(dtype), (count,)) == (array.dtype, array.shape)
    assert stored.tobytes() == to_storage(array, dtype).tobytes()


def test_small_integers_are_packed_from_the_low_bits_up() -> None:
    """Two 4-bit or four 2-bit elements per byte, the first in the lowest bits, signs kept."""
    four = np.array([1, -2, 7], ml_dtypes.int4)
    assert [0xE1, 0x07] == to_storage(four, "int4").tolist()
    assert [1, -2, 7] == from_storage(to_storage(four, "int4"), "int4", (3,)).astype(int).tolist()
    two = np.array([0, 1, -2, -1, 1], ml_dtypes.int2)
    assert [0b11100100, 0b01] == to_storage(two, "int2").tolist()
    one = np.array([1, 0, 1], np.uint8)
    assert [0b101] == to_storage(one, "uint1").tolist()


@pytest.mark.parametrize("dtype", STORED)
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (2, 3)])
def test_a_tensor_of_any_type_goes_through_an_arena(
    check: Any, ops: OpRegistry, dtype: str, shape: tuple[int, ...]
) -> None:
    """Moved, stored in place and read by a stand-in, aligned or not; scalars and empty ones too."""
    build = GraphBuilder()
    x = build.data("x", shape, dtype)
    variable = build.node("Variable", name="v", shape=shape, dtype=dtype).outputs[0]
    moved = build.op("TensorMove", x)
    stored = build.op("Assign", variable, moved, reuse_input=0)
    changed = build.op("ScatterUpdate", moved, x, reuse_input=0, attrs={"reference": True})
    build.net_output(stored, build.op("Foo", changed, stored))
    found = check(build.graph, make_feeds(build.graph, ops))
    assert (numpy_dtype(dtype), shape) == (
        found.outputs["output_0"].dtype,
        found.outputs["output_0"].shape,
    )


def _port(region: Region, dtype: str, shape: tuple[int, ...]) -> tuple[Pools, ArenaPort]:
    from ge_core.api import TensorDesc

    plan = Plan(pools={"HBM": PoolTotals(64, 0, 64, False)})
    pools = Pools(plan, TaskList())
    pools.buffers["HBM"][:] = np.arange(64)
    return pools, ArenaPort(pools, region, TensorDesc.make(dtype, shape))


def test_contiguous_tensors_are_views() -> None:
    """What a kernel reads is the arena itself, and can't be written by who only reads."""
    pools, port = _port(Region("HBM", 8, 16), "float32", (2, 2))
    assert np.shares_memory(port.read(), pools.buffers["HBM"])
    assert not port.read().flags.writeable
    port.memory()[0, 0] = 0
    assert [0, 0, 0, 0, 12] == pools.buffers["HBM"][8:13].tolist()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "complex128"])
def test_odd_addresses_are_read_and_written_through_copies(dtype: str) -> None:
    """A tensor may start at any byte: aligned arrays reach the kernel, bytes go back exactly."""
    pools, port = _port(Region("HBM", 3, 32), dtype, (32 // numpy_dtype(dtype).itemsize,))
    value = port.read()
    assert value.flags.aligned
    assert bytes(range(3, 35)) == value.tobytes()
    value = port.memory()
    value.view(np.uint8)[:] = 7
    port.flush(value)
    assert [2, *[7] * 32, 35] == pools.buffers["HBM"][2:36].tolist()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int4"])
def test_strided_pieces_are_rows_with_gaps(dtype: str) -> None:
    """Reading gathers the rows, writing leaves what lies between them alone."""
    region = Region("HBM", 4, 12, Strided(4, 10, 3))
    width = bits(dtype) or 8
    pools, port = _port(region, dtype, (3, 4 * 8 // width))
    rows = [*range(4, 8), *range(14, 18), *range(24, 28)]
    assert rows == to_storage(port.read(), dtype).tolist()
    port.write(from_storage(np.arange(100, 112, dtype=np.uint8), dtype, port.shape))
    buffer = pools.buffers["HBM"].tolist()
    assert [100, 101, 102, 103, 8, 9, 10, 11, 12, 13, 104] == buffer[4:15]
    assert [108, 109, 110, 111, 28] == buffer[24:29]


def test_a_join_on_an_inner_axis_can_be_written_piece_by_piece(ops: OpRegistry) -> None:
    """Two producers that write strided pieces of a task-free join make up the joined tensor."""
    build = GraphBuilder()
    x = build.data("x", (2, 4))
    a, b = build.op("Relu", x, name="a"), build.op("Add", x, x, name="b")
    marks = {
        "_no_task": True,
        "_no_padding_continuous_input": True,
        "_output_reuse_input": True,
        "_reuse_input_on_dim_index": 1,
        "concat_dim": 1,
    }
    join = build.op("ConcatD", a, b, name="join", shape=(2, 8), attrs=marks)
    build.net_output(build.op("Relu", join, name="out"))
    strided = Strided(16, 32, 2)
    plan = Plan(
        pools={"HBM": PoolTotals(192, 0, 192, False)},
        tensors=[
            PlanTensor((), "x", 0, "HBM", 0, 32, life=(0, 7)),
            PlanTensor((), "a", 0, "HBM", 64, 32, strided, life=(2, 5)),
            PlanTensor((), "b", 0, "HBM", 80, 32, strided, life=(3, 5)),
            PlanTensor((), "join", 0, "HBM", 64, 64, life=(2, 5)),
            PlanTensor((), "out", 0, "HBM", 128, 64, life=(0, 7)),
        ],
    )
    value = np.arange(-4, 4, dtype=np.float32).reshape(2, 4)
    tasks = generate_tasks(build.graph, ops, plan)
    found = NumpyExecutor(ops, hostile=True).run(build.graph, plan, tasks, {"x": value})
    expected = np.maximum(np.concatenate([np.maximum(value, 0), 2 * value], axis=1), 0)
    assert expected.tolist() == found.outputs["output_0"].tolist()
    assert 0 == found.executed_copies
