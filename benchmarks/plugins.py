"""Plugins: how long commands take with many installed, beside other ways to look for plugins.

Every number is the best of several cold processes. `bare` is Python that does nothing, `metadata`
is importlib.metadata's `entry_points(group=...)` with name and version of each hit, `stevedore` is
its ExtensionManager (which loads what it finds) with its disk cache off and warm.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COUNTS = (0, 10, 50, 200)
RUNS = 5

MODULE = """\
from ge_core.api import GraphPass, Level, hookimpl


class P(GraphPass):
    '''Changes nothing.'''

    def run(self, graph, ctx):
        pass


@hookimpl
def ge_register_passes(passes):
    passes.add(P, levels=Level.O3.and_above(), stage="OPTIMIZE_STAGE1")
"""
METADATA = (
    "from importlib.metadata import entry_points\n"
    "[(p.name, p.dist.name, p.dist.version) for p in entry_points(group='ge_core.plugins.v1')]"
)
STEVEDORE = (
    "from stevedore.extension import ExtensionManager\n"
    "ExtensionManager('ge_core.plugins.v1', on_load_failure_callback=lambda *a: None)"
)
GE = "from ge_core.cli.main import main; main({arguments!r})"


def install(site: Path, count: int) -> None:
    """So many distributions with a plugin each."""
    for number in range(count):
        name = f"bench{number:03}"
        (site / f"{name}.py").write_text(MODULE)
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[ge_core.plugins.v1]\n{name} = {name}\n")


def milliseconds(code: str, site: Path, home: Path) -> float:
    """The best of several processes that run this code."""
    environ = {**os.environ, "PYTHONPATH": str(site), "XDG_CACHE_HOME": str(home)}
    best = float("inf")
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", code],
            env=environ,
            cwd=home,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        best = min(best, time.perf_counter() - start)
    return 1000 * best


def measure(count: int) -> dict[str, float]:
    """One number of plugins."""
    with tempfile.TemporaryDirectory() as folder:
        site, home, off = Path(folder, "site"), Path(folder, "home"), Path(folder, "off")
        for made in (site, home, off):
            made.mkdir()
        install(site, count)
        (off / "python-entrypoints").mkdir()
        (off / "python-entrypoints" / ".disable").write_text("")
        return {
            "plugins": count,
            "bare": milliseconds("pass", site, home),
            "metadata": milliseconds(METADATA, site, home),
            "stevedore, cache off": milliseconds(STEVEDORE, site, off),
            "stevedore, cache warm": milliseconds(STEVEDORE, site, home),
            "ge --help": milliseconds(GE.format(arguments=["--help"]), site, home),
            "ge plugins": milliseconds(GE.format(arguments=["plugins"]), site, home),
            "ge passes": milliseconds(GE.format(arguments=["passes"]), site, home),
        }


def main() -> None:
    """Print a Markdown table, in milliseconds."""
    rows = [measure(count) for count in COUNTS]
    print("| " + " | ".join(rows[0]) + " |")
    print("| " + " | ".join("---" for _ in rows[0]) + " |")
    for row in rows:
        print("| " + " | ".join(f"{value:.0f}" for value in row.values()) + " |")
