"""Has one memory take the place of another: asks who would notice, and orders who must come first.

Everything happens in the caller's transaction. Who accesses what in either memory, and whether
somebody would read another value, is `Interference`'s answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ge_core.api import (
    AccessConflict,
    Graph,
    InputAnchor,
    Joined,
    Keep,
    Node,
    OutputAnchor,
    lift_both,
)
from ge_tensormove.coalesce.edges import Edge
from ge_tensormove.coalesce.knowledge import Knowledge
from ge_tensormove.coalesce.permission import misplaced_result
from ge_tensormove.coalesce.reorder import brought_forward
from ge_tensormove.writeback.chain import Chain, Link
from ge_tensormove.writeback.order import order_all
from ge_tensormove.writeback.scene import Scene

_DEVICE: Final = frozenset({"HBM", "DDR"})
"""Two names for the device's own memory."""


@dataclass(frozen=True, slots=True)
class Clash:
    """Why an output of a link can't lie where the target does.

    Attributes:
        readers: who reads a value that would be overwritten; empty where something else is wrong.
        writer: who goes on changing what is stored.
    """

    keep: Keep
    link: Link | None = None
    readers: tuple[InputAnchor, ...] = ()
    writer: InputAnchor | None = None

    @property
    def in_the_way(self) -> tuple[InputAnchor, ...]:
        """Whose memory would have to be another one."""
        return self.readers if self.writer is None else (*self.readers, self.writer)


def merge_all(scene: Scene, chain: Chain) -> Clash | None:
    """Have the outputs of all links lie in the target's memory, one after the other.

    Returns:
        None when they are one memory now; else why not. Edges may have been added, and the listing
        changed, in either case.
    """
    gone: list[Node] = []
    for number, link in enumerate(chain.links):
        into = link.input
        if number == 0 and not chain.is_closed:
            # The copy stays, as the store that it becomes.
            into = chain.store.inputs[0]
        elif link.is_copy:
            # Its write to what is its source by now must not hide who reads that before.
            gone.append(link.node)
        if number == len(chain.links) - 1 and not chain.is_result:
            gone.append(chain.store)
        clash = _merge(scene, chain, link, into, gone)
        if clash is not None:
            return clash
    return None


def _merge(
    scene: Scene, chain: Chain, link: Link, into: InputAnchor, gone: Collection[Node]
) -> Clash | None:
    """Have the output of a link lie where `into` does; `gone` are the nodes that will be."""
    known = scene.known
    if known.memory.same(into, link.output):
        # For one caller of the subgraph they are one memory, for another one they may not be.
        return Clash(_shared(into, link))
    keep = _misfit(known, chain, link, into)
    if keep is not None:
        return Clash(keep)

    def ask() -> Joined:
        answer = known.interference.joined(into, link.output, gone)
        conflicts = [c for c in answer.conflicts if not _is_meant(c, chain, link)]
        return Joined(conflicts, answer.idle, answer.accesses, answer.refused)

    answer = ask()
    edges: list[Edge] = []
    if answer.refused is not None:
        fields = {"why": _REFUSED[answer.refused]}
        return Clash(Keep("W_VAGUE", blame=[_feed(into), link.output], fields=fields))
    if answer.conflicts:
        brought = brought_forward(ask, answer, known)
        if brought is None or isinstance(brought, Keep):
            if _is_shared(chain.store.graph):
                return Clash(_shared(into, link))
            return _clash(known, chain, link, answer.conflicts, brought)
        answer, edges = brought
    keep = order_all(answer.accesses, edges, chain.store.name, known)
    if keep is not None:
        return Clash(keep)
    scene.join(into, link.output)
    return None


def _is_shared(graph: Graph | None) -> bool:
    """Whether a graph, or one around it, has several callers, each of which gives it a memory."""
    while graph is not None and graph.callers:
        if len(graph.callers) > 1:
            return True
        graph = graph.callers[0][0].graph
    return False


def _feed(into: InputAnchor) -> OutputAnchor:
    assert into.source is not None
    return into.source


def _shared(into: InputAnchor, link: Link) -> Keep:
    fields = {"why": "its subgraph has several callers"}
    return Keep("W_VAGUE", blame=[_feed(into), link.output], fields=fields)


_REFUSED: Final = {
    "places": "some of it lies with gaps, or has no known size",
    "runs": "calls of calls use it too often to be followed",
}


