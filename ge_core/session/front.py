"""The Python front door: `load` and `compile`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Literal, TypeVar

from ge_core.errors import UsageError
from ge_core.ir import Graph, clone
from ge_core.passes.instruments import Instrument
from ge_core.passes.overlays import Overlay
from ge_core.passes.pipeline_text import PipelineText
from ge_core.session.compiler import Compiler
from ge_core.session.files import apply_input_shapes, load
from ge_core.session.kernel import default_kernel
from ge_core.session.request import CompileRequest
from ge_core.session.result import Result
from ge_core.targets import Target

T = TypeVar("T")


def compile(
    model: Graph | Path | str,
    *,
    level: str | None = None,
    input_shapes: Mapping[str, tuple[int, ...]] | None = None,
    options: Mapping[str, str] | None = None,
    enable: Sequence[str] = (),
    disable: Sequence[str] = (),
    pipeline: str | Path | Overlay | PipelineText | None = None,
    target: str | Path | Target | None = None,
    assigner: str | None = None,
    objective: Literal["copies", "peak"] | None = None,
    verify_each: bool = False,
    audit: bool = False,
    timeout: float | None = None,
    instruments: Sequence[Instrument] = (),
    strict_plugins: bool = False,
    prove: bool = True,
    op_traits: Sequence[Path | str] = (),
    origins: Mapping[str, str] | None = None,
) -> Result:
    """Remove copies, plan the memory, and prove the result.

    Args:
        model: a file, or a graph, which is left as it is.
        level: O0 to O4 or a plugin's; O3 by default.
        input_shapes: shapes of inputs whose file leaves dimensions open.
        options: texts by option name.
        enable, disable: passes to switch.
        pipeline: a pipeline's text, name or TOML file, or its value.
        target: a device's name or TOML file, or its value; `generic` by default.
        assigner: a memory assigner's name; `best` by default.
        objective: `copies` may take a higher peak than level O1's; `peak`, the default, never does.
        verify_each, audit: check the graph, and how passes edit it, after every pass.
        timeout: seconds that the assigner may search.
        instruments: watch the compile pass by pass, after the plugins' hooks.
        strict_plugins: fail where an installed plugin failed to load.
        prove: whether to run the proof.
        op_traits: TOML files that say what ops do with memory which no plugin declares.
        origins: how options (by name) and passes (`enable NAME`, `disable NAME`) were given, for
            messages: `{"ge.oo.level": "-O O5"}`.

    Returns:
        The result; `result.check_proof()` raises where the proof failed.

    Raises:
        InputFileError: the file can't be read as what it should be.
        UsageError, OptionError, UnknownNameError: an argument can't be understood or met.
        PluginError, PassError: a plugin is missing or broken; names package and version.
        LayoutConflict: placement constraints contradict each other.
    """
    request = CompileRequest(
        level=level,
        input_shapes=_table("input_shapes", input_shapes),
        options=_table("options", options),
        enable=_names(enable),
        disable=_names(disable),
        origins=_table("origins", origins),
        pipeline=pipeline,
        target=target,
        assigner=assigner,
        objective=objective,
        verify_each=verify_each,
        audit=audit,
        timeout=timeout,
        instruments=tuple(instruments),
        strict_plugins=strict_plugins,
        prove=prove,
    )
    if not isinstance(model, (Graph, str, os.PathLike)):
        raise UsageError(
            f"model is a {type(model).__name__}: {model!r:.60}", hint="give a path or a Graph"
        )
    start = perf_counter()
    path = None if isinstance(model, Graph) else Path(model)
    if isinstance(model, Graph):
        graph = clone(model)
        apply_input_shapes(graph, request.input_shapes)
    else:
        graph = load(model, input_shapes=request.input_shapes)
    seconds = perf_counter() - start
    files = (op_traits,) if isinstance(op_traits, (str, Path)) else op_traits
    kernel = default_kernel(strict=strict_plugins).with_op_traits(files)
    name = graph.name if path is None else path.name
    return Compiler(kernel).compile(
        graph, request, model=name, load_seconds=seconds, source_path=path
    )


def _table(what: str, given: Mapping[str, T] | None) -> dict[str, T]:
    """An argument that is a table; `UsageError` for anything else."""
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(
            f"{what} is a {type(given).__name__}: {given!r:.60}", hint="give a table: name to value"
        )
    return dict(given or {})


def _names(given: Sequence[str]) -> tuple[str, ...]:
    """Names of passes; one name may be given without a list around it."""
    return (given,) if isinstance(given, str) else tuple(given)
