"""Drivers: things loaded by name and heavy to import, each in an entry-point group of its own.

A frontend's or backend's entry point is named after the file suffix that it handles ("onnx" for
`.onnx`), so that the right one is found without importing the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from ge_core.errors import PluginError, PluginLoadError, near_matches
from ge_core.foreign import in_words
from ge_core.plugin.index import DISABLE, FIRST_PARTY
from ge_core.plugin.scan import Found, by_name, canonical, scan

if TYPE_CHECKING:
    from ge_core.ir import Graph
    from ge_core.memory import Plan
    from ge_core.ops import OpRegistry
    from ge_core.tasks import Kernels, TaskList

FRONTENDS: Final = "ge_core.frontends.v1"
BACKENDS: Final = "ge_core.backends.v1"
EXECUTORS: Final = "ge_core.executors.v1"
COMMANDS: Final = "ge_core.commands.v1"


@runtime_checkable
class Frontend(Protocol):
    """Reads a graph from a file format."""

    def load(self, path: Path, *, input_shapes: Mapping[str, tuple[int, ...]]) -> Graph:
        """The graph in a file.

        Args:
            input_shapes: shapes for graph inputs by name, where the file leaves dimensions open.

        Raises:
            InputFileError: the file is not what it should be; names file, node and field.
            UsageError: a shape for an input that does not exist, or that contradicts the file.
        """


@runtime_checkable
class Backend(Protocol):
    """Writes a graph in a file format."""

    def save(
        self,
        graph: Graph,
        path: Path,
        *,
        plan: Plan | None = None,
        source_path: Path | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Write atomically. Raises `GeError` where the graph has no form in this format."""


@runtime_checkable
class Executor(Protocol):
    """Executes a compiled graph inside its planned arena, and the original without a plan.

    Values are the executor's own (numpy arrays, for the one that comes with the product); the
    kernel hands them on and looks at none.
    """

    def run(
        self,
        graph: Graph,
        plan: Plan,
        tasks: TaskList,
        feeds: Mapping[str, Any],
        *,
        ops: OpRegistry | None = None,
        kernels: Kernels | None = None,
    ) -> Any:
        """Run once with these inputs by name.

        Returns an object with `outputs` by name, `arena_bytes`, `executed_copies` and
        `executed_copy_bytes`; where it made outputs up, `stand_ins`: op type to nodes.
        """

    def reference(
        self,
        graph: Graph,
        feeds: Mapping[str, Any],
        *,
        ops: OpRegistry | None = None,
        kernels: Kernels | None = None,
    ) -> Any:
        """Run without a plan, every output in memory of its own; answers as `run` does."""

    def make_feeds(
        self,
        graph: Graph,
        seed: int = 0,
        given: Mapping[str, Any] | None = None,
        *,
        ops: OpRegistry | None = None,
    ) -> dict[str, Any]:
        """Inputs for a run: those given, and seeded ones for the rest."""

    def read_feeds(self, path: Path, graph: Graph) -> dict[str, Any]:
        """Inputs by name from a file. Raises `InputFileError`."""

    def write_outputs(self, path: Path, outputs: Mapping[str, Any]) -> None:
        """Outputs by name into a file, which is replaced as a whole."""

    def compare(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> Sequence[Any]:
        """Outputs of two runs: objects with name, shape, dtype, bit_exact, max_abs_diff."""


def owned_driver(group: str, name: str, protocol: type) -> tuple[Any, str]:
    """The driver of that name, and package and version that it is from.

    Raises:
        PluginError: as `driver`; also where it lacks a method of the protocol.
    """
    point = _point(group, name)
    made, owner = _made(point), point.owner
    wanted = [method for method in vars(protocol) if not method.startswith("_")]
    missing = [method for method in wanted if not callable(getattr(made, method, None))]
    if missing:
        raise PluginError(f"{_kind(group)} {name!r} has no method {missing[0]!r}", owner=owner)
    return made, owner


def _kind(group: str) -> str:
    return group.split(".")[1].removesuffix("s")


def driver(group: str, name: str) -> Any:
    """An instance of the driver of that name.

    Raises:
        PluginError: there is none, several claim the name, or it fails at import.
    """
    return _made(_point(group, name))


def _point(group: str, name: str) -> Found:
    """The one entry point of that name; raises as `driver` where there isn't one."""
    points = driver_points(group)
    found = points.get(name, [])
    kind = _kind(group)
    if not found:
        off = [point.owner for point in scan(group) if point.name == name]
        if off:
            raise PluginError(
                f"{kind} {name!r} is disabled by GE_DISABLE_PLUGINS=*", owner=", ".join(off)
            )
        raise PluginError(
            f"no {kind} {name!r} is installed",
            near=near_matches(name, points),
            hint="`pip install graph-engine-all` brings the usual ones" if not points else None,
        )
    if len(found) > 1:
        owners = ", ".join(point.owner for point in found)
        raise PluginError(f"{kind} {name!r} is contested: {owners}")
    return found[0]


def _made(point: Found) -> Any:
    try:
        return point.load()()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything, SystemExit included
        raise PluginLoadError(
            f"{_kind(point.group)} {point.name!r} failed to load: it {in_words(error)}",
            owner=point.owner,
        ) from error


def driver_points(group: str) -> dict[str, list[Found]]:
    """The drivers of a group by name, without importing any; owners in order.

    With `GE_DISABLE_PLUGINS=*` only those of this project.
    """
    found = [point for point in scan(group) if point.group == group]
    if "*" in re.split(r"[\s,]+", os.environ.get(DISABLE, "")):
        found = [point for point in found if canonical(point.distribution) in FIRST_PARTY]
    return by_name(found)


def check_drivers(*more: str) -> list[dict[str, str | None]]:
    """Load every installed driver; what each is and how it failed, for `ge plugins doctor`."""
    rows: list[dict[str, str | None]] = []
    for group in (FRONTENDS, BACKENDS, EXECUTORS, *more):
        for name, points in driver_points(group).items():
            error = None
            if len(points) > 1:
                error = "contested: " + ", ".join(point.owner for point in points)
            else:
                try:
                    points[0].load()
                except KeyboardInterrupt:
                    raise
                except BaseException as raised:
                    error = f"{type(raised).__name__}: {raised}"
            rows.append(
                {
                    "name": name,
                    "group": group,
                    "distribution": points[0].distribution,
                    "version": points[0].version,
                    "error": error,
                }
            )
    return rows
