"""Run-time buffers: which tensors share one, across views of a caller and what it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ge_core.api import (
    Call,
    Graph,
    Node,
    OpRegistry,
    OutputAnchor,
    Region,
    output_parent_index,
    parent_index,
    tensor_name,
)
from ge_runtime.ports import Cell

Place = tuple[Call, OutputAnchor]
_Key = tuple[Call, str, int]

SOURCE_KINDS: Final = frozenset({"constant", "variable"})


class Cells:
    """The buffers of all tensors without a place in a pool, made when they are asked for.

    Args:
        graph: the root.
        ops: traits of its ops.
        region_of: the place that a tensor has in a pool, or None.
        initial: the value that a graph input, constant or variable starts with.
    """

    def __init__(
        self,
        graph: Graph,
        ops: OpRegistry,
        region_of: Callable[[Call, OutputAnchor], Region | None],
        initial: Callable[[Node], Any],
    ) -> None:
        self._graph = graph
        self._ops = ops
        self._region_of = region_of
        self._initial = initial
        self._cells: dict[_Key, Cell] = {}
        self._known: dict[_Key, Cell] = {}
        self._sources: dict[_Key, Node] = {}

    def at(self, call: Call, output: OutputAnchor) -> Cell:
        """The buffer of an output on a call path."""
        # What was met on the way is remembered: calls may nest thousands deep.
        trail: list[_Key] = []
        while True:
            key = (call, output.node.name, output.index)
            cell = self._known.get(key)
            if cell is not None:
                break
            trail.append(key)
            other = self._shared_with(call, output)
            if other is None or self._region_of(*other) is not None:
                cell = self._made(call, output)
                break
            call, output = other
        for key in trail:
            self._known[key] = cell
        return cell

    def _made(self, call: Call, output: OutputAnchor) -> Cell:
        """The buffer of an output that shares no other's memory."""
        node = output.node
        kind = self._ops.kind(node)
        if kind in SOURCE_KINDS:
            call = ()  # one memory, however often its graph is called
        key = (call, node.name, output.index)
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = Cell(tensor_name(*key))
            if kind in SOURCE_KINDS or (kind == "data" and not call):
                self._sources[key] = node
                cell.put(self._initial(node))
        return cell

    def reset(self) -> None:
        """Bring every buffer into the state before a run."""
        for key, cell in self._cells.items():
            cell.clear()
            node = self._sources.get(key)
            if node is not None:
                cell.put(self._initial(node))

    def in_use(self) -> list[Cell]:
        """Buffers that held something, in the order they were asked for."""
        return [cell for cell in self._cells.values() if cell.used]

    def _shared_with(self, call: Call, output: OutputAnchor) -> Place | None:
        node = output.node
        kind = self._ops.kind(node)
        if kind == "data" and call:
            return self._outside(call, node)
        if kind == "call":
            for graph in node.subgraphs.values():
                source = _result(graph, output.index)
                if source is not None:
                    return (*call, node.name), source
        return None

    def _outside(self, call: Call, data: Node) -> Place | None:
        """What a subgraph's Data stands for; None for what the executor writes itself."""
        index = parent_index(data)
        caller = self._graph.find(call[-1])
        if index is None or caller is None:
            return None
        kind = self._ops.kind(caller)
        inputs, outputs = caller.inputs, caller.outputs
        captured = len(inputs) - int(caller.attrs.get("captured", 0))
        slot: int | None = None
        if kind == "while":
            slot = index
        elif kind == "loop" and index < captured:
            slot = index - 2
        elif kind == "scan" and index < captured:
            scanned = int(caller.attrs.get("onnx.num_scan_inputs", 0))
            slot = index if index < captured - scanned else -1
        if slot is not None:
            return (call[:-1], outputs[slot]) if 0 <= slot < len(outputs) else None
        source = inputs[index].source if index < len(inputs) else None
        return None if source is None else (call[:-1], source)


def _result(graph: Graph, index: int) -> OutputAnchor | None:
    """What a graph delivers as an output of its caller."""
    out = graph.net_output
    for anchor in () if out is None else out.inputs:
        assert out is not None
        at = output_parent_index(out, anchor.index)
        if (anchor.index if at is None else at) == index:
            return anchor.source
    return None
