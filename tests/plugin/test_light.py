"""What importing and listing import: a budget, since it is paid by every command."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

Install = Callable[..., str]
HEAVY = "click hypothesis numpy onnx pluggy pydantic rich stevedore structlog"


def imported(code: str, *more: str, path: Path | None = None) -> list[str]:
    """Which of the heavy modules, and of `more`, are imported after running code."""
    script = textwrap.dedent(code) + (
        f"\nimport sys\nwatched = {HEAVY.split() + list(more)!r}"
        "\nprint(*[name for name in watched if name in sys.modules])"
    )
    environ = dict(os.environ) if path is None else {**os.environ, "PYTHONPATH": str(path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environ
    )
    return done.stdout.split()


@pytest.mark.parametrize("module", ["ge_core.passes", "ge_core.plugin", "ge_core.config"])
def test_importing_a_row_imports_nothing_heavy(module: str) -> None:
    """Passes, the plugin index and the configuration reader."""
    assert [] == imported(f"import {module}")


def test_the_index_imports_no_plugin(install: Install, site: Path) -> None:
    """Neither a third party's nor ours, and not stevedore or pluggy either."""
    module = install("acme", "acme-casts", "raise SystemExit")
    code = """
        from ge_core.plugin import index_plugins
        assert [c.name for c in index_plugins().candidates if c.name == "acme"] == ["acme"]
    """
    assert [] == imported(code, module, "ge_onnx", "ge_tensormove", "ge_runtime", path=site)


def test_listing_passes_imports_light_modules_only() -> None:
    """Loading needs pluggy and stevedore; registration modules bring nothing of their own."""
    code = """
        from ge_core.plugin import load_plugins
        [declaration.name for declaration in load_plugins().registries.passes]
    """
    assert ["pluggy", "stevedore"] == imported(code)


def test_the_schedule_is_the_same_for_every_hash_seed() -> None:
    """So are the listings."""
    code = """
        from ge_core.passes.planning import plan_passes
        from ge_core.plugin import load_plugins
        there = load_plugins().registries
        print(plan_passes(there.catalog()).text(), there.options.names(), there.codes().all())
    """
    outputs = {
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert 1 == len(outputs)


def test_planning_without_configuration_needs_no_pydantic(tmp_path: Path) -> None:
    """It costs 250 ms, and only where there is a file to read."""
    code = f"""
        from pathlib import Path
        from ge_core.config import find_config
        find_config(Path({str(tmp_path)!r}))
    """
    assert [] == imported(code)
