"""R3: whoever else uses the source's memory must not see, or spoil, what happens to the copy."""

from __future__ import annotations

from ge_core.api import InputAnchor, Keep, Node, OutputAnchor, Waypoint, lifted
from ge_tensormove.candidate import Candidate


class SinglePath:
    """Keeps copies whose source is used in a way that order can't reconcile.

    Above the copy's direct producer nothing may branch off. Other readers of the direct producer
    are tolerated where either side only reads, and:

    * a sibling that overwrites the source is held back by an edge from each of the copy's readers;
    * a reader that overwrites the copy waits for the siblings by edges that are planned here
      (`planned_edges`), where that closes no cycle;
    * what overwrites the copy behind a view must be ordered after the siblings already. GE looks at
      direct readers only and lets such a store destroy what a sibling has yet to read.
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
        behind = _read_behind(copy)
        if behind is not None:
            return _keep_pair("R3_READER_BEHIND_VIEW", writer, behind)
        return None

    def _beside_readers(self, copy: Candidate) -> Keep | None:
        """Siblings only read: whatever overwrites the copy must come after them."""
        writing = list(dict.fromkeys(anchor.node for anchor in copy.writing_successors()))
        hidden = [anchor.node for anchor in copy.hidden_writers()]
        if not writing and not hidden:
            return None
        others = _sibling_nodes(copy)
        if not copy.run.may_search():
            return Keep("R3_SEARCH_LIMIT", blame=others[0])
        return self._direct(copy, writing, others) or self._behind(copy, writing, hidden, others)

    def _direct(self, copy: Candidate, writing: list[Node], others: list[Node]) -> Keep | None:
        if not writing:
            return None
        among = frozenset(others)
        both = next((node for node in writing if node in among), None)
        if both is not None:
            return Keep("R3_SAME_NODE", blame=both, fields={"reader": both.name})
        first = copy.run.order.path(writing, others)
        if first is None:
            return None
        writer, sibling = first
        fields = {"reader": writer.name, "sibling": sibling.name}
        return Keep("R3_WRITER_FIRST", blame=[writer, sibling], fields=fields)

    def _behind(
        self, copy: Candidate, writing: list[Node], hidden: list[Node], others: list[Node]
    ) -> Keep | None:
        for writer in dict.fromkeys(hidden):
            if not copy.run.may_search():
                return Keep("R3_SEARCH_LIMIT", blame=writer)
            # Edges will hold the direct writers back, and what follows them.
            if any(copy.run.order.depends(node, writer) for node in writing):
                continue
            stray = _not_before(copy, others, writer)
            if stray is None:
                continue
            hint = None
            rest = [node for node in others if node is not stray]
            alone = writer.graph is copy.graph and len(hidden) == 1
            if alone and copy.run.order.stray(rest, writer) is None:
                hint = {"edge": f"{stray.name} -> {writer.name}"}
            fields = {"writer": writer.name, "sibling": stray.name}
            return Keep("R3_WRITER_BEHIND_VIEW", [writer, stray], hint, fields)
        return None


def _missing_edges(copy: Candidate) -> list[tuple[Node, Node]]:
    """Siblings that overwrite the source, and readers of the copy that don't hold them back.

    As in GE an edge is asked for, where any path would do. Two are enough to know.
    """
    readers = dict.fromkeys(reader.node for reader in copy.output.readers)
    found: list[tuple[Node, Node]] = []
    for sibling in dict.fromkeys(anchor.node for anchor in copy.siblings.writers):
        held_by = frozenset(sibling.control_inputs)
        for node in readers:
            if node not in held_by:
                found.append((sibling, node))
                if len(found) > 1:
                    return found
    return found


def _not_before(copy: Candidate, others: list[Node], writer: Node) -> Node | None:
    """The first of some nodes beside the copy that doesn't have to run before a writer."""
    order = copy.run.order
    if lifted(writer, copy.graph):
        return order.stray(others, writer)
    # The writer stands outside: to it they all are what calls the copy's graph.
    return None if order.depends(others[0], writer) else others[0]


def planned_edges(copy: Candidate) -> tuple[list[Node], list[Node]]:
    """Who must come before whom once the copy is gone: siblings, and what overwrites the copy."""
    if len(copy.feed.readers) < 2 or copy.siblings.writers:
        return [], []
    writing = list(dict.fromkeys(anchor.node for anchor in copy.writing_successors()))
    return (_sibling_nodes(copy), writing) if writing else ([], [])


def _sibling_nodes(copy: Candidate) -> list[Node]:
    nodes = dict.fromkeys(reader.node for reader in copy.feed.readers)
    nodes.pop(copy.copy, None)
    return list(nodes)


def _read_behind(copy: Candidate) -> OutputAnchor | None:
    """Another output in the copy's graph that is the copy's memory and is read."""
    # What is read inside a direct reader is done when that is; outside the copy's graph the memory
    # is known only through a result, and a result is a direct reader that nobody can wait for.
    for anchor in copy.run.memory.members(copy.output):
        if not isinstance(anchor, OutputAnchor) or anchor is copy.output:
            continue
        if anchor.readers and anchor.node.graph is copy.graph:
            return anchor
    return None


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
