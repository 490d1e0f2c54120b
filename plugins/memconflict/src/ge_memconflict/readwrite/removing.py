"""Takes out an Identity whose reader can stand where the Identity stands (section 3.4, remove).

GE's conditions come first, in its order; then what GE doesn't ask: whether anybody would notice.
"""

from __future__ import annotations

from typing import Final

from ge_core.api import (
    ASSIGN_LIKE,
    VAR_LIKE,
    InputAnchor,
    InputKind,
    Node,
    OutputAnchor,
    OutputKind,
)
from ge_memconflict.readwrite.run import Refusal, Run
from ge_memconflict.readwrite.safety import change_seen, hold_order, waiting_first

_MERGE: Final = "StreamMerge"


def remove_unread(run: Run, identity: Node) -> Refusal | None:
    """Take out an Identity that nobody reads; why it stays, or None where it went."""
    feed = identity.inputs[0].source
    assert feed is not None
    border = _border(run, identity, feed)
    if border is not None:
        return Refusal("KEPT_NEAR_SUBGRAPH", (feed,), {"place": border.name})
    refused = kept_by_rule(run, identity)
    if refused is not None:
        return refused
    run.removed(identity, "REMOVED_UNREAD", blame=feed)
    run.take_out(identity)
    return None


def remove_or_say(run: Run, identity: Node) -> Refusal | None:
    """Take out an Identity with one reader; why it stays, or None where it went."""
    graph, port = identity.graph, identity.outputs[0]
    feed, reader = identity.inputs[0].source, port.readers[0]
    assert graph is not None and feed is not None
    refused = (
        _kept_as_in_ge(run, identity, feed, reader)
        or _description(feed, port)
        or _noticed(run, identity, feed, reader)
        or _layout(run, identity)
        or kept_by_rule(run, identity)
    )
    if refused is not None:
        return refused
    run.removed(identity, "REMOVED", blame=[feed, reader], output=repr(feed), reader=repr(reader))
    source, copy = run.memories.of(feed), run.memories.of(port)
    for after in identity.control_outputs:
        if after is not reader.node:
            graph.add_control(reader.node, after)
    _keep_description(feed, port)
    run.take_out(identity)
    run.memories.join(source, copy)
    run.times.edited()
    hold_order(run, reader, run.memories.of(feed))
    return None


# ---- GE's conditions ----------------------------------------------------------------------------


def _kept_as_in_ge(
    run: Run, identity: Node, feed: OutputAnchor, reader: InputAnchor
) -> Refusal | None:
    if reader.node.op == _MERGE:
        return Refusal("KEPT_STREAM_MERGE", (feed, reader), {"reader": reader.node.name})
    border = _border(run, identity, feed)
    if border is not None:
        return Refusal("KEPT_NEAR_SUBGRAPH", (feed, reader), {"place": border.name})
    writer = _reads_first(identity, feed)
    if writer is not None:
        fields = {"output": repr(feed), "writer": writer.name}
        return Refusal("KEPT_READ_FIRST", (feed, writer), fields)
    return _conflict(run, feed, reader)


def _border(run: Run, identity: Node, feed: OutputAnchor) -> Node | None:
    """The neighbour at which a subgraph begins or ends, if any."""
    around = (feed.node, *identity.out_nodes)
    return next((node for node in around if node.subgraphs or run.is_border(node)), None)


def _reads_first(identity: Node, feed: OutputAnchor) -> Node | None:
    """Who writes the variable that an Identity reads, and waits for the Identity to do so."""
    if feed.node.op not in VAR_LIKE:
        return None
    for after in identity.control_outputs:
        if after.op in ASSIGN_LIKE and any(anchor.source is feed for anchor in after.inputs):
            return after
    return None


def _conflict(run: Run, feed: OutputAnchor, reader: InputAnchor) -> Refusal | None:
    output_kind, reader_kind = run.effects.output_kind(feed), run.input_kind(reader)
    if not run.conflict(output_kind, reader_kind):
        return None
    unknown = output_kind is OutputKind.INVALID or reader_kind is InputKind.INVALID
    fields = {
        "output": repr(feed),
        "output_kind": output_kind.value,
        "reader": repr(reader),
        "reader_kind": reader_kind.value,
    }
    return Refusal("KEPT_UNKNOWN" if unknown else "KEPT_CONFLICT", (feed, reader), fields)


# ---- beyond GE ----------------------------------------------------------------------------------


def _description(feed: OutputAnchor, port: OutputAnchor) -> Refusal | None:
    source, target = feed.desc, port.desc
    if source.mem_type != target.mem_type:
        fields = {"source_kind": source.mem_type, "target_kind": target.mem_type}
        return Refusal("KEPT_OTHER_MEMORY", (feed, port), fields)
    same_size = source.nbytes is None or target.nbytes is None or source.nbytes == target.nbytes
    if source.dtype != target.dtype or source.format != target.format or not same_size:
        return Refusal("KEPT_OTHER_TYPE", (feed, port), {"output": repr(feed)})
    return None


def _noticed(run: Run, identity: Node, feed: OutputAnchor, reader: InputAnchor) -> Refusal | None:
    source, copy = run.memories.of(feed), run.memories.of(identity.outputs[0])
    if source is copy:
        # What tied them together may have been a reader that has gone over to the source since.
        run.memories.forget(feed)
        source, copy = run.memories.of(feed), run.memories.of(identity.outputs[0])
    refused = change_seen(run, identity, source, copy)
    return refused or waiting_first(run, identity, [reader])


def _layout(run: Run, identity: Node) -> Refusal | None:
    """What the layout rules, if there are any, say against one memory for both sides."""
    layout = run.layout
    if layout is None:
        return None
    checks, classes = layout
    clash = checks.first_clash(classes, identity.inputs[0], identity.outputs[0])
    if clash is None:
        return None
    fields = {"first": repr(clash.first), "second": repr(clash.second), "clash": clash.code}
    return Refusal("KEPT_LAYOUT", (clash.first, clash.second), fields)


def kept_by_rule(run: Run, identity: Node) -> Refusal | None:
    """What a plugin's rule says against an Identity's going."""
    keep = run.ctx.kept_by_rule(identity)
    if keep is None:
        return None
    blamed = () if keep.blame is None else keep.blame
    blame = tuple(blamed) if isinstance(blamed, (list, tuple)) else (blamed,)
    return Refusal(keep.code, blame, keep.fields, keep.hint)


def _keep_description(feed: OutputAnchor, port: OutputAnchor) -> None:
    """Where only the copy knew its shape, its source is told."""
    graph, known = feed.node.graph, port.desc
    if graph is None or feed.desc.is_static or not known.is_static:
        return
    desc = feed.desc.replace(shape=known.shape, origin_shape=known.origin_shape)
    graph.set_desc(feed, desc)
