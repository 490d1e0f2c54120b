"""What the declarations of JSON documents share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0)]
"""A whole number, or bytes."""


class Record(BaseModel):
    """An object of a document. Fields may be added, never removed: readers ignore unknown ones."""

    model_config = ConfigDict(extra="ignore", strict=True, use_attribute_docstrings=True)


class Owned(Record):
    """What every listed thing begins with."""

    name: str
    """The name by which users give it."""
    owner: str
    """The distribution that registered it."""
    version: str | None
    """The distribution's version; null for a module of the project."""
