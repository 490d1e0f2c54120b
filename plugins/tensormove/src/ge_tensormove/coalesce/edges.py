"""The edges that keep an order which so far a copy made unnecessary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from ge_core.api import Access, Keep, Node, TimedAccess, crossings, inner_graphs, lift_both
from ge_tensormove.coalesce.knowledge import Knowledge
from ge_tensormove.coalesce.move import Move

Edge: TypeAlias = "tuple[Node, Node]"

MANY_PAIRS: Final = 1000
"""More pairs of nodes than this are ordered through one node that does nothing (GE's number)."""


def needed_edges(
    move: Move, accesses: Sequence[TimedAccess], known: Knowledge
) -> list[Edge] | Keep:
    """Who has to be made to come before whom, all of which are listed in that order.

    Args:
        accesses: to both memories, in the listed order, the copy's left out.
    """
    found: dict[Edge, None] = {}
    feeds_copy: dict[Node, bool] = {}
    # All that touches the copy's memory is behind the copy, unless it has a name or a place.
    behind = not any(known.memory.count(move.output, name) for name in ("pieces", "lasting"))
    for one, other in crossings(accesses):
        for first, second in between(one.access, other.access):
            if first is second or (first, second) in found:
                continue
            if known.timeline.place(first) > known.timeline.place(second):
                # Of several callers one comes first, another last.
                fields = {"writer": second.name, "reader": first.name}
                return Keep("O4_SOURCE_READ_LATER", blame=[first, second], fields=fields)
            if behind and (one.side, other.side) == (0, 1):
                if first not in feeds_copy:
                    feeds_copy[first] = _is_before(first, move.node, known)
                if feeds_copy[first]:
                    continue
            if not _is_before(first, second, known):
                found[first, second] = None
    return list(found)


def between(one: Access, other: Access) -> Iterator[Edge]:
    """The pairs of nodes, of one graph each, that an order of two accesses is about.

    A pair of one node means that both happen inside it: in different arms, or in the order of its
    own subgraphs.
    """
    for actor in _actors(one):
        for second in _actors(other):
            both = lift_both(actor, second)
            if both is None:
                continue
            _, firsts, seconds = both
            for first in firsts:
                for last in seconds:
                    yield first, last


def _actors(access: Access) -> list[Node]:
    """Who makes an access: what is done at a graph's head or tail its callers do."""
    if access.moment == "node":
        return [access.node]
    return list(dict.fromkeys(caller for caller, _ in access.graph.callers))


def _is_before(first: Node, second: Node, known: Knowledge) -> bool:
    """Whether edges order the two; where a search would be too long, no."""
    if any(node is first for node in (*second.in_nodes, *second.control_inputs)):
        return True
    return known.may_search() and known.order.depends(first, second)


# ---- who waits for the copy ---------------------------------------------------------------------


def waiting_edges(move: Move, known: Knowledge) -> list[Edge] | Keep:
    """Edges that make those who wait for the copy wait for its readers.

    "X runs after the copy" may mean that X overwrites the source in a way that the graph doesn't
    tell. What is listed behind the copy's readers is held there. What is listed before one of them
    is let go where all that it does with memory is known: the accesses have said that it may.
    """
    readers = list(dict.fromkeys(reader.node for reader in move.output.readers))
    among = frozenset(readers)
    found: list[Edge] = []
    for waiting in move.node.control_outputs:
        if waiting in among or not known.timeline.knows(waiting):
            continue
        for reader in readers:
            if reader.op != "NetOutput" and _listed_before(reader, waiting, known):
                found.append((reader, waiting))
            elif _has_effects(waiting, known):
                fields = {"waiting": waiting.name, "reader": reader.name}
                return Keep("O4_AFTER_COPY", blame=[waiting, reader], fields=fields)
    return found


def _listed_before(first: Node, second: Node, known: Knowledge) -> bool:
    return known.timeline.place(first) < known.timeline.place(second)


def _has_effects(node: Node, known: Knowledge) -> bool:
    """Whether the node, or one inside it, does something that memory doesn't tell of."""
    inside = [inner for graph in inner_graphs(node) for inner in graph.nodes]
    traits = [known.ops.traits(each) for each in (node, *inside)]
    return any(one.side_effect or one.collective for one in traits)


# ---- adding them --------------------------------------------------------------------------------


def add_edges(edges: Sequence[Edge], name: str, known: Knowledge) -> Edge | None:
    """Add edges; the one that would close a cycle, if there is one.

    Where all of some nodes come before all of some others, and those are many pairs, one node that
    does nothing stands between them.
    """
    for firsts, seconds in _grouped(edges):
        pairs = [(one, other) for one in firsts for other in seconds]
        if len(pairs) > max(MANY_PAIRS, len(firsts) + len(seconds)):
            pairs = _through_barrier(firsts, seconds, name, known)
        for one, other in pairs:
            if other not in one.control_outputs and not known.order.add_control(one, other):
                return one, other
    return None


def _grouped(edges: Sequence[Edge]) -> Iterator[tuple[list[Node], list[Node]]]:
    """Edges by groups of which all firsts come before all seconds."""
    before: dict[Node, list[Node]] = {}
    for one, other in edges:
        before.setdefault(other, []).append(one)
    alike: dict[tuple[Node, ...], list[Node]] = {}
    for other, ones in before.items():
        alike.setdefault(tuple(ones), []).append(other)
    for firsts, seconds in alike.items():
        yield list(firsts), seconds


def _through_barrier(
    firsts: list[Node], seconds: list[Node], name: str, known: Knowledge
) -> list[Edge]:
    graph = firsts[0].graph
    assert graph is not None
    earliest = min(seconds, key=known.timeline.place)
    barrier = graph.add_node("NoOp", graph.fresh_name(f"{name}_order"), origin=(), before=earliest)
    known.order.vouch()
    return [(one, barrier) for one in firsts] + [(barrier, other) for other in seconds]
