"""The layout of a planned run: pools, tasks by frame, and which bytes to fill around each task."""

from __future__ import annotations

from collections.abc import Iterable

from ge_core.api import Call, Graph, Node, OpRegistry, OutputAnchor, Plan, Region, Task, TaskList
from ge_runtime.deaths import Deaths, find_deaths
from ge_runtime.dtypes import Bytes
from ge_runtime.pools import Pools

Range = tuple[str, int, int]


class Layout:
    """Where things lie in a planned run.

    Args:
        hostile: poison outputs also where they lie on inputs, unless the op may work in place
            there: what a device does that writes results while it still reads.
        fill_dead: poison bytes after the last access that the plan's lives name.
    """

    def __init__(
        self,
        graph: Graph,
        ops: OpRegistry,
        plan: Plan,
        tasks: TaskList,
        *,
        hostile: bool = False,
        fill_dead: bool = True,
    ) -> None:
        self.graph = graph
        self.ops = ops
        self.plan = plan
        self.tasks = tasks
        self.pools = Pools(plan, tasks)
        self.hostile = hostile
        self.deaths = find_deaths(graph, ops, plan) if fill_dead else Deaths()
        self._regions: dict[tuple[Call, str, int], Region | None] = {}
        self._by_frame: dict[tuple[Call, str], list[Task]] = {}
        for task in tasks.tasks:
            if not task.is_event:
                part = graph.node(task.node).graph
                assert part is not None
                self._by_frame.setdefault((task.call, part.name), []).append(task)

    def tasks_of(self, call: Call, graph: Graph) -> list[Task]:
        """The tasks of one graph on one call path, in order."""
        return self._by_frame.get((call, graph.name), [])

    def region_of(self, call: Call, output: OutputAnchor) -> Region | None:
        """The place of an output; None where the plan has none."""
        place = self.plan.at(call, output.node.name, output.index)
        if place is None:
            return None
        return Region(place.pool, place.offset, place.bytes, place.strided)

    def views(self, ranges: Iterable[Range]) -> tuple[Bytes, ...]:
        """The bytes of ranges, in place."""
        return tuple(self.pools.span(*found) for found in ranges)

    def poison_before(self, task: Task, node: Node, aliases: dict[int, int]) -> tuple[Bytes, ...]:
        """What to fill before a task runs: its outputs and scratch, as far as it reads nothing."""
        spared: list[Region] = []
        able = {*aliases.items(), *(self.ops.traits(node).inplace if self.hostile else ())}
        for at, region in enumerate(task.inputs):
            if region is None:
                continue
            if not self.hostile or _may_overwrite(task, at, able):
                spared.append(region)
        written = [region for region in task.outputs if region is not None]
        return self._fill([*written, *task.workspace], spared)

    def scribble(self, task: Task, inputs: Iterable[int]) -> tuple[Bytes, ...]:
        """What a task destroys: those inputs, as far as no output lies there."""
        regions = [task.inputs[at] for at in inputs if at < len(task.inputs)]
        spared = [region for region in task.outputs if region is not None]
        return self._fill([region for region in regions if region is not None], spared)

    def _fill(self, regions: list[Region], spared: list[Region]) -> tuple[Bytes, ...]:
        views: list[Bytes] = []
        for region in regions:
            if region.end == region.offset:
                continue
            near = [
                other
                for other in spared
                if other.pool == region.pool
                and other.offset < region.end
                and region.offset < other.end
            ]
            if not near:
                views.append(self.pools.view(region))
                continue
            keep = sorted(row for other in near for row in _rows(other))
            for low, high in _rows(region):
                views.extend(
                    self.pools.span(region.pool, a, b) for a, b in _without(low, high, keep)
                )
        return tuple(views)


def _may_overwrite(task: Task, at: int, able: set[tuple[int, int]]) -> bool:
    """Whether an input lies exactly on an output that may be computed in place of it.

    Args:
        able: the (output, input) pairs of which the op says so.
    """
    region = task.inputs[at]
    return any(
        task.outputs[out] == region
        for out, source in able
        if source == at and out < len(task.outputs)
    )


def _rows(region: Region) -> list[tuple[int, int]]:
    """The stretches of bytes that a region consists of."""
    strided = region.strided
    if strided is None:
        return [(region.offset, region.end)]
    return [
        (region.offset + at * strided.pitch, region.offset + at * strided.pitch + strided.row)
        for at in range(strided.count)
    ]


def _without(low: int, high: int, keep: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of low..high outside of sorted ranges."""
    parts: list[tuple[int, int]] = []
    for start, end in keep:
        if end <= low:
            continue
        if start >= high:
            break
        if start > low:
            parts.append((low, start))
        low = max(low, end)
    if low < high:
        parts.append((low, high))
    return parts
