"""The program of a graph without a task list: listed order on each stream, an event per edge.

Edges through nodes that launch nothing are lifted to the nodes on both sides; Data carries no
order. What lost its task keeps its place on its stream, and its events. A call lasts until its
subgraphs are done: their other streams wait for its stream at the start, and it waits for them at
the end.
"""

from __future__ import annotations

from ge_core.ir import Node
from ge_core.ops import keeps_place
from ge_core.proof.facts import CALLS, SILENT, FactTable
from ge_core.proof.frames import Frame, Frames, Steps, run_steps
from ge_core.proof.program import Event, Group, Step, runs
from ge_core.proof.regions import Regions

_Latest = dict[int, int]
"""Per stream the place of a node; whoever waits for it has waited for those before it."""


class Lister:
    """Makes programs from listings."""

    def __init__(
        self, frames: Frames, facts: FactTable, regions: Regions, *, virtual: bool = False
    ) -> None:
        self._frames = frames
        self._facts = facts
        self._regions = regions
        self._virtual = virtual
        self._events = 0
        self._streams = {
            node.stream_id
            for node in frames.root.graph.all_nodes()
            if facts.of(node).kind not in SILENT and (virtual or not facts.of(node).no_task)
        }
        """Those on which anything runs, in whatever graph."""

    def program(self) -> Group:
        """The program of the root graph."""
        return run_steps(self._group(self._frames.root))

    def _group(self, frame: Frame) -> Steps[Group]:
        group = Group(frame)
        steps: dict[Node, Step] = {}
        for node in frame.order:
            facts = self._facts.of(node)
            if runs(frame, node, facts, self._regions, virtual=self._virtual):
                steps[node] = Step(frame, node, facts, node.stream_id)
        waits, records = self._edges(frame, steps)
        for node in frame.order:
            step = steps.get(node)
            if node in waits:
                group.items += [Event(node.stream_id, number, False) for number in waits[node]]
            if step is not None:
                group.items.append(step)
            if step is not None and step.facts.kind in CALLS:
                for graph in dict.fromkeys(node.subgraphs.values()):
                    inner: Group = yield self._group(self._frames.child(frame, node, graph))
                    step.groups.append(self._tied(inner, step.stream))
            if node in records:
                group.items += [Event(node.stream_id, number, True) for number in records[node]]
        return group

    def _edges(
        self, frame: Frame, steps: dict[Node, Step]
    ) -> tuple[dict[Node, list[int]], dict[Node, list[int]]]:
        """Events to wait for and to record, per node."""
        waits: dict[Node, list[int]] = {}
        records: dict[Node, list[int]] = {}
        streams = self._streams
        if len(streams) < 2:
            return waits, records
        latest: dict[Node, _Latest] = {}
        begun: set[int] = set()
        for place, node in enumerate(frame.order):
            step = steps.get(node)
            if step is None and self._facts.of(node).kind == "data":
                latest[node] = {}
                continue
            before: _Latest = {}
            for earlier in (*node.in_nodes, *node.control_inputs):
                for stream, at in latest[earlier].items():
                    before[stream] = max(at, before.get(stream, -1))
            own = node.stream_id
            if step is None and not (
                own in streams
                and keeps_place(node, self._facts.ops)
                and (
                    frame.parent is not None
                    or own in begun
                    or any(stream != own for stream in before)
                )
            ):
                latest[node] = before
                continue
            begun.add(own)
            latest[node] = {own: place}
            for stream, at in sorted(before.items()):
                if stream != own:
                    self._events += 1
                    waits.setdefault(node, []).append(self._events)
                    records.setdefault(frame.order[at], []).append(self._events)
        return waits, records

    def _tied(self, group: Group, own: int) -> Group:
        """A subgraph's steps between events that tie its streams to the caller's."""
        before: list[Step | Event] = []
        after: list[Step | Event] = []
        for stream in group.streams():
            if stream == own:
                continue
            self._events += 2
            before += [Event(own, self._events, True), Event(stream, self._events, False)]
            after += [Event(stream, self._events - 1, True), Event(own, self._events - 1, False)]
        group.items = [*before, *group.items, *after]
        return group


def listed_program(
    frames: Frames, facts: FactTable, regions: Regions, *, virtual: bool = False
) -> Group:
    """The program of a graph that has no task list."""
    return Lister(frames, facts, regions, virtual=virtual).program()
