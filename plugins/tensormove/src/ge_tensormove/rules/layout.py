"""R5: source and copy must be able to share one place."""

from __future__ import annotations

from ge_core.api import Keep
from ge_tensormove.candidate import Candidate


class Layout:
    """Keeps copies whose two sides make demands on memory that contradict each other.

    Only clashes between an anchor of either side count: what clashes on one side alone is there
    with the copy too. (GE also counts those, and types user memory by the copy's own graph.)
    """

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        run = copy.run
        if run.layout is None:
            return Keep("R5_NO_CHECKERS")
        if not copy.copy.outputs:
            return None
        before, after = copy.input, copy.output
        kinds = [_kind(anchor.mem_type) for anchor in (copy.feed.desc, after.desc)]
        if kinds[0] != kinds[1]:
            fields = {"source_kind": kinds[0], "target_kind": kinds[1]}
            return Keep("R5_MEMORY_KIND", blame=copy.feed, fields=fields)
        memory = run.memory
        if memory.same(before, after) and memory.distance(before, after):
            return Keep("R5_TWO_PLACES", blame=[before, after])
        neighbours = run.neighbours(before, after)
        if neighbours is not None:
            return Keep("R5_TWO_PLACES", blame=list(neighbours))
        if run.symbols.same(before, after):
            return None
        clash = run.layout.first_clash(run.symbols, before, after)
        if clash is None:
            return None
        fields = {"first": str(clash.first), "second": str(clash.second), "clash": clash.code}
        return Keep("R5_CLASH", blame=[clash.first, clash.second], fields=fields)


def _kind(mem_type: str) -> str:
    # Two names for the device's own memory.
    return "HBM" if mem_type == "DDR" else mem_type
