"""The `ge-tasks/1` document: its model, its JSON schema, and reading it from elsewhere.

A module of its own because it imports pydantic. Fields may be added, never removed; unknown ones
are ignored, so that newer lists can be read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from ge_core.errors import InputFileError
from ge_core.tasks.model import SCHEMA, TaskKind, TaskList


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, use_attribute_docstrings=True)


class StridedRecord(_Record):
    """`count` rows of `row` bytes that start `pitch` bytes apart."""

    row: NonNegativeInt
    """Bytes of one row."""
    pitch: NonNegativeInt
    """Bytes from the start of a row to that of the next."""
    count: NonNegativeInt
    """How many rows."""


class RegionRecord(_Record):
    """Bytes of one pool: payload, from the offset on."""

    pool: str
    """The address space."""
    offset: NonNegativeInt
    """Bytes from the start of the pool."""
    bytes: NonNegativeInt
    """Payload, without gaps."""
    strided: StridedRecord | None = None
    """Rows with gaps; null for one piece."""


class TaskRecord(_Record):
    """One entry of the list, in launch order."""

    id: NonNegativeInt
    """Its place in the list, from 0."""
    stream: int
    """The stream that runs it."""
    kind: TaskKind
    """What is launched."""
    call: list[str] = Field(description="names of the calling nodes, outermost first")
    node: str
    """The node that it runs."""
    inputs: list[RegionRecord | None]
    """What it reads; null for a tensor without a planned place."""
    outputs: list[RegionRecord | None]
    """What it writes; null for a tensor without a planned place."""
    workspace: list[RegionRecord] = Field(default_factory=list)
    """Its scratch areas."""
    first: bool
    """Whether it is the first on its stream."""
    last: bool
    """Whether it is the last on its stream."""
    event: NonNegativeInt | None = None
    """The event that is recorded or waited for; null for other kinds."""


class DumpRecord(_Record):
    """A node without a task: what a dump needs to know of it."""

    call: list[str]
    """Names of the calling nodes, outermost first."""
    node: str
    """The node."""
    op: str
    """Its op type."""
    inputs: list[RegionRecord | None]
    """What it reads; null for a tensor without a planned place."""
    outputs: list[RegionRecord | None]
    """What it writes; null for a tensor without a planned place."""
    workspace: list[RegionRecord] = Field(default_factory=list)
    """Its scratch areas."""
    needed: bool = False
    """Whether a dump of tensors needs it."""


class TasksDocument(_Record):
    """The whole document."""

    schema_name: Literal["ge-tasks/1"] = Field(alias="schema")
    """Names this form."""
    tasks: list[TaskRecord]
    """In launch order."""
    dump_only: list[DumpRecord] = Field(default_factory=list)
    """Nodes without a task that a dump of tensors may want."""


def json_schema() -> dict[str, Any]:
    """The JSON schema of the document."""
    return TasksDocument.model_json_schema(by_alias=True)


def parse_tasks(document: Mapping[str, Any], *, file: str | None = None) -> TaskList:
    """A task list from decoded JSON.

    Raises:
        InputFileError: names the field that is missing or of the wrong kind, or the task that
            breaks the numbering.
    """
    if document.get("schema") != SCHEMA:
        raise InputFileError(
            f"not a task list: {document.get('schema')!r} is not {SCHEMA!r}",
            file=file,
            field="schema",
        )
    try:
        TasksDocument.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputFileError(
            f"not a task list: {first['msg'].lower()}", file=file, field=where
        ) from error
    tasks = TaskList.from_json(document)
    for at, task in enumerate(tasks.tasks):
        if task.id != at:
            raise InputFileError(
                f"tasks are numbered by place: {task.id} at place {at}",
                file=file,
                node=task.node,
                field=f"tasks.{at}.id",
            )
        if task.is_event and task.event is None:
            raise InputFileError(
                "an event task names no event", file=file, node=task.node, field=f"tasks.{at}.event"
            )
    return tasks


def read_tasks(path: Path) -> TaskList:
    """A task list from a `ge-tasks/1` file.

    Raises:
        InputFileError: the file can't be read or is no task list; names file and field.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputFileError(f"can't be read: {error}", file=str(path)) from error
    if not isinstance(document, dict):
        raise InputFileError("a task list is a JSON object", file=str(path))
    return parse_tasks(document, file=str(path))
