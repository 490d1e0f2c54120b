"""Whether a copy's readers would see anything else if they read what is copied.

GE looks at kinds alone: a view behind the copy, or another name of the source, hides a writer from
it. Here every access to either memory is asked when it happens. The copy is taken at one moment;
what wrote its source before, and what only reads, doesn't matter. Whatever else writes must come
after everybody who still needs the old value.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from ge_core.api import Anchor, InputAnchor, Node, OutputAnchor
from ge_memconflict.readwrite.memory import Memory
from ge_memconflict.readwrite.run import Refusal, Run


def change_seen(run: Run, identity: Node, source: Memory, copy: Memory) -> Refusal | None:
    """Why the readers of a copy can't read its source; None where nobody sees a difference.

    Args:
        source: the memory that is copied.
        copy: what the readers in question use the copy for.
    """
    feed = identity.inputs[0].source
    assert feed is not None
    if source is copy:
        # A subgraph with several callers is handed either: what is whose can't be told there.
        return Refusal("KEPT_HANDED_TO_BOTH", (feed, identity.outputs[0]), {"output": repr(feed)})
    if source.in_pieces or copy.in_pieces:
        return Refusal("KEPT_PIECES", (feed, identity.outputs[0]), {"output": repr(feed)})
    row = _in_one_row(source, copy)
    if row:
        return Refusal("KEPT_PIECES", row, {"output": repr(feed)})
    if copy.writes and source.owned is not None:
        return _writes("KEPT_OWNED", copy.writes[0], feed, source.owned)
    if copy.results and (source.owned is not None or source.results):
        other = source.owned or source.results[0]
        return Refusal("KEPT_RESULT", (other, copy.results[0]), {"output": repr(feed)})
    return _differs(run, identity, source, copy, repr(feed))


def _in_one_row(source: Memory, copy: Memory) -> tuple[Anchor, ...]:
    """Two inputs of one node, one in either memory, that must lie side by side."""
    known = {anchor.node: anchor for anchor in _side_by_side(copy)}
    for anchor in _side_by_side(source) if known else ():
        if anchor.node in known:
            return anchor, known[anchor.node]
    return ()


def _side_by_side(memory: Memory) -> list[Anchor]:
    users = [*memory.reads, *memory.writes]
    return [anchor for anchor in users if anchor.node.attrs.get("continuous_input")]


def change_lost(
    run: Run, moment: Node, left: Memory, users: Memory, gone: Set[int] = frozenset()
) -> Refusal | None:
    """Why users of a copy can't have one of their own, made at a moment; None where they can.

    What a node destroys for its own use was never meant to be seen by anybody else.

    Args:
        left: what uses the old copy, the users among them.
        gone: anchors that do so no more, by `id`.
    """
    if not left.updates:
        return None
    own = frozenset(map(id, users.anchors))
    # Who only reads is asked about where there are updates to be seen.
    reads = left.reads if users.updates else []
    run.times.steps += len(own) + len(left.updates) + len(reads)
    if not run.may_search():
        return _too_many(moment)
    others = Memory(
        updates=[anchor for anchor in left.updates if not _in(anchor, own, gone)],
        reads=[anchor for anchor in reads if not _in(anchor, own, gone)],
    )
    mine = Memory(updates=users.updates, reads=users.reads)
    return _differs(run, moment, others, mine, repr(moment.inputs[0].source))


def _in(anchor: Anchor, one: Set[int], other: Set[int]) -> bool:
    return id(anchor) in one or id(anchor) in other


def _differs(run: Run, moment: Node, source: Memory, users: Memory, output: str) -> Refusal | None:
    """Whose access sees something else once a copy made at a moment is no copy, or is one."""
    return _written_early(run, moment, source, users, output) or _read_late(
        run, moment, source, users, output
    )


def _written_early(
    run: Run, moment: Node, source: Memory, users: Memory, output: str
) -> Refusal | None:
    """A write to the source that comes after the moment, and not after all who use the copy."""
    for writer in source.writes:
        if run.times.before(writer.node, moment):
            continue
        if not run.may_search():
            return _too_many(moment)
        if users.writes:
            return _refusal("KEPT_WRITTEN_EARLY", writer, users.writes[0], output)
        for reader in users.reads:
            node = reader.node
            if node.graph is not None and not run.times.before(node, writer.node):
                return _refusal("KEPT_WRITTEN_EARLY", writer, reader, output)
    return None


def _read_late(
    run: Run, moment: Node, source: Memory, users: Memory, output: str
) -> Refusal | None:
    """A write to the copy that does not come after all who read the source."""
    for writer in users.writes:
        if not run.may_search():
            return _too_many(moment)
        for reader in source.reads:
            node = reader.node
            if node is moment or node.graph is None or run.times.before(node, writer.node):
                continue
            return _refusal("KEPT_READ_LATE", writer, reader, output)
    return None


def _refusal(code: str, writer: Anchor, reader: Anchor, output: str) -> Refusal:
    fields = {"writer": writer.node.name, "reader": reader.node.name, "output": output}
    return Refusal(code, (writer, reader), fields)


def _writes(code: str, writer: Anchor, feed: OutputAnchor, owned: Anchor) -> Refusal:
    return Refusal(code, (owned, writer), {"writer": writer.node.name, "output": repr(feed)})


def _too_many(node: Node) -> Refusal:
    return Refusal("KEPT_LIMIT", (node.inputs[0],), {"output": repr(node.inputs[0].source)})


def waiting_first(run: Run, identity: Node, readers: Sequence[InputAnchor]) -> Refusal | None:
    """Why what waits for the copy can't wait for its readers; None where it can."""
    nodes = list(dict.fromkeys(reader.node for reader in readers))
    waiting = [node for node in identity.control_outputs if node not in nodes]
    if not waiting or not nodes or run.times.may_follow(waiting, nodes):
        return None
    fields = {"waiting": waiting[0].name, "reader": nodes[0].name}
    return Refusal("KEPT_WAITING", (waiting[0], readers[0]), fields)


def hold_order(run: Run, reader: InputAnchor, source: Memory) -> None:
    """Have edges say in which order a value is read and written, now that one more node uses it.

    On one stream the listing alone might have said so; who looks at edges shouldn't find less
    order than there was.
    """
    writes = run.input_kind(reader).writes
    for other in (*source.writes, *(source.reads if writes else ())):
        if not isinstance(other, InputAnchor) or other.source is not reader.source:
            continue
        if other.node is not reader.node and other.node.graph is reader.node.graph:
            run.times.put_in_order(other.node, reader.node)
