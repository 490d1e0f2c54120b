"""What installed distributions announce in our entry-point groups, read without importing anything.

The standard library's `entry_points()` is not used: one malformed file of any package makes it
raise, it parses the metadata of a package again for every question, and of two `dist-info` folders
of one package in one place it takes whichever the file system lists first. Here a package that
can't be read is one line with what is wrong with it, and only packages that name one of our groups
are looked at more closely: reading costs one small file per installed package, and one more per
package of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Any, Final

OURS: Final = "ge_core."
"""How the names of our groups begin."""
UNKNOWN: Final = "an unknown package"


@dataclass(frozen=True, slots=True)
class Found:
    """One entry point.

    Attributes:
        distribution, version: of the package, from its metadata, else from its folder's name.
        problem: why it can't be relied on; empty where nothing is wrong.
        point: what imports it; None where there is nothing to import.
    """

    group: str
    name: str
    value: str
    distribution: str
    version: str
    problem: str = ""
    point: EntryPoint | None = None

    @property
    def owner(self) -> str:
        """Package and version."""
        return f"{self.distribution} {self.version}".rstrip()

    def load(self) -> Any:
        """Import it; raises whatever the package raises."""
        if self.point is None:
            raise ImportError(self.problem or "there is nothing to import")
        return self.point.load()


def scan(prefix: str) -> list[Found]:
    """All entry points in groups whose names begin so, sorted; imports nothing."""
    found: list[Found] = []
    for dist, twins in _visible():
        try:
            text = dist.read_text("entry_points.txt") or ""
        except (OSError, UnicodeDecodeError):
            # Not to be told from a package that has nothing to do with us.
            continue
        if OURS in text:
            found += _of(dist, text, prefix, twins)
    found.sort(key=lambda f: (f.group, f.name, canonical(f.distribution), f.version, f.value))
    return found


def canonical(distribution: str) -> str:
    """A distribution's name as packaging compares it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


# ---- distributions -------------------------------------------------------------------------------


def _visible() -> Iterator[tuple[Distribution, tuple[str, ...]]]:
    """What an import would take: the first of a name on the path, with its twins in one folder."""
    by_name: dict[str, list[tuple[str, str, Distribution]]] = {}
    for dist in distributions():
        folder, stem = _place(dist)
        if not stem.startswith("~"):  # what an interrupted pip leaves behind
            by_name.setdefault(canonical(stem.partition("-")[0]), []).append((folder, stem, dist))
    for places in by_name.values():
        folder = places[0][0]
        here = sorted({stem: dist for at, stem, dist in places if at == folder}.items())
        yield here[0][1], tuple(stem for stem, _ in here) if len(here) > 1 else ()


def _place(dist: Distribution) -> tuple[str, str]:
    """Folder and `name-version` of a distribution, from where its metadata lies."""
    path = getattr(dist, "_path", None)
    if path is None:
        return "", f"{dist.name or UNKNOWN}-{dist.version}"
    stem = re.sub(r"\.(dist-info|egg-info)$", "", path.name)
    return str(path.parent), stem


def _of(dist: Distribution, text: str, prefix: str, twins: tuple[str, ...]) -> Iterator[Found]:
    entries = [entry for entry in _entries(text) if entry[0].startswith(prefix)]
    if not entries:
        return
    name, version, problem = _identity(dist)
    if twins:
        problem = f"is installed {len(twins)} times in one folder ({', '.join(twins)})"
    if problem:
        problem += "; install it again"
    for group, entry, value in entries:
        wrong = problem or _problem(value)
        point = None if wrong else EntryPoint(entry, value, group)
        yield Found(group, entry, value, name, version, wrong, point)


def _entries(text: str) -> Iterator[tuple[str, str, str]]:
    """(group, name, value) of each line of an entry_points.txt; a line without `=` has no value."""
    group = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield group, name.strip(), value.strip()


_VALUE = re.compile(r"[\w.]+(\s*:\s*[\w.]+)?\s*(\[.*\])?")


def _problem(value: str) -> str:
    if not value:
        return "has an entry point without a module"
    if _VALUE.fullmatch(value) is None:
        return f"has an entry point that names no module: {value!r}"
    return ""


def _identity(dist: Distribution) -> tuple[str, str, str]:
    """Name, version and what is wrong with them; the header of one file is read, once."""
    headers: dict[str, str] = {}
    try:
        text = dist.read_text("METADATA") or dist.read_text("PKG-INFO") or ""
    except (OSError, UnicodeDecodeError):
        text = ""
    for line in text.splitlines():
        if not line.strip():
            break
        key, colon, value = line.partition(":")
        if colon and not key.startswith((" ", "\t")):
            headers.setdefault(key.strip().lower(), value.strip())
    _, stem = _place(dist)
    name, _, version = stem.partition("-")
    missing = [what for what in ("Name", "Version") if not headers.get(what.lower())]
    problem = "" if not missing else f"has no {' and no '.join(missing)} in its metadata"
    return headers.get("name") or name or UNKNOWN, headers.get("version") or version, problem


def by_name(found: Iterable[Found]) -> dict[str, list[Found]]:
    """Entry points by name, equal ones once."""
    names: dict[str, dict[tuple[str, str], Found]] = {}
    for one in found:
        names.setdefault(one.name, {}).setdefault((one.owner, one.value), one)
    return {name: list(names[name].values()) for name in sorted(names)}
