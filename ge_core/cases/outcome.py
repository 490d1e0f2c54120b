"""What a case's pipeline left behind, for the checks to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ge_core.errors import GeError
from ge_core.ir import Graph
from ge_core.memory import Plan
from ge_core.passes.remarks import Remarks
from ge_core.tasks import TaskList


@dataclass(slots=True)
class Outcome:
    """The compiled graph and what was said and planned on the way.

    Attributes:
        query: the case's question about one producer output and one consumer input.
        conflict: the answer of a step that asks a question, or whether an analysis pass found
            something to remark on.
        conflicts: pairs of tensors that a checker reported.
        may_share: the relation behind the plan, by tensor names.
        error: the error that ended the pipeline; expected by some cases.
    """

    graph: Graph
    query: Mapping[str, Any] | None = None
    remarks: Remarks = field(default_factory=Remarks)
    plan: Plan | None = None
    tasks: TaskList | None = None
    conflict: bool | None = None
    conflicts: list[tuple[str, str]] = field(default_factory=list)
    may_share: Callable[[str, str], bool] | None = None
    error: GeError | None = None

    def rules(self, node: str) -> list[str]:
        """The rules (or codes, where a code has none) by which remarks decided on a node."""
        final = self.remarks.final(node)
        return [] if final is None else [final.rule or final.code]
