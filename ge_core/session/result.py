"""`Result`: what came of a compile, and what can be done with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ge_core.errors import ProofError, UnknownNameError, near_matches
from ge_core.ir import Graph
from ge_core.memory import ARENA, Plan, PoolTotals
from ge_core.passes.manager import PassRun
from ge_core.passes.remarks import Remark, Remarks
from ge_core.passes.timing import Timing
from ge_core.session.copies import CopyCount
from ge_core.session.journey import Journey, journey_of
from ge_core.session.journey_words import lines_of
from ge_core.session.story import NO_LONGER, givers_of, tell, tell_all
from ge_core.tasks import TaskList

if TYPE_CHECKING:
    from ge_core.proof import ProofResult
    from ge_core.session.execution import Execution
    from ge_core.session.kernel import Kernel

EMPTY_POOL = PoolTotals(0, 0, 0, True)


@dataclass
class Seconds:
    """How long the parts of a compile took."""

    load: float = 0.0
    passes: float = 0.0
    plan: float = 0.0
    proof: float = 0.0

    @property
    def total(self) -> float:
        """Their sum."""
        return self.load + self.passes + self.plan + self.proof


def third_parties(kernel: Kernel | None) -> str | None:
    """Whose code may be at fault where the proof fails; None where all of it is this project's."""
    if kernel is None:
        return None
    found = [c for c in kernel.plugins.candidates if c.status == "loaded" and not c.is_first_party]
    if not found:
        return None
    names = ", ".join(f"{c.name} ({c.owner})" for c in found)
    return f"plugins of others took part: {names}; GE_DISABLE_PLUGINS=* compiles without them"


@dataclass
class Result:
    """A compiled graph with its plan, tasks, proof and reasons.

    Attributes:
        original, graph: the graph as it was read, and as it is now.
        plan, tasks: where every tensor lies, and what is launched.
        remarks: everything that passes said; `remarks.final(node)` is the last word on a copy.
        proof: None where it was switched off.
        before, after: the copies of both graphs.
        passes: what ran, in order, with what each counted and how it changed the ops.
        timing: how long everything took, as a tree.
        pipeline: the name of the pipeline that ran; None where it was a level.
    """

    model: str
    original: Graph
    graph: Graph
    plan: Plan
    tasks: TaskList
    remarks: Remarks
    proof: ProofResult | None
    level: str
    target: str
    assigner: str
    before: CopyCount
    after: CopyCount
    passes: list[PassRun]
    seconds: Seconds
    warnings: list[str]
    source_path: Path | None = None
    kernel: Kernel | None = field(default=None, repr=False)
    timing: Timing = field(default_factory=Timing, repr=False)
    pipeline: str | None = None

    @property
    def arena(self) -> PoolTotals:
        """Totals of the arena: bytes, lower bound, bytes without reuse, whether optimal."""
        return self.plan.pools.get(ARENA, EMPTY_POOL)

    def check_proof(self) -> Result:
        """This result. Raises `ProofError` with the first violations where the proof failed."""
        if self.proof is not None and not self.proof.ok:
            lines = [str(violation) for violation in self.proof.violations[:3]]
            more = len(self.proof.violations) - len(lines)
            if more > 0:
                lines.append(f"and {more} more")
            raise ProofError(
                "the proof failed: " + "\n  ".join(lines), hint=third_parties(self.kernel)
            )
        return self

    # ---- reasons -------------------------------------------------------------------------------

    def explain(self, node: str | None = None) -> str:
        """The story of one copy by its node's name, or the last word on all of them.

        Of one copy everything that was said is told, and then the way of its value: where it is
        made, by which names it goes, who else reads and writes that memory and when, and of a
        copy that went who reads what now.

        Raises:
            UnknownNameError: nothing was said of a node of that name.
        """
        finals = self.finals()
        if node is None:
            return "\n".join(tell(remark) for remark in finals)
        said = self.remarks.of(node)
        if not said:
            raise self._nothing_said(node)
        final, journey = self.remarks.final(node), self.journey(node)
        lines = [tell_all(said, final)]
        if final is not None and self.kernel is not None:
            lines += givers_of(final, self.kernel.registries.codes().all())
        lines += [NO_LONGER] if journey is None else lines_of(journey)
        return "\n".join(lines)

    def journey(self, node: str) -> Journey | None:
        """What lies behind the remarks on a node; None of one that neither graph has."""
        assert self.kernel is not None
        remark = self.remarks.final(node)
        return journey_of(node, self.original, self.graph, remark, self.kernel)

    def _nothing_said(self, name: str) -> UnknownNameError:
        """Of a node that is there, or of a name that none has."""
        nodes = {node.name: node for node in (*self.graph.all_nodes(), *self.original.all_nodes())}
        if name in nodes:
            return UnknownNameError(f"no pass said anything of {name!r} ({nodes[name].op})")
        known = {*nodes, *(remark.node for remark in self.remarks)}
        return UnknownNameError(f"no node {name!r}", near=near_matches(name, known, cutoff=0.5))

    def finals(self) -> list[Remark]:
        """The final remark of every copy, in the order of the original graph."""
        place = {node.name: at for at, node in enumerate(self.original.all_nodes())}
        return sorted(self.remarks.finals(), key=lambda remark: place.get(remark.node, len(place)))

    # ---- running and writing -------------------------------------------------------------------

    def run(self, feeds: Mapping[str, Any], *, executor: str = "numpy") -> dict[str, Any]:
        """Execute once inside the arena; outputs by name.

        `execute(feeds).stand_ins` says which of the ops that lead to them were made up.

        Raises:
            GeError: an input is missing or has another shape or dtype, or a node can't be run.
            PluginError: no such executor is installed.
        """
        return dict(self.execute(feeds, executor=executor).outputs)

    def check(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
        executor: str = "numpy",
    ) -> Execution:
        """Execute inside the arena and compare, bit by bit, with an unplanned run of the original.

        Args:
            values: inputs by name; what is not given is generated from the seed.

        Returns:
            an object whose `ok` says whether all outputs are equal; see `Execution`.
        """
        from ge_core.session.execution import execute

        return execute(self, values=values, seed=seed, check=True, executor=executor)

    def execute(self, feeds: Mapping[str, Any], *, executor: str = "numpy") -> Any:
        """As `run`, with what the executor says of arena and copies besides the outputs."""
        from ge_core.session.execution import make_executor

        assert self.kernel is not None
        return make_executor(executor).run(
            self.graph,
            self.plan,
            self.tasks,
            feeds,
            ops=self.kernel.ops,
            kernels=self.kernel.registries.kernels,
        )

    def save(self, path: Path | str) -> None:
        """Write the compiled graph; the suffix says in which format."""
        from ge_core.session.files import save

        save(
            self.graph,
            path,
            plan=self.plan,
            source_path=self.source_path,
            metadata={"ge.report": json.dumps(self.summary(), sort_keys=True)},
        )

    # ---- reports -------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """The facts that are the same on every run: what a compiled file carries along."""
        from ge_core.session.report import summary

        return summary(self)

    def report(self, *, timing: bool = False) -> dict[str, Any]:
        """The document of `ge compile --format json` (`ge-compile/1`), with the tree of times?"""
        from ge_core.session.report import report

        return report(self, timing=timing)

    def __str__(self) -> str:
        from ge_core.session.report import render

        return render(self)
