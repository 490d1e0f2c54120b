"""Joins, splits and slices of real models: bytes that one inference copies, before and after.

`before` is the graph as it was loaded, which is what O0 and O1 leave; then O3, O4, and O4 on a
target whose ops may read and write memory with a pitch. What passes put in place of a join or
split (copies of single operands) counts with it. Bytes of nodes of up to 64 bytes are arithmetic
on shapes and stand in columns of their own. onnxruntime's figures are those of a real run at
`ORT_ENABLE_ALL`: the nodes in its profile, and the bytes that they made. Ours count every node of
the file once, both arms of an If too. Peaks are the arena, with graph inputs and outputs in it.

`python -m benchmarks.concat [FILE.onnx or folder with index.json ...]`, by default the models of
this repository. A file that isn't there is told, in a row of its own.
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "examples" / "models", ROOT / "tests" / "models")
SMALL = 64
"""Bytes up to which a joined, cut or sliced tensor is arithmetic on shapes."""
OPS = ("Concat", "Split", "Slice")
FORMS = (("O3", "O3", False), ("O4", "O4", False), ("O4 strided", "O4", True))
COLUMNS = (
    "model",
    "before",
    *(name for name, _, _ in FORMS),
    "onnxruntime",
    "shapes: before",
    "O4",
    "onnxruntime",
    "peak O1",
    "O4",
    "ok",
)


@dataclass
class Copied:
    """What nodes of a graph copy, by op.

    Attributes:
        nodes, bytes: of those above `SMALL` bytes.
        small: bytes of the others.
        unknown: how many nodes have a size that nobody knows before the run.
    """

    nodes: dict[str, int] = field(default_factory=dict)
    bytes: int = 0
    small: int = 0
    unknown: int = 0

    def add(self, op: str, sizes: list[int | None]) -> None:
        """Count one node."""
        total = sum(size or 0 for size in sizes)
        if None in sizes:
            self.unknown += 1
        if total > SMALL:
            self.bytes += total
            self.nodes[op] = self.nodes.get(op, 0) + 1
        else:
            self.small += total

    def __str__(self) -> str:
        return f"{self.bytes:,}" + (f" + {self.unknown} unknown" if self.unknown else "")


def entries(paths: list[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every model with what it is run with."""
    for path in paths:
        folder = path if path.is_dir() else path.parent
        listed = json.loads((folder / "index.json").read_text())
        for entry in listed:
            if path.is_dir() or path.name == entry["file"]:
                yield folder / entry["file"], entry["feeds"]


def restored(path: Path, folder: Path) -> Path:
    """The model with the weights that a stub lacks filled in."""
    if not path.name.endswith(".stub.onnx"):
        return path
    import onnx

    script = path.parent / "restore.py"
    spec = importlib.util.spec_from_file_location("restore", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    target = folder / path.name
    onnx.save(module.restore(onnx.load(path)), target)
    return target


def arrays(feeds: dict[str, Any]) -> dict[str, Any]:
    """Inputs of one run: the values given, else seeded ones."""
    import numpy as np

    rng = np.random.default_rng(0)
    found = {}
    for name, feed in feeds.items():
        shape = tuple(feed["shape"])
        if "value" in feed:
            found[name] = np.full(shape, feed["value"], feed["dtype"]).reshape(shape)
        elif np.issubdtype(np.dtype(feed["dtype"]), np.floating):
            found[name] = rng.standard_normal(shape).astype(feed["dtype"])
        else:
            found[name] = rng.integers(0, 2, shape).astype(feed["dtype"])
    return found


def copied(graph, known: set[str], ops) -> Copied:
    """What joins, splits and slices of a graph copy, and copies that were not there before."""
    from ge_core.passes.copied import copied_sizes
    from ge_core.session.copies import source_op

    found = Copied()
    for node in graph.all_nodes():
        op = source_op(node)
        kind = ops.kind(node)
        if (
            op in OPS
            or kind in ("join", "split", "slice")
            or (kind == "move" and node.name not in known)
        ):
            sizes = copied_sizes(node, ops)
            if sizes:
                found.add(op, sizes)
    return found


def compiled(path: Path, feeds: dict[str, Any]) -> dict[str, Any]:
    """What each level copies, and the peaks."""
    import ge_core as ge
    from ge_core.api import Target

    shapes = {name: tuple(feed["shape"]) for name, feed in feeds.items()}
    base = ge.compile(path, level="O1", input_shapes=shapes)
    ops = base.kernel.ops
    known = {node.name for node in base.original.all_nodes()}
    found: dict[str, Any] = {
        "before": copied(base.original, known, ops),
        "peak O1": base.arena.bytes,
        "ok": base.proof.ok,
    }
    for name, level, strided in FORMS:
        target = Target("strided", strided=True) if strided else "generic"
        result = ge.compile(path, level=level, target=target, input_shapes=shapes)
        found[name] = copied(result.graph, known, ops)
        found["ok"] = found["ok"] and result.proof.ok
        found[f"peak {name}"] = result.arena.bytes
    return found


def executed(path: Path, feeds: dict[str, Any]) -> Copied:
    """What onnxruntime copies in one run, from its own profile."""
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(folder) / "profile")
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        session.run(None, arrays(feeds))
        events = json.loads(Path(session.end_profiling()).read_text())
    found = Copied()
    for event in events:
        about = event.get("args", {})
        if event.get("cat") != "Node" or about.get("op_name") not in OPS:
            continue
        if event["name"].endswith("_kernel_time"):
            made = [_bytes(*one) for shape in about["output_type_shape"] for one in shape.items()]
            found.add(about["op_name"], list(made))
    return found


_WIDTHS = {"double": 8, "float": 4, "float16": 2, "bfloat16": 2, "bool": 1, "string": None}


def _bytes(dtype: str, shape: list[int]) -> int | None:
    if dtype in _WIDTHS:
        width = _WIDTHS[dtype]
    else:
        width = int("".join(filter(str.isdigit, dtype)) or 0) // 8 or None
    return None if width is None else math.prod(shape) * width


def measure(path: Path, feeds: dict[str, Any]) -> list[str]:
    """One row."""
    with tempfile.TemporaryDirectory() as folder:
        file = restored(path, Path(folder))
        ours, theirs = compiled(file, feeds), executed(file, feeds)
    return [
        path.name.removesuffix(".onnx").removesuffix(".stub"),
        str(ours["before"]),
        *(str(ours[name]) for name, _, _ in FORMS),
        f"{theirs} ({sum(theirs.nodes.values())} nodes)",
        f"{ours['before'].small:,}",
        f"{ours['O4'].small:,}",
        f"{theirs.small:,}",
        f"{ours['peak O1']:,}",
        f"{ours['peak O4']:,}",
        str(ours["ok"]),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Print a Markdown table."""
    paths = [Path(each) for each in arguments or ()] or list(FOLDERS)
    print("| " + " | ".join(COLUMNS) + " |")
    print("| --- |" + " ---: |" * (len(COLUMNS) - 1))
    for path, feeds in entries(paths):
        if not path.exists():
            print(f"| {path.name}: not there |" + " |" * (len(COLUMNS) - 1), flush=True)
            continue
        try:
            row = measure(path, feeds)
        except Exception as error:
            row = [f"{path.name}: {type(error).__name__}: {str(error).splitlines()[0]}"]
            row += [""] * (len(COLUMNS) - 1)
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
