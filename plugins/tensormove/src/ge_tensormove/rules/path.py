"""R1: the source must be known, and a source that outlives the run must stay as it is."""

from __future__ import annotations

from ge_core.api import InputAnchor, Keep
from ge_tensormove.candidate import Candidate
from ge_tensormove.readers import Readers
from ge_tensormove.trace_rules import CONTROL_FLOW


class PathValid:
    """Keeps copies of what can't be traced, and of special sources unless they are only read.

    Special are variables, constants and their like. Every direct reader of such a copy must read
    it in the open: not hand the memory on, not be a result, not pass it into a subgraph.
    """

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        if copy.fed_by is None:
            return Keep("R1_UNCONNECTED")
        origin = copy.origin
        if origin.stopped == CONTROL_FLOW or copy.run.is_control_flow(origin.node):
            return Keep("R1_CONTROL_FLOW", blame=origin.node, fields={"source": origin.node.name})
        if origin.stopped is not None:
            return Keep("R1_TRACE_STOPPED", blame=origin.node, fields={"why": origin.stopped})
        if copy.run.is_special(origin.output):
            return self._special(copy)
        return None

    def _special(self, copy: Candidate) -> Keep | None:
        if not copy.copy.outputs:
            return self._keep(copy, "R1_SPECIAL_NO_OUTPUT", None)
        code = exposing(copy.successors)
        if code is None:
            return None
        name, group = code
        return self._keep(copy, name, next(iter(group)))

    def _keep(self, copy: Candidate, code: str, reader: InputAnchor | None) -> Keep:
        source = copy.origin.output
        blame = [source] if reader is None else [source, reader]
        name = "" if reader is None else reader.node.name
        return Keep(code, blame=blame, fields={"source": source.node.name, "reader": name})


def exposing(readers: Readers) -> tuple[str, dict[InputAnchor, None]] | None:
    """The first group with a reader that a special source can't have, and the code for it."""
    for code, group in (
        ("R1_SPECIAL_TO_VIEW", readers.views),
        ("R1_SPECIAL_TO_OUTPUT", readers.results),
        ("R1_SPECIAL_TO_SUBGRAPH", readers.wrappers),
        ("R1_SPECIAL_WRITTEN", readers.writers),
    ):
        if group:
            return code, group
    return None
