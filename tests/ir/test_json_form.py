"""The ge-graph/1 form: lossless, normalised, and clear about bad files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import GraphError, InputFileError
from ge_core.ir import (
    ConstValue,
    GraphBuilder,
    TensorDesc,
    load_graph_file,
    read_graph,
    save_graph_file,
    structural_hash,
    write_graph,
)
from ge_core.testing.random_graphs import GraphKnobs, random_graph


@given(st.integers(0, 10_000))
def test_writing_and_reading_loses_nothing(seed: int) -> None:
    """A graph read back is the graph that was written, and is written the same again."""
    graph = random_graph(seed, GraphKnobs(streams=2))
    text = json.dumps(write_graph(graph), allow_nan=False)
    again = read_graph(json.loads(text))
    assert structural_hash(graph) == structural_hash(again)
    assert text == json.dumps(write_graph(again))


def test_spellings_are_normalised() -> None:
    """Both spellings of the no-padding marks and of the parent index read as GE's."""
    graph = read_graph(
        {
            "nodes": [{"name": "c", "op": "PartitionedCall", "subgraphs": {"f": "g"}}],
            "subgraphs": [
                {
                    "name": "g",
                    "nodes": [
                        {
                            "name": "d",
                            "op": "Data",
                            "attrs": {"parent_node_index": 0, "_nopadding_continuous_input": True},
                            "outputs": [{}],
                        }
                    ],
                }
            ],
        }
    )
    attrs = graph.node("d").attrs
    assert {"_parent_node_index": 0, "_no_padding_continuous_input": True} == dict(attrs)


def test_an_input_description_inherits_what_it_leaves_out() -> None:
    """Dtype, shape and format come from the connected output; given keys win."""
    graph = read_graph(
        {
            "nodes": [
                {"name": "a", "op": "Data", "outputs": [{"dtype": "int8", "shape": [4, 4]}]},
                {"name": "b", "op": "Relu", "inputs": ["a:0"], "input_descs": [{"format": "NZ"}]},
            ]
        }
    )
    desc = graph.node("b").inputs[0].desc
    assert TensorDesc.make("int8", (4, 4), "NZ") == desc


def test_values_and_odd_attributes_survive(tmp_path: Path) -> None:
    """Bytes, NaN and nested attributes, inline values and own values read back exactly."""
    build = GraphBuilder()
    value = build.const("w", bytes(range(16)), (4,))
    build.op("Foo", value, name="f", attrs={"b": b"\x00\xff", "n": float("inf"), "l": [1, 2.5]})
    save_graph_file(build.graph, tmp_path / "g.json")
    graph = load_graph_file(tmp_path / "g.json")
    read = graph.node("w").value
    assert read is not None
    assert bytes(range(16)) == read.read()
    assert {"b": b"\x00\xff", "n": float("inf"), "l": [1, 2.5]} == dict(graph.node("f").attrs)


def test_external_values_are_not_read_until_asked(tmp_path: Path) -> None:
    """An external value is a reference; a missing file is one clear error when it is read."""
    build = GraphBuilder()
    node = build.graph.add_node("Const", "w", outputs=[TensorDesc.make("int8", (4,))])
    build.graph.set_value(node, ConstValue(file=tmp_path / "w.bin", offset=2, nbytes=4))
    save_graph_file(build.graph, tmp_path / "g.json")
    (tmp_path / "w.bin").write_bytes(b"01abcd")
    value = load_graph_file(tmp_path / "g.json").node("w").value
    assert value is not None
    assert b"abcd" == value.read()
    (tmp_path / "w.bin").unlink()
    with pytest.raises(InputFileError, match=r"w\.bin: external data can't be read"):
        value.read()


