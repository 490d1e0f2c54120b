"""One compile: schedule the passes, run them, plan, make tasks, prove."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ge_core.errors import GraphError
from ge_core.ir import Graph, clone, collector_rare
from ge_core.memory import Plan
from ge_core.ops import check_arity, doubts, is_no_task
from ge_core.passes.environment import Environment
from ge_core.passes.instruments import Instrument
from ge_core.passes.manager import PassManager, RunReport, ValueChange
from ge_core.passes.remarks import RemarkKind
from ge_core.passes.sources import STRENGTH
from ge_core.passes.stages import Stage
from ge_core.passes.timing import Timing
from ge_core.registry import kernel_owner
from ge_core.session.blame import blamed, culprit
from ge_core.session.called import check_called
from ge_core.session.copies import count_copies
from ge_core.session.kernel import Kernel
from ge_core.session.lending import check_pairs
from ge_core.session.peak import keep_moves, keep_peak
from ge_core.session.planning import Planner
from ge_core.session.request import CompileRequest
from ge_core.session.result import Result, Seconds
from ge_core.session.scheduling import schedule_for
from ge_core.targets import odd_pools
from ge_core.tasks import TaskList, generate_tasks, set_marks

if TYPE_CHECKING:
    from ge_core.proof import ProofResult, Rewrite


class Compiler:
    """Compiles graphs with one kernel; keeps no state between compiles, so threads may share it."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def compile(
        self,
        graph: Graph,
        request: CompileRequest,
        *,
        model: str = "",
        load_seconds: float = 0.0,
        source_path: Path | None = None,
    ) -> Result:
        """Compile a graph, in place but where that raises the peak: see `keep_moves`.

        Raises:
            GraphError: a node has too few inputs or outputs for its op.
            GeError: an argument can't be met, a pass failed, or a plan is impossible. A failed
                proof is no exception: see `Result.check_proof`.
        """
        try:
            check_arity(graph, self.kernel.ops)
            if source_path is not None:
                check_called(graph, self.kernel.ops)
        except GraphError as error:
            raise error if source_path is None else error.in_file(str(source_path)) from None

        def attempt(graph: Graph, kept: frozenset[str]) -> _Compile:
            made = _Compile(self.kernel, graph, request, model, load_seconds, source_path, kept)
            with made.naming_passes():
                made.run()
            return made

        def finish(made: _Compile) -> Result:
            with made.naming_passes():
                return made.result()

        with collector_rare():
            first = attempt(graph, frozenset())
            if first.allowed is None:
                return finish(first)
            removed = first.removed_moves()
            found = None
            if removed:
                found = keep_moves(
                    removed,
                    lambda kept: attempt(clone(first.original), kept),
                    lambda made: made.allowed is None,
                )
            if found is None:
                first.env.warn(
                    f"the peak is above the {first.allowed} bytes of level O1:"
                    " removing copies alone raised it"
                )
            return finish(found or first)


class _Ended(Exception):
    """The first run came no further."""


