"""May a copy go, and what does it take?"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from ge_core.api import AccessConflict, InputAnchor, Joined, Keep, OutputAnchor
from ge_tensormove.coalesce.edges import Edge, needed_edges, waiting_edges
from ge_tensormove.coalesce.knowledge import Knowledge
from ge_tensormove.coalesce.move import Move
from ge_tensormove.coalesce.permission import GRANTS, not_permitted
from ge_tensormove.coalesce.place import not_one_place
from ge_tensormove.coalesce.reorder import brought_forward


@dataclass(frozen=True, slots=True)
class Free:
    """A copy may go.

    Attributes:
        edges: who then has to be made to come before whom.
    """

    edges: list[Edge] = field(default_factory=list)


def listed_verdict(move: Move, known: Knowledge, granted: Set[str] = frozenset()) -> Joined | Keep:
    """Whether a copy may go with the listing as it is; edges are not asked for.

    Args:
        granted: codes of what the caller is taken to have permitted.
    """
    keep = not_permitted(move, known, granted) or not_one_place(move, known)
    if keep is not None:
        return keep
    if _is_plain(move, known):
        return Joined()
    if not known.may_play(move.input, move.output):
        return Keep("O4_SEARCH_LIMIT", blame=[move.input, move.output])
    answer = _joined(move, known)
    if answer.refused is not None:
        code = "O4_TOO_MANY_RUNS" if answer.refused == "runs" else "O4_GAPS"
        return Keep(code, blame=[move.input, move.output])
    for access in answer.idle:
        if known.ops.kind(access.node) == "move":
            fields = {"copy": access.node.name}
            return Keep("O4_COPIES_TO_ITSELF", blame=[move.node, access.node], fields=fields)
    answer.conflicts = [
        c for c in answer.conflicts if not _was_so(c, known) and not (granted and _is_given(c))
    ]
    return answer


def _is_given(conflict: AccessConflict) -> bool:
    """Whether it is the caller who would find something else in an input."""
    reader = conflict.reader
    at_end = reader.graph.is_root and reader.moment == "tail"
    return at_end and isinstance(reader.anchor, OutputAnchor) and reader.node.op == "Data"


def is_enough(keep: Keep, move: Move, known: Knowledge) -> bool:
    """Whether a copy could go, as things are listed, once its reason's hint has been followed.

    A hint that has the caller permit something answers one question; others may come behind it.
    """
    granted = GRANTS.get(keep.code)
    if granted is None:
        return True
    answer = listed_verdict(move, known, granted)
    if isinstance(answer, Keep) or not answer.is_free:
        return False
    wanted = (needed_edges(move, answer.accesses, known), waiting_edges(move, known))
    return not any(isinstance(edges, Keep) for edges in wanted)


def _was_so(conflict: AccessConflict, known: Knowledge) -> bool:
    """Whether the node has overwritten what it reads ever since."""
    if not conflict.at_once or conflict.writer is None:
        return False
    return known.before.same(conflict.reader.anchor, conflict.writer.anchor)


def _joined(move: Move, known: Knowledge) -> Joined:
    """What would come of the copy's going, as things are listed now."""
    return known.interference.joined(move.input, move.output, [move.node])


def verdict(move: Move, known: Knowledge) -> Free | Keep:
    """Whether a copy may go, edges against the listing included.

    Where those are needed the timeline has the new order when the answer is `Free`.
    """
    answer = listed_verdict(move, known)
    if isinstance(answer, Keep):
        return answer
    forward: list[Edge] = []
    if answer.conflicts:
        brought = brought_forward(lambda: _joined(move, known), answer, known)
        if brought is None or isinstance(brought, Keep):
            return brought or conflict_keep(move, answer.conflicts[0], known)
        answer, forward = brought
    edges = needed_edges(move, answer.accesses, known)
    if isinstance(edges, Keep):
        return edges
    waiting = waiting_edges(move, known)
    if isinstance(waiting, Keep):
        return waiting
    return Free(list(dict.fromkeys((*forward, *edges, *waiting))))


def _is_plain(move: Move, known: Knowledge) -> bool:
    """Whether nobody but their makers writes either memory, so that there is nothing to play."""
    memory = known.memory
    for end in (move.input, move.output):
        if memory.count(end, "writes") or memory.count(end, "pieces"):
            return False
        if memory.count(end, "results") > 1:
            return False  # they may be several memories, of several calls
    makers = [t.access for t in known.interference.accesses(move.output) if t.access.writes]
    return all(access.node is move.node for access in makers)


def conflict_keep(move: Move, conflict: AccessConflict, known: Knowledge) -> Keep:
    """The reason that a conflict is."""
    reader, writer = conflict.reader, conflict.writer
    writing = move.node if writer is None else writer.node
    blame = [reader.anchor, move.input if writer is None else writer.anchor]
    fields: dict[str, object] = {"reader": reader.node.name, "writer": writing.name}
    if conflict.at_once:
        return Keep("O4_SAME_NODE", blame=blame, fields={"writer": writing.name})
    if reader.graph.is_root and reader.moment == "tail":
        if isinstance(reader.anchor, InputAnchor):
            fields = {"output": reader.anchor.index, "writer": writing.name}
            return Keep("O4_RESULT_SPOILED", blame=blame, fields=fields)
        fields = {"source": reader.node.name, "writer": writing.name}
        return Keep("O4_VARIABLE_WRITTEN", blame=blame, fields=fields)
    timeline = known.timeline
    if writer is not None and timeline.key(reader) < timeline.key(writer):
        return Keep("O4_NEXT_TURN", blame=blame, fields=fields)
    code = "O4_COPY_READ_LATER" if conflict.side else "O4_SOURCE_READ_LATER"
    return Keep(code, blame=blame, fields=fields)
