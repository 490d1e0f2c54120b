"""Executing a result and comparing it with an unplanned run of the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ge_core.errors import PluginError, UsageError
from ge_core.foreign import foreign
from ge_core.plugin.drivers import EXECUTORS, Executor, owned_driver
from ge_core.session.report import size
from ge_core.session.result import Result


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """One output: what it is, and, where it was compared, how it differs."""

    name: str
    shape: tuple[int, ...] | None
    dtype: str | None
    bit_exact: bool | None = None
    max_abs_diff: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The record of `ge run`; a difference that is no number (NaN, infinity) is null."""
        diff = self.max_abs_diff
        return {
            "name": self.name,
            "shape": None if self.shape is None else list(self.shape),
            "dtype": self.dtype,
            "bit_exact": self.bit_exact,
            "max_abs_diff": diff if diff is not None and abs(diff) != float("inf") else None,
        }


@dataclass
class Execution:
    """What one run did.

    Attributes:
        stand_ins: op types whose outputs the executor made up, as nothing says how to compute
            them, and how many nodes of each; with a comparison, of either run the larger number.
            What lies behind such a node says whether the right bytes were read, and is not what
            the model computes.
    """

    result: Result
    values: dict[str, Any]
    outputs: list[OutputCheck]
    arena_bytes: int
    executed_copies: int
    executed_copy_bytes: int
    executor: Executor = field(repr=False)
    stand_ins: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether no output was found to differ."""
        return all(output.bit_exact is not False for output in self.outputs)

    def to_json(self) -> dict[str, Any]:
        """The `ge-run/1` document."""
        return {
            "schema": "ge-run/1",
            "ok": self.ok,
            "outputs": [output.to_json() for output in self.outputs],
            "arena_bytes": self.arena_bytes,
            "executed_copies": self.executed_copies,
            "executed_copy_bytes": self.executed_copy_bytes,
            "stand_ins": [{"op": op, "nodes": n} for op, n in self.stand_ins.items()],
            "warnings": list(self.result.warnings),
        }


def make_executor(name: str) -> Executor:
    """An executor by name. Raises `PluginError` where it lacks a method of the protocol."""
    found: Executor = owned_driver(EXECUTORS, name, Executor)[0]
    return found


def execute(
    result: Result,
    *,
    inputs: Path | None = None,
    values: Mapping[str, Any] | None = None,
    seed: int = 0,
    check: bool = False,
    executor: str = "numpy",
) -> Execution:
    """Run a result once inside its arena.

    Args:
        inputs: a file of inputs by name.
        values: inputs by name; they win over the file's. What neither gives is generated.
        seed: of generated inputs.
        check: compare with an unplanned run of the original graph.
    """
    runner: Executor
    runner, owner = owned_driver(EXECUTORS, executor, Executor)
    with foreign(f"executor {executor!r}", owner):
        return _execute(result, runner, inputs, values, seed, check)


def _named(values: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The inputs given by name; `UsageError` for what is no table."""
    given: object = values
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(
            f"inputs are given as a {type(given).__name__}", hint="give a table: name to value"
        )
    return values or {}


def _execute(
    result: Result,
    runner: Executor,
    inputs: Path | None,
    values: Mapping[str, Any] | None,
    seed: int,
    check: bool,
) -> Execution:
    assert result.kernel is not None
    ops, kernels = result.kernel.ops, result.kernel.registries.kernels
    given = {} if inputs is None else runner.read_feeds(inputs, result.original)
    given.update(_named(values))
    feeds = runner.make_feeds(result.original, seed, given, ops=ops)
    ran = runner.run(result.graph, result.plan, result.tasks, feeds, ops=ops, kernels=kernels)
    stand_ins = _stand_ins(ran)
    if check:
        reference = runner.reference(result.original, feeds, ops=ops, kernels=kernels)
        compared = runner.compare(reference.outputs, ran.outputs)
        stand_ins = _stand_ins(ran, reference)
        _check_compared([c.name for c in compared], result)
        outputs = [
            OutputCheck(c.name, c.shape, c.dtype, c.bit_exact, c.max_abs_diff) for c in compared
        ]
    else:
        outputs = [_described(name, value) for name, value in ran.outputs.items()]
    return Execution(
        result,
        dict(ran.outputs),
        outputs,
        ran.arena_bytes,
        ran.executed_copies,
        ran.executed_copy_bytes,
        runner,
        stand_ins,
    )


def _stand_ins(*runs: Any) -> dict[str, int]:
    """What the runs made up, by op type; an executor that makes up nothing needn't say so."""
    found: dict[str, int] = {}
    for ran in runs:
        for op, nodes in getattr(ran, "stand_ins", {}).items():
            found[op] = max(nodes, found.get(op, 0))
    return dict(sorted(found.items()))


def _check_compared(names: list[str], result: Result) -> None:
    """Raises `PluginError` where fewer outputs were compared than the graph has."""
    out = result.original.net_output
    wanted = 0 if out is None else sum(anchor.source is not None for anchor in out.inputs)
    if len(set(names)) < wanted:
        raise PluginError(f"{len(set(names))} of {wanted} outputs were compared")


def _described(name: str, value: Any) -> OutputCheck:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    return OutputCheck(
        name, None if shape is None else tuple(shape), None if dtype is None else str(dtype)
    )


def write_outputs(path: Path, execution: Execution) -> None:
    """Write the outputs in the executor's file format."""
    execution.executor.write_outputs(path, execution.values)


def render(execution: Execution) -> str:
    """The run in a few lines."""
    lines = []
    for output in execution.outputs:
        shape = "?" if output.shape is None else "x".join(map(str, output.shape)) or "scalar"
        by = "" if output.max_abs_diff is None else f" by {output.max_abs_diff}"
        verdict = {True: "bit-exact", None: "", False: f"DIFFERS{by} from the original's run"}
        lines.append(
            f"{output.name}  {output.dtype}[{shape}]  {verdict[output.bit_exact]}".rstrip()
        )
    if execution.stand_ins:
        made_up = (f"{op} ({_nodes(n)})" for op, n in execution.stand_ins.items())
        lines.append(f"computed by a stand-in: {', '.join(made_up)}")
    copied = f"{execution.executed_copies} copies, {size(execution.executed_copy_bytes)}"
    lines.append(f"arena {size(execution.arena_bytes)}; {copied} executed")
    return "\n".join(lines)


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"
