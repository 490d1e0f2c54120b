"""The activation functions of recurrent ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ge_onnx.kernels.call import Array, Call
from ge_onnx.kernels.functions import logistic

Activation = Callable[[Array], Array]


def _elu(x: Array, a: float, b: float) -> Any:
    return np.where(x < 0, a * np.expm1(x), x)


_FUNCTIONS: Final[dict[str, tuple[Callable[[Array, float, float], Any], float, float]]] = {
    "affine": (lambda x, a, b: a * x + b, 1.0, 0.0),
    "elu": (_elu, 1.0, 0.0),
    "hardsigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), 0.2, 0.5),
    "leakyrelu": (lambda x, a, b: np.where(x < 0, a * x, x), 0.01, 0.0),
    "relu": (lambda x, a, b: np.maximum(x, 0), 0.0, 0.0),
    "scaledtanh": (lambda x, a, b: a * np.tanh(b * x), 1.0, 1.0),
    "sigmoid": (lambda x, a, b: logistic(x), 0.0, 0.0),
    "softplus": (lambda x, a, b: np.logaddexp(x, 0), 0.0, 0.0),
    "softsign": (lambda x, a, b: x / (1 + np.abs(x)), 0.0, 0.0),
    "tanh": (lambda x, a, b: np.tanh(x), 0.0, 0.0),
    "thresholdedrelu": (lambda x, a, b: np.where(x > a, x, 0), 1.0, 0.0),
}
"""Function of (x, alpha, beta), and the defaults of alpha and beta."""

_WITH_ALPHA: Final = frozenset(
    {"affine", "elu", "hardsigmoid", "leakyrelu", "scaledtanh", "thresholdedrelu"}
)
_WITH_BETA: Final = frozenset({"affine", "hardsigmoid", "scaledtanh"})


def activations_of(call: Call, defaults: Sequence[str], directions: int) -> list[list[Activation]]:
    """The activation functions of each direction.

    Alphas and betas are taken in order by the functions that have one.

    Raises:
        ValueError: an unknown name, or too few of them.
    """
    names = [name.lower() for name in call.get("activations") or list(defaults) * directions]
    if len(names) != len(defaults) * directions:
        raise ValueError(f"{len(names)} activations for {directions} directions")
    alphas = iter(call.get("activation_alpha") or ())
    betas = iter(call.get("activation_beta") or ())
    found = [_bound(name, alphas, betas) for name in names]
    count = len(defaults)
    return [found[at * count : (at + 1) * count] for at in range(directions)]


def _bound(name: str, alphas: Any, betas: Any) -> Activation:
    if name not in _FUNCTIONS:
        raise ValueError(f"no activation function {name!r}")
    function, alpha, beta = _FUNCTIONS[name]
    if name in _WITH_ALPHA:
        alpha = next(alphas, alpha)
    if name in _WITH_BETA:
        beta = next(betas, beta)

    def apply(x: Array) -> Array:
        result: Array = np.asarray(function(x, alpha, beta)).astype(x.dtype, copy=False)
        return result

    return apply
