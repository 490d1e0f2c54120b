"""Optionals: an empty one is None, a full one is what it holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ge_onnx.kernels.call import Array, Call


def make(call: Call, value: Any = None) -> Any:
    """Optional."""
    return (value,)


def element(call: Call, value: Any = None) -> Any:
    """OptionalGetElement."""
    if value is None:
        raise ValueError("the optional is empty")
    return (value,)


def has_element(call: Call, value: Any = None) -> Array:
    """OptionalHasElement."""
    return np.array(value is not None)
