"""Graph files by suffix: `.json` is the kernel's own form, others have drivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ge_core.errors import GeError, InputFileError, PluginError, UsageError
from ge_core.foreign import foreign
from ge_core.ir import Graph, load_graph_file, save_graph_file, verify
from ge_core.memory import Plan
from ge_core.plugin.drivers import (
    BACKENDS,
    FRONTENDS,
    Backend,
    Frontend,
    driver_points,
    owned_driver,
)

Shapes = Mapping[str, tuple[int, ...]]


def load(path: Path | str, *, input_shapes: Shapes | None = None) -> Graph:
    """Read a graph file, choosing the frontend by suffix.

    Args:
        path: a `.json` file of the `ge-graph/1` form, or what an installed frontend reads.
        input_shapes: shapes for graph inputs by name, where the file leaves dimensions open.

    Raises:
        InputFileError: the file can't be read as what it should be.
        UsageError: a shape for an input that the graph does not have.
        PluginError: no frontend for the suffix is installed.
    """
    path = Path(path)
    suffix = _suffix(path, FRONTENDS)
    if not path.is_file():
        raise InputFileError("no such file", file=str(path))
    if suffix == "json":
        graph = load_graph_file(path)
        apply_input_shapes(graph, input_shapes or {})
    else:
        frontend: Frontend
        frontend, owner = owned_driver(FRONTENDS, suffix, Frontend)
        what = f"frontend {suffix!r}, on {path},"
        with foreign(what, owner):
            graph = frontend.load(path, input_shapes=dict(input_shapes or {}))
        if not isinstance(graph, Graph):
            raise PluginError(f"{what} returned {type(graph).__name__}, not a Graph", owner=owner)
        try:
            with foreign(f"{what} returned a broken graph: verifying it", owner):
                verify_file(graph, path)
        except GeError as error:
            error.owner = owner
            raise
        return graph
    verify_file(graph, path)
    return graph


def verify_file(graph: Graph, path: Path) -> None:
    """Check a graph's structure, naming the file it came from."""
    try:
        verify(graph)
    except InputFileError as error:
        raise error.in_file(str(path)) from error


def save(
    graph: Graph,
    path: Path | str,
    *,
    plan: Plan | None = None,
    source_path: Path | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a graph file, choosing the backend by suffix; an existing file is replaced as a whole.

    Raises:
        PluginError: no backend for the suffix is installed.
        GeError: the graph has no form in that format, or the place can't be written.
    """
    path = Path(path)
    suffix = _suffix(path, BACKENDS)
    if suffix == "json":
        save_graph_file(graph, path)
        return
    backend: Backend
    backend, owner = owned_driver(BACKENDS, suffix, Backend)
    what, before = f"backend {suffix!r}, on {path},", _stamp(path)
    try:
        with foreign(what, owner):
            backend.save(graph, path, plan=plan, source_path=source_path, metadata=metadata)
    except BaseException:
        if before is None:
            # Half a file would be taken for a whole one.
            path.unlink(missing_ok=True)
        raise
    if _stamp(path) in (None, before):
        raise PluginError(f"{what} wrote no file", owner=owner)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written, None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns, facts.st_size


def check_output(path: Path | str) -> None:
    """Refuse a place that can't be written before any work is done.

    Raises:
        UsageError: no writer for the suffix is installed.
        InputFileError: the folder does not exist.
    """
    path = Path(path)
    _suffix(path, BACKENDS)
    if not path.absolute().parent.is_dir():
        raise InputFileError("its folder does not exist", file=str(path))


def check_places(paths: Sequence[Path]) -> None:
    """Refuse files that can't all be written, so that none is where one can't be.

    Raises:
        UsageError: one file is asked for twice.
        InputFileError: a folder does not exist.
    """
    seen: set[Path] = set()
    for path in paths:
        if not path.absolute().parent.is_dir():
            raise InputFileError("its folder does not exist", file=str(path))
        if path.resolve() in seen:
            raise UsageError(f"{path}: two results can't be written to one file")
        seen.add(path.resolve())


def _suffix(path: Path, group: str) -> str:
    suffix = path.suffix.lower().removeprefix(".")
    known = ["json", *driver_points(group)]
    if suffix not in known:
        raise UsageError(
            f"{path}: no {'reader' if group == FRONTENDS else 'writer'} for suffix {path.suffix!r}",
            hint="known: " + ", ".join(f".{name}" for name in known),
        )
    return suffix


def apply_input_shapes(graph: Graph, shapes: Shapes) -> None:
    """Give root inputs their shapes; open dimensions only. Later nodes keep theirs.

    Raises:
        UsageError: no such input, or a shape that contradicts the graph.
    """
    names = {node.name: node for node in graph.data_nodes}
    for name, shape in shapes.items():
        node = names.get(name)
        if node is None:
            raise UsageError(f"no input {name!r}", hint="inputs: " + ", ".join(names))
        output = node.outputs[0]
        known = output.desc.shape
        if known is not None and (
            len(known) != len(shape)
            or any(old not in (-1, new) for old, new in zip(known, shape, strict=True))
        ):
            raise UsageError(f"input {name!r} is {output.desc!r}, not {'x'.join(map(str, shape))}")
        graph.set_desc(output, output.desc.replace(shape=tuple(shape)))
