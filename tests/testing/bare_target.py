"""A plugin with a target that nothing is said about."""

from __future__ import annotations

from typing import Any

from ge_core.api import Target, hookimpl


@hookimpl
def ge_register_targets(targets: Any) -> None:
    """Without `about`."""
    targets.add(Target("bare", align_bytes=128))
