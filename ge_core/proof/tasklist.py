"""The program that a task list says, and what is wrong with the list itself.

A list is in a sound order when every wait comes behind its record; each task must touch the bytes
that the plan gives its tensors. A node without a task does nothing, whatever it should have done.
"""

from __future__ import annotations

from collections.abc import Sequence

from ge_core.ir import Node, OutputAnchor
from ge_core.proof.facts import SILENT, FactTable
from ge_core.proof.frames import Frame, Frames, Instance
from ge_core.proof.program import Event, Group, Step, complete
from ge_core.proof.regions import Regions
from ge_core.proof.result import Check, Findings
from ge_core.tasks import Region as TaskRegion
from ge_core.tasks import Task, TaskList


class _Open:
    """A group that tasks are being added to, and the call that it belongs to."""

    __slots__ = ("caller", "group", "last")

    def __init__(self, group: Group, caller: Step | None) -> None:
        self.group = group
        self.caller = caller
        self.last: Step | None = None


class TaskReader:
    """Turns a task list into a program."""

    def __init__(
        self, frames: Frames, facts: FactTable, regions: Regions, findings: Findings
    ) -> None:
        self._frames = frames
        self._facts = facts
        self._regions = regions
        self._findings = findings
        self._seen: dict[Instance, None] = {}
        self._enclosing: set[int] = set()
        self._recorded: set[int] = set()
        self._pending: dict[Step, list[Step | Event]] = {}

    def program(self, tasks: TaskList) -> Group:
        """The program of a list; what the list gets wrong goes to the findings."""
        self._find_enclosing(tasks.tasks)
        root = Group(self._frames.root)
        stack = [_Open(root, None)]
        for task in tasks.tasks:
            if task.is_event:
                self._event(task, stack)
            else:
                self._task(task, stack)
        for step, events in self._pending.items():
            items = _group_of(root, step).items
            behind = next(at for at, item in enumerate(items) if item is step) + 1
            items[behind:behind] = events
        return root

    def _find_enclosing(self, tasks: Sequence[Task]) -> None:
        """Events between a call and its own subgraphs: both ends are labelled with the call."""
        ends: dict[int, list[Instance]] = {}
        for task in tasks:
            if task.is_event and task.event is not None:
                ends.setdefault(task.event, []).append((task.call, task.node))
        for number, labels in ends.items():
            if len(labels) == 2 and labels[0] == labels[1]:
                self._enclosing.add(number)

    # ---- events --------------------------------------------------------------------------------

    def _event(self, task: Task, stack: list[_Open]) -> None:
        if task.event is None:
            self._complain(task, "an event's number", "none")
            return
        is_record = task.kind == "event_record"
        event = Event(task.stream, task.event, is_record)
        if is_record:
            self._recorded.add(task.event)
        elif task.event not in self._recorded:
            found = f"event {task.event} is awaited before it is recorded"
            self._findings.add("order", _path(task), expected="a record first", found=found)
            return
        caller = self._caller(task, stack)
        if task.event in self._enclosing and caller is not None:
            self._enclose(event, caller, stack)
            return
        self._close_to(task, stack)
        self._enter(task, self._frames.root.graph.find(task.node), stack)
        stack[-1].group.items.append(event)

    def _caller(self, task: Task, stack: list[_Open]) -> Step | None:
        """The call that an event is labelled with, where its subgraphs are what comes now."""
        for level in reversed(stack):
            step = level.caller
            if step is not None and _is(step, task):
                return step
            last = level.last
            if last is not None and last.node.subgraphs and _is(last, task):
                return last
        return None

    def _enclose(self, event: Event, caller: Step, stack: list[_Open]) -> None:
        """Put an event that ties a subgraph's streams to the caller's where it belongs.

        At the start the caller's stream records; whatever comes next is the subgraph's. At the end
        it waits; what came before is. A wait belongs to its record.
        """
        starts = self._pending.get(caller)
        opens = event.is_record and event.stream == caller.stream
        if opens or (starts is not None and any(_pair(item, event) for item in starts)):
            self._pending.setdefault(caller, []).append(event)
            return
        if caller.groups:
            caller.groups[-1].items.append(event)
        else:
            self._pending.setdefault(caller, []).append(event)

    # ---- tasks ---------------------------------------------------------------------------------

    def _task(self, task: Task, stack: list[_Open]) -> None:
        node = self._frames.root.graph.find(task.node)
        if node is None or node.graph is None:
            self._complain(task, "a node of the graph", "no such node")
            return
        self._close_to(task, stack)
        if not self._enter(task, node, stack):
            self._complain(task, "its caller's task in front of it", f"call path {task.call}")
            return
        level = stack[-1]
        frame = level.group.frame
        facts = self._facts.of(node)
        if (task.call, task.node) in self._seen:
            self._complain(task, "one task", "a second one", check="effects")
            return
        self._seen[task.call, task.node] = None
        if facts.kind in SILENT:
            self._complain(task, "no task", f"one of kind {task.kind}")
            return
        self._check_regions(task, frame, node)
        level.last = Step(frame, node, facts, task.stream)
        level.group.items.append(level.last)

    def _close_to(self, task: Task, stack: list[_Open]) -> None:
        """Leave the groups that a task does not lie in."""
        while len(stack) > 1:
            call = stack[-1].group.frame.call
            if call == task.call[: len(call)]:
                return
            stack.pop()

    def _enter(self, task: Task, node: Node | None, stack: list[_Open]) -> bool:
        """Open the group that a task lies in where that has not been done; False if it can't be.

        The first of a subgraph may be an event, of a node that only keeps a place on its stream.
        """
        frame = stack[-1].group.frame
        if node is None or (frame.call == task.call and frame.graph is node.graph):
            return node is not None
        return self._open(task, node, stack) is not None

    def _open(self, task: Task, node: Node, stack: list[_Open]) -> _Open | None:
        """Begin the group of a subgraph, called by the last step or by the one in progress."""
        caller = stack[-1].caller if stack[-1].group.frame.call == task.call else None
        if caller is not None:
            stack.pop()
        else:
            caller = stack[-1].last
        if caller is None or (*caller.frame.call, caller.node.name) != task.call:
            return None
        graph = node.graph
        if graph is None or not any(graph is other for other in caller.node.subgraphs.values()):
            return None
        if caller.group(graph) is not None:
            return None
        group = Group(self._frames.child(caller.frame, caller.node, graph))
        group.items += self._pending.pop(caller, [])
        caller.groups.append(group)
        stack.append(_Open(group, caller))
        return stack[-1]

    def _check_regions(self, task: Task, frame: Frame, node: Node) -> None:
        sources = [anchor.source for anchor in node.inputs]
        outputs: list[OutputAnchor | None] = list(node.outputs)
        for what, given, anchors in (
            ("input", task.inputs, sources),
            ("output", task.outputs, outputs),
        ):
            if len(given) != len(anchors):
                self._complain(task, f"{len(anchors)} {what}s", str(len(given)))
                continue
            for at, (region, anchor) in enumerate(zip(given, anchors, strict=True)):
                self._check_region(task, frame, f"{what} {at}", region, anchor)
        areas = self._regions.scratch(frame, node.name)
        places = sorted((area.pool, area.start, area.size) for area in areas)
        if sorted((area.pool, area.offset, area.bytes) for area in task.workspace) != places:
            self._complain(task, "the plan's scratch areas", "others")

    def _check_region(
        self,
        task: Task,
        frame: Frame,
        what: str,
        region: TaskRegion | None,
        anchor: OutputAnchor | None,
    ) -> None:
        place = None
        if anchor is not None:
            place = self._regions.places.get((frame.call, anchor.node.name, anchor.index))
        if region is None or place is None:
            if (region is None) != (place is None):
                self._complain(task, f"{what} where the plan says", "elsewhere")
            return
        planned = (place.pool, place.offset, place.bytes, place.strided)
        if planned != (region.pool, region.offset, region.bytes, region.strided):
            expected = f"{what} at {place.pool} {place.offset}, as planned"
            self._complain(task, expected, f"{region.pool} {region.offset}")

    def _complain(self, task: Task, expected: str, found: str, *, check: Check = "layout") -> None:
        found = f"task {task.id}: {found}"
        self._findings.add(check, _path(task), expected=expected, found=found)


def _path(task: Task) -> str:
    return "/".join((*task.call, task.node))


def _is(step: Step, task: Task) -> bool:
    return step.node.name == task.node and step.frame.call == task.call


def _pair(item: Step | Event, event: Event) -> bool:
    return isinstance(item, Event) and item.number == event.number


def _group_of(root: Group, step: Step) -> Group:
    """The group that a step lies in."""
    waiting = [root]
    while waiting:
        group = waiting.pop()
        for other in group.steps():
            if other is step:
                return group
            waiting.extend(other.groups)
    return root


def task_program(
    tasks: TaskList, frames: Frames, facts: FactTable, regions: Regions, findings: Findings
) -> Group:
    """The program that a task list says."""
    return complete(TaskReader(frames, facts, regions, findings).program(tasks), frames)
