"""R1 concluded: what a call that is not traced into hands out may be memory that must last."""

from __future__ import annotations

from ge_core.api import Anchor, InputAnchor, Keep
from ge_tensormove.candidate import Candidate
from ge_tensormove.rules.other_names import MOST_WRITERS, is_in_order
from ge_tensormove.rules.path import exposing


class FixedInside:
    """Keeps copies of a constant, variable or graph input that comes out of a call.

    Only a PartitionedCall is traced into; of other calls the output is the source. What they hand
    through is as special as where the trace gets to it: direct readers may only read it in the
    open, and whoever writes it must be in order with them. GE takes it for a private value.
    """

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        origin, memory = copy.origin, copy.run.memory
        if not origin.node.subgraphs or not memory.count(origin.output, "fixed"):
            return None
        if copy.copy.outputs:
            exposed = exposing(copy.successors)
            late = next(iter(exposed[1])) if exposed is not None else self._unordered(copy)
            if late is None:
                return None
        fields = {"source": origin.node.name}
        return Keep("R1_FIXED_INSIDE", blame=origin.node, fields=fields)

    def _unordered(self, copy: Candidate) -> Anchor | None:
        """Who writes the memory and may do so between the copy and its readers."""
        writers = [
            writer
            for writer in copy.run.memory.of_type(copy.feed, "writes")
            if not isinstance(writer, InputAnchor) or writer.source is not copy.feed
        ]
        return next(
            (w for w in writers if len(writers) > MOST_WRITERS or not is_in_order(copy, w)), None
        )
