"""The stand-in: a deterministic function of everything an op depends on.

Not the op's arithmetic, but as good for finding out whether it read the right bytes: outputs mix
op, semantic attributes, output index, declared shapes and every byte of every input, so one wrong
byte changes every output. Floats come out finite and small, integers small and non-negative, so
that real kernels behind it have something to work on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from ge_core.api import KernelContext, Node, TensorDesc
from ge_runtime.dtypes import Array, Bytes, from_storage, numpy_dtype, sub_byte_bits, to_storage
from ge_runtime.steps import Context
from ge_runtime.values import feed_digest

# Where and when a node runs, and how its memory is laid out: nothing that its values depend on.
_PLACEMENT: Final = frozenset(
    {
        "N",
        "atomic_input_index",
        "atomic_output_index",
        "captured",
        "continuous_input",
        "continuous_output",
        "is_atomic_node",
        "is_first_node",
        "is_last_node",
        "need_gentask_atomic",
        "no_need_constant_folding",
        "no_reuse_mem_flag",
        "num_split",
        "op_kernel_lib",
        "ref_var_src_var_name",
        "reference",
        "rw",
        "stream_id",
        "workspace_bytes",
        "workspace_reuse_flag",
    }
)
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_A: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B: Final = np.uint64(0x94D049BB133111EB)


def compute(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Outputs of any op; inputs that it writes in place get such contents as well.

    The run's result names the nodes that got such outputs.
    """
    if isinstance(ctx, Context):
        ctx.stood_in = True
    state = hashlib.blake2b(digest_size=8)
    state.update(node.op.encode())
    for name in sorted(node.attrs):
        if name not in _PLACEMENT and not name.startswith("_"):
            text = json.dumps(node.attrs[name], sort_keys=True, default=repr)
            state.update(f"\0{name}={text}".encode())
    traits = ctx.traits
    if traits.collective or traits.side_effect:
        state.update(ctx.origin.encode())
    if traits.nondeterministic:
        state.update(b"%d" % ctx.seed)
    shapes_only = set(traits.shape_only)
    for at, value in enumerate(inputs):
        if at in shapes_only and isinstance(value, np.ndarray):
            state.update(repr(value.shape).encode())
        else:
            feed_digest(state, value)
    # What is updated and answered as well holds that answer: an op makes the same of its inputs
    # whether it works in place or not.
    answered = {at: f"output {out}" for out, at in sorted(ctx.aliases.items(), reverse=True)}
    for at in ctx.writes:
        target, source = inputs[at], node.inputs[at].source
        if isinstance(target, np.ndarray) and source is not None:
            seed = _seed(state, answered.get(at, f"input {at}"))
            target[...] = _array(source.desc.dtype, target.shape, seed)
    return [
        None
        if output.index in ctx.aliases
        else tensor(output.desc, _seed(state, f"output {output.index}"), inputs)
        for output in node.outputs
    ]


def named_tensor(desc: TensorDesc, name: str) -> Any:
    """A tensor that depends on a name only: the content of a constant or variable without one."""
    return tensor(desc, _seed(hashlib.blake2b(digest_size=8), name), [])


def tensor(desc: TensorDesc, seed: int, inputs: list[Any]) -> Any:
    """A tensor of that description; open dimensions are those of the first input of that rank."""
    shape = _closed(desc, inputs)
    if desc.dtype == "undefined" and desc.size is not None:
        shape = (desc.size,)
    return _array(desc.dtype, shape, seed)


def _array(dtype: str, shape: tuple[int, ...], seed: int) -> Array:
    count = prod(shape)
    if dtype == "string":
        text = np.empty(count, np.object_)
        text[:] = [f"{word:016x}" for word in _words(seed, count).tolist()]
        return text.reshape(shape)
    width = 8 if dtype == "undefined" else sub_byte_bits(dtype)
    if width is not None:
        size = (count * width + 7) // 8
        raw = _words(seed, (size + 7) // 8).view(np.uint8)[:size]
        return from_storage(raw, dtype, shape)
    return _numbers(_words(seed, count), numpy_dtype(dtype)).reshape(shape)


def _seed(state: Any, label: str) -> int:
    branch = state.copy()
    branch.update(b"\0" + label.encode())
    return int.from_bytes(branch.digest(), "little")


def _words(seed: int, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """64-bit words that follow from the seed (SplitMix64, every step its own element)."""
    words = np.arange(1, count + 1, dtype=np.uint64)
    words *= _GOLDEN
    words += np.uint64(seed)
    words ^= words >> np.uint64(30)
    words *= _MIX_A
    words ^= words >> np.uint64(27)
    words *= _MIX_B
    words ^= words >> np.uint64(31)
    return words


def _numbers(words: np.ndarray[Any, np.dtype[np.uint64]], dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "b":
        return (words & np.uint64(1)).astype(dtype)
    if dtype.kind in "iu":
        return (words & np.uint64(0x7F)).astype(dtype)
    if dtype.kind == "c":
        low = words & np.uint64(0xFFFFFFFF)
        return (_unit(words) + 1j * (low.astype(np.float64) / 2.0**32)).astype(dtype)
    return _unit(words).astype(dtype)


def _unit(words: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers from -1 to 1, exact in float32."""
    return (words >> np.uint64(40)).astype(np.float64) / 2.0**23 - 1.0


def _closed(desc: TensorDesc, inputs: list[Any]) -> tuple[int, ...]:
    arrays = [value for value in inputs if isinstance(value, np.ndarray)]
    if desc.shape is None:
        return arrays[0].shape if arrays else ()
    if desc.is_static:
        return desc.shape
    like = next((a.shape for a in arrays if a.ndim == len(desc.shape)), (1,) * len(desc.shape))
    return tuple(dim if dim >= 0 else like[at] for at, dim in enumerate(desc.shape))


def storage_of(value: Any, desc: TensorDesc | None) -> Bytes:
    """The bytes of a value as they would lie in memory; nothing for what is no tensor."""
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return np.empty(0, np.uint8)
    return to_storage(value, "undefined" if desc is None else desc.dtype)
