"""Devices: alignment, pools, block widths, abilities."""

from ge_core.targets.model import GENERIC, HBM, Target, odd_pools
from ge_core.targets.registry import TargetRegistry, builtin_targets

__all__ = ["GENERIC", "HBM", "Target", "TargetRegistry", "builtin_targets", "odd_pools"]
