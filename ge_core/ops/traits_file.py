"""Op traits from a TOML file: what a user says of ops that no plugin declares.

    [[op]]
    type = "FusedGelu"
    domain = "com.acme"      # the op's ONNX domain; or `source = "ge"` for ops of GE's graphs
    inplace = [[0, 0]]       # output 0 may lie on input 0
    shape-only = [1]

The keys are the fields of `OpTraits`. Nobody tests such a file against the op's kernel, so the
proof lists every op that has its traits from one as an assumption.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ge_core.errors import InputFileError, near_matches
from ge_core.ops.traits import ALL, KINDS, OpTraits
from ge_core.toml_lines import index_lines, line_of, parse, read_text

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ge_core.ops.registry import OpRegistry


@dataclass(frozen=True, slots=True)
class Statement:
    """What one table of a file says.

    Attributes:
        traits: of one op; `owner` is the place in the file, as messages show it.
        source: the graphs it holds for: `ge`, `onnx` or both (`*`).
        override: whether it replaces what the kernel or a plugin declares.
        place: the file, by its full name, and the line.
    """

    traits: OpTraits
    source: str
    override: bool
    place: str


def read_traits(path: Path, shown: str | None = None) -> list[Statement]:
    """The statements of a file, in order.

    Args:
        shown: the file's name in reports; as given by default.

    Raises:
        InputFileError: the file is malformed; names file, line and field, with near matches.
    """
    text = read_text(path)
    document = parse(text, str(path))
    return _Reader(path, text, shown or str(path)).read(document)


def add_statements(ops: OpRegistry, statements: Iterable[Statement]) -> None:
    """Let the statements hold in a registry.

    Raises:
        InputFileError: an op has traits already and the statement doesn't override them; names
            both places.
    """
    said: dict[tuple[str, str], Statement] = {}
    for statement in statements:
        op = statement.traits.op
        for source in ("ge", "onnx") if statement.source == "*" else (statement.source,):
            before = said.get((source, op))
            known = ops.declared(op, source)
            if known is not None and not statement.override:
                owner = known.owner if before is None else before.place
                raise InputFileError(
                    f"op {op!r} of {source} graphs has traits from {owner or 'the kernel'}",
                    file=statement.place,
                    hint="`override = true` in the op's table replaces them",
                )
            said[source, op] = statement
        ops.vouch(statement.traits, statement.source)


class _Reader:
    def __init__(self, path: Path, text: str, shown: str) -> None:
        self._path = path
        self._lines = index_lines(text)
        self._shown = shown

    def read(self, document: Mapping[str, Any]) -> list[Statement]:
        # When needed: pydantic is not light.
        from pydantic import ValidationError

        from ge_core.ops.traits_model import OpTable, TraitsFile

        tables = document.get("op", [])
        self._check_keys(document, TraitsFile, ())
        if isinstance(tables, list):
            for at, table in enumerate(tables):
                if isinstance(table, dict):
                    self._check_keys(table, OpTable, ("op", at))
        try:
            found: Any = TraitsFile.model_validate(_with_dashes(document))
        except ValidationError as error:
            raise self._invalid(error.errors(include_url=False)[0]) from error
        return [self._statement(at, table) for at, table in enumerate(found.op)]

    def _check_keys(
        self, table: Mapping[str, Any], model: type[BaseModel], where: tuple[str | int, ...]
    ) -> None:
        known = [field.alias or name for name, field in model.model_fields.items()]
        seen: dict[str, str] = {}
        for key in table:
            other = seen.setdefault(key.replace("_", "-"), key)
            if other != key:
                raise self._error(f"is set twice, as {other!r} too", (*where, key))
            if key.replace("_", "-") not in known:
                raise self._error(
                    "is nothing that can be said of an op" if where else "is no key of such a file",
                    (*where, key),
                    near=near_matches(key, known),
                )

    def _invalid(self, first: Any) -> InputFileError:
        location: list[str | int] = list(first["loc"])
        # Where one of two forms would do, pydantic names the form as well.
        path = [key for key in location if not str(key).startswith(("list[", "literal["))]
        given = first["input"]
        message = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
        if first["type"] != "missing":
            message += f" (got {given!r})"
        return self._error(message, path)

    def _statement(self, at: int, table: Any) -> Statement:
        if table.kind not in KINDS:
            near = near_matches(table.kind, KINDS)
            raise self._error(f"there is no kind {table.kind!r}", ("op", at, "kind"), near=near)
        domain, source, op = table.domain, table.source, table.type
        if domain is not None:
            if "::" in op or source not in (None, "onnx"):
                raise self._error(
                    "ops of a domain are named without it, and are of onnx graphs",
                    ("op", at, "domain"),
                )
            if domain in ("", "ai.onnx"):
                raise self._error(
                    'standard ops have no domain: write `source = "onnx"` and the type as in the'
                    " graph, which `ge convert` shows",
                    ("op", at, "domain"),
                )
            op, source = f"{domain}::{op}", "onnx"
        elif source is None:
            if "::" not in op:
                raise self._error(
                    'needs `domain = "..."`, or `source = "ge"`, "onnx" or "*"', ("op", at, "type")
                )
            source = "onnx"
        line = line_of(self._lines, ("op", at))
        fields = table.model_dump(exclude={"type", "domain", "source", "override", "scribbles"})
        traits = OpTraits(
            op,
            owner=f"{self._shown}:{line}",
            vouched=True,
            scribbles=(ALL,) if table.scribbles == "all" else tuple(table.scribbles),
            **{name: _frozen(value) for name, value in fields.items()},
        )
        self._check_sense(at, traits)
        return Statement(traits, source, table.override, f"{self._path}:{line}")

    def _check_sense(self, at: int, traits: OpTraits) -> None:
        """Refuse what contradicts itself."""
        homes: dict[int, int] = {}
        for output, source in traits.aliases:
            if homes.setdefault(output, source) != source:
                raise self._error(
                    f"output {output} can't be the memory of inputs {homes[output]} and {source}",
                    ("op", at, "aliases"),
                )
        for output, _ in traits.inplace:
            if output in homes:
                raise self._error(
                    f"output {output} is an input's memory by `aliases`, so it has no choice",
                    ("op", at, "inplace"),
                )
        both = sorted({*traits.writes} & {*traits.scribbles})
        if both:
            raise self._error(
                f"input {both[0]} is either updated (`writes`) or used up (`scribbles`)",
                ("op", at, "scribbles"),
            )

    def _error(
        self, message: str, path: Sequence[str | int], near: Sequence[str] = ()
    ) -> InputFileError:
        line = line_of(self._lines, path) if path else 1
        field = ".".join(str(key) for key in path) or None
        return InputFileError(message, file=f"{self._path}:{line}", field=field, near=near)


def _with_dashes(value: Any) -> Any:
    """Keys as the models call them; underscores are as good as dashes."""
    if isinstance(value, dict):
        return {key.replace("_", "-"): _with_dashes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_dashes(item) for item in value]
    return value


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
