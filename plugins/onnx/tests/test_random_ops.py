"""Random ops draw from a seed that belongs to the original node."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ge_core.api import Graph, Node, TensorDesc
from ge_onnx.kernels import compute

OPS = ["RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli"]


def node(op: str, name: str = "n", origin: tuple[str, ...] | None = None, **attrs: Any) -> Node:
    """A node that draws 200 numbers."""
    graph = Graph("g", "onnx")
    desc = TensorDesc.make("float32", (200,))
    if op in ("RandomNormal", "RandomUniform"):
        attrs["shape"] = [200]
    inputs = [] if "shape" in attrs else [graph.add_node("Data", "x", outputs=[desc]).outputs[0]]
    return graph.add_node(
        op,
        name,
        inputs,
        [desc],
        attrs={f"onnx.{key}": value for key, value in attrs.items()},
        origin=origin,
    )


def drawn(made: Node, seed: int | None = None) -> np.ndarray:
    """What the node draws in a run with this seed."""
    inputs = [np.full(200, 0.5, np.float32)] * len(made.inputs)
    (found,) = compute(made, inputs, None if seed is None else SimpleNamespace(seed=seed))
    assert isinstance(found, np.ndarray)
    return found


@pytest.mark.parametrize("op", OPS)
def test_draws_repeat(op: str) -> None:
    """A node draws the same in every run, whatever ran before; another seed, other numbers."""
    first = drawn(node(op))
    drawn(node("RandomNormal", "other"))
    assert np.array_equal(drawn(node(op)), first)
    assert np.array_equal(drawn(node(op), seed=5), drawn(node(op), seed=5))
    assert not np.array_equal(drawn(node(op), seed=5), first)


@pytest.mark.parametrize("op", OPS)
def test_draws_belong_to_the_origin(op: str) -> None:
    """A node that stands for another draws what that one drew; two nodes draw differently."""
    assert np.array_equal(drawn(node(op, "copy", origin=("n",))), drawn(node(op)))
    assert not np.array_equal(drawn(node(op, "m")), drawn(node(op)))


def test_draws_follow_their_attributes() -> None:
    """Range, mean and deviation are the node's; its own seed tells it from one without."""
    uniform = drawn(node("RandomUniform", low=2.0, high=3.0))
    assert 2 <= uniform.min() < 2.1
    assert 2.9 < uniform.max() <= 3
    normal = drawn(node("RandomNormal", mean=50.0, scale=2.0))
    assert 49 < normal.mean() < 51
    assert 1.5 < normal.std() < 2.5
    seeded = drawn(node("RandomNormal", seed=1.0))
    assert not np.array_equal(seeded, drawn(node("RandomNormal")))


def test_dropout() -> None:
    """Inference hands the data on; training drops a share of it and scales the rest."""
    graph = Graph("g", "onnx")
    desc = TensorDesc.make("float32", (1000,))
    data = [graph.add_node("Data", f"x{at}", outputs=[desc]).outputs[0] for at in range(3)]
    made = graph.add_node("Dropout", "n", data, [desc, TensorDesc.make("bool", (1000,))])
    x = np.ones(1000, np.float32)
    kept, mask = compute(made, [x, np.float32(0.25), np.array(False)])
    assert np.array_equal(kept, x)
    assert mask.all()
    kept, mask = compute(made, [x, np.float32(0.25), np.array(True)])
    assert np.array_equal(kept, np.where(mask, np.float32(1 / 0.75), 0))
    assert 0.2 < 1 - mask.mean() < 0.3


def test_multinomial() -> None:
    """Classes come up as often as their weights say."""
    graph = Graph("g", "onnx")
    logits = np.log(np.array([[1.0, 3.0, 1e-9], [1e-9, 1.0, 1.0]], np.float32))
    x = graph.add_node("Data", "x", outputs=[TensorDesc.make("float32", (2, 3))])
    made = graph.add_node(
        "Multinomial",
        "n",
        [x.outputs[0]],
        [TensorDesc.make("int32", (2, 4000))],
        attrs={"onnx.sample_size": 4000},
    )
    (found,) = compute(made, [logits])
    assert (found.dtype, found.shape) == (np.dtype(np.int32), (2, 4000))
    shares = [np.bincount(row, minlength=3) / 4000 for row in found]
    assert np.allclose(shares, [[0.25, 0.75, 0], [0, 0.5, 0.5]], atol=0.03)
