"""R3: whoever else uses the source's memory must not see, or spoil, what happens to the copy."""

from __future__ import annotations

from ge_core.api import InputAnchor, Keep, Node, OutputAnchor, Waypoint
from ge_tensormove.candidate import Candidate


class SinglePath:
    """Keeps copies whose source is used in a way that order can't reconcile.

    Above the copy's direct producer nothing may branch off. Other readers of the direct producer
    are tolerated where either side only reads, and:

    * a sibling that overwrites the source is held back by an edge from each of the copy's readers;
    * a reader that overwrites the copy waits for the siblings by edges that are planned here
      (`planned_edges`), where that closes no cycle.

    As in GE this looks at direct readers only; `BehindViews` looks further.
    """

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        return self._own_output(copy) or self._above(copy) or self._beside(copy)

    # ---- above ---------------------------------------------------------------------------------

    def _own_output(self, copy: Candidate) -> Keep | None:
        feed = copy.feed
        if copy.run.has_hidden_fork(feed):
            return _keep_at("R3_HIDDEN_FORK", Waypoint(feed.node, feed))
        return None

    def _above(self, copy: Candidate) -> Keep | None:
        obstacle = copy.run.sources.obstacle(copy.feed)
        if obstacle is None:
            return None
        blocked = copy.run.blocked(*obstacle)
        assert blocked is not None
        return _keep_at(*blocked)

    # ---- beside --------------------------------------------------------------------------------

    def _beside(self, copy: Candidate) -> Keep | None:
        siblings = copy.siblings
        if len(copy.feed.readers) < 2:
            return None
        for code, group in (
            ("R3_SIBLING_OUTPUT", siblings.results),
            ("R3_SIBLING_SUBGRAPH", siblings.wrappers),
            ("R3_SIBLING_VIEW", siblings.views),
        ):
            if group:
                return _keep_sibling(code, next(iter(group)))
        if siblings.writers:
            return self._beside_writers(copy)
        return self._beside_readers(copy)

    def _beside_writers(self, copy: Candidate) -> Keep | None:
        """Siblings overwrite the source: the copy's readers must be done before."""
        readers = copy.successors
        writer = next(iter(copy.siblings.writers))
        writing = copy.writing_successors()
        if writing:
            return _keep_pair("R3_BOTH_WRITE", writer, writing[0])
        if readers.views:
            return _keep_pair("R3_WRITER_AND_VIEW", writer, next(iter(readers.views)))
        missing = _missing_edges(copy)
        if missing:
            sibling, node = missing[0]
            # A hint is the one change that is needed.
            hint = {"edge": f"{node.name} -> {sibling.name}"} if len(missing) == 1 else None
            fields = {"sibling": sibling.name, "reader": node.name}
            return Keep("R3_WRITER_UNORDERED", [sibling, node], hint, fields)
        return None

    def _beside_readers(self, copy: Candidate) -> Keep | None:
        """Siblings only read: whatever overwrites the copy must come after them."""
        writing = writing_nodes(copy)
        if not writing:
            return None
        if not copy.run.may_search():
            return Keep("R3_SEARCH_LIMIT", blame=sibling_nodes(copy)[0])
        beside = copy.siblings.nodes
        both = next((node for node in writing if node in beside), None)
        if both is not None:
            return Keep("R3_SAME_NODE", blame=both, fields={"reader": both.name})
        # None of them leads to the copy itself, which is among the targets.
        first = copy.siblings.reached(writing, copy.run.order)
        if first is None:
            return None
        writer, sibling = first
        fields = {"reader": writer.name, "sibling": sibling.name}
        return Keep("R3_WRITER_FIRST", blame=[writer, sibling], fields=fields)


def _missing_edges(copy: Candidate) -> list[tuple[Node, Node]]:
    """Siblings that overwrite the source, and readers of the copy that don't hold them back.

    As in GE an edge is asked for, where any path would do. Two are enough to know.
    """
    readers = copy.successors.nodes
    found: list[tuple[Node, Node]] = []
    for sibling in dict.fromkeys(anchor.node for anchor in copy.siblings.writers):
        held_by = frozenset(sibling.control_inputs)
        for node in readers:
            if node not in held_by:
                found.append((sibling, node))
                if len(found) > 1:
                    return found
    return found


def planned_edges(copy: Candidate) -> tuple[list[Node], list[Node]]:
    """Who must come before whom once the copy is gone: siblings, and what overwrites the copy."""
    if len(copy.feed.readers) < 2 or copy.siblings.writers:
        return [], []
    writing = writing_nodes(copy)
    return (sibling_nodes(copy), writing) if writing else ([], [])


def writing_nodes(copy: Candidate) -> list[Node]:
    """The direct readers that overwrite the copy."""
    return list(dict.fromkeys(anchor.node for anchor in copy.writing_successors()))


def sibling_nodes(copy: Candidate) -> list[Node]:
    """The other readers of the copy's producer."""
    return [node for node in copy.siblings.nodes if node is not copy.copy]


def _keep_at(code: str, point: Waypoint) -> Keep:
    output = point.output
    fields = {
        "place": point.node.name,
        "output": point.node.name if output is None else str(output),
    }
    return Keep(code, blame=point.node if output is None else output, fields=fields)


def _keep_sibling(code: str, sibling: InputAnchor) -> Keep:
    return Keep(code, blame=sibling, fields={"sibling": sibling.node.name})


def _keep_pair(code: str, sibling: InputAnchor, reader: InputAnchor | OutputAnchor) -> Keep:
    fields = {"sibling": sibling.node.name, "reader": reader.node.name}
    return Keep(code, blame=[sibling, reader], fields=fields)
