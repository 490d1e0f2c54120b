"""What runs, on which stream, in which order: one form for a task list and for a bare graph."""

from __future__ import annotations

from collections.abc import Iterator

from ge_core.ir import Graph, Node
from ge_core.proof.facts import CALLS, SILENT, Facts
from ge_core.proof.frames import Frame, Frames
from ge_core.proof.regions import Regions


class Event:
    """A mark on a stream: recorded by one, awaited by another."""

    __slots__ = ("is_record", "number", "stream")

    def __init__(self, stream: int, number: int, is_record: bool) -> None:
        self.stream = stream
        self.number = number
        self.is_record = is_record


class Step:
    """A node instance that runs; a calling one has a group per subgraph."""

    __slots__ = ("facts", "frame", "groups", "node", "stream")

    def __init__(self, frame: Frame, node: Node, facts: Facts, stream: int) -> None:
        self.frame = frame
        self.node = node
        self.facts = facts
        self.stream = stream
        self.groups: list[Group] = []

    @property
    def path(self) -> str:
        """How it is written in messages."""
        return self.frame.path(self.node)

    def group(self, graph: Graph) -> Group | None:
        """What runs of one of its subgraphs."""
        return next((group for group in self.groups if group.frame.graph is graph), None)


class Group:
    """What runs of one graph on one call path, in an order that respects streams and events."""

    __slots__ = ("_streams", "frame", "items")

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.items: list[Step | Event] = []
        self._streams: list[int] | None = None

    def steps(self) -> Iterator[Step]:
        """The steps, subgraphs not entered."""
        for item in self.items:
            if isinstance(item, Step):
                yield item

    def everything(self) -> Iterator[Step]:
        """The steps of the group and of all groups inside."""
        waiting = [self]
        while waiting:
            for step in waiting.pop().steps():
                yield step
                waiting.extend(step.groups)

    def streams(self) -> list[int]:
        """The streams that its steps use, groups inside included; asked when it is complete."""
        if self._streams is None:
            found: dict[int, None] = {}
            waiting = [self]
            while waiting:
                group = waiting.pop()
                if group._streams is not None:
                    found.update(dict.fromkeys(group._streams))
                    continue
                for step in group.steps():
                    found[step.stream] = None
                    waiting.extend(step.groups)
            self._streams = list(found)
        return self._streams


def runs(frame: Frame, node: Node, facts: Facts, regions: Regions, *, virtual: bool) -> bool:
    """Whether a node launches something, where no task list says so.

    Args:
        virtual: judge the graph alone: layout marks are not in force yet.
    """
    if facts.kind in SILENT:
        return False
    if facts.no_task and not virtual:
        return False
    return not is_free_view(frame, node, facts, regions)


def is_free_view(frame: Frame, node: Node, facts: Facts, regions: Regions) -> bool:
    """Whether a node only gives memory another name."""
    if facts.writes or facts.scribbles or not node.outputs or node.subgraphs:
        return False
    for output in node.outputs:
        at = facts.aliases.get(output.index)
        source = None if at is None else node.inputs[at].source
        if source is None:
            return False
        if not regions.of(frame, output).same_place(regions.of(frame, source)):
            return False
    return True


def complete(program: Group, frames: Frames) -> Group:
    """Give every call a group for each of its subgraphs, also for those that launch nothing."""
    for step in program.everything():
        if step.facts.kind not in CALLS:
            continue
        for graph in dict.fromkeys(step.node.subgraphs.values()):
            if step.group(graph) is None:
                step.groups.append(Group(frames.child(step.frame, step.node, graph)))
    return program
