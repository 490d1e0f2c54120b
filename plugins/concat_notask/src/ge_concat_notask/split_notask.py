"""`SplitNotaskPass`: Split nodes whose outputs can be parts of their input need no task.

GE has no such pass: its neural-network engine marks splits long before the joins. The name is ours;
it runs before the join passes, so that they see its marks.
"""

from __future__ import annotations

from dataclasses import dataclass

from ge_concat_notask.cut_pass import CutPass
from ge_concat_notask.marks import mark_split
from ge_concat_notask.refusal import COMMON_CODES, SPLIT_CODES
from ge_concat_notask.split_rules import SplitRules
from ge_core.api import Graph


@dataclass(frozen=True)
class SplitNotaskPass(CutPass, codes=COMMON_CODES | SPLIT_CODES):
    """Takes the task away from Split nodes whose outputs can be parts of their input.

    Types SplitD and SplitVD. The marks: `_no_task`, `_no_padding_continuous_output`,
    `_output_reuse_input`, `_reuse_input_on_dim_index` = 0.
    """

    op_kind = "split"
    targets = ("SplitD", "SplitVD")
    rules = SplitRules

    beyond_ge: bool | None = None
    """Splits of parts of splits; by default at O4 and not below."""

    def goes_beyond(self) -> bool | None:
        """What the option says."""
        return self.beyond_ge

    def mark(self, graph: Graph, rules: SplitRules) -> None:
        """A split's marks."""
        mark_split(graph, rules.node, rules.axis)
