"""The values a run starts from: graph inputs, constants, variables."""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import prod
from typing import Any, Final, cast

import numpy as np

from ge_core.api import Graph, KernelContext, Kernels, Node, OpRegistry, TensorDesc
from ge_runtime.dtypes import from_storage, is_stored, numpy_dtype, sub_byte_bits
from ge_runtime.errors import ExecutionError, FeedError
from ge_runtime.kernels.standin import named_tensor

_OPEN_BATCH: Final = 2
_OPEN_OTHER: Final = 64
_OPEN_SAMPLES: Final = 256
"""What open dimensions of a generated input become: few items, each large enough for the windows
that models slide over pictures, and over sound (rows of floating-point samples)."""


def input_name(node: Node) -> str:
    """The name feeds use for a graph input: its port's where it has one, else the node's."""
    return node.outputs[0].name or node.name


def make_feeds(
    graph: Graph, ops: OpRegistry, seed: int = 0, given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Inputs for a run: those given, and seeded ones for the rest.

    The same seed and name give the same values, whatever else the graph contains. Floats are
    normal, integers small and not negative, so that they can count and index.

    Raises:
        FeedError: an input that is no tensor isn't given, or a given name is no input.
    """
    feeds = dict(given or {})
    check_names(feeds, graph, ops)
    for node in _inputs(graph, ops):
        name = input_name(node)
        # An input with a value of its own has a default: it need not be given.
        if name not in feeds and node.name not in feeds and node.value is None:
            rng = random.Random(f"{seed}\0{name}")
            try:
                feeds[name] = _random_tensor(node, rng)
            except (MemoryError, ValueError, OverflowError) as error:
                desc = node.outputs[0].desc
                raise FeedError(f"input {name!r} is {desc!r}, more than can be had here") from error
    return feeds


def check_names(feeds: Mapping[str, Any], graph: Graph, ops: OpRegistry) -> None:
    """Raises `FeedError` for a name that is neither an input's nor a variable's."""
    given: object = feeds
    if not isinstance(given, Mapping):
        raise FeedError(
            f"inputs are given as a {type(given).__name__}", hint="give a table: name to value"
        )
    inputs = {name for node in _inputs(graph, ops) for name in (node.name, input_name(node))}
    for name in feeds:
        node = None if name in inputs else graph.find(str(name))
        if name not in inputs and (node is None or ops.kind(node) != "variable"):
            near = sorted(inputs)[:5]
            raise FeedError(f"no input {name!r}", near=near, hint="name inputs as the graph does")


def _inputs(graph: Graph, ops: OpRegistry) -> list[Node]:
    return [node for node in graph.root.nodes if ops.kind(node) == "data" and node.outputs]


def _random_tensor(node: Node, rng: random.Random) -> Any:
    desc = node.outputs[0].desc
    shape = _some_shape(desc)
    generator = np.random.default_rng(rng.getrandbits(64))
    count = prod(shape)
    if desc.dtype == "string":
        text = np.empty(count, np.object_)
        text[:] = [f"text {value}" for value in generator.integers(0, 100, count).tolist()]
        return text.reshape(shape)
    if desc.dtype == "undefined":
        if desc.size is None:
            raise FeedError(f"input {node.name!r} has no type to make a value for")
        return generator.integers(0, 256, desc.size, np.uint8)
    width = sub_byte_bits(desc.dtype)
    if width is not None:
        raw = generator.integers(0, 256, (count * width + 7) // 8, np.uint8)
        return from_storage(raw, desc.dtype, shape)
    dtype = numpy_dtype(desc.dtype)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return generator.integers(0, 4, shape).astype(dtype)
    values = generator.standard_normal(shape)
    if dtype.kind == "c":
        return (values + 1j * generator.standard_normal(shape)).astype(dtype)
    return np.asarray(values).astype(dtype)


def _some_shape(desc: TensorDesc) -> tuple[int, ...]:
    """A shape for open dimensions; the first is taken for the batch, which inputs share."""
    shape = list(desc.shape or ())
    opened = [at for at, dim in enumerate(shape) if dim < 0]
    is_sound = len(shape) == 2 and desc.dtype.startswith(("float", "bfloat"))
    for at in opened:
        other = _OPEN_SAMPLES if is_sound else _OPEN_OTHER
        shape[at] = _OPEN_BATCH if at == opened[0] else other
    return tuple(shape)


def fed(node: Node, feeds: Mapping[str, Any], kernels: Kernels | None = None) -> Any:
    """The value of a graph input, as an array of its dtype; its default where none is given.

    Raises:
        FeedError: it isn't given, or has another dtype or shape.
    """
    desc = node.outputs[0].desc
    value = feeds.get(input_name(node), feeds.get(node.name))
    if value is None:
        if input_name(node) in feeds or node.name in feeds:
            return None
        if node.value is not None:
            return stored(node, kernels)
        raise FeedError(f"no value for input {input_name(node)!r}")
    if isinstance(value, (list, tuple)) and desc.dtype == "undefined":
        return [np.asarray(item) for item in value]
    try:
        array = value if isinstance(value, np.ndarray) else np.asarray(value)
        if desc.dtype == "undefined":
            return array
        want = numpy_dtype(desc.dtype)
        if not isinstance(value, np.ndarray) or (want.kind == "O" and array.dtype.kind in "UST"):
            array = array.astype(want)
    except (TypeError, ValueError, OverflowError) as error:
        raise FeedError(
            f"input {input_name(node)!r} is {desc!r}, given {value!r:.60}: {error}"
        ) from error
    if array.dtype != want or not _fits(array.shape, desc):
        raise FeedError(
            f"input {input_name(node)!r} is {desc!r}, given {array.dtype}{list(array.shape)}"
        )
    return array


def stored(node: Node, kernels: Kernels | None = None) -> Any:
    """The value of a constant or variable: its bytes, else something that follows from its name.

    How texts are written as bytes is the business of the source's own kernel for Const.
    """
    desc = node.outputs[0].desc
    if node.value is not None and not is_stored(desc.dtype) and kernels is not None:
        assert node.graph is not None
        entry = kernels.find("Const", node.graph.source)
        if entry is not None and entry.op is not None:
            return kernels.load(entry)(node, [], cast(KernelContext, None))[0]
    if node.value is None or not is_stored(desc.dtype) or desc.data_bytes is None:
        return named_tensor(desc, "\0".join(node.origin) or node.name)
    raw = np.frombuffer(node.value.read(), np.uint8)
    if raw.size < desc.data_bytes:
        raise ExecutionError(
            f"constant {node.name!r} has {raw.size} bytes for {desc.data_bytes} of {desc!r}"
        )
    return from_storage(raw[: desc.data_bytes], desc.dtype, desc.shape or ())


def _fits(shape: tuple[int, ...], desc: TensorDesc) -> bool:
    if desc.shape is None:
        return True
    return len(shape) == len(desc.shape) and all(
        want in (-1, dim) for dim, want in zip(shape, desc.shape, strict=True)
    )
