"""`SliceNotaskPass`: Slice nodes whose result can be a window into their input need no task."""

from __future__ import annotations

from dataclasses import dataclass

from ge_concat_notask.cut_pass import CutPass
from ge_concat_notask.marks import mark_slice
from ge_concat_notask.refusal import COMMON_CODES, SLICE_CODES
from ge_concat_notask.slice_rules import SliceRules
from ge_concat_notask.slice_window import SLICES
from ge_concat_notask.split_rules import SplitRules
from ge_core.api import Graph


@dataclass(frozen=True)
class SliceNotaskPass(CutPass, codes=COMMON_CODES | SLICE_CODES):
    """Takes the task away from Slice nodes whose result is one run of bytes of their input.

    Step one, bounds known when compiling, and inside the outermost axis that is cut all is taken.
    The marks are those of a split with one output, and `_reuse_input_window`, which says where that
    lies: offset, bytes of a row, bytes from row to row, rows.
    """

    op_kind = "slice"
    targets = SLICES
    rules = SliceRules

    def mark(self, graph: Graph, rules: SplitRules) -> None:
        """A split's marks, and the window."""
        pieces = rules.pieces()
        assert pieces is not None
        mark_slice(graph, rules.node, pieces[0])
