"""Marks that follow the copy: labels of its reader, and what graph ends say of their neighbours."""

from __future__ import annotations

from typing import Any, Final

from ge_core.api import ARENA, InputAnchor, Node, OutputAnchor

STREAM_LABEL: Final = "_stream_label"
RTS_LABEL: Final = "_rts_label_node"
TO_DATA: Final = "_is_connected_to_data"
TO_RESULT: Final = "_is_connected_to_netoutput"
CONSTANT_INPUTS: Final = "is_input_const"
DATA_OFFSET: Final = "data_offset"


def from_reader(reader: Node) -> dict[str, Any]:
    """The labels that a copy takes over from its reader."""
    return {name: reader.attrs[name] for name in (STREAM_LABEL, RTS_LABEL) if name in reader.attrs}


def hand_over(copy: Node, port: OutputAnchor, feed: OutputAnchor) -> None:
    """Move to the copy what its producer and readers say about being next to a graph's end."""
    for reader in port.readers:
        _take(copy, port.index, reader.node, reader.index, TO_DATA)
        if reader.node.op == "NetOutput":
            _move_facts(copy, port.index, reader)
    if any(reader.node.op == "NetOutput" for reader in port.readers) and not any(
        reader.node.op == "NetOutput" for reader in feed.readers
    ):
        _take(copy, port.index, feed.node, feed.index, TO_RESULT)


def _take(copy: Node, at: int, node: Node, index: int, mark: str) -> None:
    """Take an index from a node's list of those that are connected to a graph's end."""
    graph, listed = node.graph, node.attrs.get(mark)
    if graph is None or not isinstance(listed, (list, tuple)) or index not in listed:
        return
    rest = [one for one in listed if one != index]
    if rest:
        graph.set_attr(node, mark, rest)
    else:
        graph.del_attr(node, mark)
    graph.set_attr(copy, mark, sorted({*copy.attrs.get(mark, ()), at}))


def _move_facts(copy: Node, at: int, result: InputAnchor) -> None:
    """That a result is a constant, or lies at an offset, is true of what the copy reads."""
    graph, node = copy.graph, result.node
    assert graph is not None
    flags = node.attrs.get(CONSTANT_INPUTS)
    if isinstance(flags, (list, tuple)) and result.index < len(flags) and flags[result.index]:
        graph.set_attr(node, CONSTANT_INPUTS, _with(flags, result.index, False))
        ours = copy.attrs.get(CONSTANT_INPUTS, [False] * len(copy.inputs))
        graph.set_attr(copy, CONSTANT_INPUTS, _with(ours, at, True))
    own = result.own_desc
    if own is not None and DATA_OFFSET in own.attrs:
        offset = own.attrs[DATA_OFFSET]
        rest = {name: value for name, value in own.attrs.items() if name != DATA_OFFSET}
        graph.set_desc(result, own.replace(attrs=rest))
        port = copy.inputs[at]
        if port.desc is not None:
            # Where what it reads lies is no wish of the copy's.
            desc = port.desc.replace(mem_type=ARENA)
            graph.set_desc(port, desc.with_attr(DATA_OFFSET, offset))


def _with(flags: Any, at: int, value: bool) -> list[bool]:
    found = [bool(flag) for flag in flags]
    found[at] = value
    return found
