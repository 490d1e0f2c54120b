"""One decode step of a small GPT-2: what is moved to write twelve layers' caches back.

Four forms of one model. *moves*: the cache is a Variable that is copied, updated in place and
assigned back, as functionalisation leaves it. *refdata*: so is a graph input that is held as a
variable. *functional*: the update makes a new tensor, which is assigned back. *onnx*: the cache is
a graph input and an output, with and without the declaration that both have one address.

Moved are the bytes of copies, of write-backs, and of updates that write the whole cache into a
buffer of its own; all layers share their weights, which are not counted.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import ge_core as ge
from ge_core.ir import Graph, GraphBuilder, OutputAnchor, TensorDesc
from ge_core.session.copies import count_copies

LEVELS = ("O0", "O3", "O4")
FORMS = ("moves", "refdata", "functional", "onnx")
PAIRS = "ge.exec.outputReuseInputMemIndexes"
COLUMNS = ("form", "level", "declared", "moves", "updates", "write-backs", "moved", "peak", "ok")


@dataclass(frozen=True)
class Size:
    """How large the model is."""

    layers: int = 12
    tokens: int = 1024
    heads: int = 12
    head: int = 64

    @property
    def hidden(self) -> int:
        """Width of a token."""
        return self.heads * self.head

    @property
    def cache(self) -> tuple[int, int, int]:
        """Shape of one cache; a layer has two."""
        return self.heads, self.tokens, self.head


@dataclass(frozen=True)
class Moved:
    """Bytes that one step moves, by what moves them."""

    moves: int
    updates: int
    write_backs: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.moves + self.updates + self.write_backs


# ---- from GE ------------------------------------------------------------------------------------


def build(form: str, size: Size) -> Graph:
    """The step as a graph from GE, its caches in Variables."""
    b = GraphBuilder(f"decoder_{form}")
    hidden = size.hidden
    wide = 4 * hidden
    shapes = dict.fromkeys(("wq", "wk", "wv", "wo"), (hidden, hidden))
    shapes |= {"w1": (hidden, wide), "w2": (wide, hidden)}
    weights = {
        name: b.op("Variable", name=name, outputs=[TensorDesc.make("float32", shape)])
        for name, shape in shapes.items()
    }
    at = b.data("x", (1, hidden))
    position = b.data("position", (1,), "int64")
    for layer in range(size.layers):
        at = _layer(b, form, size, weights, at, position, layer)
    b.net_output(at)
    return b.graph


def _layer(
    b: GraphBuilder,
    form: str,
    size: Size,
    weights: dict[str, OutputAnchor],
    x: OutputAnchor,
    position: OutputAnchor,
    layer: int,
) -> OutputAnchor:
    hidden, heads = size.hidden, (size.heads, 1, size.head)

    def op(kind: str, *inputs: OutputAnchor, shape: Sequence[int], **facts) -> OutputAnchor:
        stem = facts.pop("name", kind.lower())
        return b.op(kind, *inputs, name=f"l{layer}_{stem}", shape=shape, **facts)

    def projected(name: str) -> OutputAnchor:
        made = op("MatMul", x, weights[f"w{name}"], shape=(1, hidden), name=name)
        return op("Reshape", made, shape=heads, name=f"{name}_heads", reuse_input=0)

    def updated(name: str, new: OutputAnchor) -> OutputAnchor:
        desc = TensorDesc.make("float32", size.cache)
        cache = _cache(b, form, f"l{layer}_{name}_cache", desc)
        kind, source, facts = "TensorScatterUpdate", cache, {}
        if form != "functional":
            source = op("TensorMove", cache, shape=size.cache, name=f"{name}_copy")
            kind, facts = "ScatterUpdate", {"attrs": {"reference": True}, "reuse_input": 0}
        made = op(kind, source, position, new, shape=size.cache, name=f"{name}_update", **facts)
        op("Assign", cache, made, shape=size.cache, name=f"{name}_assign", reuse_input=0)
        return made

    q = projected("q")
    keys, values = updated("k", projected("k")), updated("v", projected("v"))
    scores = op("BatchMatMul", q, keys, shape=(size.heads, 1, size.tokens), attrs={"adj_x2": True})
    probs = op("SoftmaxV2", scores, shape=scores.desc.shape or ())
    mixed = op("BatchMatMul", probs, values, shape=heads, name="mixed")
    flat = op("Reshape", mixed, shape=(1, hidden), name="flat", reuse_input=0)
    h = op("Add", x, op("MatMul", flat, weights["wo"], shape=(1, hidden)), shape=(1, hidden))
    up = op(
        "Gelu",
        op("MatMul", h, weights["w1"], shape=(1, 4 * hidden), name="up"),
        shape=(1, 4 * hidden),
    )
    down = op("MatMul", up, weights["w2"], shape=(1, hidden), name="down")
    return op("Add", h, down, shape=(1, hidden), name="out")


def _cache(b: GraphBuilder, form: str, name: str, desc: TensorDesc) -> OutputAnchor:
    if form != "refdata":
        return b.op("Variable", name=name, outputs=[desc])
    index = len(b.graph.nodes_of("Data", "RefData"))
    node = b.graph.add_node("RefData", name, outputs=[desc], attrs={"index": index})
    return node.outputs[0]


# ---- from ONNX ----------------------------------------------------------------------------------


def write_onnx(path: Path, size: Size) -> None:
    """The step as an ONNX model: past keys and values come in, present ones go out."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    hidden, draw = size.hidden, np.random.default_rng(0)
    shapes = dict.fromkeys(("wq", "wk", "wv", "wo"), (hidden, hidden))
    shapes |= {"w1": (hidden, 4 * hidden), "w2": (4 * hidden, hidden)}
    stored = [
        numpy_helper.from_array(
            (draw.standard_normal(shape) / sqrt(shape[0])).astype(np.float32), name
        )
        for name, shape in shapes.items()
    ]
    lists = {
        "heads": [size.heads, 1, size.head],
        "new_row": [1, size.heads, size.head],
        "flat": [1, hidden],
    }
    stored += [numpy_helper.from_array(np.array(v, np.int64), name) for name, v in lists.items()]
    cache = (size.tokens, size.heads, size.head)
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, hidden)),
        helper.make_tensor_value_info("position", TensorProto.INT64, (1, 1)),
    ]
    outputs, nodes, at = [], [], "x"
    for layer in range(size.layers):
        p = f"l{layer}_"
        nodes += [
            node
            for name in "qkv"
            for node in (
                helper.make_node("MatMul", [at, f"w{name}"], [f"{p}{name}"]),
                helper.make_node(
                    "Reshape",
                    [f"{p}{name}", "heads" if name == "q" else "new_row"],
                    [f"{p}{name}_heads"],
                ),
            )
        ]
        for name in "kv":
            feeds = [f"{p}past_{name}", "position", f"{p}{name}_heads"]
            nodes.append(helper.make_node("ScatterND", feeds, [f"{p}present_{name}"]))
            for kind, values in (("past", inputs), ("present", outputs)):
                values.append(
                    helper.make_tensor_value_info(f"{p}{kind}_{name}", TensorProto.FLOAT, cache)
                )
        nodes += [
            helper.make_node("Transpose", [f"{p}present_k"], [f"{p}keys"], perm=[1, 2, 0]),
            helper.make_node("Transpose", [f"{p}present_v"], [f"{p}values"], perm=[1, 0, 2]),
            helper.make_node("MatMul", [f"{p}q_heads", f"{p}keys"], [f"{p}scores"]),
            helper.make_node("Softmax", [f"{p}scores"], [f"{p}probs"]),
            helper.make_node("MatMul", [f"{p}probs", f"{p}values"], [f"{p}mixed"]),
            helper.make_node("Reshape", [f"{p}mixed", "flat"], [f"{p}flat"]),
            helper.make_node("MatMul", [f"{p}flat", "wo"], [f"{p}o"]),
            helper.make_node("Add", [at, f"{p}o"], [f"{p}h"]),
            helper.make_node("MatMul", [f"{p}h", "w1"], [f"{p}up"]),
            helper.make_node("Tanh", [f"{p}up"], [f"{p}act"]),
            helper.make_node("MatMul", [f"{p}act", "w2"], [f"{p}down"]),
            helper.make_node("Add", [f"{p}h", f"{p}down"], [f"{p}out"]),
        ]
        at = f"{p}out"
    outputs.insert(0, helper.make_tensor_value_info(at, TensorProto.FLOAT, (1, hidden)))
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, path)


