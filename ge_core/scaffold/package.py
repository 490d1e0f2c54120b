"""Puts the pieces of a new package together and writes it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, metadata
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from ge_core.config import ProjectConfig
from ge_core.errors import InputFileError, UsageError
from ge_core.plugin.index import GROUP
from ge_core.registry import KERNEL_DISTRIBUTION, kernel_owner
from ge_core.scaffold.names import Names, plugin_names
from ge_core.scaffold.pieces import KINDS, Piece, piece
from ge_core.scaffold.registering import init_source

DEFAULT: Final = ("pass",)


def new_plugin(
    name: str,
    kinds: Sequence[str] = DEFAULT,
    out: Path | None = None,
    *,
    config: ProjectConfig | None = None,
) -> Path:
    """Write a package that installs, is found, and passes its own tests.

    Args:
        name: the plugin's name; those of distribution, package and classes follow from it.
        kinds: what it contains, of `KINDS`.
        out: the folder to make; by default one named after the distribution, here.
        config: the project's, whose local plugins count as installed.

    Returns:
        The folder. It is there completely or not at all.

    Raises:
        UsageError: the name is malformed or taken, a kind unknown, or the folder exists.
        InputFileError: the folder can't be written.
    """
    names = plugin_names(name, config)
    folder = Path(names.distribution) if out is None else out
    texts = package_files(names, kinds)
    _write(folder, texts)
    return folder


def package_files(names: Names, kinds: Sequence[str] = DEFAULT) -> dict[str, str]:
    """The files of a package by their path inside its folder.

    Raises:
        UsageError: a kind is unknown, or there is none.
    """
    if not kinds:
        raise UsageError("a plugin of no kind", hint="kinds: " + ", ".join(KINDS))
    pieces = {kind: piece(kind, names) for kind in dict.fromkeys(kinds)}
    # In the order of their declaration, whatever order they were asked for in.
    chosen = [pieces[kind] for kind in KINDS if kind in pieces]
    values = _values(names, chosen)
    source = f"src/{names.package}"
    found = {
        "pyproject.toml": _filled("pyproject.toml", values),
        "README.md": _filled("README.md", values),
        ".gitignore": _filled("gitignore", values),
        f"{source}/__init__.py": init_source(names, chosen),
        f"{source}/py.typed": "",
        "tests/conftest.py": _filled("conftest.py", values),
        "tests/test_plugin.py": _filled("test_plugin.py", values),
    }
    for one in chosen:
        found |= {f"{source}/{to}": _filled(template, values) for template, to in one.files.items()}
        found |= {f"tests/{to}": _filled(template, values) for template, to in one.tests.items()}
    return found


def _values(names: Names, chosen: Iterable[Piece]) -> dict[str, str]:
    pieces = list(chosen)
    return {
        "owner": names.owner,
        "distribution": names.distribution,
        "package": names.package,
        "camel": names.camel,
        "dashed": names.dashed,
        "group": GROUP,
        "kernel": f"{KERNEL_DISTRIBUTION}{_range()}",
        "range": _range(),
        "python": _python(),
        "description": "A plugin for the graph engine",
        "contents": "\n".join(f"* {one.about}" for one in pieces),
        "looks": "\n".join(one.look for one in pieces),
    }


def _filled(template: str, values: dict[str, str]) -> str:
    """A template with its names filled in; KeyError for a name that nobody gives."""
    text = files(__package__).joinpath("templates", f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(values)


def _range() -> str:
    """The versions of the kernel that the package is for: this one's major."""
    major = int((kernel_owner().version or "1").partition(".")[0])
    return f">={major},<{major + 1}"


def _python() -> str:
    """The versions of Python that the kernel is for."""
    try:
        return metadata(KERNEL_DISTRIBUTION)["Requires-Python"] or ">=3.11"
    except PackageNotFoundError:
        return ">=3.11"


def _write(folder: Path, texts: dict[str, str]) -> None:
    if os.path.lexists(folder):
        raise UsageError(
            f"{folder} exists already", hint="name another folder with --out; nothing was written"
        )
    if not folder.parent.is_dir():
        raise UsageError(f"{folder.parent} is not a folder", hint="make it first")
    temporary: str | None = None
    try:
        temporary = tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent)
        for name, text in texts.items():
            path = Path(temporary, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o777 & ~umask)
        os.replace(temporary, folder)
    except OSError as error:
        raise InputFileError(f"can't be written: {error.strerror}", file=str(folder)) from error
    finally:
        if temporary is not None and os.path.isdir(temporary):
            shutil.rmtree(temporary)
