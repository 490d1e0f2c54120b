"""Installed packages whose project has changed since: Python reads what was installed.

The metadata of a package that was installed from a folder, editable or not, name that folder
(`direct_url.json`); metadata that a backend left beside the code lie in it. Where the project there
says something else about entry points of this product, its name or its version, nothing of that is
seen before it is installed again: a plugin that was just added is absent without a message, and one
that was renamed fails at import.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ge_core.plugin.scan import OURS, canonical

Points = dict[str, dict[str, str]]
"""Value by name, by group."""


@dataclass(frozen=True, slots=True)
class Stale:
    """A package to install again.

    Attributes:
        folder: the project that it was installed from.
        changes: what the project says and the installation does not, in words.
    """

    distribution: str
    version: str
    folder: str
    editable: bool
    changes: tuple[str, ...]

    @property
    def command(self) -> str:
        """What brings the installation up to date."""
        return f"pip install {'-e ' if self.editable else ''}{shlex.quote(self.folder)}"

    def lines(self) -> tuple[str, str]:
        """What has changed, and what to do about it."""
        who = f"{self.distribution} {self.version}"
        changes = "; ".join(self.changes)
        return (
            f"{who} was installed before its project changed: {changes}",
            f"re-install: {self.command}",
        )

    def __str__(self) -> str:
        return "\n  ".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """The record that `ge plugins doctor` prints."""
        return {
            "distribution": self.distribution,
            "version": self.version,
            "folder": self.folder,
            "changes": list(self.changes),
            "command": self.command,
        }


def stale_installations(installed: Iterable[Distribution] | None = None) -> list[Stale]:
    """Packages installed from a project that has changed since, by name. Imports none of them.

    Only what concerns this product is looked at, and only where the project's metadata are static.

    Args:
        installed: every distribution on the import path by default; the first of a name counts.
    """
    found: dict[str, Stale | None] = {}
    for distribution in distributions() if installed is None else installed:
        name = distribution.metadata["Name"] or ""
        if canonical(name) not in found:
            try:
                found[canonical(name)] = _judge(distribution, name)
            except (AttributeError, KeyError, TypeError, ValueError):
                # Metadata that can't be read say nothing here; loading complains about them.
                found[canonical(name)] = None
    return [one for _, one in sorted(found.items()) if one is not None]


def _judge(distribution: Distribution, name: str) -> Stale | None:
    origin = _origin(distribution)
    if origin is None:
        return None
    folder, editable = origin
    project = _project(folder / "pyproject.toml")
    if project is None:
        return None
    dynamic = project.get("dynamic", [])
    there = _points_of(distribution)
    here = there if "entry-points" in dynamic else _points_in(project)
    if not here and not there:
        return None
    changes = _entry_points(there, here)
    if canonical(str(project.get("name", name))) != canonical(name):
        changes.append(f"its name is {project['name']!r} now")
    version = project.get("version")
    if isinstance(version, str):
        old, new = _release(distribution.version), _release(version)
        if old is not None and new is not None and old != new:
            changes.append(f"its version is {version} now")
    if not changes:
        return None
    return Stale(name, distribution.version, str(folder), editable, tuple(changes))


def _origin(distribution: Distribution) -> tuple[Path, bool] | None:
    """The folder that a package was installed from, and whether its code is read from there."""
    text = distribution.read_text("direct_url.json")
    if text is None:
        return _beside(distribution)
    try:
        document = json.loads(text)
        parts, about = urlsplit(document["url"]), document["dir_info"]
        if parts.scheme != "file":
            return None
        return Path(url2pathname(parts.path)), bool(about.get("editable", False))
    except (ValueError, KeyError, TypeError, AttributeError):
        # Written by an installer, not by us: what can't be understood says nothing.
        return None


def _beside(distribution: Distribution) -> tuple[Path, bool] | None:
    """The project in which metadata lie (`src/acme.egg-info`), where that is what is read."""
    if distribution.read_text("PKG-INFO") is None:
        return None
    code = Path(str(distribution.locate_file("")))
    for folder in (code, code.parent):
        project = _project(folder / "pyproject.toml")
        if project is not None:
            same = canonical(str(project.get("name"))) == canonical(distribution.metadata["Name"])
            return (folder, True) if same else None
    return None


def _project(path: Path) -> dict[str, Any] | None:
    """The `[project]` table of a file, None where there is none to be read."""
    try:
        project = tomllib.loads(path.read_text(encoding="utf-8")).get("project")
    except (OSError, ValueError, RecursionError):
        # The folder may be gone, or being edited: no reason to distrust what is installed.
        return None
    return project if isinstance(project, dict) else None


def _points_of(distribution: Distribution) -> Points:
    found: Points = {}
    for point in distribution.entry_points:
        if point.group.startswith(OURS):
            found.setdefault(point.group, {})[point.name] = point.value
    return found


def _points_in(project: dict[str, Any]) -> Points:
    groups = project.get("entry-points", {})
    if not isinstance(groups, dict):
        return {}
    return {
        group: {str(name): str(value) for name, value in points.items()}
        for group, points in groups.items()
        if group.startswith(OURS) and isinstance(points, dict)
    }


def _entry_points(there: Points, here: Points) -> list[str]:
    """What differs, in words."""
    changes = []
    for group in sorted({*there, *here}):
        old, new = there.get(group, {}), here.get(group, {})
        for name in sorted({*old, *new}):
            if name not in old:
                changes.append(f"entry point {name!r} of {group} is new")
            elif name not in new:
                changes.append(f"entry point {name!r} of {group} is gone")
            elif _squeezed(old[name]) != _squeezed(new[name]):
                changes.append(f"entry point {name!r} of {group} is {new[name]!r} now")
    return changes


def _squeezed(value: str) -> str:
    return re.sub(r"\s+", "", value)


def _release(version: str) -> tuple[int, ...] | None:
    """The numbers of a plain version; None for any other, which installers may spell anew."""
    if re.fullmatch(r"[0-9]+(\.[0-9]+)*", version.strip()) is None:
        return None
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