class _Compile:
    def __init__(
        self,
        kernel: Kernel,
        graph: Graph,
        request: CompileRequest,
        model: str,
        load_seconds: float,
        source_path: Path | None,
        kept: frozenset[str],
    ) -> None:
        self.kernel = kernel
        self.graph = graph
        self.original = clone(graph)
        self.request = request
        self.model = model
        self.source_path = source_path
        self.seconds = Seconds(load=load_seconds)
        self.schedule = schedule_for(kernel, request)
        assert self.schedule.device is not None
        self.target = self.schedule.device
        self.env = kernel.environment(graph, self.schedule, self.target)
        self.env.kept = kept
        self.env.extras["original"] = self.original
        self.planner = Planner(kernel, self.target, self.schedule, request)
        check_pairs(graph, self.planner.options)
        for warning in (*self.planner.warnings, *doubts(graph, kernel.ops)):
            self.env.warn(warning)
        self.plan: Plan | None = None
        self.tasks: TaskList | None = None
        self.allowed: int | None = None
        """O1's peak, where the plan's is higher."""
        self.report: RunReport | None = None

    def run(self) -> None:
        """Everything up to plan and tasks."""
        start = perf_counter()
        manager = PassManager(
            self.schedule,
            self.env,
            [*self.kernel.instruments, *self.request.instruments],
            verify_each=self.request.verify_each,
            audit=self.request.audit,
            actions={Stage.MEM_ASSIGN: self._plan, Stage.TASK_GEN: self._make_tasks},
        )
        self.report = manager.report
        manager.run()
        self.seconds.passes = perf_counter() - start - self.seconds.plan

    def removed_moves(self) -> list[str]:
        """Names of the moves that passes removed, those first that save the fewest bytes."""
        found: dict[str, int] = {}
        for remark in self.env.remarks:
            node = self.original.find(remark.node)
            if (
                remark.kind is RemarkKind.APPLIED
                and node is not None
                and self.env.ops.kind(node) == "move"
                and self.graph.find(remark.node) is None
            ):
                found[remark.node] = remark.bytes or 0
        return sorted(found, key=lambda name: (found[name], name))

    def result(self) -> Result:
        """The proof, and all that came of it."""
        plan, tasks, report = self.plan, self.tasks, self.report
        assert plan is not None and tasks is not None and report is not None
        start = perf_counter()
        proof = self._prove(plan, tasks, report) if self.request.prove else None
        self.seconds.proof = perf_counter() - start
        self._warn_unplanned(plan)
        self._warn_unread()
        self._warn_standing()
        return Result(
            model=self.model or self.graph.name,
            original=self.original,
            graph=self.graph,
            plan=plan,
            tasks=tasks,
            remarks=self.env.remarks,
            proof=proof,
            level=self.schedule.level.name,
            target=self.target.name,
            assigner=self.planner.assigner_name,
            before=count_copies(self.original, self.env.ops),
            after=count_copies(self.graph, self.env.ops),
            passes=report.passes,
            timing=self._timing(report),
            pipeline=None if self.schedule.named is None else self.schedule.pipeline,
            seconds=self.seconds,
            warnings=list(self.env.warnings),
            source_path=self.source_path,
            kernel=self.kernel,
        )

    def _timing(self, report: RunReport) -> Timing:
        """The tree of the passes, with what stands before and after them."""
        tree = Timing("compile")
        tree.add(Timing("load", self.seconds.load))
        tree.add(*report.timing.children.values())
        tree.add(Timing("proof", self.seconds.proof))
        return tree

    # ---- steps ---------------------------------------------------------------------------------

    def _plan(self, env: Environment) -> None:
        start = perf_counter()
        self.plan = self.planner.plan(env.root)
        for words in odd_pools(self.target, self.plan.pools):
            env.warn(f"target {self.target.name!r} {words}")
        if (self.request.objective or self.kernel.config.objective) != "copies" and (
            env.retractions or self.removed_moves()
        ):
            self.plan, self.allowed = keep_peak(self.plan, env, self.planner, self._baseline)
        for warning in self.plan.warnings:
            env.warn(warning)
        env.extras["plan"] = self.plan
        self.seconds.plan += perf_counter() - start

    def _baseline(self) -> Graph:
        """The graph as level O1 leaves it: what the peak is compared with."""
        graph = clone(self.original)
        schedule = schedule_for(self.kernel, self.request.at_level("O1"), plain=True)
        environment = self.kernel.environment(graph, schedule, self.target)
        until = {Stage.MEM_ASSIGN, Stage.OFFSETS, Stage.TASK_GEN, Stage.CHECK}
        steps = tuple(step for step in schedule.passes if step.place.stage not in until)
        PassManager(replace(schedule, passes=steps), environment).run()
        return graph

    def _make_tasks(self, env: Environment) -> None:
        assert self.plan is not None
        start = perf_counter()
        self.tasks = generate_tasks(env.root, env.ops, self.plan)
        set_marks(env.root, self.tasks)
        env.extras["tasks"] = self.tasks
        self.seconds.plan += perf_counter() - start

    def _prove(self, plan: Plan, tasks: TaskList, report: RunReport) -> ProofResult:
        from ge_core.proof import Equivalence, Rebase, verify_compile

        proof = verify_compile(
            self.original,
            self.graph,
            plan,
            tasks,
            ops=self.env.ops,
            options=plan.options,
            target=self.target,
            rewrites=self._rewrites(report.value_changes),
            equivalences=[Equivalence(*claim) for claim in self.env.equivalences],
            rebases=[Rebase(c.before, c.after, c.name) for c in report.value_changes],
        )
        return proof if proof.ok else blamed(proof, self.original, self._again)

    def _rewrites(self, changes: Sequence[ValueChange]) -> list[Rewrite]:
        """What passes did, so that a violation can name one where nothing better is known."""
        from ge_core.proof import Rewrite

        found = []
        for at, remark in enumerate(self.env.remarks):
            part = sum(change.remarks[0] <= at for change in changes)
            if part and at < changes[part - 1].remarks[1]:
                # What a pass did that changed values is what is compared with.
                continue
            if remark.kind is RemarkKind.APPLIED:
                names = [remark.node, *(blame.node for blame in remark.blame)]
                node = self.original.find(remark.node)
                if node is not None:
                    names += [other.name for other in (*node.in_nodes, *node.out_nodes)]
                found.append(Rewrite(remark.pass_name, tuple(dict.fromkeys(names)), part))
        return found

    # ---- who did it ----------------------------------------------------------------------------

    @contextmanager
    def naming_passes(self) -> Iterator[None]:
        """Turn what goes wrong because a pass broke the graph into an error that names the pass."""
        try:
            yield
        except Exception as error:
            named = culprit(error, self.original, self.graph, self._checked_again)
            if named is None:
                raise
            raise named from error

    def _checked_again(self) -> RunReport | None:
        """Run the passes that have run once more, and check each; None where that was done."""
        if self.request.verify_each and self.request.audit:
            return None
        return self._again(checked=True)

    def _again(self, *instruments: Instrument, checked: bool = False) -> RunReport | None:
        """Run the passes that have run once more on a new copy, as far as they came."""
        report = self.report
        if report is None:
            return None
        steps = {(step.name, str(step.place)): step for step in self.schedule.passes}
        ran = [replace(steps[run.name, run.stage], repeat=None) for run in report.passes]
        graph = clone(self.original)
        env = self.kernel.environment(graph, self.schedule, self.target)
        env.kept = self.env.kept
        env.extras["original"] = self.original
        manager = PassManager(
            replace(self.schedule, passes=tuple(ran)),
            env,
            instruments,
            verify_each=checked,
            audit=checked,
            actions={Stage.MEM_ASSIGN: self._plan_again, Stage.TASK_GEN: self._make_tasks_again},
        )
        with suppress(_Ended):
            manager.run_places()
        same = [(run.name, run.changed) for run in manager.report.passes]
        return manager.report if same == [(r.name, r.changed) for r in report.passes] else None

    def _plan_again(self, env: Environment) -> None:
        if self.plan is None:
            raise _Ended
        env.extras["plan"] = self.plan

    def _make_tasks_again(self, env: Environment) -> None:
        if self.tasks is None:
            raise _Ended
        set_marks(env.root, self.tasks)
        env.extras["tasks"] = self.tasks

    # ---- warnings ------------------------------------------------------------------------------

    def _warn_standing(self) -> None:
        """Say which moves are reported as gone and still copy."""
        for remark in self.env.remarks.finals():
            node = self.graph.find(remark.node)
            if (
                remark.kind is RemarkKind.APPLIED
                and node is not None
                and self.env.ops.kind(node) == "move"
                and not is_no_task(node)
            ):
                self.env.warn(
                    f"pass {remark.pass_name} ({remark.owner}) says that {remark.node!r} is gone,"
                    " and it is still there"
                )

    def _warn_unread(self) -> None:
        """Say which options were set although nothing looked at them."""
        options = self.schedule.options
        for name in options:
            value = options.values[name]
            if value.rank >= len(STRENGTH) or name in options.asked:
                continue
            owner = options.declared.entry(name).owner
            unread = "nothing reads it"
            if owner != kernel_owner():
                unread = f"nothing read it ({owner} declares it)"
            self.env.warn(f"option {name} is set ({value.source}), and {unread}")

    def _warn_unplanned(self, plan: Plan) -> None:
        if plan.unplanned:
            shown = ", ".join(plan.unplanned[:3])
            more = len(plan.unplanned) - 3
            tail = f" and {more} more" if more > 0 else ""
            self.env.warn(
                f"{len(plan.unplanned)} tensors have no static size and are unplanned:"
                f" {shown}{tail}; `--input-shape` may give them one"
            )
