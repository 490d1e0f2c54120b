"""Plugins: the index of what is installed, loading, and what failed.

Importing this imports neither pluggy nor stevedore; `load_plugins` does, when it is called. The
hook specs are in `ge_core.plugin.specs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ge_core.config import ProjectConfig
from ge_core.plugin.index import (
    DISABLE,
    GROUP,
    Candidate,
    PluginIndex,
    Status,
    index_plugins,
)

if TYPE_CHECKING:
    from ge_core.plugin.loading import LoadedPlugins

__all__ = [
    "Candidate",
    "DISABLE",
    "GROUP",
    "PluginIndex",
    "Status",
    "index_plugins",
    "load_plugins",
]


def load_plugins(
    index: PluginIndex | None = None,
    *,
    config: ProjectConfig | None = None,
    environ: Mapping[str, str] | None = None,
    strict: bool = False,
) -> LoadedPlugins:
    """Load what the index says; see `ge_core.plugin.loading.load_plugins`."""
    from ge_core.plugin.loading import load_plugins as load

    return load(index, config=config, environ=environ, strict=strict)
