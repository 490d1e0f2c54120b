"""Puts Identity nodes between a producer and readers that need memory of their own.

An inserted copy has a clean description: what the producer's says about memory shared with an
input, or of a variable, is not true of the copy. (GE once let copies inherit a reuse index, and
the copy's memory was again its source's.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ge_core.api import InputAnchor, Node, OutputAnchor, TensorDesc

RESERVED: Final = "_cannot_be_deleted"
NO_FOLDING: Final = "no_need_constant_folding"
BATCH_LABEL: Final = "_batch_label"
STREAM: Final = "stream_id"


def clean(desc: TensorDesc) -> TensorDesc:
    """The description of a copy: data type, shape, format and memory type; no marks."""
    return desc.replace(reuse_input=None, attrs={})


def insert_identity(
    feeds: Sequence[OutputAnchor],
    readers: Sequence[Sequence[InputAnchor]],
    name: str,
    attrs: Mapping[str, Any] | None = None,
    *,
    at: Node | None = None,
    behind: bool = False,
) -> Node:
    """One Identity that copies several values, and feeds readers with the copies.

    Args:
        feeds: what is copied, by port.
        readers: by port, inputs that read the copy from now on; all of the feeds' graph.
        name: made unique where it is taken.
        attrs: marks of the new node.
        at: next to which node it is listed: by default the first reader's, or the first feed's.
        behind: whether it is listed behind that node rather than before it.
    """
    graph = feeds[0].node.graph
    assert graph is not None
    where = at
    if where is None:
        first = next((anchor for group in readers for anchor in group), None)
        where, behind = (feeds[0].node, True) if first is None else (first.node, False)
    marks = dict(attrs or {})
    _inherit(marks, BATCH_LABEL, feeds[0].node)
    # The end of a graph runs on no stream: what is copied for it is copied where it is made.
    _inherit(marks, STREAM, feeds[0].node if where.op == "NetOutput" else where)
    identity = graph.add_node(
        "Identity",
        graph.fresh_name(name),
        feeds,
        [clean(feed.desc) for feed in feeds],
        attrs=marks,
        origin=(),
        before=None if behind else where,
        after=where if behind else None,
    )
    for port, group in zip(identity.outputs, readers, strict=True):
        for reader in group:
            graph.rewire(reader, port)
    return identity


def _inherit(marks: dict[str, Any], name: str, node: Node) -> None:
    """Take over a mark that the copy was not given."""
    if name in node.attrs:
        marks.setdefault(name, node.attrs[name])