def _misfit(known: Knowledge, chain: Chain, link: Link, into: InputAnchor) -> Keep | None:
    """Why one place can't serve both ends whatever is read and written there."""
    feed, output = into.source, link.output
    assert feed is not None
    kinds = [desc.mem_type for desc in (feed.desc, output.desc)]
    if kinds[0] != kinds[1] and not _DEVICE.issuperset(kinds):
        fields: dict[str, Any] = {"source_kind": kinds[0], "target_kind": kinds[1]}
        return Keep("W_MEMORY_KIND", blame=[feed, output], fields=fields)
    for other in () if link.is_copy else link.node.inputs:
        if other is not into and other.source is not None and known.memory.same(other, into):
            return Keep("W_AT_ONCE", blame=[other, feed], fields={"reader": link.node.name})
    result = misplaced_result(known, into, output)
    if result is not None:
        fields = {"output": result.index, "memory": chain.target.node.name}
        return Keep("W_RESULT", blame=[result, feed], fields=fields)
    if known.layout is None or known.symbols.same(into, output):
        return None
    clash = known.layout.first_clash(known.symbols, into, output)
    if clash is None:
        return None
    fields = {"first": str(clash.first), "second": str(clash.second), "clash": clash.code}
    return Keep("W_LAYOUT", blame=[clash.first, clash.second], fields=fields)


# ---- conflicts ----------------------------------------------------------------------------------


def _is_meant(conflict: AccessConflict, chain: Chain, link: Link) -> bool:
    """Whether it is the op itself, which may overwrite that input while it reads it.

    Or the caller, who has said that the input comes back as the output.
    """
    if chain.is_result and conflict.reader.anchor is chain.target:
        return True
    if not conflict.at_once or link.is_copy or conflict.writer is None:
        return False
    return conflict.reader.anchor is link.input and conflict.writer.anchor is link.output


def _clash(
    known: Knowledge,
    chain: Chain,
    link: Link,
    conflicts: Sequence[AccessConflict],
    listed: Keep | None,
) -> Clash:
    """What is wrong, as of the first conflict.

    Args:
        listed: why the readers can't come first, where only the listing forbids it.
    """
    reasons = [_explained(known, conflict, chain) for conflict in conflicts]
    still = [
        conflict.reader.anchor
        for conflict, reason in zip(conflicts, reasons, strict=True)
        if reason.code in ("W_STILL_READ", "W_AT_ONCE") and conflict.side == 0
    ]
    readers = [anchor for anchor in still if isinstance(anchor, InputAnchor)]
    if len(readers) < len(conflicts):
        readers = []
    keep = reasons[0]
    if listed is not None and keep.code == "W_STILL_READ" and "one" in listed.fields:
        keep = Keep("W_LISTED_ORDER", blame=listed.blame, fields=listed.fields)
    writer = None if conflicts[0].writer is None else conflicts[0].writer.anchor
    if keep.code != "W_CHANGED_LATER" or not isinstance(writer, InputAnchor):
        writer = None
    return Clash(keep, link, tuple(dict.fromkeys(readers)), writer)


def _explained(known: Knowledge, conflict: AccessConflict, chain: Chain) -> Keep:
    """The reason that a conflict is."""
    reader, writer, store = conflict.reader, conflict.writer, chain.store
    writing = store if writer is None else writer.node
    fields: dict[str, Any] = {
        "reader": reader.node.name,
        "writer": writing.name,
        "memory": chain.target.node.name,
    }
    blame = [reader.anchor, writing if writer is None else writer.anchor]
    if conflict.at_once:
        return Keep("W_AT_ONCE", blame=[*blame, chain.target], fields=fields)
    later = _is_later(known, writing, store)
    if conflict.side == 0:
        if not _always_stores(writing, store):
            return Keep("W_NOT_EVERY_TIME", blame=blame, fields=fields)
        if later:
            return Keep("W_CHANGED_LATER", blame=blame, fields=fields)
    elif not later:
        return Keep("W_CHANGED_BETWEEN", blame=blame, fields=fields)
    return Keep("W_STILL_READ", blame=blame, fields=fields)


def _always_stores(writer: Node, store: Node) -> bool:
    """Whether the write-back follows whenever the writer has run: it lies no deeper inside."""
    both = lift_both(writer, store)
    return both is not None and both[0] is store.graph


def _is_later(known: Knowledge, node: Node, store: Node) -> bool:
    """Whether a node is listed behind the write-back."""
    both = lift_both(node, store)
    if both is None:
        return False
    _, ones, others = both
    place = known.timeline.place
    return max(map(place, ones)) > max(map(place, others))
