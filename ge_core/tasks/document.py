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
    model_config = ConfigDict(extra="ignore", strict=True)


class StridedRecord(_Record):
    """`count` rows of `row` bytes that start `pitch` bytes apart."""

    row: NonNegativeInt
    pitch: NonNegativeInt
    count: NonNegativeInt


class RegionRecord(_Record):
    """Bytes of one pool: payload, from the offset on."""

    pool: str
    offset: NonNegativeInt
    bytes: NonNegativeInt
    strided: StridedRecord | None = None


class TaskRecord(_Record):
    """One entry of the list, in launch order."""

    id: NonNegativeInt
    stream: int
    kind: TaskKind
    call: list[str] = Field(description="names of the calling nodes, outermost first")
    node: str
    inputs: list[RegionRecord | None]
    outputs: list[RegionRecord | None]
    workspace: list[RegionRecord] = Field(default_factory=list)
    first: bool
    last: bool
    event: NonNegativeInt | None = None


class DumpRecord(_Record):
    """A node without a task: what a dump needs to know of it."""

    call: list[str]
    node: str
    op: str
    inputs: list[RegionRecord | None]
    outputs: list[RegionRecord | None]
    workspace: list[RegionRecord] = Field(default_factory=list)
    needed: bool = False


class TasksDocument(_Record):
    """The whole document."""

    schema_name: Literal["ge-tasks/1"] = Field(alias="schema")
    tasks: list[TaskRecord]
    dump_only: list[DumpRecord] = Field(default_factory=list)


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
