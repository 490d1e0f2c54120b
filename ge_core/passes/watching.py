"""The kernel's own instruments: dumps of the graph, and counts of ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ge_core.errors import GeError
from ge_core.ir import Graph, print_graph, save_graph_file, write_atomically
from ge_core.passes.context import PassContext
from ge_core.passes.instruments import CompileStarted, Instrument


class DumpGraphs(Instrument):
    """Writes the graph into a folder after passes: `003_TensorMoveDeletePass.json` and `.txt`.

    A compile that tries again, to keep its peak down, writes further tries into folders of their
    own (`try_02`, ...) below.

    Args:
        passes: only after these; every one by default.
        only_changed: not after a pass that left the graph as it was.
        only_failed: only where a pass fails: the graph as that pass found it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        passes: Collection[str] | None = None,
        only_changed: bool = True,
        only_failed: bool = False,
    ) -> None:
        self._base = self._folder = folder
        self._tries = 0
        self._passes = None if passes is None else frozenset(passes)
        self._only_changed = only_changed
        self._only_failed = only_failed
        self._count = 0

    def compile_started(self, event: CompileStarted) -> None:
        """Dump the graph as it came in; say so where a named pass does not run."""
        self._count = 0
        self._tries += 1
        if self._tries > 1:
            self._folder = self._base / f"try_{self._tries:02}"
        for name in sorted((self._passes or frozenset()) - set(event.passes)):
            event.environment.warn(f"nothing is dumped after pass {name}: it does not run")
        if not self._only_failed:
            self._write(event.graph, "start")

    def after_pass(self, ctx: PassContext, changed: bool, seconds: float) -> None:
        """Dump what a pass left."""
        self._count += 1
        if not self._only_failed and (changed or not self._only_changed):
            self._dump(ctx)

    def pass_failed(self, ctx: PassContext, error: GeError) -> None:
        """Dump what a pass failed on."""
        self._count += 1
        if self._only_failed:
            self._dump(ctx)

    def _dump(self, ctx: PassContext) -> None:
        name = ctx.declaration.name
        if self._passes is None or name in self._passes:
            self._write(ctx.environment.root, name)

    def _write(self, graph: Graph, name: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        stem = self._folder / f"{self._count:03}_{name}"
        save_graph_file(graph, stem.with_name(stem.name + ".json"))
        write_atomically(stem.with_name(stem.name + ".txt"), print_graph(graph).encode())


@dataclass(frozen=True, slots=True)
class OpChange:
    """How many nodes of each op type a pass added or removed."""

    name: str
    by_op: dict[str, int]


class OpCounter:
    """How the ops of a graph change; counted anew only where the graph's version has changed."""

    def __init__(self, root: Graph) -> None:
        self._root = root
        self._version = -1
        self._counts: Counter[str] = Counter()

    def change(self) -> dict[str, int]:
        """How many nodes of each op type came (or went, below 0) since the last call."""
        if self._version == self._root.version:
            return {}
        before, after = self._counts, Counter(node.op for node in self._root.all_nodes())
        self._version, self._counts = self._root.version, after
        ops = sorted({*after, *before})
        return {op: after[op] - before[op] for op in ops if after[op] != before[op]}


class CountOps(Instrument):
    """Counts ops before and after each pass.

    Attributes:
        changes: of the passes that changed a count, in order.
    """

    def __init__(self) -> None:
        self.changes: list[OpChange] = []
        self._counter: OpCounter | None = None

    def before_pass(self, ctx: PassContext) -> None:
        """Count."""
        if self._counter is None:
            self._counter = OpCounter(ctx.environment.root)
        self._counter.change()

    def after_pass(self, ctx: PassContext, changed: bool, seconds: float) -> None:
        """Count again."""
        assert self._counter is not None
        by_op = self._counter.change()
        if by_op:
            self.changes.append(OpChange(ctx.declaration.name, by_op))
