"""Registries for who runs a graph without loading plugins."""

from __future__ import annotations

from ge_core.api import Kernels, OpRegistry, register_builtin_ops
from ge_runtime.kernels import register


def default_ops() -> OpRegistry:
    """GE's own ops only."""
    ops = OpRegistry()
    register_builtin_ops(ops)
    return ops


def default_kernels() -> Kernels:
    """The runtime's own kernels only."""
    kernels = Kernels()
    register(kernels)
    return kernels
