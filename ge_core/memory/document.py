"""The `ge-plan/1` document: its model, its JSON schema, and reading it from elsewhere.

A module of its own because it imports pydantic. Fields may be added, never removed; unknown ones
are ignored, so that newer plans can be read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from ge_core.errors import InputFileError
from ge_core.memory.plan import SCHEMA, Plan


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, use_attribute_docstrings=True)


class PoolRecord(_Record):
    """What one pool takes, in bytes."""

    bytes: NonNegativeInt
    """What it takes."""
    lower_bound: NonNegativeInt = Field(description="no plan of the same problem takes less")
    no_reuse: NonNegativeInt = Field(description="if no two buffers shared bytes")
    optimal: bool = Field(description="whether `bytes` is known to be the least possible")


class StridedRecord(_Record):
    """`count` rows of `row` bytes that start `pitch` bytes apart."""

    row: NonNegativeInt
    """Bytes of one row."""
    pitch: NonNegativeInt
    """Bytes from the start of a row to that of the next."""
    count: NonNegativeInt
    """How many rows."""


class RunRecord(_Record):
    """Membership in tensors that lie together."""

    id: str
    """Names the run."""
    delta: NonNegativeInt = Field(description="bytes behind the start of the run")


class TensorRecord(_Record):
    """The place of one output of one node instance."""

    call: list[str] = Field(description="names of the calling nodes, outermost first")
    node: str
    """The node."""
    output: NonNegativeInt
    """Which of its outputs."""
    pool: str
    """The address space: `HBM` is the arena, `CONST` and `VAR` hold what outlives a run."""
    offset: NonNegativeInt
    """Bytes from the start of the pool."""
    bytes: NonNegativeInt
    """Its size."""
    strided: StridedRecord | None = None
    """Rows with gaps; null for one piece."""
    alias_of: str | None = Field(default=None, description="whose memory this is")
    run: RunRecord | None = None
    """What it lies together with; null where that is nothing."""
    io: Literal["input", "output", "constant", "variable"] | None = None
    """What it is to the caller; null for a temporary."""
    life: list[NonNegativeInt] = Field(
        min_length=2, max_length=2, description="positions of the first and the last access"
    )


class WorkspaceRecord(_Record):
    """The place of one scratch area."""

    call: list[str]
    """Names of the calling nodes, outermost first."""
    node: str
    """The node that uses it."""
    index: NonNegativeInt
    """Which of its scratch areas."""
    pool: str
    """The address space."""
    offset: NonNegativeInt
    """Bytes from the start of the pool."""
    bytes: NonNegativeInt
    """Its size."""


class PlanDocument(_Record):
    """The whole document."""

    schema_name: Literal["ge-plan/1"] = Field(alias="schema")
    """Names this form."""
    target: str
    """The device that it is for."""
    level: str
    """The optimisation level."""
    options: dict[str, str]
    """Options in force; the proof reads them."""
    pools: dict[str, PoolRecord]
    """What each address space takes."""
    tensors: list[TensorRecord]
    """One per output of a node instance."""
    workspace: list[WorkspaceRecord]
    """Scratch areas of nodes."""
    unplanned: list[str] = Field(description="tensors that get buffers at run time")


def json_schema() -> dict[str, Any]:
    """The JSON schema of the document."""
    return PlanDocument.model_json_schema(by_alias=True)


def parse_plan(document: Mapping[str, Any], *, file: str | None = None) -> Plan:
    """A plan from decoded JSON.

    Raises:
        InputFileError: names the field that is missing or of the wrong kind.
    """
    if document.get("schema") != SCHEMA:
        raise InputFileError(
            f"not a plan: {document.get('schema')!r} is not {SCHEMA!r}", file=file, field="schema"
        )
    try:
        PlanDocument.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputFileError(
            f"not a plan: {first['msg'].lower()}", file=file, field=where
        ) from error
    return Plan.from_json(document)


def read_plan(path: Path) -> Plan:
    """A plan from a `ge-plan/1` file.

    Raises:
        InputFileError: the file can't be read or is no plan; names file and field.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputFileError(f"can't be read: {error}", file=str(path)) from error
    if not isinstance(document, dict):
        raise InputFileError("a plan is a JSON object", file=str(path))
    return parse_plan(document, file=str(path))