def declaration(size: Size) -> str:
    """Every cache comes back at its own address: input 2 + i and output 1 + i."""
    return "|".join(f"{2 + at},{1 + at}" for at in range(2 * size.layers))


# ---- what is moved ------------------------------------------------------------------------------


def moved(result: ge.Result) -> Moved:
    """Bytes that a compiled step moves."""
    assert result.kernel is not None
    by_op = count_copies(result.graph, result.kernel.ops).by_op
    write_backs = by_op["Assign"].bytes if "Assign" in by_op else 0
    updates = 0
    for node in result.graph.all_nodes():
        if node.op not in ("TensorScatterUpdate", "ScatterND"):
            continue
        source = node.inputs[0].source
        assert source is not None
        one, other = (
            result.plan.find(f"{o.node.name}:{o.index}") for o in (source, node.outputs[0])
        )
        if (one.pool, one.offset) != (other.pool, other.offset):
            updates += node.outputs[0].desc.nbytes or 0
    total = sum(copies.bytes for copies in by_op.values())
    return Moved(total - write_backs, updates, write_backs)


def rows(size: Size) -> list[dict[str, object]]:
    """Every form at every level."""
    found: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decoder.onnx"
        write_onnx(path, size)
        for form in FORMS:
            for declared in (False, True) if form == "onnx" else (False,):
                options = {PAIRS: declaration(size)} if declared else {}
                for level in LEVELS:
                    source = path if form == "onnx" else build(form, size)
                    result = ge.compile(source, level=level, options=options)
                    found.append(_row(form, level, declared, result))
    return found


