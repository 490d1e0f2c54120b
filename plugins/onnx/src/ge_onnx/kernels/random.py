"""Ops that draw random numbers, from a seed that belongs to the original node.

A compiled graph and its original must draw the same numbers: the stream depends on the seed that
the run gives each turn of a node, and the node that it stands for, not on what else has run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ge_core.api import Node
from ge_onnx.kernels.call import Array, Call
from ge_onnx.proto.dtypes import dtype_name, numpy_dtype

NEEDS_SEED: Final = frozenset(
    {
        "Bernoulli",
        "Dropout",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)


def run_random(call: Call, node: Node, inputs: Sequence[Any], ctx: Any) -> Any:
    """Draw what one of `NEEDS_SEED` draws."""
    draw = _generator(call, node, ctx)
    if call.op == "Dropout":
        return _dropout(call, draw, *inputs)
    if call.op == "Bernoulli":
        dtype = _dtype(call, inputs[0].dtype)
        return (draw.random(inputs[0].shape) < inputs[0].astype(np.float64)).astype(dtype)
    if call.op == "Multinomial":
        return _multinomial(call, draw, inputs[0])
    shape = inputs[0].shape if call.op.endswith("Like") else tuple(call.get("shape", ()))
    dtype = _dtype(call, inputs[0].dtype if inputs else np.dtype(np.float32))
    if "Normal" in call.op:
        found = draw.normal(call.get("mean", 0.0), call.get("scale", 1.0), shape)
    else:
        found = draw.uniform(call.get("low", 0.0), call.get("high", 1.0), shape)
    return np.asarray(found).astype(dtype)


def _generator(call: Call, node: Node, ctx: Any) -> np.random.Generator:
    text = repr(
        (
            getattr(ctx, "seed", 0),
            node.origin or (node.name,),
            call.get("seed"),
        )
    )
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "little"))


def _dtype(call: Call, default: np.dtype[Any]) -> np.dtype[Any]:
    number = call.get("dtype")
    return default if number is None else numpy_dtype(dtype_name(number))


def _dropout(
    call: Call,
    draw: np.random.Generator,
    data: Array,
    ratio: Array | None = None,
    training: Array | None = None,
) -> tuple[Array, Array]:
    rate = call.get("ratio", 0.5) if ratio is None else float(ratio)
    if training is None or not bool(training) or rate == 0.0:
        # Before version 12 there was no training, and runtimes left the mask empty; before 10 it
        # had the type of the data.
        kind = data.dtype if call.version < 10 else np.dtype(bool)
        return data.copy(), np.full(data.shape, call.version >= 12, dtype=kind)
    mask: Array = np.asarray(draw.random(data.shape) >= rate)
    kept = np.where(mask, data.astype(np.float64) / (1.0 - rate), 0.0)
    return kept.astype(data.dtype), mask


def _multinomial(call: Call, draw: np.random.Generator, logits: Array) -> Array:
    """Class numbers drawn row by row; the input holds unnormalised log-probabilities."""
    numbers = logits.astype(np.float64)
    weights = np.exp(numbers - numbers.max(axis=1, keepdims=True))
    edges = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    points = draw.random((len(numbers), call.get("sample_size", 1)))
    drawn = (points[:, :, None] >= edges[:, None, :]).sum(axis=2)
    dtype = _dtype(call, np.dtype(np.int32))
    found: Array = np.minimum(drawn, numbers.shape[1] - 1).astype(dtype)
    return found
