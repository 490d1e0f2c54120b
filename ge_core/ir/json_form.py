"""The `ge-graph/1` JSON form, both ways. Lossless after normalisation.

Decoded by hand: a model class per node made 200,000 nodes cost 8.5 s and 315 MB.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ge_core.digits import whole_number
from ge_core.errors import GraphError, InputFileError
from ge_core.ir import normalise
from ge_core.ir.collector import collector_paused
from ge_core.ir.desc import TensorDesc
from ge_core.ir.graph import Graph
from ge_core.ir.json_values import decode, encode, from_base64
from ge_core.ir.known_attrs import check_attrs
from ge_core.ir.node import InputAnchor, Node, OutputAnchor
from ge_core.ir.value import ConstValue

SCHEMA: Final = "ge-graph/1"
_NODE_KEYS: Final = frozenset(
    {
        "name",
        "op",
        "attrs",
        "inputs",
        "outputs",
        "input_descs",
        "control_inputs",
        "subgraphs",
        "value",
        "origin",
        "input_names",
        "output_names",
    }
)
_GRAPH_KEYS: Final = frozenset({"schema", "name", "source", "attrs", "nodes", "subgraphs"})
_DESC_KEYS: Final = frozenset(
    {
        "dtype",
        "shape",
        "format",
        "origin_shape",
        "origin_format",
        "mem_type",
        "size",
        "reuse_input",
        "attrs",
    }
)


# ---- reading -----------------------------------------------------------------------------------


def read_graph(
    document: Mapping[str, Any], *, folder: Path | None = None, tolerant: bool = False
) -> Graph:
    """Decode a graph and its subgraphs.

    Args:
        document: the decoded JSON object.
        folder: where external values lie (the file's own folder).
        tolerant: let inner inputs stand for places that no caller has, as GE does.

    Raises:
        GraphError, InputFileError: naming node and field.
    """
    if not isinstance(document, Mapping):
        raise InputFileError("a graph must be a JSON object")
    schema = document.get("schema", SCHEMA)
    if schema != SCHEMA:
        raise InputFileError(f"schema {schema!r} is not {SCHEMA!r}", field="schema")
    _check_keys(document, _GRAPH_KEYS, "graph", None)
    source = document.get("source", "ge")
    if source not in ("ge", "onnx"):
        raise InputFileError(f"{source!r} is neither 'ge' nor 'onnx'", field="source")
    root = Graph(_text(document.get("name", "root"), "name"), source)
    with collector_paused():
        _read_parts(root, document, folder, tolerant)
    return root


def _read_parts(
    root: Graph, document: Mapping[str, Any], folder: Path | None, tolerant: bool
) -> None:
    parts = [(root, document)]
    for sub in _list(document.get("subgraphs"), "subgraphs"):
        _check_keys(sub, _GRAPH_KEYS, "subgraph", None)
        name = sub.get("name")
        if not isinstance(name, str) or not name:
            raise GraphError("a subgraph without a name", field="subgraphs")
        parts.append((root.add_subgraph(name), sub))
    for graph, part in parts:
        _read_part(graph, part, folder, tolerant)


def _read_part(graph: Graph, part: Mapping[str, Any], folder: Path | None, tolerant: bool) -> None:
    for name, value in normalise.attrs(_mapping(part.get("attrs"), "attrs")).items():
        graph.set_graph_attr(name, decode(value))
    listed: list[tuple[Node, Mapping[str, Any]]] = []
    for entry in _list(part.get("nodes"), "nodes"):
        listed.append((_read_node(graph, entry, folder, tolerant), entry))
    for node, entry in listed:
        _read_edges(graph, node, entry)
    for node, entry in listed:
        _read_input_descs(graph, node, entry)
        _read_subgraphs(graph, node, entry)


def _read_node(graph: Graph, entry: Mapping[str, Any], folder: Path | None, tolerant: bool) -> Node:
    if not isinstance(entry, Mapping):
        raise GraphError("a node must be a JSON object", field="nodes")
    name, op = entry.get("name"), entry.get("op")
    if not isinstance(name, str) or not name:
        raise GraphError(f"a node of op {op!r} without a name", field="name")
    if not isinstance(op, str) or not op:
        raise GraphError("a node without an op type", node=name, field="op")
    _check_keys(entry, _NODE_KEYS, "node", name)
    try:
        outputs = [read_desc(desc) for desc in _list(entry.get("outputs"), "outputs")]
        attrs = {
            k: decode(v) for k, v in normalise.attrs(_mapping(entry.get("attrs"), "attrs")).items()
        }
        check_attrs(attrs, op, tolerant=tolerant)
        value = _read_value(entry.get("value"), folder)
    except InputFileError as error:
        if error.node is not None:
            raise
        raise GraphError(
            error.plain_message, node=name, field=error.field, near=error.near
        ) from error
    origin = entry.get("origin")
    return graph.add_node(
        op,
        name,
        outputs=outputs,
        attrs=attrs,
        value=value,
        origin=None
        if origin is None
        else [_text(item, "origin") for item in _list(origin, "origin")],
        input_names=_list(entry.get("input_names"), "input_names"),
        output_names=_list(entry.get("output_names"), "output_names"),
    )


def _read_edges(graph: Graph, node: Node, entry: Mapping[str, Any]) -> None:
    for at, ref in enumerate(_list(entry.get("inputs"), "inputs", node.name)):
        graph.add_input(node, None if ref is None else _port(graph, node, at, ref))
    for other in _list(entry.get("control_inputs"), "control_inputs", node.name):
        earlier = graph.find(other) if isinstance(other, str) else None
        if earlier is None or earlier.graph is not graph:
            raise GraphError(
                f"no node {other!r} in this graph", node=node.name, field="control_inputs"
            )
        graph.add_control(earlier, node)


def _port(graph: Graph, node: Node, at: int, ref: object) -> OutputAnchor:
    name, _, index = ref.rpartition(":") if isinstance(ref, str) else ("", "", "")
    number = whole_number(index)
    if not name or number is None:
        raise GraphError(
            f"input {at}: {ref!r} is not 'node:output'", node=node.name, field="inputs"
        )
    producer = graph.find(name)
    if producer is None or producer.graph is not graph:
        raise GraphError(
            f"input {at}: no node {name!r} in this graph", node=node.name, field="inputs"
        )
    if number >= 1 << 16:
        raise GraphError(
            f"input {at}: output {number} is out of range", node=node.name, field="inputs"
        )
    while len(producer.outputs) <= number:
        graph.add_output(producer, TensorDesc.make())
    return producer.outputs[number]


def _read_input_descs(graph: Graph, node: Node, entry: Mapping[str, Any]) -> None:
    descs = _list(entry.get("input_descs"), "input_descs", node.name)
    if len(descs) > len(node.inputs):
        raise GraphError(
            f"{len(descs)} descriptions for {len(node.inputs)} inputs",
            node=node.name,
            field="input_descs",
        )
    for anchor, given in zip(node.inputs, descs, strict=False):
        if given:
            try:
                graph.set_desc(anchor, read_desc(given, like=anchor))
            except InputFileError as error:
                raise GraphError(
                    error.plain_message, node=node.name, field=error.field, near=error.near
                ) from error


def _read_subgraphs(graph: Graph, node: Node, entry: Mapping[str, Any]) -> None:
    for label, name in _mapping(entry.get("subgraphs"), "subgraphs").items():
        sub = graph.root.subgraphs.get(name) if isinstance(name, str) else None
        if sub is None:
            raise GraphError(f"no subgraph {name!r}", node=node.name, field="subgraphs")
        graph.set_subgraph(node, label, sub)


def read_desc(given: Any, *, like: InputAnchor | None = None) -> TensorDesc:
    """Decode a description; keys left out inherit from what feeds `like`, else the defaults.

    A memory kind is not inherited: where what feeds an input lies is no wish of the input.
    """
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InputFileError("a description must be a JSON object", field="outputs")
    _check_keys(given, _DESC_KEYS, "description", None)
    facts: dict[str, Any] = {}
    source = None if like is None else like.source
    if source is not None:
        base = source.desc
        facts = {"dtype": base.dtype, "shape": base.shape, "format": base.format}
        facts |= {"origin_shape": base.origin_shape, "origin_format": base.origin_format}
        if "shape" in given:
            facts.pop("origin_shape")
        if "format" in given:
            facts.pop("origin_format")
    for key in ("shape", "origin_shape"):
        if key in given:
            facts[key] = _shape(given[key], key)
    for key in ("format", "origin_format"):
        if key in given and given[key] is not None:
            facts[key] = _text(given[key], key)
    for key in ("size", "reuse_input"):
        if given.get(key) is not None:
            facts[key] = _int(given[key], key)
    if facts.get("size", 0) < 0:
        raise InputFileError(f"{facts['size']} is not a number of bytes", field="size")
    if "dtype" in given:
        facts["dtype"] = given["dtype"]
    if given.get("mem_type") is not None:
        facts["mem_type"] = normalise.mem_type(given["mem_type"])
    attrs = {
        k: decode(v) for k, v in normalise.attrs(_mapping(given.get("attrs"), "attrs")).items()
    }
    check_attrs(attrs)
    return TensorDesc.make(**facts, attrs=attrs)


def _read_value(given: Any, folder: Path | None) -> ConstValue | None:
    if given is None:
        return None
    value = _mapping(given, "value")
    if "base64" in value:
        return ConstValue(data=from_base64(_text(value["base64"], "value")))
    name = _text(value.get("file"), "value")
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        raise InputFileError(
            f"external file {name!r} lies outside the graph's folder", field="value"
        )
    offset, length = _int(value.get("offset", 0), "offset"), _int(value.get("nbytes"), "nbytes")
    return ConstValue(file=(folder or Path()) / path, offset=offset, nbytes=length)


# ---- writing -----------------------------------------------------------------------------------


def write_graph(graph: Graph, *, folder: Path | None = None) -> dict[str, Any]:
    """Encode a root graph; external values are referred to relative to `folder`."""
    document: dict[str, Any] = {"schema": SCHEMA, "name": graph.name, "source": graph.source}
    if graph.attrs:
        document["attrs"] = encode(graph.attrs)
    document["nodes"] = [_write_node(node, folder) for node in graph.nodes]
    if graph.subgraphs:
        document["subgraphs"] = [
            {
                "name": sub.name,
                **({"attrs": encode(sub.attrs)} if sub.attrs else {}),
                "nodes": [_write_node(node, folder) for node in sub.nodes],
            }
            for sub in graph.subgraphs.values()
        ]
    return document


def _write_node(node: Node, folder: Path | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": node.name, "op": node.op}
    if node.attrs:
        entry["attrs"] = encode(node.attrs)
    if node.inputs:
        entry["inputs"] = [None if a.source is None else repr(a.source) for a in node.inputs]
    if node.control_inputs:
        entry["control_inputs"] = [other.name for other in node.control_inputs]
    if node.outputs:
        entry["outputs"] = [write_desc(output.desc) for output in node.outputs]
    if any(anchor.own_desc is not None for anchor in node.inputs):
        entry["input_descs"] = [
            None if a.own_desc is None else write_desc(a.own_desc) for a in node.inputs
        ]
    if node.subgraphs:
        entry["subgraphs"] = {label: sub.name for label, sub in node.subgraphs.items()}
    if node.input_names:
        entry["input_names"] = list(node.input_names)
    if node.output_names:
        entry["output_names"] = list(node.output_names)
    if node.value is not None:
        entry["value"] = _write_value(node.value, folder)
    if node._origin is not None:
        entry["origin"] = list(node._origin)
    return entry


def write_desc(desc: TensorDesc) -> dict[str, Any]:
    """Encode a description in full: reading it back needs no context."""
    entry: dict[str, Any] = {
        "dtype": desc.dtype,
        "shape": None if desc.shape is None else list(desc.shape),
    }
    if desc.format != "ND":
        entry["format"] = desc.format
    if desc.origin_shape != desc.shape:
        entry["origin_shape"] = None if desc.origin_shape is None else list(desc.origin_shape)
    if desc.origin_format != desc.format:
        entry["origin_format"] = desc.origin_format
    if desc.mem_type != "HBM":
        entry["mem_type"] = desc.mem_type
    if desc.size is not None:
        entry["size"] = desc.size
    if desc.reuse_input is not None:
        entry["reuse_input"] = desc.reuse_input
    if desc.attrs:
        entry["attrs"] = encode(desc.attrs)
    return entry


def _write_value(value: ConstValue, folder: Path | None) -> dict[str, Any]:
    if value.file is not None and folder is not None:
        try:
            name = value.file.resolve().relative_to(folder.resolve()).as_posix()
        except ValueError:
            name = None
        if name is not None:
            return {"file": name, "offset": value.offset, "nbytes": value.nbytes}
    return {"base64": base64.b64encode(value.read()).decode("ascii")}


# ---- files -------------------------------------------------------------------------------------


def load_graph_file(path: Path | str) -> Graph:
    """Read a `ge-graph/1` file. Raises `InputFileError` naming file, node and field."""
    path = Path(path)
    document = load_json(path)
    try:
        return read_graph(document, folder=path.parent)
    except InputFileError as error:
        raise error.in_file(str(path)) from error
    except RecursionError as error:
        raise InputFileError("values are nested too deeply", file=str(path)) from error


def load_json(path: Path) -> Any:
    """Decode a JSON file; every way to fail is one `InputFileError`."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputFileError(f"can't be read: {error.strerror}", file=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise InputFileError(f"not JSON: {error}", file=str(path)) from error


def save_graph_file(graph: Graph, path: Path | str) -> None:
    """Write a `ge-graph/1` file: a temporary name beside it, then a rename."""
    path = Path(path)
    document = write_graph(graph, folder=path.parent)
    write_atomically(path, (json.dumps(document, allow_nan=False) + "\n").encode())


def write_atomically(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Replace a file as a whole; the old one stays when anything fails.

    Raises:
        InputFileError: the place can't be written.
    """
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            for block in (data,) if isinstance(data, bytes) else data:
                stream.write(block)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        raise InputFileError(f"can't be written: {error.strerror}", file=str(path)) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


# ---- small checks ------------------------------------------------------------------------------


def _check_keys(
    given: Mapping[str, Any], known: frozenset[str], what: str, node: str | None
) -> None:
    if not isinstance(given, Mapping):
        raise GraphError(f"a {what} must be a JSON object", node=node)
    extra = sorted(key for key in given if key not in known)
    if extra:
        raise GraphError(f"unknown key {extra[0]!r} in a {what}", node=node, field=extra[0])


def _list(given: Any, field: str, node: str | None = None) -> list[Any]:
    if given is None:
        return []
    if not isinstance(given, list):
        raise GraphError("must be a list", node=node, field=field)
    return given


def _mapping(given: Any, field: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise GraphError("must be a JSON object", field=field)
    return given


def _text(given: Any, field: str) -> str:
    if not isinstance(given, str):
        raise InputFileError(f"{given!r} is not a text", field=field)
    return given


def _int(given: Any, field: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise InputFileError(f"{given!r} is not an integer", field=field)
    return given


def _shape(given: Any, field: str) -> tuple[int, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list):
        raise InputFileError(f"{given!r} is not a list of dimensions", field=field)
    for dim in given:
        if isinstance(dim, bool) or not isinstance(dim, int) or not -2 <= dim < 1 << 62:
            raise InputFileError(f"{dim!r} is not a dimension", field=field)
    return None if -2 in given else tuple(given)
