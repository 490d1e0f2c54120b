"""Where not everything can go: one copy of the two saves the value that somebody still needs."""

from __future__ import annotations

from ge_core.api import Anchor, InputAnchor, Keep, Node, OutputAnchor
from ge_tensormove.coalesce.knowledge import Knowledge
from ge_tensormove.writeback.chain import Chain, Link
from ge_tensormove.writeback.edits import save
from ge_tensormove.writeback.merge import Clash


def saved_for(chain: Chain, clash: Clash, known: Knowledge) -> Node | None:
    """Have those who are in the way read a copy of their own; None where that is no gain or no way.

    The graph is edited: a transaction takes it back.
    """
    if not chain.is_closed or not any(link.is_copy for link in chain.links):
        # One copy for one write-back: nothing would be won.
        return None
    if clash.keep.code == "W_RESULT":
        return _saved_results(chain, known)
    if clash.link is not None and clash.readers:
        return _saved_readers(chain, clash, known)
    if clash.link is not None and clash.writer is not None:
        return _saved_from(clash.writer, clash.link, known)
    return None


def _saved_results(chain: Chain, known: Knowledge) -> Node | None:
    """Copy what becomes a result, when the last update has been made."""
    last = chain.links[-1].output
    results = [a for a in known.memory.of_type(last, "results") if isinstance(a, InputAnchor)]
    sources = {anchor.source for anchor in results}
    if len(sources) != 1 or chain.store.graph is not known.root:
        return None
    (source,) = sources
    if source is None or source.node.graph is not known.root:
        return None
    if _is_changed_behind(chain.store, last, known):
        return None
    return save(source, results, chain.store)


def _is_changed_behind(store: Node, output: OutputAnchor, known: Knowledge) -> bool:
    """Whether a memory is written after a store of it, so that it ends as something else."""
    accesses = known.interference.accesses(output)
    start = min(timed.key for timed in accesses if timed.access.node is store)
    return any(timed.access.writes and timed.key > start for timed in accesses)


def _saved_readers(chain: Chain, clash: Clash, known: Knowledge) -> Node | None:
    """Copy what is needed later, right before the node that begins to change it."""
    link = clash.link
    assert link is not None
    source, before = link.input.source, link.node
    assert source is not None
    for reader in clash.readers:
        feed = reader.source
        if feed is None or reader.node.graph is not before.graph:
            return None
        if feed.desc.replace(attrs={}, reuse_input=None) != source.desc.replace(
            attrs={}, reuse_input=None
        ):
            return None
    if _is_changed_before(clash, known):
        return None
    return save(source, list(clash.readers), before)


def _saved_from(writer: InputAnchor, link: Link, known: Knowledge) -> Node | None:
    """Copy what has been stored for a writer that changes it further, and for all behind that."""
    source, node = writer.source, writer.node
    if source is None or node.subgraphs or not _is_all_behind(writer, link, known):
        return None
    return save(source, [writer], node)


def _is_all_behind(writer: InputAnchor, link: Link, known: Knowledge) -> bool:
    """Whether everybody who uses the memory later gets it from the writer's output."""
    memory = known.memory
    behind: dict[Anchor, None] = {writer: None}
    waiting = [output for output in writer.node.outputs if memory.same(output, link.output)]
    while waiting:
        output = waiting.pop()
        if output in behind:
            continue
        behind[output] = None
        behind.update(dict.fromkeys(output.readers))
        ends = [end for reader in output.readers for end in reader.node.outputs]
        waiting += [end for end in ends if end in memory and memory.same(end, link.output)]
    accesses = known.interference.accesses(link.output)
    start = next(t.key for t in accesses if t.access.anchor is writer)
    return all(t.access.anchor in behind for t in accesses if t.key >= start)


def _is_changed_before(clash: Clash, known: Knowledge) -> bool:
    """Whether the memory itself is written between the copy and the last reader."""
    link = clash.link
    assert link is not None
    place = known.timeline.place
    low, high = place(link.node), max(place(reader.node) for reader in clash.readers)
    graph = link.node.graph
    for timed in known.interference.accesses(link.input):
        access = timed.access
        given = access.graph.is_root and access.moment == "head"
        if not access.writes or access.node is link.node or given:
            continue
        # At another depth it isn't told apart here.
        if access.graph is not graph or access.moment != "node":
            return True
        if low < place(access.node) < high:
            return True
    return False


def why_saved(chain: Chain, clash: Clash) -> Keep:
    """What is said of the copy that stays."""
    memory = chain.target.node.name
    if clash.keep.code == "W_RESULT":
        fields = {"output": clash.keep.fields["output"], "memory": memory}
        return Keep("RESULT_SAVED", blame=clash.keep.blame, fields=fields)
    fields = {**clash.keep.fields, "memory": memory}
    if clash.writer is not None:
        return Keep("NEW_VALUE_SAVED", blame=clash.keep.blame, fields=fields)
    return Keep("OLD_VALUE_SAVED", blame=clash.keep.blame, fields=fields)
