"""What a run starts from: inputs given and generated, constants, and files of arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ge_core.api import GraphBuilder, InputFileError, TensorDesc
from ge_runtime.defaults import default_ops
from ge_runtime.errors import ExecutionError
from ge_runtime.executor import NumpyExecutor
from ge_runtime.npz import read_feeds, write_outputs
from ge_runtime.reference import run_reference
from ge_runtime.sources import make_feeds

OPS = default_ops()


def _graph(**inputs: tuple[str, tuple[int, ...]]) -> GraphBuilder:
    build = GraphBuilder()
    build.net_output(*[build.data(n, shape, dtype) for n, (dtype, shape) in inputs.items()])
    return build


def test_generated_inputs_depend_on_seed_and_name_only() -> None:
    """The same name and seed give the same values, whatever else the graph has."""
    small = make_feeds(_graph(x=("float32", (2, 3))).graph, OPS, seed=1)
    large = make_feeds(_graph(y=("int8", (4,)), x=("float32", (2, 3))).graph, OPS, seed=1)
    other = make_feeds(_graph(x=("float32", (2, 3))).graph, OPS, seed=2)
    assert small["x"].tolist() == large["x"].tolist()
    assert small["x"].tolist() != other["x"].tolist()


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ((-1, 3, -1, -1), (2, 3, 64, 64)),
        ((2, -1, 8), (2, 2, 8)),
        ((-1, -1), (2, 256)),
        ((-1,), (2,)),
        ((), ()),
    ],
)
def test_open_dimensions_get_a_size(declared: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """The first open one is the batch, wherever it stands; the others have room for windows."""
    assert expected == make_feeds(_graph(x=("float32", declared)).graph, OPS)["x"].shape


def test_given_inputs_stay_and_strangers_are_refused() -> None:
    """What is given is used as it is; a name that is no input is an error with near ones."""
    graph = _graph(x=("float32", (2,)), y=("float32", (2,))).graph
    mine = np.ones(2, np.float32)
    assert make_feeds(graph, OPS, given={"y": mine})["y"] is mine
    with pytest.raises(ExecutionError, match="no input 'z'"):
        make_feeds(graph, OPS, given={"z": mine})


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
def test_generated_integers_can_count_and_index(dtype: str) -> None:
    """They are small and not negative."""
    value = make_feeds(_graph(n=(dtype, (100,))).graph, OPS)["n"].astype(int)
    assert 0 <= value.min() and value.max() <= 3


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "no value for input 'x'"),
        (np.ones(2), r"given float64\[2\]"),
        (np.ones(3, np.float32), r"given float32\[3\]"),
    ],
)
def test_an_input_must_be_the_tensor_that_is_declared(value: Any, said: str) -> None:
    """Missing inputs, other dtypes and other shapes are errors, not conversions."""
    graph = _graph(x=("float32", (2,))).graph
    with pytest.raises(ExecutionError, match=said):
        run_reference(graph, {} if value is None else {"x": value})


def test_plain_python_numbers_are_taken() -> None:
    """A list or number without a dtype of its own becomes what is declared."""
    found = run_reference(_graph(x=("int64", (2,))).graph, {"x": [1, 2]})
    assert ("int64", [1, 2]) == (
        str(found.outputs["output_0"].dtype),
        found.outputs["output_0"].tolist(),
    )


def test_constants_and_variables_without_bytes_follow_from_their_names() -> None:
    """Graphs without weights run; a weight keeps its content when it is renamed with its origin."""
    build = GraphBuilder()
    desc = TensorDesc.make("float32", (4,))
    a = build.graph.add_node("Const", "a", outputs=[desc])
    b = build.graph.add_node("Const", "b", outputs=[desc])
    c = build.graph.add_node("Const", "c", outputs=[desc], origin=("a",))
    build.net_output(a.outputs[0], b.outputs[0], c.outputs[0])
    found = [value.tolist() for value in run_reference(build.graph, {}).outputs.values()]
    assert found[0] == found[2] != found[1]


def test_a_fed_variable_starts_with_that_value() -> None:
    """Variables can be given by name, and their last value is part of the result."""
    build = GraphBuilder()
    variable = build.node("Variable", name="v", shape=(2,)).outputs[0]
    step = build.data("x", (2,))
    build.net_output(build.op("AssignAdd", variable, step, reuse_input=0))
    feeds = {"v": np.array([1, 2], np.float32), "x": np.array([10, 20], np.float32)}
    found = run_reference(build.graph, feeds)
    assert [11, 22] == found.variables["v"].tolist()
    assert [1, 2] == feeds["v"].tolist()


def test_files_keep_every_type_bit_for_bit(tmp_path: Path) -> None:
    """Written outputs read back as inputs, also types that the file format does not know."""
    graph = _graph(
        a=("bfloat16", (3,)),
        b=("int4", (3,)),
        c=("string", (2,)),
        file=("bool", ()),
        d=("int64", (0, 2)),
    ).graph
    values = {
        "a": np.array([1.5, -2, 3], ml_dtypes.bfloat16),
        "b": np.array([-8, 0, 7], ml_dtypes.int4),
        "c": np.array(["x", "yz"], object),
        "file": np.array(True),
        "d": np.zeros((0, 2), np.int64),
    }
    executor = NumpyExecutor(OPS)
    path = tmp_path / "x.npz"
    executor.write_outputs(path, values)
    first = path.read_bytes()
    executor.write_outputs(path, values)
    assert first == path.read_bytes()
    found = executor.read_feeds(path, graph)
    assert list(values) == list(found)
    for name, value in values.items():
        assert (value.dtype, value.tolist()) == (found[name].dtype, found[name].tolist())


def test_sequences_are_written_element_by_element(tmp_path: Path) -> None:
    """`name[0]`, `name[1]`: a reader needs no pickles."""
    path = tmp_path / "x.npz"
    write_outputs(path, {"s": [np.ones(1), np.zeros(2)], "nothing": None})
    with np.load(path) as archive:
        assert ["s[0]", "s[1]"] == archive.files


@pytest.mark.parametrize("data", [b"", b"PK\3\4broken", b"\x93NUMPY"])
def test_a_broken_file_is_named(tmp_path: Path, data: bytes) -> None:
    """What is no .npz is one error with the file's name."""
    path = tmp_path / "x.npz"
    path.write_bytes(data)
    with pytest.raises(InputFileError, match=r"x\.npz"):
        read_feeds(path, _graph(x=("float32", (2,))).graph)


def test_pickles_and_strangers_in_files_are_refused(tmp_path: Path) -> None:
    """Nothing from a file is executed; an array that is no input is named."""
    graph = _graph(x=("float32", (2,))).graph
    path = tmp_path / "x.npz"
    np.savez(path, x=np.array([{}], object), allow_pickle=True)
    with pytest.raises(InputFileError, match="read as .npz"):
        read_feeds(path, graph)
    write_outputs(path, {"y": np.ones(2)})
    with pytest.raises(InputFileError, match="no input 'y'"):
        read_feeds(path, graph)
