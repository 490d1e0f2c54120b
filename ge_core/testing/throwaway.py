"""Packages that exist for one test: a module and its metadata in a folder on the import path."""

from __future__ import annotations

import importlib
import itertools
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Protocol

from ge_core.plugin.index import GROUP
from ge_core.session.kernel import forget_kernels
from ge_core.testing.kernels import forget_installed

_numbers = itertools.count(1)
"""So that no two packages of a run have modules of one name."""


class InstallPlugin(Protocol):
    """What the fixture `install_plugin` gives."""

    def __call__(
        self,
        name: str,
        code: str,
        *,
        distribution: str | None = None,
        version: str = "1.0",
        group: str = GROUP,
        files: Mapping[str, str] | None = None,
    ) -> str:
        """Install a package; the name of its module.

        Args:
            name: of the entry point: the prefix of what the plugin registers.
            code: of the module; indentation that all lines share is taken off.
            distribution: the package's name; `<name>-plugin` by default.
            files: further modules beside it: text by file name.
        """
        ...


class Site:
    """A folder of throwaway packages."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._modules: set[str] = set(sys.modules)

    def install(
        self,
        name: str,
        code: str,
        *,
        distribution: str | None = None,
        version: str = "1.0",
        group: str = GROUP,
        files: Mapping[str, str] | None = None,
    ) -> str:
        """Write a package; see `InstallPlugin`."""
        dist = distribution or f"{name}-plugin"
        module = f"ge_throwaway_{next(_numbers)}_{name}"
        self._write(f"{module}.py", textwrap.dedent(code))
        for file, text in (files or {}).items():
            self._write(file, textwrap.dedent(text))
        info = f"{dist.replace('-', '_')}-{version}.dist-info"
        self._write(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {dist}\nVersion: {version}\n"
        )
        self._write(f"{info}/entry_points.txt", f"[{group}]\n{name} = {module}\n")
        self._refresh()
        return module

    def forget(self) -> None:
        """Drop what was imported from here, and the kernels that know of it."""
        for name in sorted(set(sys.modules) - self._modules):
            if _is_below(sys.modules[name], self.folder):
                del sys.modules[name]
        self._refresh()

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _refresh(self) -> None:
        importlib.invalidate_caches()
        forget_kernels()
        forget_installed()


def _is_below(module: ModuleType, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and folder in Path(file).parents
