"""What pytest gets from an installed kernel: case files as tests, and fixtures for plugins' tests.

* `*.case.json` files are collected: each is a test that says which expectations don't hold.
* `ge_kernel` is the kernel with everything that is installed.
* `ge_compile` compiles a graph and holds the result to its proof.
* `install_plugin` puts a throwaway package on the import path, for one test.

Loaded in every pytest run where the kernel is installed, so this module imports nothing but pytest
and what it needs when it needs it; `-p no:ge_core` leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ge_core.session.kernel import Kernel
    from ge_core.session.result import Result
    from ge_core.testing.throwaway import InstallPlugin

CASE_SUFFIX = ".case.json"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect case files."""
    if not file_path.name.endswith(CASE_SUFFIX):
        return None
    from ge_core.testing.case_items import CaseFile

    collector: pytest.Collector = CaseFile.from_parent(parent, path=file_path)
    return collector


@pytest.fixture
def ge_kernel() -> Kernel:
    """The kernel with all installed plugins; settings in environment variables are left out."""
    from ge_core.testing.kernels import installed_kernel

    return installed_kernel()


@pytest.fixture
def ge_compile() -> Callable[..., Result]:
    """`ge_compile(graph, level="O3", ...)`: `ge_core.compile`, checked after every pass, proved."""
    import ge_core

    def run(model: Any, **arguments: Any) -> Result:
        settings = {"verify_each": True, "audit": True, **arguments}
        return ge_core.compile(model, **settings).check_proof()

    return run


@pytest.fixture
def install_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InstallPlugin]:
    """`install_plugin("acme", code)`: a package with that entry point, for this test only.

    Further arguments: `distribution="acme-ge"`, `version="1.0"`, `group=...`, `files={name: text}`.
    """
    from ge_core.testing.throwaway import Site

    site = Site(tmp_path / "site")
    monkeypatch.syspath_prepend(site.folder)
    yield site.install
    site.forget()
