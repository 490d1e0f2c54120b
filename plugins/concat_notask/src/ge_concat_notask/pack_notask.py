"""`PackNotaskPass`: Pack nodes whose operands can lie one behind the other need no task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ge_concat_notask import axis, strided
from ge_concat_notask.join_pass import JoinPass
from ge_concat_notask.join_rules import JoinRules
from ge_concat_notask.marks import PACK_CLAIM
from ge_concat_notask.refusal import PACK_CODES, Refusal, refuse
from ge_core.api import TensorDesc, is_private, parse_format


class PackRules(JoinRules):
    """A Pack: the axis is a new one, between those of the operands."""

    def inner_axis(self) -> int:
        """A new axis between the operands' own, stored as it is in the shape."""
        descs = [*self.descs, *(output.desc for output in self.node.outputs)]
        if any(d.format != d.origin_format or d.shape != d.origin_shape for d in descs):
            return 0
        rank = len(self.descs[0].shape or ()) if self.descs else 0
        new = axis.resolve_axis(self.node.attrs.get("axis", 0), rank + 1)
        if new is None or not 0 < new < rank:
            return 0
        return strided.rows_axis(self.descs, new, self.setting)

    def format_refusals(self) -> Iterator[Refusal]:
        """Of the private formats only FRACTAL_NZ can be packed."""
        for at, desc in enumerate(self.descs):
            if is_private(desc.format) and parse_format(desc.format).primary != "FRACTAL_NZ":
                yield refuse("PRIVATE_FORMAT", self.operands[at], at=at, runtime=desc.format)

    def axis_refusals(self) -> Iterator[Refusal]:
        """A new outermost axis is free, a new last one needs single elements; else GE's test."""
        if self.axis:
            yield from self.row_refusals()
            return
        value = self.node.attrs.get("axis", 0)
        for anchor, desc in zip(self.operands, self.descs, strict=True):
            rank = len(desc.origin_shape or ())
            new = axis.resolve_axis(value, rank + 1)
            if new is None:
                yield refuse(axis.OUT_OF_RANGE, anchor, rank=rank + 1)
            elif new == rank and new > 0:
                if any(size != 1 for size in desc.origin_shape or ()):
                    yield refuse("NEW_INNERMOST_AXIS", anchor)
            elif new > 0:
                fault = self._inner(desc, new)
                if fault is not None:
                    yield refuse(
                        fault, anchor, axis=new, origin=desc.origin_format, runtime=desc.format
                    )

    def _inner(self, desc: TensorDesc, new: int) -> str | None:
        # A transposing format may have moved an outer axis inwards, where GE does not look for it.
        if any(size != 1 for size in (desc.origin_shape or ())[:new]):
            return axis.NOT_OUTERMOST
        return axis.axis_fault(desc, new, self.setting.blocks)


@dataclass(frozen=True)
class PackNotaskPass(JoinPass, codes=PACK_CODES):
    """Takes the task away from Pack nodes whose operands can lie one behind the other.

    Runs behind ConcatNotaskPass. The marks are those of a Concat; the claim is
    `can_reused_for_pack_optimize` = false.
    """

    op_kind = "pack"
    targets = ("Pack",)
    claim = PACK_CLAIM
    rules = PackRules

    beyond_ge: bool | None = None
    """Joins in joins, shared operands, joined parts of splits; by default at O4 and not below."""

    def goes_beyond(self) -> bool | None:
        """What the option says."""
        return self.beyond_ge
