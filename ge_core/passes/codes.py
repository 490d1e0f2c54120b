"""Reason codes: declared with the pass, rule or checker that gives them, stable, one meaning each.

A code that nobody declared is an error, so that a reader of remarks can rely on the list of codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from string import Formatter
from typing import Final, TypeAlias

from ge_core.registry import NOBODY, Owner

CodeSpec: TypeAlias = "Iterable[str | Code] | Mapping[str, str | tuple[str, str | None]]"
"""How codes are written down: names, or name -> text, or name -> (text, rule)."""


@dataclass(frozen=True, slots=True)
class Code:
    """One reason code.

    Attributes:
        name: `NAME`, once registered `owner.NAME` for third parties.
        text: the reason in words; `{field}` is filled from the remark's fields.
        rule: what case files call `kept_reason`, where the code has one.
        giver: the pass, rule or checker that gives it.
        retired: the version since which nobody gives it; it is declared for those who read older
            remarks, and never used for anything else.
    """

    name: str
    text: str
    rule: str | None = None
    giver: str = ""
    owner: Owner = NOBODY
    retired: str = ""

    def stamped(self, owner: Owner, giver: str) -> Code:
        """The code as it is called once its giver is registered."""
        return replace(self, name=owner.full(self.name), owner=owner, giver=giver)


def read_codes(spec: CodeSpec) -> tuple[Code, ...]:
    """Codes from the forms that authors write; `TypeError` for others.

    A code without a text is explained by its own name in words.
    """
    if isinstance(spec, str):
        raise TypeError(f"codes={spec!r}: a string is not a list of codes; write ({spec!r},)")
    if isinstance(spec, Mapping):
        return tuple(_checked(_from_text(name, text)) for name, text in spec.items())
    codes = [code if isinstance(code, Code) else _from_text(code, "") for code in spec]
    seen: set[str] = set()
    for code in map(_checked, codes):
        if code.name in seen:
            raise TypeError(f"code {code.name!r} is declared twice")
        seen.add(code.name)
    return tuple(codes)


RESERVED: Final = ("self", "kind", "node", "code", "blame", "bytes", "hint", "reason")
"""What a remark takes for itself: a text can't be filled with fields of these names."""


def fields_of(text: str) -> tuple[str, ...]:
    """The names that a text is filled with; `ValueError` for one that can't be filled."""
    found = [field for _, field, _, _ in Formatter().parse(text) if field is not None]
    return tuple(dict.fromkeys(re.split(r"[.\[]", field)[0] for field in found))


def _checked(code: Code) -> Code:
    try:
        fields = fields_of(code.text)
    except ValueError as error:
        raise TypeError(f"the text of code {code.name!r} can't be read: {error}") from error
    for field in fields:
        if field in RESERVED:
            raise TypeError(
                f"the text of code {code.name!r} wants {{{field}}}, which a remark takes for"
                " itself; call the field otherwise"
            )
        if not field.isidentifier():
            raise TypeError(f"the text of code {code.name!r} wants {{{field}}}, which has no name")
    return code


def _from_text(name: str, text: str | tuple[str, str | None]) -> Code:
    if not name.isidentifier():
        raise TypeError(f"{name!r} is not a reason code; codes look like SOME_REASON")
    if isinstance(text, tuple):
        words, rule = text
        return Code(name, words or _in_words(name), rule)
    return Code(name, text or _in_words(name))


def _in_words(name: str) -> str:
    return name.lower().replace("_", " ")


class CodeTable:
    """All declared codes, by name; several givers may share a code of the same owner."""

    def __init__(self) -> None:
        self._codes: dict[str, dict[str, Code]] = {}

    def add(self, codes: Iterable[Code]) -> None:
        """Take over stamped codes."""
        for code in codes:
            self._codes.setdefault(code.name, {}).setdefault(code.giver, code)

    def find(self, name: str, giver: str | None = None) -> Code | None:
        """The code of that name, that giver's where it declared one."""
        found = self._codes.get(name)
        if found is None:
            return None
        if giver is not None and giver in found:
            return found[giver]
        return found[min(found)]

    def all(self) -> list[Code]:
        """Every code by name, then giver."""
        return [
            self._codes[name][giver]
            for name in sorted(self._codes)
            for giver in sorted(self._codes[name])
        ]

    def fork(self) -> CodeTable:
        """A copy that can be changed without changing this one."""
        copy = CodeTable()
        copy._codes = {name: dict(givers) for name, givers in self._codes.items()}
        return copy
