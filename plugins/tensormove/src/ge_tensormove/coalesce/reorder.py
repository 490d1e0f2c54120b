"""Running readers earlier than they are listed: before whoever overwrites what they read.

A graph means what it computes when it is run in its listed order, so two accesses to one memory may
be in order without an edge between them. An edge against the listing holds a writer back, and what
depends on it, and others overtake those: that must not be nodes that use the same memory, or have
effects of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from ge_core.api import AccessConflict, Anchor, Graph, Joined, Keep, Node, inner_graphs
from ge_tensormove.coalesce.edges import Edge, between
from ge_tensormove.coalesce.knowledge import Knowledge

_MOST_ROUNDS: Final = 8
"""So many times further readers are looked for whom the last change has put behind a writer."""


def brought_forward(
    ask: Callable[[], Joined], answer: Joined, known: Knowledge
) -> tuple[Joined, list[Edge]] | Keep | None:
    """Hold writers back until the readers have run that would see too much.

    Args:
        ask: what would come of it as things are listed at the time.
        answer: what it said last.

    Returns:
        What comes of it in the new order, which the timeline now has, with the edges that it takes;
        a `Keep` where others mind; None where edges can't help. Then the order is as it was.
    """
    edges: list[Edge] = []
    moved: list[_Moved] = []
    keep: Keep | None = None
    for _ in range(_MOST_ROUNDS):
        if answer.is_free:
            return answer, edges
        pairs = _pairs(answer.conflicts, known)
        if not pairs or answer.refused is not None:
            break
        step = _hold_back(pairs, known)
        if not isinstance(step, _Moved):
            keep = step
            break
        moved.append(step)
        edges += pairs
        answer = ask()
    for step in reversed(moved):
        known.timeline.move(*step)
    return keep


class _Moved(NamedTuple):
    """How the listing was, from one place on."""

    graph: Graph
    first: int
    nodes: list[Node]


def _pairs(conflicts: Sequence[AccessConflict], known: Knowledge) -> list[Edge]:
    """Readers that would have to come first, each with the writer; none where some can't."""
    found: dict[Edge, None] = {}
    for conflict in conflicts:
        reader, writer = conflict.reader, conflict.writer
        at_end = reader.graph.is_root and reader.moment != "node"
        if writer is None or conflict.at_once or at_end:
            return []
        for one, other in between(reader, writer):
            # The listing must be what is wrong: not a loop's next turn.
            if one is other or known.timeline.place(one) < known.timeline.place(other):
                return []
            found[one, other] = None
    return list(found)


def _hold_back(pairs: Sequence[Edge], known: Knowledge) -> _Moved | Keep | None:
    """Move the writers behind the readers, where nobody minds; None where edges forbid it."""
    readers = list(dict.fromkeys(one for one, _ in pairs))
    writers = list(dict.fromkeys(other for _, other in pairs))
    graph = readers[0].graph
    assert graph is not None
    if any(node.graph is not graph for node in (*readers, *writers)):
        return None
    place = known.timeline.place
    low, high = min(map(place, writers)), max(map(place, readers))
    region = known.timeline.order(graph)[low : high + 1]
    if not known.may_search() or not known.may_relist(len(region)):
        fields = {"reader": readers[0].name, "writer": writers[0].name}
        return Keep("O4_SEARCH_LIMIT", blame=[readers[0], writers[0]], fields=fields)
    if known.order.path(writers, readers) is not None:
        return None
    held, passing = _parted(region, writers, known)
    crossed = _crossed(held, passing, known)
    if crossed is not None:
        fields = {
            "reader": readers[0].name,
            "writer": writers[0].name,
            "one": crossed[0].name,
            "other": crossed[1].name,
        }
        return Keep("O4_LISTED_ORDER", blame=list(crossed), fields=fields)
    known.timeline.move(graph, low, [*passing, *held])
    return _Moved(graph, low, region)


def _parted(
    region: Sequence[Node], writers: Sequence[Node], known: Knowledge
) -> tuple[list[Node], list[Node]]:
    """The nodes of a region that are held back, with what depends on them; and the others."""
    waiting = dict.fromkeys(writers)
    held: list[Node] = []
    passing: list[Node] = []
    for node in region:
        if node.graph is not None and (
            node in waiting or any(before in waiting for before in _before(node, known))
        ):
            waiting[node] = None
            held.append(node)
        else:
            passing.append(node)
    return held, passing


def _before(node: Node, known: Knowledge) -> Iterator[Node]:
    """What a node waits for; through nodes that were added on the way, which have no place."""
    stack = [node]
    seen = {node}
    while stack:
        at = stack.pop()
        for other in (*at.in_nodes, *at.control_inputs):
            if known.timeline.knows(other):
                yield other
            elif other not in seen:
                seen.add(other)
                stack.append(other)


# ---- who minds ----------------------------------------------------------------------------------


def _crossed(
    held: Sequence[Node], passing: Sequence[Node], known: Knowledge
) -> tuple[Node, Node] | None:
    """A held node and a later one that would overtake it, and must not; None for none."""
    streams = {stream for node in (*held, *passing) for stream in _streams(node)}
    if len(streams) > 1:
        # What meets on several streams hangs on who stands before whom.
        return held[0], passing[-1]
    place = known.timeline.place
    uses: dict[object, tuple[dict[Node, bool], dict[Node, bool]]] = {}
    for side, nodes in enumerate((held, passing)):
        for node in nodes:
            if node.graph is None:
                continue
            for what, writes in _uses(node, known):
                sides = uses.setdefault(what, ({}, {}))
                sides[side][node] = sides[side].get(node, False) or writes
    for ones, others in uses.values():
        for first, first_writes in ones.items():
            for second, second_writes in others.items():
                if (first_writes or second_writes) and place(first) < place(second):
                    return first, second
    return None


def _streams(node: Node) -> Iterator[int]:
    """The streams that something of a node runs on."""
    if node.graph is None or (not node.inputs and "stream_id" not in node.attrs):
        return
    yield node.stream_id
    for graph in inner_graphs(node):
        for inner in graph.nodes:
            if inner.inputs and inner.op != "NetOutput":
                yield inner.stream_id


def _uses(node: Node, known: Knowledge) -> Iterator[tuple[object, bool]]:
    """The memories that a node uses, with all inside it, and whether it writes them."""
    inside = [inner for graph in inner_graphs(node) for inner in graph.nodes]
    for each in (node, *inside):
        traits = known.ops.traits(each)
        if traits.side_effect or traits.collective:
            yield "effects", True
        anchors: list[Anchor] = [*each.inputs, *each.outputs]
        for anchor in anchors:
            accesses = known.interference.through(anchor)
            if accesses:
                yield known.memory.root(anchor), any(access.writes for access in accesses)
