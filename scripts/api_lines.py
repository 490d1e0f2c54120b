"""Python names as lines of text: one per name, with its signature, so that a change shows."""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
OURS: Final = "ge_core"


def module_lines(module: ModuleType, elsewhere: dict[int, str]) -> Iterator[str]:
    """The lines of what a module lists in `__all__`.

    Args:
        elsewhere: the names of classes that were shown, by id; these are only referred to.
    """
    for name in module.__all__:
        value, full = getattr(module, name), f"{module.__name__}.{name}"
        first = elsewhere.setdefault(id(value), full) if inspect.isclass(value) else full
        if first == full:
            yield from name_lines(full, value)
        else:
            yield f"{full}: {first}"


def name_lines(name: str, value: Any) -> Iterator[str]:
    """The lines of one name: of a class with those of its members."""
    if inspect.isclass(value):
        yield from class_lines(name, value)
    elif inspect.ismodule(value):
        yield from (
            line
            for member in getattr(value, "__all__", [])
            for line in name_lines(f"{name}.{member}", getattr(value, member))
        )
    elif inspect.isroutine(value) or hasattr(value, "__wrapped__"):
        yield f"{name}{signature(value)}"
    else:
        yield f"{name}: {_kind(value)}"


def class_lines(name: str, cls: type) -> Iterator[str]:
    """A class: what it derives from, how it is made, and its public members, inherited ones too."""
    bases = [base.__name__ for base in cls.__mro__[1:] if _is_ours(base)]
    yield f"{name}: class" + (f" ({', '.join(bases)})" if bases else "")
    if issubclass(cls, enum.Enum):
        yield from (f"{name}.{member.name} = {member.value!r}" for member in cls)
    elif not getattr(cls, "_is_protocol", False) and any(
        "__init__" in vars(home) for home in cls.__mro__ if _is_ours(home)
    ):
        yield f"{name}{signature(cls)}"
    members: dict[str, str] = {}
    for home in reversed([base for base in cls.__mro__ if _is_ours(base)]):
        for member, line in _own_members(home):
            members[member] = line
    yield from (f"{name}.{line}" for line in members.values())


def signature(function: Any) -> str:
    """Arguments and result, annotations as they are written."""
    if isinstance(function, functools.partial):
        function = function.func
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    parts: list[str] = []
    kinds = [parameter.kind for parameter in found.parameters.values()]
    starred = inspect.Parameter.VAR_POSITIONAL in kinds
    for at, parameter in enumerate(found.parameters.values()):
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        parts.append(_parameter(parameter))
        positional = parameter.kind is inspect.Parameter.POSITIONAL_ONLY
        if positional and kinds[at + 1 : at + 2] != [inspect.Parameter.POSITIONAL_ONLY]:
            parts.append("/")
    result = found.return_annotation
    arrow = "" if result is inspect.Signature.empty else f" -> {_written(result)}"
    return f"({', '.join(parts)}){arrow}"


def _parameter(parameter: inspect.Parameter) -> str:
    text = parameter.name
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        text = f"*{text}"
    elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
        text = f"**{text}"
    annotated = parameter.annotation is not inspect.Parameter.empty
    if annotated:
        text += f": {_written(parameter.annotation)}"
    if parameter.default is not inspect.Parameter.empty:
        text += f" = {_value(parameter.default)}" if annotated else f"={_value(parameter.default)}"
    return text


def _written(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else str(inspect.formatannotation(annotation))


def _value(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if inspect.isroutine(value) or inspect.isclass(value):
        return str(value.__name__)
    if isinstance(value, tuple) and type(value) is tuple:
        return f"({', '.join(map(_value, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return ADDRESS.sub("", repr(value))


def _kind(value: Any) -> str:
    """What a constant or type alias is; of sets and texts also their value, which plugins use."""
    if isinstance(value, (str, int, frozenset)) or value is None:
        return f"{type(value).__name__} = {_value(value)}"
    if isinstance(value, tuple):
        return f"tuple = {_value(value)}"
    if type(value).__module__ in ("typing", "types"):
        return ADDRESS.sub("", repr(value)).replace("typing.", "").replace("ge_core.", "")
    return type(value).__name__


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == OURS


def _own_members(cls: type) -> Iterator[tuple[str, str]]:
    """(name, line) of the public members that a class itself defines."""
    for name in _attributes(cls):
        yield name, f"{name}{_annotation(cls, name)}"
    for name, value in vars(cls).items():
        if name.startswith("_") or isinstance(value, enum.Enum):
            continue
        if isinstance(value, property):
            yield name, f"{name}: property{signature(value.fget).partition(')')[2]}"
        elif isinstance(value, functools.cached_property):
            yield name, f"{name}: property{signature(value.func).partition(')')[2]}"
        elif isinstance(value, classmethod | staticmethod):
            yield name, f"{name}{signature(getattr(cls, name))} [{type(value).__name__}]"
        elif inspect.isfunction(value):
            yield name, f"{name}{signature(value)}"


def _attributes(cls: type) -> list[str]:
    """Public attributes: annotated ones, slots, and those that `__init__` sets."""
    slots = vars(cls).get("__slots__", ())
    found = [*inspect.get_annotations(cls), *((slots,) if isinstance(slots, str) else slots)]
    init = vars(cls).get("__init__")
    if inspect.isfunction(init) and not dataclasses.is_dataclass(cls):
        found += [target.attr for target, _ in _assignments(init)]
    return [name for name in dict.fromkeys(found) if not name.startswith("_")]


def _annotation(cls: type, name: str) -> str:
    written = inspect.get_annotations(cls).get(name)
    if written is None:
        init = vars(cls).get("__init__")
        for target, annotation in _assignments(init) if inspect.isfunction(init) else ():
            if target.attr == name and annotation is not None:
                written = ast.unparse(annotation)
    return "" if written is None else f": {_written(written)}"


def _assignments(init: Any) -> Iterator[tuple[ast.Attribute, ast.expr | None]]:
    """`self.x = ...` and `self.x: T = ...` of a constructor."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(init)))
    except (OSError, TypeError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign):
            targets: list[ast.expr] = [node.target]
        else:
            targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            if (
                isinstance(target, ast.Attribute)
                and isinstance(target.value, ast.Name)
                and target.value.id == "self"
            ):
                yield target, node.annotation if isinstance(node, ast.AnnAssign) else None
