"""Real models: copies, arena and compile time, beside onnxruntime's session on the same file.

onnxruntime keeps every Concat as a copy at all levels; its figures are what its own optimised graph
(level `all`, layout changes off) still contains, and how long making the session takes.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import onnxruntime

import ge_core as ge

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "examples" / "models", ROOT / "tests" / "models")
COLUMNS = (
    "model",
    "copied bytes",
    "O3",
    "O4",
    "arena O3",
    "bound",
    "no reuse",
    "ge O3 s",
    "proof s",
    "ort s",
    "ort Identity/Concat left",
)


def entries() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every model with its inputs; those without weights of their own are left out."""
    for folder in FOLDERS:
        for entry in json.loads((folder / "index.json").read_text()):
            if not entry.get("stub"):
                yield folder / entry["file"], entry["feeds"]


def measure(path: Path, feeds: dict[str, Any]) -> list[str]:
    """One row."""
    shapes = {name: tuple(feed["shape"]) for name, feed in feeds.items()}
    three = ge.compile(path, level="O3", input_shapes=shapes)
    four = ge.compile(path, level="O4", input_shapes=shapes)
    seconds, left = onnxruntime_session(path)
    return [
        path.stem,
        f"{three.before.total.bytes:,}",
        f"{three.after.total.bytes:,}",
        f"{four.after.total.bytes:,}",
        f"{three.arena.bytes:,}",
        f"{three.arena.lower_bound:,}",
        f"{three.arena.no_reuse:,}",
        f"{three.seconds.total:.2f}",
        f"{three.seconds.proof:.2f}",
        f"{seconds:.2f}",
        left,
    ]


def onnxruntime_session(path: Path) -> tuple[float, str]:
    """Seconds to make a session, and the copies left in its optimised graph."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        level = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = level.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(Path(folder) / "optimised.onnx")
        options.log_severity_level = 4
        start = time.perf_counter()
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        seconds = time.perf_counter() - start
        model = onnx.load(options.optimized_model_filepath, load_external_data=False)
    ops = [node.op_type for graph in graphs(model.graph) for node in graph.node]
    return seconds, f"{ops.count('Identity')}/{ops.count('Concat')}"


def graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """A graph and everything below it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from graphs(attribute.g)


def main() -> None:
    """Print a Markdown table."""
    print("| " + " | ".join(COLUMNS) + " |")
    print("| --- |" + " ---: |" * (len(COLUMNS) - 1))
    for path, feeds in entries():
        print("| " + " | ".join(measure(path, feeds)) + " |", flush=True)


if __name__ == "__main__":
    main()