def _row(form: str, level: str, declared: bool, result: ge.Result) -> dict[str, object]:
    bytes_moved = moved(result)
    return {
        "form": form,
        "level": level,
        "declared": "yes" if declared else "no" if form == "onnx" else "-",
        "moves": bytes_moved.moves,
        "updates": bytes_moved.updates,
        "write-backs": bytes_moved.write_backs,
        "moved": bytes_moved.total,
        "peak": result.plan.pools["HBM"].bytes,
        "ok": result.proof is not None and result.proof.ok,
    }


# ---- the peer -----------------------------------------------------------------------------------


def peer(path: Path, size: Size, steps: int = 100) -> list[dict[str, object]]:
    """What onnxruntime makes of the model: outputs of its own, and outputs bound to the inputs."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    shape = (size.tokens, size.heads, size.head)
    feeds = {
        "x": np.ones((1, size.hidden), np.float32),
        "position": np.array([[3]], np.int64),
    }
    names = [value.name for value in session.get_inputs()][2:]
    caches = {name: np.zeros(shape, np.float32) for name in names}
    found = []
    for shared in (False, True):
        binding = session.io_binding()
        for name, array in feeds.items():
            binding.bind_cpu_input(name, array)
        for name, array in caches.items():
            value = onnxruntime.OrtValue.ortvalue_from_numpy(array)
            binding.bind_ortvalue_input(name, value)
            other = name.replace("past", "present")
            if shared:
                binding.bind_ortvalue_output(other, value)
            else:
                binding.bind_output(other)
        binding.bind_output(session.get_outputs()[0].name)
        session.run_with_iobinding(binding)
        seconds = min(_timed(session, binding) for _ in range(steps))
        found.append(
            {
                "outputs": "bound to the inputs" if shared else "its own",
                "output buffers": 0 if shared else sum(a.nbytes for a in caches.values()),
                "ms": seconds * 1000,
            }
        )
    return found


def _timed(session, binding) -> float:
    start = time.perf_counter()
    session.run_with_iobinding(binding)
    return time.perf_counter() - start


def main(size: Size | None = None) -> None:
    """Print Markdown tables."""
    size = size or Size()
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + " --- |" * len(COLUMNS))
    for row in rows(size):
        print("| " + " | ".join(_cell(row[name]) for name in COLUMNS) + " |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decoder.onnx"
        write_onnx(path, size)
        found = peer(path, size)
    print("\n| onnxruntime's outputs | new output buffers | ms |")
    print("| --- | --- | --- |")
    for row in found:
        print(f"| {row['outputs']} | {_cell(row['output buffers'])} | {row['ms']:.1f} |")


def _cell(value: object) -> str:
    return f"{value:,}" if type(value) is int else str(value)
