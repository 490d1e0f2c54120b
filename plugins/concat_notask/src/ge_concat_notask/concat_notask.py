"""`ConcatNotaskPass`: Concat nodes whose operands can lie one behind the other need no task.

GE's pass of the same name. It looks for no operands that already lie next to each other: its marks
make the planner place them so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ge_concat_notask import axis, strided
from ge_concat_notask.join_pass import JoinPass
from ge_concat_notask.join_rules import JoinRules
from ge_concat_notask.marks import CONCAT_CLAIM
from ge_concat_notask.refusal import Refusal, refuse


class ConcatRules(JoinRules):
    """A Concat: the axis is one of the operands' own."""

    def inner_axis(self) -> int:
        """Where all operands and the result have dimensions other than one outside the axis."""
        descs = [*self.descs, *(output.desc for output in self.node.outputs)]
        value = self.node.attrs.get("concat_dim", 0)
        joined = axis.resolve_axis(value, len(descs[0].origin_shape or ())) if descs else None
        return 0 if joined is None else strided.rows_axis(descs, joined, self.setting)

    def axis_refusals(self) -> Iterator[Refusal]:
        """GE's axis test on every input description, connected or not."""
        descs = [(a, a.desc) for a in self.node.inputs if a.desc is not None]
        if self.axis:
            yield from self.row_refusals()
            return
        value = self.node.attrs.get("concat_dim", 0)
        ranks = [len(desc.origin_shape or ()) for _, desc in descs]
        joined = axis.resolve_axis(value, ranks[0]) if ranks else None
        for (anchor, desc), rank in zip(descs, ranks, strict=True):
            # GE counts a negative axis from the first operand's end, whatever the others' ranks.
            same = not isinstance(value, int) or value >= 0 or rank == ranks[0]
            if joined is None or not same or joined >= rank:
                yield refuse(axis.OUT_OF_RANGE, anchor, rank=rank)
                continue
            fault = axis.axis_fault(desc, joined, self.setting.blocks)
            if fault is not None:
                yield refuse(
                    fault, anchor, axis=joined, origin=desc.origin_format, runtime=desc.format
                )


@dataclass(frozen=True)
class ConcatNotaskPass(JoinPass):
    """Takes the task away from Concat nodes whose operands can lie one behind the other.

    Types ConcatD and ConcatV2D, as in GE. The marks: `_no_task`, `_no_padding_continuous_input`,
    `_output_reuse_input`, `_reuse_input_on_dim_index` = 0 on the node, and the claim
    `can_reused_for_concat_optimize` = false on the operands.
    """

    op_kind = "join"
    targets = ("ConcatD", "ConcatV2D")
    claim = CONCAT_CLAIM
    rules = ConcatRules

    beyond_ge: bool | None = None
    """Joins in joins, shared operands, joined parts of splits; by default at O4 and not below."""

    def goes_beyond(self) -> bool | None:
        """What the option says."""
        return self.beyond_ge
