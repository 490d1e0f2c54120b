"""R3 continued: nodes that wait for the copy, because then the value is safe."""

from __future__ import annotations

from ge_core.api import Keep, Node
from ge_tensormove.candidate import Candidate


class AfterCopy:
    """Keeps copies that somebody waits for, where he can't wait for the copy's readers instead.

    "X runs after the copy" may mean that X overwrites the source by another name. Once the copy is
    gone X has to run after all readers; GE only keeps X behind the source's producer.
    """

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        waiting = waiting_nodes(copy)
        if not waiting:
            return None
        results = copy.successors.results
        if results:
            anchor = next(iter(results))
            fields = {"waiting": waiting[0].name}
            return Keep("R3_AFTER_COPY_OUTPUT", blame=[waiting[0], anchor], fields=fields)
        if not copy.run.may_search():
            return Keep("R3_SEARCH_LIMIT", blame=waiting[0])
        pair = copy.run.order.path(waiting, reading_nodes(copy))
        if pair is None:
            return None
        fields = {"waiting": pair[0].name, "reader": pair[1].name}
        return Keep("R3_AFTER_COPY_CYCLE", blame=list(pair), fields=fields)


def waiting_nodes(copy: Candidate) -> list[Node]:
    """Nodes that wait for the copy and don't read it: whoever reads it would come later anyway."""
    readers = frozenset(reading_nodes(copy))
    return [node for node in copy.copy.control_outputs if node not in readers]


def reading_nodes(copy: Candidate) -> list[Node]:
    """The nodes that read the copy."""
    if not copy.copy.outputs:
        return []
    return list(dict.fromkeys(reader.node for reader in copy.output.readers))
