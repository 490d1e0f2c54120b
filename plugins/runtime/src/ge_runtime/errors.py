"""The errors of executing a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ge_core.api import GeError

if TYPE_CHECKING:
    from ge_runtime.steps import Step


class ExecutionError(GeError):
    """A node that can't be run: a kernel that fails, or answers what its node does not declare."""

    code = "RT00001"

    node: str | None = None
    """Call path and name of the node that it happened at."""


class FeedError(ExecutionError):
    """An input that is missing, unknown, or another tensor than the graph declares."""

    code = "RT00002"
    exit_code = 3


def is_located(error: Exception) -> bool:
    """Whether the error names a node already, one further inside."""
    return isinstance(error, ExecutionError) and error.node is not None


def located(step: Step, error: Exception) -> ExecutionError:
    """The error with the node named."""
    where = "/".join((*step.context.call, step.node.name))
    text = error.message if isinstance(error, GeError) else f"{type(error).__name__}: {error}"
    found = ExecutionError(
        f"node {where!r} of op {step.node.op!r} can't be run: {text}",
        owner=getattr(error, "owner", None) or step.owner,
        hint=getattr(error, "hint", None),
    )
    found.node = where
    return found
