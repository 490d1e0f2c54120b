"""The form of an overlay file, as pydantic models: what is checked, and the JSON schema.

A module of its own because it imports pydantic.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from ge_core.errors import UnknownNameError
from ge_core.passes.stages import PLACES, Place


def problem(text: str, near: tuple[str, ...] = ()) -> PydanticCustomError:
    """An error with this text; `near` goes into its context."""
    return PydanticCustomError("overlay", "{text}", {"text": text, "near": list(near)})


def _names(value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names):
        raise problem(f"{value!r} is neither a name nor a list of names")
    return tuple(names)


def _option(value: Any) -> str:
    # Options are texts; TOML's own numbers and truth values are easier to write.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise problem(f"{value!r} is neither text, number nor truth value")


def _place(value: Any) -> Place:
    if not isinstance(value, str):
        raise problem(f"{value!r} is not a text")
    try:
        return Place.of(value)
    except UnknownNameError as error:
        raise problem(error.message, error.near) from error


def _some_names(value: Any) -> tuple[str, ...]:
    names = _names(value)
    if not names:
        raise problem("names nothing")
    return names


def _name_or_names(least: int) -> WithJsonSchema:
    name = {"type": "string", "minLength": 1}
    return WithJsonSchema({"anyOf": [name, {"type": "array", "items": name, "minItems": least}]})


Name = Annotated[str, StringConstraints(min_length=1)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names), _name_or_names(0)]
SomeNames = Annotated[tuple[str, ...], BeforeValidator(_some_names), _name_or_names(1)]
OptionText = Annotated[
    str, BeforeValidator(_option), WithJsonSchema({"type": ["string", "number", "boolean"]})
]
StageName = Annotated[
    Any, BeforeValidator(_place), WithJsonSchema({"enum": [str(place) for place in PLACES]})
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Add(_Table):
    """A pass that runs where it wouldn't."""

    name: Name = Field(alias="pass", description="The pass.")
    before: Names = Field((), description="It runs before these, where they run.")
    after: Names = Field((), description="It runs after these, where they run.")
    stage: StageName | None = Field(None, description="Another stage than it declares.")
    options: dict[str, OptionText] = Field({}, description="Its options by field.")


class Remove(_Table):
    """A pass that doesn't run."""

    name: Name = Field(alias="pass", description="The pass.")


class Replace(_Table):
    """A pass, or a whole stage, that something else stands in for."""

    name: Name | None = Field(None, alias="pass", description="The pass that goes.")
    stage: StageName | None = Field(None, description="The stage that is emptied.")
    replacement: Name = Field(
        alias="with",
        description="The pass in its place; for a stage, the text that has it, or its name.",
    )
    options: dict[str, OptionText] = Field({}, description="Options of the new pass by field.")

    @model_validator(mode="after")
    def _one_thing(self) -> Replace:
        if (self.name is None) == (self.stage is None):
            raise problem("names either a pass or a stage")
        if self.stage is not None and self.options:
            raise problem("options of a stage stand in the pipeline that replaces it")
        return self


class Reorder(_Table):
    """A pass that runs somewhere else."""

    name: Name = Field(alias="pass", description="The pass.")
    before: Names = Field((), description="It runs before these, where they run.")
    after: Names = Field((), description="It runs after these, where they run.")
    stage: StageName | None = Field(None, description="Another stage than it declares.")

    @model_validator(mode="after")
    def _something(self) -> Reorder:
        if not self.before and not self.after and self.stage is None:
            raise problem("says nothing; give before, after or stage")
        return self


class Repeat(_Table):
    """Passes that run again until none of them changes the graph."""

    passes: SomeNames = Field(alias="pass", description="The passes, in order.")
    limit: int = Field(ge=1, description="How often each runs at most; 1 runs them once.")
    stage: StageName | None = Field(None, description="The stage that all are moved to.")


class OverlayFile(_Table):
    """A pipeline as changes to another one."""

    name: Name | None = Field(None, description="What users give; the file's name by default.")
    summary: str = Field("", description="One line for listings.")
    base: Name | None = Field(None, description="A level, a level set or another overlay.")
    target: Name | None = Field(None, description="The device that it is made for.")
    include: Names = Field(
        (), description="Overlays that come first: files relative to this one, or pipelines."
    )
    add: list[Add] = Field([], description="Passes that run where they wouldn't.")
    remove: list[Remove] = Field([], description="Passes that don't run.")
    replace: list[Replace] = Field(
        [], description="Passes and stages that something else stands in for."
    )
    reorder: list[Reorder] = Field([], description="Passes that run somewhere else.")
    repeat: list[Repeat] = Field([], description="Passes that run until nothing changes.")
    set: dict[str, OptionText] = Field(
        {}, description="Options, `Pass.field` and `Pass` (on, off) among them."
    )


TABLES: dict[str, type[BaseModel]] = {
    "add": Add,
    "remove": Remove,
    "replace": Replace,
    "reorder": Reorder,
    "repeat": Repeat,
}
"""The arrays of tables, and what stands in each."""


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys as they are written in a file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def json_schema() -> dict[str, Any]:
    """The JSON schema of an overlay file."""
    return OverlayFile.model_json_schema()
