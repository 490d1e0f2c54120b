"""The types that a pass's own options may have: those whose values a text can say."""

from __future__ import annotations

import types
import typing
from enum import Enum
from typing import Any, Final

READABLE: Final = (
    "int, float, bool, str, an enum, a Literal, a tuple of these, or one of these or None"
)
"""The types in words."""


def is_readable(kind: Any) -> bool:
    """Whether users can give values of a type, as `--set Pass.option=text`."""
    origin = typing.get_origin(kind)
    members = typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return all(member is type(None) or is_readable(member) for member in members)
    if origin is typing.Literal:
        return True
    if origin is tuple:
        return all(member is Ellipsis or is_readable(member) for member in members)
    return isinstance(kind, type) and (kind in (int, float, bool, str) or issubclass(kind, Enum))
