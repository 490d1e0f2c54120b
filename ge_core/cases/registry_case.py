"""Case files of the family `pass_registry`: sets of options, and which passes run, and why.

A case declares the passes, options, level sets and pipelines that it is about, so that it says the
same whatever is installed; `"installed": true` adds what is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ge_core.cases.model import Case
from ge_core.errors import InputFileError, near_matches
from ge_core.passes.sources import ARGUMENTS, STRENGTH

FAMILY: Final = "pass_registry"

_TOP: Final = (
    "id",
    "family",
    "why",
    "declare",
    "installed",
    "files",
    "options",
    "enable",
    "disable",
    "sources",
    "pipeline",
    "exact",
    "expect",
)
_SOURCE: Final = ("source", "options", "enable", "disable", "origin")


@dataclass(frozen=True, slots=True)
class SaidBy:
    """What one source says, as the file has it."""

    source: str
    options: Mapping[str, str] = field(default_factory=dict)
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    origin: str = ""


@dataclass(frozen=True, slots=True)
class RegistryCase(Case):
    """One case of the family; `options` are those of the arguments, and it has no graph.

    Attributes:
        declare: what the case brings along: passes, options, levels, pipelines, ...
        installed: whether what is installed is there as well.
        files: texts by name, beside which options may name them.
        sources: what they say, in the order of the file; the arguments first.
        exact: whether a pipeline text is all that runs.
    """

    declare: Mapping[str, Any] = field(default_factory=dict)
    installed: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[SaidBy, ...] = ()
    exact: bool = False


def read_registry_case(path: Path, document: Mapping[str, Any]) -> RegistryCase:
    """A case from its document.

    Raises:
        InputFileError: a key is unknown, is missing, or has a value of another kind.
    """
    return _Reader(str(path)).case(path, document)


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file

    def case(self, path: Path, document: Mapping[str, Any]) -> RegistryCase:
        self.known(document, _TOP, "")
        for key in ("id", "expect"):
            if key not in document:
                raise InputFileError("a case needs it", file=self.file, field=key)
        arguments = {
            key: document[key] for key in ("options", "enable", "disable") if key in document
        }
        said = [self.source({"source": ARGUMENTS, **arguments}, "")]
        for at, one in enumerate(self.members(document, "sources")):
            said.append(self.source(one, f"sources[{at}]"))
        pipeline = document.get("pipeline")
        if pipeline is not None and not isinstance(pipeline, str):
            raise self.error("is no name or text of a pipeline", "pipeline")
        return RegistryCase(
            id=str(document["id"]),
            family=FAMILY,
            path=path,
            options=said[0].options,
            pipeline=() if pipeline is None else (pipeline,),
            graph={},
            expect=self.table(document, "expect"),
            why=str(document.get("why", "")),
            declare=self.table(document, "declare"),
            installed=document.get("installed") is True,
            files={name: _text(value) for name, value in self.table(document, "files").items()},
            sources=tuple(said),
            exact=document.get("exact") is True,
        )

    def source(self, table: Any, where: str) -> SaidBy:
        if not isinstance(table, Mapping):
            raise self.error("is no object", where)
        self.known(table, _SOURCE, where)
        name = table.get("source")
        if name not in STRENGTH:
            raise self.error(f"{name!r} is none of {', '.join(STRENGTH)}", f"{where}.source")
        options = self.table(table, "options")
        return SaidBy(
            source=str(name),
            options={str(option): _option(value) for option, value in options.items()},
            enable=tuple(map(str, self.members(table, "enable"))),
            disable=tuple(map(str, self.members(table, "disable"))),
            origin=str(table.get("origin", "")),
        )

    def error(self, problem: str, where: str, **about: Any) -> InputFileError:
        return InputFileError(problem, file=self.file, field=where.lstrip(".") or None, **about)

    def known(self, table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
        for key in table:
            if key not in keys:
                near = near_matches(key, keys)
                raise self.error("is no key of such cases", f"{where}.{key}", near=near)

    def members(self, table: Mapping[str, Any], key: str) -> list[Any]:
        value = table.get(key, [])
        if not isinstance(value, list):
            raise self.error("is no list", key)
        return value

    def table(self, table: Mapping[str, Any], key: str) -> dict[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.error("is no object", key)
        return value


def _option(value: Any) -> str:
    """Options are texts; JSON's own truth values and numbers are easier to write."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(value: Any) -> str:
    """A file's text: as such, in lines, or as a JSON document."""
    import json

    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value) + "\n"
    return json.dumps(value, indent=1) + "\n"
