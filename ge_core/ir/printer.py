"""A short text form for people and for comparing runs; print-only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from ge_core.ir.desc import TensorDesc
from ge_core.ir.graph import Graph
from ge_core.ir.json_form import write_graph
from ge_core.ir.node import Node


def print_graph(graph: Graph) -> str:
    """The graph and its subgraphs, a line per node."""
    parts = graph.all_graphs() if graph.is_root else [graph]
    return "\n".join(line for part in parts for line in _lines(part)) + "\n"


def _lines(graph: Graph) -> Iterator[str]:
    yield f"graph {graph.name} {{"
    for node in graph.nodes:
        yield "  " + _line(node)
    yield "}"


def _line(node: Node) -> str:
    outputs = ", ".join(f"{output.desc!r}" for output in node.outputs)
    inputs = ", ".join("-" if a.source is None else repr(a.source) for a in node.inputs)
    text = f"{node.name} = {node.op}({inputs})"
    if outputs:
        text += f" : {outputs}"
    if node.attrs:
        text += " {" + ", ".join(f"{k}={node.attrs[k]!r}" for k in sorted(node.attrs)) + "}"
    if node.control_inputs:
        text += " after " + ", ".join(other.name for other in node.control_inputs)
    for label, sub in node.subgraphs.items():
        text += f" {label}={sub.name}"
    return text


def structural_hash(graph: Graph) -> str:
    """SHA-256 over everything a pass could change; values count by digest, not by content."""
    digest = hashlib.sha256()
    for part in graph.root.all_graphs():
        digest.update(f"graph {part.name} {sorted(part.attrs.items())!r}\n".encode())
        for node in part.nodes:
            own = [None if a.own_desc is None else _facts(a.own_desc) for a in node.inputs]
            facts = (
                _line(node),
                [_facts(output.desc) for output in node.outputs],
                own,
                node.origin,
                None if node.value is None else node.value.nbytes,
            )
            digest.update(repr(facts).encode())
    return digest.hexdigest()


def _facts(desc: TensorDesc) -> tuple[object, ...]:
    origin = (desc.origin_shape, desc.origin_format)
    rest = (desc.mem_type, desc.size, desc.reuse_input, sorted(desc.attrs.items()))
    return (desc.dtype, desc.shape, desc.format, *origin, *rest)


def to_json_text(graph: Graph) -> str:
    """The `ge-graph/1` form as text with sorted keys, for comparisons."""
    return json.dumps(write_graph(graph), sort_keys=True)
