"""The proof on its own, on files of any origin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ge_core.errors import GraphError, InputFileError
from ge_core.ir import load_json
from ge_core.memory import Plan
from ge_core.ops import check_arity
from ge_core.proof import ProofResult, verify_compile
from ge_core.session.files import load
from ge_core.session.kernel import default_kernel
from ge_core.tasks.document import read_tasks


def verify_files(
    model: Path,
    compiled: Path,
    plan: Path,
    *,
    tasks: Path | None = None,
    target: str | None = None,
    shapes: Iterable[tuple[str, tuple[int, ...]]] = (),
    settings: Iterable[tuple[str, str]] = (),
    strict_plugins: bool = False,
    op_traits: Sequence[Path | str] = (),
    warn: Callable[[str], None] | None = None,
) -> ProofResult:
    """Prove that a compiled graph, laid out by a plan, computes what a model computes.

    Args:
        model: the original, in any format that can be read.
        compiled: the compiled graph (`ge-graph/1`).
        plan, tasks: `ge-plan/1` and `ge-tasks/1`; without tasks the listed order counts.
        target: for alignments; the plan's by default.
        shapes: of the model's inputs, as it was compiled.
        settings: options in force besides those that the plan names.
        op_traits: TOML files with op traits, as it was compiled.
        warn: is told of old names, and of what went wrong while plugins were loaded.

    Raises:
        InputFileError: a file can't be read as what it should be.
    """
    kernel = default_kernel(strict=strict_plugins).with_op_traits(op_traits)
    if warn is not None:
        for warning in kernel.warnings:
            warn(warning)
    original = load(model, input_shapes=dict(shapes))
    graph = load(compiled)
    for path, loaded in ((model, original), (compiled, graph)):
        try:
            check_arity(loaded, kernel.ops)
        except GraphError as error:
            raise error.in_file(str(path)) from error
    layout = _read_plan(plan)
    task_list = None if tasks is None else read_tasks(tasks)
    return verify_compile(
        original,
        graph,
        layout,
        task_list,
        ops=kernel.ops,
        options={**layout.options, **dict(settings)},
        target=kernel.target(target or layout.target or None, warn or (lambda _: None)),
    )


def _read_plan(path: Path) -> Plan:
    try:
        return Plan.from_json(_document(path))
    except InputFileError as error:
        raise error.in_file(str(path)) from error


def _document(path: Path) -> dict[str, object]:
    document = load_json(path)
    if not isinstance(document, dict):
        raise InputFileError("must be a JSON object", file=str(path))
    return document
