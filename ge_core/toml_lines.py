"""Reads TOML files, and finds on which line of one something is set.

tomllib keeps no positions; a look at the lines is enough to point at a place. Paths are keys, and
numbers for the members of arrays of tables: `("add", 0, "pass")`.
"""

from __future__ import annotations

import pathlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ge_core.errors import InputFileError

Path = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*((?:\"[^\"]*\"|'[^']*'|[^\]#\"'])+?)\s*\]")
_KEY = re.compile(r"\s*((?:\"[^\"]*\"|'[^']*'|[A-Za-z0-9_.\- ])+?)\s*=")
_PART = re.compile(r'"([^"]*)"|\'([^\']*)\'|([A-Za-z0-9_-]+)')
_LONG = ('"""', "'''")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")


def read_text(path: pathlib.Path) -> str:
    """The text of a file; `InputFileError` where there is none to be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputFileError(f"can't be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputFileError(f"is not TOML: {error}", file=str(path)) from error
    except ValueError as error:
        # A NUL in the name.
        raise InputFileError(f"can't be read: {error}", file=repr(str(path))) from error


def parse(text: str, file: str) -> dict[str, Any]:
    """What a text says; `InputFileError`, naming the file, where it is not TOML."""
    try:
        return tomllib.loads(text)
    except ValueError as error:
        # Malformed, or a number of more digits than Python reads.
        raise InputFileError(f"is not TOML: {error}", file=file) from error
    except RecursionError as error:
        raise InputFileError("is nested too deeply to be read", file=file) from error


def index_lines(text: str) -> dict[Path, int]:
    """The line (from 1) of each table and key of a well-formed file."""
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    header: Path = ()
    inside: str | None = None
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        begins = inside is None and depth == 0
        heads = _HEADER.match(line) if begins else None
        if heads:
            header = _header(_parts(heads[2]), heads[1] == "[[", counts)
            if heads[1] == "[[":
                found.setdefault(header[:-1], number)
            found.setdefault(header, number)
            continue
        key = _KEY.match(line) if begins else None
        if key:
            found.setdefault((*header, *_parts(key[1])), number)
        inside, depth = _after(line, inside, depth)
    return found


def line_of(index: Mapping[Path, int], path: Sequence[str | int]) -> int:
    """The line of a path, or of the longest part of it that is written; 1 where none is."""
    for length in range(len(path), 0, -1):
        line = index.get(tuple(path[:length]))
        if line is not None:
            return line
    return 1


def joined_names(
    table: Mapping[str, Any], index: dict[Path, int], path: Path, file: str
) -> dict[str, Any]:
    """A table of names with dots: `a.b = 1`, and `b = 1` in a table `[a]`, say `"a.b" = 1`.

    Args:
        index: of the file's lines; those of the joined names are added.
        path: of the table.
        file: named in errors.

    Raises:
        InputFileError: a name is set twice.
    """
    values: dict[str, Any] = {}
    for parts, value in _leaves(table):
        name, line = ".".join(parts), line_of(index, (*path, *parts))
        if name in values:
            field = ".".join(map(str, (*path, name)))
            raise InputFileError("is set twice", file=f"{file}:{line}", field=field)
        values[name] = value
        index[(*path, name)] = line
    return values


def _leaves(table: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            for parts, leaf in _leaves(value):
                yield (key, *parts), leaf
        else:
            yield (key,), value


def _header(parts: Path, of_array: bool, counts: dict[Path, int]) -> Path:
    """The path of a table: each array of tables on the way stands for its last member."""
    path: Path = ()
    for at, part in enumerate(parts):
        path = (*path, part)
        if of_array and at == len(parts) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _parts(dotted: str) -> Path:
    return tuple(a or b or c for a, b, c in _PART.findall(dotted))


def _after(line: str, inside: str | None, depth: int) -> tuple[str | None, int]:
    """Whether a text of several lines, or a bracket, is still open at the end of a line."""
    while True:
        if inside is not None:
            end = line.find(inside)
            if end < 0:
                return inside, depth
            line, inside = line[end + 3 :], None
        opened = min((at for mark in _LONG if (at := line.find(mark)) >= 0), default=-1)
        head, comment, _ = _QUOTED.sub("", line if opened < 0 else line[:opened]).partition("#")
        depth += sum(head.count(c) for c in "[{") - sum(head.count(c) for c in "]}")
        if opened < 0 or comment:
            return None, max(depth, 0)
        inside, line = line[opened : opened + 3], line[opened + 3 :]
