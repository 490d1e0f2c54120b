"""The errors of executing a graph."""

from __future__ import annotations

from ge_core.api import GeError


class ExecutionError(GeError):
    """A node that can't be run: a kernel that fails, or answers what its node does not declare."""

    code = "RT00001"
