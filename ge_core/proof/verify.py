"""`verify_compile`: the proof that a compiled graph in its plan computes what the original does."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from ge_core.errors import UsageError
from ge_core.ir import Graph, Node
from ge_core.ir.collector import collector_paused
from ge_core.memory.plan import Plan
from ge_core.ops import OpRegistry
from ge_core.proof.algebra import Algebra
from ge_core.proof.compiled import CompiledRun
from ge_core.proof.constants import Sources
from ge_core.proof.contents import Store
from ge_core.proof.effects import check_effects
from ge_core.proof.facts import FactTable
from ge_core.proof.frames import Frames
from ge_core.proof.interface import check_interface, check_shared_outputs
from ge_core.proof.layout import Layout
from ge_core.proof.listed import listed_program
from ge_core.proof.names import Names
from ge_core.proof.one_op import check_one_op
from ge_core.proof.options import lent_memory
from ge_core.proof.order import check_order
from ge_core.proof.permissions import Permissions
from ge_core.proof.program import Group, Step
from ge_core.proof.reference import Reference
from ge_core.proof.regions import Regions
from ge_core.proof.result import (
    Equivalence,
    Findings,
    ProofResult,
    Rebase,
    Rewrite,
    Violation,
)
from ge_core.proof.tasklist import task_program
from ge_core.targets import Target
from ge_core.tasks import TaskList

WORK_LIMIT: Final = 5_000_000
"""Node instances that call paths may expand to, and node evaluations that loops may take."""


def verify_compile(
    original: Graph,
    compiled: Graph,
    plan: Plan,
    tasks: TaskList | None = None,
    *,
    ops: OpRegistry,
    options: Mapping[str, str] | None = None,
    target: Target | None = None,
    rewrites: Sequence[Rewrite] = (),
    equivalences: Sequence[Equivalence] = (),
    rebases: Sequence[Rebase] = (),
    limit: int = WORK_LIMIT,
) -> ProofResult:
    """Check that every op of a compiled graph reads what it read in the original.

    Args:
        original: the graph before compilation.
        compiled: the graph that runs, with its marks and origins.
        plan: where its tensors lie; what it leaves out lies in memory of its own.
        tasks: what is launched; without it the listed order counts, with an event per edge between
            streams.
        ops: traits, which are trusted.
        options: options in force; those that lend memory of inputs matter.
        target: for alignment and capacities; without it neither is checked.
        rewrites: what passes did, in order, so that a violation can name one.
        equivalences: outputs that passes vouch for.
        rebases: passes that changed values on purpose, in order.
        limit: bound on work; see `WORK_LIMIT`.

    Raises:
        LimitExceeded: calls expand to more than `limit` allows.
        GraphError: a graph has a cycle.
        PassError: the expansion of an op failed.
        UsageError: an equivalence names no output.
    """
    findings = Findings(rewrites)
    assumptions: list[str] = []
    with collector_paused():
        base, since = original, None
        for number, rebase in enumerate(rebases):
            findings.enter(number, since, rebase.by)
            part = _Proof(base, rebase.before, Plan(), None, ops, limit, findings, virtual=True)
            part.run(options or {}, None, equivalences)
            assumptions += part.assumptions()
            assumptions.append(f"{rebase.by} changed values; judged by what it left")
            base, since = rebase.after, rebase.by
        findings.enter(len(rebases), since)
        proof = _Proof(base, compiled, plan, tasks, ops, limit, findings)
        proof.run(options or {}, target, equivalences)
        assumptions += proof.assumptions()
        if base is not original:
            findings.enter(None)
            check_interface(original, compiled, findings)
    assumptions += [f"{e.by}: {e.compiled} is {e.original} of the original" for e in equivalences]
    return ProofResult(tuple(findings.violations), tuple(dict.fromkeys(assumptions)))


def compare_graphs(
    original: Graph,
    compiled: Graph,
    *,
    ops: OpRegistry,
    equivalences: Sequence[Equivalence] = (),
    limit: int = WORK_LIMIT,
) -> tuple[Violation, ...]:
    """What `verify_compile` finds of two graphs alone, wherever their tensors lie: all of it.

    Raises:
        LimitExceeded, GraphError, PassError, UsageError: as `verify_compile`.
    """
    findings = Findings(most=sys.maxsize)
    with collector_paused():
        proof = _Proof(original, compiled, Plan(), None, ops, limit, findings, virtual=True)
        proof.run({}, None, equivalences)
    return tuple(findings.violations)


class _Proof:
    """One comparison of two graphs."""

    def __init__(
        self,
        original: Graph,
        compiled: Graph,
        plan: Plan,
        tasks: TaskList | None,
        ops: OpRegistry,
        limit: int,
        findings: Findings,
        *,
        virtual: bool = False,
    ) -> None:
        self.original = original.root
        self.compiled = compiled.root
        self.plan = plan
        self.tasks = tasks
        self.limit = limit
        self.findings = findings
        self.virtual = virtual
        self.store = Store()
        self.facts = FactTable(ops)
        self.names = Names(self.original)
        self.algebra = Algebra(self.store, self.facts, self.names)
        self.sources = Sources(self.store, self.facts, self.names)
        self.frames = Frames(self.compiled, self.facts, limit)
        self.regions = Regions(plan, self.frames, self.facts)

    def run(
        self,
        options: Mapping[str, str],
        target: Target | None,
        equivalences: Sequence[Equivalence],
    ) -> None:
        """Run all checks."""
        equal = {_output(e.compiled, e.by): _output(e.original, e.by) for e in equivalences}
        self.sources.compare(self.original, self.compiled)
        self.sources.digest_also(self._stacked_constants())
        frames = Frames(self.original, self.facts, self.limit)
        reference = Reference(
            self.original,
            self.algebra,
            self.sources,
            frames,
            limit=self.limit,
            wanted=frozenset(equal.values()),
        ).run()
        check_interface(self.original, self.compiled, self.findings)
        program = self._program()
        lent = lent_memory(options)
        run = CompiledRun(
            reference,
            lambda: self._shadow(reference, equal),
            self.algebra,
            self.sources,
            self.frames,
            self.regions,
            self.findings,
            equal,
            lent,
        )
        if not self.virtual:
            Layout(self.plan, self.frames, self.facts, self.regions, target, self.findings).check(
                program
            )
        run.run(program)
        check_one_op(
            program,
            self.regions,
            lambda step: _shared(run, step),
            self.original,
            self.findings,
        )
        ordered = check_order(program, self.regions, self.findings)
        Permissions(
            self.frames.root,
            self.facts,
            self.regions,
            reference,
            lent,
            self.findings,
        ).check(program)
        check_shared_outputs(self.frames.root, reference, self.regions, self.findings)
        before = None if ordered is None else self._original_order(frames)
        check_effects(
            reference.effects,
            run.effects,
            self.names,
            self.findings,
            ordered_before=before,
            ordered_now=ordered,
        )

    def _program(self) -> Group:
        if self.tasks is None:
            return listed_program(self.frames, self.facts, self.regions, virtual=self.virtual)
        return task_program(self.tasks, self.frames, self.facts, self.regions, self.findings)

    def _shadow(
        self, reference: Reference, equal: dict[tuple[str, int], tuple[str, int]]
    ) -> Reference:
        return Reference(
            self.compiled,
            self.algebra,
            self.sources,
            self.frames,
            limit=self.limit,
            equal=equal,
            base=reference,
        ).run()

    def _original_order(self, frames: Frames) -> list[bool] | None:
        """Which effects the original's streams keep in order."""
        regions = Regions(Plan(), frames, self.facts)
        return check_order(listed_program(frames, self.facts, regions), regions, Findings())

    def _stacked_constants(self) -> list[int]:
        """Sizes of constants that begin where others begin: they may be one on purpose."""
        seen: dict[tuple[str, int], str] = {}
        sizes: list[int] = []
        for place in self.plan.tensors:
            node = self.compiled.find(place.node)
            if node is None or node.value is None:
                continue
            if seen.setdefault((place.pool, place.offset), place.node) != place.node:
                sizes.append(node.value.nbytes)
        return sizes

    def assumptions(self) -> list[str]:
        """What is taken for granted about ops, those included that are gone from the original."""
        unknown: dict[str, list[str]] = {}
        vouched: dict[str, list[Node]] = {}
        expanded: dict[str, None] = {}
        merges: list[str] = []
        gone = [n for n in self.original.all_nodes() if self.compiled.find(n.name) is None]
        for node in (*self.compiled.all_nodes(), *gone):
            facts = self.facts.of(node)
            if not facts.traits.known:
                unknown.setdefault(node.op, []).append(node.name)
                continue
            if facts.traits.vouched:
                vouched.setdefault(node.op, []).append(node)
            if facts.kind == "merge":
                merges.append(node.name)
            elif facts.traits.expansion is not None:
                expanded[node.op] = None
        found = [
            f"op {op} is unknown and taken to be pure: {names[0]}"
            + (f" and {len(names) - 1} more" if len(names) > 1 else "")
            for op, names in unknown.items()
        ]
        found += [
            f"op {op} treats memory as {self.facts.of(nodes[0]).traits.owner} says: {nodes[0].name}"
            + (f" and {len(nodes) - 1} more" if len(nodes) > 1 else "")
            for op, nodes in vouched.items()
        ]
        found += [f"op {op} computes what its expansion says" for op in expanded]
        if merges:
            found.append(f"of the arms of merge {merges[0]} only one runs")
        return found


def _shared(run: CompiledRun, step: Step) -> tuple[int | None, ...]:
    """Which inputs of a step are one memory in the reference run."""
    call = run.names.call(step.frame)
    for name in run.names.alike(step.node):
        found = None if call is None else run.reference.shared.get((call, name))
        if found is not None:
            return found
    return run.shadow.shared.get((step.frame.call, step.node.name), ())


def _output(text: str, by: str) -> tuple[str, int]:
    name, _, number = text.rpartition(":")
    if not name or not number.isascii() or not number.isdigit():
        raise UsageError(
            f"{by} vouches for {text!r}, which is no output", hint="an output is written node:0"
        )
    return name, int(number)