BAD: list[tuple[str, Any, str]] = [
    ("not an object", [], "must be a JSON object"),
    ("a wrong schema", {"schema": "ge-graph/9", "nodes": []}, "ge-graph/9"),
    ("a misspelt key", {"nodes": [{"name": "a", "op": "X", "input": []}]}, "'a'.*'input'"),
    ("no op", {"nodes": [{"name": "a"}]}, "node 'a', field 'op'"),
    ("no name", {"nodes": [{"op": "X"}]}, "without a name"),
    ("a double name", {"nodes": [{"name": "a", "op": "X"}] * 2}, "'a'.*used twice"),
    ("an unknown producer", {"nodes": [{"name": "a", "op": "X", "inputs": ["b:0"]}]}, "'b'"),
    ("a bad reference", {"nodes": [{"name": "a", "op": "X", "inputs": ["b"]}]}, "node:output"),
    (
        "an unknown dtype",
        {"nodes": [{"name": "a", "op": "X", "outputs": [{"dtype": "floot32"}]}]},
        "node 'a'.*'floot32'(.|\n)*near: float32",
    ),
    (
        "a negative dimension",
        {"nodes": [{"name": "a", "op": "X", "outputs": [{"shape": [-5]}]}]},
        "node 'a'.*-5",
    ),
    (
        "an unknown subgraph",
        {"nodes": [{"name": "a", "op": "If", "subgraphs": {"t": "g"}}]},
        "'a'.*no subgraph 'g'",
    ),
    (
        "an escaping file",
        {"nodes": [{"name": "a", "op": "Const", "value": {"file": "../x", "nbytes": 1}}]},
        "'a'.*outside",
    ),
]


@pytest.mark.parametrize(("document", "says"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_a_bad_document_is_one_clear_error(document: Any, says: str, tmp_path: Path) -> None:
    """Each fault names the file, the node and what is wrong."""
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputFileError, match=rf"bad\.json: (.|\n)*{says}"):
        load_graph_file(path)


@pytest.mark.parametrize("text", ["", "{", '{"nodes": [', "[" * 100_000, '"\ud800'])
def test_a_truncated_file_is_one_clear_error(text: str, tmp_path: Path) -> None:
    """Text that is no JSON is refused with the file's name."""
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputFileError, match=r"bad\.json: not JSON"):
        load_graph_file(path)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """An error while writing keeps what was there and leaves nothing else behind."""
    path = tmp_path / "g.json"
    path.write_text("old")
    build = GraphBuilder()
    build.op("Foo", name="f", attrs={"bad": object()})
    with pytest.raises(InputFileError, match="no JSON form"):
        save_graph_file(build.graph, path)
    assert "old" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("attrs", "field"),
    [
        ({"stream_id": "x"}, "attrs.stream_id"),
        ({"stream_id": None}, "attrs.stream_id"),
        ({"stream_id": True}, "attrs.stream_id"),
        ({"stream_id": 1.5}, "attrs.stream_id"),
        ({"stream_id": 10**20}, "attrs.stream_id"),
        ({"_parent_node_index": "a"}, "attrs._parent_node_index"),
        ({"rw": {"inputs": {"a": "write"}}}, "attrs.rw"),
        ({"index": "a"}, "attrs.index"),
        ({"": 1}, "attrs"),
        ({"_output_inplace_ability": [["a", 0]]}, "attrs._output_inplace_ability"),
        ({"_workspace_memory_no_reuse_scope": {}}, "attrs._workspace_memory_no_reuse_scope"),
        ({"workspace_reuse_flag": ["a"]}, "attrs.workspace_reuse_flag"),
    ],
)
def test_attributes_that_the_kernel_reads_are_checked(attrs: dict[str, Any], field: str) -> None:
    """One error names the node and the attribute."""
    node = {"name": "x", "op": "Data", "attrs": attrs, "outputs": [{}]}
    with pytest.raises(GraphError) as raised:
        read_graph({"schema": "ge-graph/1", "name": "root", "nodes": [node]})
    assert ("x", field) == (raised.value.node, raised.value.field)


def test_a_place_that_no_caller_has_is_read_on_request() -> None:
    """GE takes any number there; a file that is compiled has to make sense."""
    inner = {"name": "d", "op": "Data", "attrs": {"_parent_node_index": -1}, "outputs": [{}]}
    document = {
        "nodes": [{"name": "c", "op": "PartitionedCall", "subgraphs": {"f": "g"}}],
        "subgraphs": [{"name": "g", "nodes": [inner]}],
    }
    with pytest.raises(GraphError, match="-1 is not the index of an input or output"):
        read_graph(document)
    assert -1 == read_graph(document, tolerant=True).node("d").attrs["_parent_node_index"]
