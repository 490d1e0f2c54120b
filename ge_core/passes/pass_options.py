"""A pass's own options: the fields of its dataclass, read from texts, written, described."""

from __future__ import annotations

import types
import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

from ge_core.errors import OptionError, PassError, UnknownNameError, near_matches
from ge_core.passes.registry import PassDeclaration

SEPARATOR = "|"
"""Between the members of a tuple."""

ESCAPE = "\\"
"""In a tuple it takes the next character as it is, and alone it is an empty member; before a value
that may be a text or something else it says that the rest is a text."""


@dataclass(frozen=True, slots=True)
class PassOption:
    """One field of a pass.

    Attributes:
        name: of the field; users write `PassName.name`.
        type: in words, for help.
        default: as a text.
        help: the docstring below the field.
    """

    name: str
    type: str
    default: str
    help: str


def read_options(declaration: PassDeclaration, texts: Mapping[str, str]) -> dict[str, Any]:
    """Typed values from texts by field name.

    Raises:
        UnknownNameError: the pass has no such option.
        OptionError: (E10001) the text is no value of its type.
    """
    known = _typed_fields(declaration)
    values: dict[str, Any] = {}
    for name, text in texts.items():
        if name not in known:
            raise no_such_option(declaration, name, known)
        try:
            values[name] = _read(known[name][1], text)
        except ValueError as error:
            raise OptionError.invalid(
                f"{declaration.name}.{name}", text, str(error), owner=str(declaration.owner)
            ) from error
    return values


def no_such_option(
    declaration: PassDeclaration, name: str, known: Collection[str]
) -> UnknownNameError:
    """The error for an option that a pass doesn't have."""
    return UnknownNameError(
        f"pass {declaration.name!r} has no option {name!r}",
        near=near_matches(name, known),
        owner=str(declaration.owner),
        hint="its options: " + (", ".join(known) or "none"),
    )


def describe_options(declaration: PassDeclaration) -> list[PassOption]:
    """The pass's options in the order of its fields."""
    docs = _field_docs(declaration.load())
    return [
        PassOption(name, _in_words(kind), _write(kind, _default(field)), docs.get(name, ""))
        for name, (field, kind) in _typed_fields(declaration).items()
    ]


def changed_options(declaration: PassDeclaration, values: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the values that differ from their defaults, in the order of the fields."""
    known = _typed_fields(declaration)
    return {
        name: _write(kind, values[name])
        for name, (field, kind) in known.items()
        if name in values and values[name] != _default(field)
    }


def write_value(value: Any) -> str:
    """The text of a value; it reads back as that where its option takes values of one type."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, (tuple, list)):
        members = [_escaped(write_value(member)) for member in value]
        return SEPARATOR.join(members) if members != [""] else ESCAPE
    return str(value)


def _escaped(member: str) -> str:
    return member.replace(ESCAPE, ESCAPE * 2).replace(SEPARATOR, ESCAPE + SEPARATOR)


def _write(kind: Any, value: Any) -> str:
    """The text that reads back as a value of an option of this type."""
    text = write_value(value)
    if value is None or typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return text
    if isinstance(value, str) and (text.startswith(ESCAPE) or _read(kind, text) != value):
        return ESCAPE + text
    return ESCAPE + text if text == "none" else text


def _typed_fields(declaration: PassDeclaration) -> dict[str, tuple[Field[Any], Any]]:
    cls: type = declaration.load()
    if not is_dataclass(cls):
        return {}
    try:
        hints = typing.get_type_hints(cls)
    except NameError as error:
        raise PassError(
            f"the types of pass {declaration.name!r} can't be read: {error}",
            owner=str(declaration.owner),
            hint="import what its fields are annotated with at run time",
        ) from error
    return {field.name: (field, hints[field.name]) for field in fields(cls) if field.init}


def _default(field: Field[Any]) -> Any:
    # A registered pass has one of the two: `check_class` has seen to it.
    return field.default_factory() if callable(field.default_factory) else field.default


def _members(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind)


def _read(kind: Any, text: str) -> Any:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _read_union(_members(kind), text)
    if origin is typing.Literal:
        return _read_choice({write_value(value): value for value in _members(kind)}, text)
    if origin is tuple:
        return _read_tuple(_members(kind), text)
    if kind is bool:
        return _read_choice({"true": True, "false": False}, text)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _read_choice({str(member.value): member for member in kind}, text)
    if kind is int:
        return _read_number(int, text, "a whole number")
    if kind is float:
        return _read_number(float, text, "a number")
    if kind is str:
        return text
    raise ValueError(f"options of type {kind!r} can't be given as texts")


def _read_union(members: Sequence[Any], text: str) -> Any:
    if type(None) in members and text == "none":
        return None
    if str in members and text.startswith(ESCAPE):
        return text.removeprefix(ESCAPE)
    problems = []
    for member in members:
        if member is not type(None):
            try:
                return _read(member, text)
            except ValueError as error:
                problems.append(str(error))
    raise ValueError(" or ".join(dict.fromkeys(problems)))


def _read_choice(choices: Mapping[str, Any], text: str) -> Any:
    if text not in choices:
        raise ValueError("it must be one of " + ", ".join(choices))
    return choices[text]


def _read_tuple(members: Sequence[Any], text: str) -> tuple[Any, ...]:
    parts = _split(text)
    if len(members) == 2 and members[1] is Ellipsis:
        return tuple(_read(members[0], part) for part in parts)
    if len(parts) != len(members):
        raise ValueError(f"it must have {len(members)} members between {SEPARATOR!r}")
    return tuple(_read(member, part) for member, part in zip(members, parts, strict=True))


def _split(text: str) -> list[str]:
    parts = [""] if text else []
    escaped = False
    for character in text:
        if not escaped and character == ESCAPE:
            escaped = True
            continue
        if not escaped and character == SEPARATOR:
            parts.append("")
        else:
            parts[-1] += character
        escaped = False
    return parts


def _read_number(read: Any, text: str, what: str) -> Any:
    try:
        return read(text)
    except ValueError:
        raise ValueError(f"it must be {what}") from None


def _in_words(kind: Any) -> str:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        names = [_in_words(member) for member in _members(kind) if member is not type(None)]
        return " or ".join([*names, *(["none"] if type(None) in _members(kind) else [])])
    if origin is typing.Literal:
        return " or ".join(write_value(value) for value in _members(kind))
    if origin is tuple:
        return SEPARATOR.join("..." if m is Ellipsis else _in_words(m) for m in _members(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return " or ".join(str(member.value) for member in kind)
    words = {bool: "true or false", int: "whole number", float: "number", str: "text"}
    return words.get(kind, str(kind))


def _field_docs(cls: type) -> dict[str, str]:
    """Docstrings below fields; only the source has them, so without it there is no help."""
    import ast
    import inspect
    import textwrap

    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if not is_dataclass(base):
            continue
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        except (OSError, TypeError, SyntaxError):
            continue
        body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
        for statement, following in pairwise(body):
            text = _text_of(following)
            if isinstance(statement, ast.AnnAssign) and text is not None:
                assert isinstance(statement.target, ast.Name)
                docs[statement.target.id] = " ".join(text.split())
    return docs


def _text_of(statement: Any) -> str | None:
    import ast

    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        value = statement.value.value
        return value if isinstance(value, str) else None
    return None
