"""Takes an Identity with several readers apart (section 3.4, split).

Readers that write get an Identity of their own, fed by the old one; the others read what the old
one copies, where they see the same there. (GE relinks them all.)
"""

from __future__ import annotations

from collections.abc import Set

from ge_core.api import InputAnchor, InputKind, Node, OutputAnchor
from ge_memconflict.placing import isolate_input, serves_only
from ge_memconflict.readwrite.memory import Memory
from ge_memconflict.readwrite.run import Refusal, Run, copied
from ge_memconflict.readwrite.safety import change_lost, change_seen, hold_order, waiting_first


def split(run: Run, identity: Node) -> Refusal | None:
    """Split an Identity; why not all of its readers have left it, or None where it is gone."""
    port = identity.outputs[0]
    feed = identity.inputs[0].source
    assert feed is not None
    last: Refusal | None = None
    writers, readers = _sorted(run, port)
    whole = run.memories.of(port)
    gone: set[int] = set()
    for writer in writers:
        users = _own_users(run, writer, port)
        refused = _give_its_own(run, identity, writer, whole, users, gone)
        gone.update(map(id, () if refused else users.anchors))
        last = refused or last
    run.memories.forget(port)
    for reader in readers:
        users = run.memories.behind(reader)
        if any(anchor is port for anchor in users.anchors):
            continue  # it has the copy by another way too, inside a subgraph
        refused = _relink(run, identity, reader, whole, users, gone)
        gone.update(map(id, () if refused else users.anchors))
        last = refused or last
    if port.readers:
        return last
    run.removed(identity, "REMOVED_SPLIT", blame=feed, output=repr(feed))
    _take_out(run, identity)
    return None


def _own_users(run: Run, writer: InputAnchor, port: OutputAnchor) -> Memory:
    """What a copy of its own would be used for, as far as that is told from the old one's users."""
    users = run.memories.behind(writer)
    if all(anchor is not port for anchor in users.anchors):
        return users
    # A subgraph with several callers, or a view made early, has the old copy as well: who reads
    # there may read either.
    return Memory(anchors=[writer], updates=[writer])


def _sorted(run: Run, port: OutputAnchor) -> tuple[list[InputAnchor], list[InputAnchor]]:
    """Readers that write, and the others; those that have a copy of their own are left out."""
    writers: list[InputAnchor] = []
    others: list[InputAnchor] = []
    for anchor in port.readers:
        if serves_only(anchor.node) is None:
            (writers if run.input_kind(anchor).writes else others).append(anchor)
    return writers, others


def _give_its_own(
    run: Run,
    identity: Node,
    reader: InputAnchor,
    whole: Memory,
    users: Memory,
    gone: Set[int],
) -> Refusal | None:
    """Put a copy in front of one that writes; why others would miss its update, or None."""
    port = identity.outputs[0]
    scribbles = not reader.node.subgraphs and run.input_kind(reader) is InputKind.SCOPE_WRITEABLE
    refused = None if scribbles else change_lost(run, reader.node, whole, users, gone)
    if refused is not None:
        return refused
    new = isolate_input(reader, run.fresh_name(port))
    run.times.insert_before(new, reader.node)
    run.ctx.missed(
        new,
        "ISOLATES_SPLIT",
        blame=[port, reader],
        bytes=copied(new),
        reader=repr(reader),
        identity=identity.name,
    )
    return None


def _relink(
    run: Run,
    identity: Node,
    reader: InputAnchor,
    whole: Memory,
    users: Memory,
    gone: Set[int],
) -> Refusal | None:
    """Have one reader read what is copied; why it can't, or None where it does."""
    graph, feed = identity.graph, identity.inputs[0].source
    assert graph is not None and feed is not None
    source = run.memories.of(feed)
    refused = (
        change_lost(run, identity, whole, users, gone)
        or change_seen(run, identity, source, users)
        or waiting_first(run, identity, [reader])
    )
    if refused is not None:
        return refused
    graph.rewire(reader, feed)
    run.memories.keep(users)
    run.memories.join(source, users)
    node = reader.node
    for before in identity.control_inputs:
        if before is not node:
            graph.add_control(before, node)
    for after in identity.control_outputs:
        if after is not node:
            graph.add_control(node, after)
            if after is not feed.node:
                graph.add_control(feed.node, after)
    run.times.edited()
    hold_order(run, reader, run.memories.of(feed))
    return None


def _take_out(run: Run, identity: Node) -> None:
    run.take_out(identity)
    run.times.edited()
