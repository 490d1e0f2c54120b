"""Case files: a graph, what runs on it, and what must be true afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ge_core.errors import GeError, InputFileError
from ge_core.ir import Graph, load_json, read_graph

NOT_CASES: Final = frozenset({"CASE_SCHEMA", "index"})


@dataclass(frozen=True, slots=True)
class Case:
    """One case file.

    Attributes:
        options: GE options by name, as texts.
        pipeline: names of passes and steps, in order.
        expect: what must hold, by the keys of the case schema.
        query: a question about one producer output and one consumer input.
        plan: offsets to judge, where the case brings its own.
    """

    id: str
    family: str
    path: Path
    options: Mapping[str, str]
    pipeline: tuple[str, ...]
    graph: Mapping[str, Any]
    expect: Mapping[str, Any]
    query: Mapping[str, Any] | None = None
    plan: Mapping[str, Any] | None = None
    why: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def build(self) -> Graph:
        """The case's graph, fresh. Raises `InputFileError` naming the file."""
        try:
            return read_graph(self.graph, folder=self.path.parent, tolerant=True)
        except InputFileError as error:
            raise error.in_file(str(self.path)) from error


def read_case(path: Path) -> Case | None:
    """Read a file; None for JSON that is no case (tables, notes).

    Raises:
        InputFileError: the file can't be read, or lacks a key.
    """
    document = load_json(path)
    if not isinstance(document, dict) or not {"graph", "expect"} & document.keys():
        return None
    if document.get("family") == "pass_registry":
        from ge_core.cases.registry_case import read_registry_case

        return read_registry_case(path, document)
    if "graph" not in document:
        return None  # a case whose graph is a model file beside it: `ge run` is for those
    missing = [key for key in ("id", "pipeline", "expect") if key not in document]
    if missing:
        raise InputFileError("a case needs it", file=str(path), field=missing[0])
    for name, kind in (("options", dict), ("pipeline", list), ("graph", dict), ("expect", dict)):
        if not isinstance(document.get(name) or kind(), kind):
            wanted = "a table" if kind is dict else "a list"
            raise InputFileError(f"is not {wanted}", file=str(path), field=name)
    known = {"id", "family", "why", "options", "pipeline", "graph", "expect", "query", "plan"}
    return Case(
        id=str(document["id"]),
        family=str(document.get("family", "")),
        path=path,
        options={str(k): str(v) for k, v in (document.get("options") or {}).items()},
        pipeline=tuple(str(name) for name in document["pipeline"]),
        graph=document["graph"],
        expect=document["expect"],
        query=document.get("query"),
        plan=document.get("plan"),
        why=str(document.get("why", "")),
        extra={key: value for key, value in document.items() if key not in known},
    )


def find_cases(paths: Iterable[Path]) -> Iterator[Case]:
    """All cases in these files and folders, sorted by path within a folder.

    Raises:
        InputFileError: a path does not exist, or a file is no case.
    """
    for path in paths:
        if path.is_dir():
            for file in sorted(path.rglob("*.json")):
                case = None if file.stem in NOT_CASES else read_case(file)
                if case is not None:
                    yield case
            continue
        case = read_case(path)
        if case is None:
            raise InputFileError("not a case file", file=str(path))
        yield case


@dataclass(slots=True)
class CaseResult:
    """What came of one case: `failures` is empty when it passed."""

    case: Case
    failures: list[Failure] = field(default_factory=list)
    error: GeError | None = None

    @property
    def passed(self) -> bool:
        """Whether everything expected was true."""
        return not self.failures


@dataclass(frozen=True, slots=True)
class Failure:
    """One expectation that did not hold."""

    expected: str
    got: str
