"""The task list: what an executor launches, in order, and the bytes each task touches.

Plain dataclasses, because a large graph makes hundreds of thousands of them. The JSON schema and
its validation live in `ge_core.tasks.document`, which is imported only when a file is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ge_core.memory.plan import Strided

SCHEMA: Final = "ge-tasks/1"

Call = tuple[str, ...]
"""Names of the calling nodes, outermost first; `()` in the root graph."""

TaskKind = Literal["kernel", "copy", "call", "event_record", "event_wait"]
"""What a task launches: an op, a copy, the subgraphs of a call, or an event between streams."""


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes of one pool.

    Attributes:
        pool: name of the pool ("HBM" is the arena).
        offset: first byte, from the start of the pool.
        bytes: payload; for a strided region the sum of its rows, not the distance it spans.
        strided: None for one contiguous range.
    """

    pool: str
    offset: int
    bytes: int
    strided: Strided | None = None

    @property
    def end(self) -> int:
        """One past the last byte that the region can touch."""
        return self.offset + (self.bytes if self.strided is None else self.strided.span)

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        strided = self.strided
        return {
            "pool": self.pool,
            "offset": self.offset,
            "bytes": self.bytes,
            "strided": None
            if strided is None
            else {"row": strided.row, "pitch": strided.pitch, "count": strided.count},
        }

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Region:
        """The region that `to_json` wrote."""
        strided = record.get("strided")
        return Region(
            record["pool"],
            record["offset"],
            record["bytes"],
            None
            if strided is None
            else Strided(strided["row"], strided["pitch"], strided["count"]),
        )


@dataclass(slots=True)
class Task:
    """One entry of the list.

    Attributes:
        id: position in the list.
        stream: the stream it runs on; tasks of one stream run in list order.
        kind: "kernel", "copy" (a TensorMove or Identity that stays), "call" (a control-flow node,
            followed by the tasks of its subgraphs), "event_record" or "event_wait".
        call, node: the node instance that it runs. For an event: the producer that records it or
            the reader that waits for it.
        inputs, outputs: a region per anchor; None where the tensor is unplanned or not connected.
        workspace: scratch areas.
        first, last: whether it is the first or last of its kernel library in a run of its stream.
        event: number of the event that is recorded or waited for.
    """

    id: int
    stream: int
    kind: TaskKind
    call: Call
    node: str
    inputs: tuple[Region | None, ...] = ()
    outputs: tuple[Region | None, ...] = ()
    workspace: tuple[Region, ...] = ()
    first: bool = False
    last: bool = False
    event: int | None = None

    @property
    def is_event(self) -> bool:
        """Whether it only orders streams and touches no tensor."""
        return self.kind in ("event_record", "event_wait")

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return {
            "id": self.id,
            "stream": self.stream,
            "kind": self.kind,
            "call": list(self.call),
            "node": self.node,
            "inputs": _regions_to_json(self.inputs),
            "outputs": _regions_to_json(self.outputs),
            "workspace": _regions_to_json(self.workspace),
            "first": self.first,
            "last": self.last,
            "event": self.event,
        }

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Task:
        """The task that `to_json` wrote."""
        return Task(
            record["id"],
            record["stream"],
            record["kind"],
            tuple(record["call"]),
            record["node"],
            _regions_from_json(record["inputs"]),
            _regions_from_json(record["outputs"]),
            tuple(Region.from_json(area) for area in record.get("workspace", ())),
            record["first"],
            record["last"],
            record.get("event"),
        )


@dataclass(frozen=True, slots=True)
class DumpDescriptor:
    """What a dump needs to know of a node that gets no task.

    Attributes:
        call, node, op: the node instance and its op type.
        inputs, outputs, workspace: the regions that its tensors lie in.
        needed: whether the node asks to be dumped (`_no_task_and_dump_needed`).
    """

    call: Call
    node: str
    op: str
    inputs: tuple[Region | None, ...] = ()
    outputs: tuple[Region | None, ...] = ()
    workspace: tuple[Region, ...] = ()
    needed: bool = False

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return {
            "call": list(self.call),
            "node": self.node,
            "op": self.op,
            "inputs": _regions_to_json(self.inputs),
            "outputs": _regions_to_json(self.outputs),
            "workspace": _regions_to_json(self.workspace),
            "needed": self.needed,
        }

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> DumpDescriptor:
        """The descriptor that `to_json` wrote."""
        return DumpDescriptor(
            tuple(record["call"]),
            record["node"],
            record["op"],
            _regions_from_json(record["inputs"]),
            _regions_from_json(record["outputs"]),
            tuple(Region.from_json(area) for area in record.get("workspace", ())),
            record.get("needed", False),
        )


@dataclass(slots=True)
class TaskList:
    """Tasks in launch order, and descriptors of the nodes that need none."""

    tasks: list[Task] = field(default_factory=list)
    dump_only: list[DumpDescriptor] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The list as JSON values (`ge-tasks/1`)."""
        return {
            "schema": SCHEMA,
            "tasks": [task.to_json() for task in self.tasks],
            "dump_only": [descriptor.to_json() for descriptor in self.dump_only],
        }

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> TaskList:
        """The list that `to_json` wrote; `read_tasks` checks files from elsewhere."""
        return TaskList(
            [Task.from_json(record) for record in document["tasks"]],
            [DumpDescriptor.from_json(record) for record in document.get("dump_only", ())],
        )


def _regions_to_json(regions: Iterable[Region | None]) -> list[dict[str, Any] | None]:
    return [None if region is None else region.to_json() for region in regions]


def _regions_from_json(records: Iterable[Mapping[str, Any] | None]) -> tuple[Region | None, ...]:
    return tuple(None if record is None else Region.from_json(record) for record in records)
