"""The pass manager: runs a schedule, undoes and names what fails, and closes the remarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from time import perf_counter

from ge_core.errors import GeError, LimitExceeded, PassError, hint_lines
from ge_core.foreign import brief, located
from ge_core.ir import Graph, Node, clone
from ge_core.passes.base import AnalysisPass, GraphPass, NodePass, Pass
from ge_core.passes.checks import (
    AnalysisAudit,
    ChangeAudit,
    PassCheck,
    PreserveAudit,
    SubjectAudit,
    VerifyEach,
)
from ge_core.passes.claim_watch import ClaimWatch
from ge_core.passes.closing import KERNEL_CODES, close_remarks
from ge_core.passes.conduct import Conduct, check_answer
from ge_core.passes.context import PassContext
from ge_core.passes.environment import Environment
from ge_core.passes.instruments import CompileEnded, CompileStarted, Instrument
from ge_core.passes.pipeline_text import Repeat
from ge_core.passes.planning import Schedule, Scheduled
from ge_core.passes.precedence import Because
from ge_core.passes.said_names import unknown_handles, unknown_hints
from ge_core.passes.stages import PLACES, Place, Stage
from ge_core.passes.timing import Timing
from ge_core.passes.vetoes import VETO, Vetoes
from ge_core.passes.walker import Walk
from ge_core.passes.watching import OpCounter

Action = Callable[[Environment], None]
"""What the kernel itself does at the end of a stage (plan memory, make tasks)."""


@dataclass(frozen=True, slots=True)
class PassRun:
    """One pass that ran.

    Attributes:
        counters: what it counted, by the names that it declared.
        ops: how many nodes of each op type came, or went (below 0).
    """

    name: str
    owner: str
    stage: str
    changed: bool
    seconds: float
    counters: Mapping[str, int] = field(default_factory=dict)
    ops: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A pass that declared `changes_values` and edited: the graph before and after it.

    Attributes:
        remarks: how many there were when it started, and when it had ended.
    """

    name: str
    before: Graph
    after: Graph
    remarks: tuple[int, int] = (0, 0)


@dataclass
class RunReport:
    """What ran, in order."""

    passes: list[PassRun] = field(default_factory=list)
    value_changes: list[ValueChange] = field(default_factory=list)
    timing: Timing = field(default_factory=Timing)


class PassManager:
    """Runs a schedule on the root graph of an environment.

    Args:
        instruments: watch the compile; their order is kept.
        verify_each: check the graph's structure after every pass that edited it.
        audit: check by hash that passes (and checks) edit through the graph's methods only, and
            that analyses which a pass preserves are right after it.
        actions: the kernel's own work at the end of stages, after the passes in them.
    """

    def __init__(
        self,
        schedule: Schedule,
        environment: Environment,
        instruments: Sequence[Instrument] = (),
        *,
        verify_each: bool = False,
        audit: bool = False,
        actions: Mapping[Stage, Action] | None = None,
    ) -> None:
        self.schedule = schedule
        self.env = environment
        self.instruments = tuple(instruments)
        self.actions = dict(actions or {})
        self.report = RunReport()
        self.env.analyses.timing = self.report.timing
        self.env.codes.add(KERNEL_CODES)
        self._subjects = SubjectAudit(environment)
        self._checks: list[PassCheck] = [AnalysisAudit(), self._subjects]
        if verify_each:
            self._checks.append(VerifyEach())
        if audit:
            self._checks += [ChangeAudit(), PreserveAudit(schedule.claims.analyses)]
        self._claims = ClaimWatch(
            schedule.claims, environment.root, environment.kernel, audit=audit
        )
        self._vetoes = Vetoes(schedule.claims, self.instruments, self._claims.holds)
        self._decisions = dict(schedule.decisions)
        self._ops = OpCounter(environment.root)

    def run(self) -> RunReport:
        """Run everything.

        Raises:
            PassError: a pass raised or broke its contract; it names pass, package and version, and
                the graph is as it was before that pass.
        """
        start = perf_counter()
        error: GeError | None = None
        names = tuple(step.name for step in self.schedule.passes)
        for warning in self.schedule.warnings:
            self.env.warn(warning)
        try:
            for instrument in self.instruments:
                instrument.compile_started(CompileStarted(self.env, names))
            self._tell_skipped()
            self._claims.start()
            with self.report.timing.span("passes"):
                self._run_places()
            self._claims.enter(PLACES[-1])
            final = replace(self.schedule, decisions=self._decisions)
            close_remarks(self.env, final, self._subjects.subjects.values())
            self._doubt_names()
        except BaseException as raised:
            error = raised if isinstance(raised, GeError) else GeError(repr(raised))
            raise
        finally:
            seconds = perf_counter() - start
            self.report.timing.seconds = seconds
            self.report.timing.count = 1
            event = CompileEnded(self.env, seconds, error)
            self._tell(error, lambda instrument: instrument.compile_finished(event))
        return self.report

    def run_places(self) -> RunReport:
        """Run the passes and actions and nothing around them: for who runs a schedule again.

        Raises:
            PassError: as `run`.
        """
        self._claims.start()
        self._run_places()
        return self.report

    def _doubt_names(self) -> None:
        env, declarations = self.env, self.schedule.declarations
        by_name = {declaration.name: declaration for declaration in declarations}
        if any(declaration.handles for declaration in declarations):
            present = {node.op for node in env.root.all_nodes()}
            for warning in unknown_handles(declarations, env.ops, present):
                env.warn(warning)
        for warning in unknown_hints(env.remarks, env.options.declared, by_name):
            env.warn(warning)

    def _tell(self, error: GeError | None, tell: Callable[[Instrument], None]) -> None:
        """Tell all instruments; where there is an error already, it is the one to be seen."""
        for instrument in self.instruments:
            try:
                tell(instrument)
            except GeError as other:
                if error is None:
                    raise
                error.hint = hint_lines(error.hint, f"also: {other.message}")

    def _tell_skipped(self) -> None:
        for name, decision in self.schedule.decisions.items():
            if not decision.runs:
                for instrument in self.instruments:
                    instrument.pass_skipped(name, decision.because)

    def _run_places(self) -> None:
        by_place: dict[Place, list[Scheduled]] = {place: [] for place in PLACES}
        for step in self.schedule.passes:
            by_place[step.place].append(step)
        for place in PLACES:
            for repeat, steps in groupby(by_place[place], key=lambda step: step.repeat):
                self._run_group(repeat, tuple(steps))
            if place.side == 0 and place.stage in self.actions:
                with self.report.timing.span(f"stage {place}"):
                    self.actions[place.stage](self.env)
                    self._claims.after_action(place)

    def _run_group(self, repeat: Repeat | None, steps: Sequence[Scheduled]) -> None:
        """Run neighbours once, or again and again until a turn changes nothing."""
        limit = 1 if repeat is None else repeat.limit
        for _ in range(limit):
            changed = [step for step in steps if self._run_step(step)]
            if not changed:
                return
        if limit > 1:
            # A limit of 1 asks for no fixed point.
            shown = ", ".join(f"{step.name} ({step.declaration.owner})" for step in changed)
            self.env.warn(f"not settled after {limit} runs: {shown} still changed the graph")

    # ---- one pass ------------------------------------------------------------------------------

    def _run_step(self, step: Scheduled) -> bool:
        """Run one pass; whether it changed the graph."""
        env, root = self.env, self.env.root
        self._claims.enter(step.place)
        ctx = PassContext(env, step.declaration, root)
        against = self._vetoes.against(step, ctx)
        if against is not None:
            self._skip(step.name, against)
            return False
        self._ops.change()
        for instrument in self.instruments:
            instrument.before_pass(ctx)
        version, mark = root.version, env.remarks.mark()
        env.changing = clone(root) if step.declaration.changes_values else None
        start = perf_counter()
        try:
            with self.report.timing.span(step.name), root.transaction():
                self._run_checked(step, ctx, version)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # SystemExit too: a pass must not end the process, and its edits are undone already.
            env.remarks.take_back(mark)
            env.analyses.drop()
            failure = located(_named(error, step), error)
            if failure.where is not None and ctx.visiting is not None:
                failure.where += f", visiting {ctx.visiting.name!r} ({ctx.visiting.op})"
            self._tell(failure, lambda instrument: instrument.pass_failed(ctx, failure))
            if failure is error:
                raise
            raise failure from error
        seconds = perf_counter() - start
        changed = root.version != version
        if env.changing is not None and changed:
            marks = mark, env.remarks.mark()
            change = ValueChange(step.name, env.changing, clone(root), marks)
            self.report.value_changes.append(change)
            # From here on the proof compares with this graph.
            env.extras["original"] = change.after
        run = PassRun(
            step.name,
            str(step.declaration.owner),
            str(step.place),
            changed,
            seconds,
            dict(ctx.counters.values),
            self._ops.change(),
        )
        self.report.passes.append(run)
        self._vetoes.ran(step.name)
        for instrument in self.instruments:
            instrument.after_pass(ctx, changed, seconds)
        return changed

    def _skip(self, name: str, because: Because) -> None:
        """A pass that was planned does not run, and everybody is told."""
        again = " again" if self._vetoes.has_run(name) else ""
        if not again:
            old = self._decisions[name]
            reasons = (because, *old.because)
            self._decisions[name] = replace(old, runs=False, because=reasons)
        said = f"{because.source}: " if because.rule == VETO else ""
        self.env.warn(f"pass {name} did not run{again} ({because.rule}: {said}{because.value})")
        for instrument in self.instruments:
            instrument.pass_skipped(name, self._decisions[name].because)

    def _run_checked(self, step: Scheduled, ctx: PassContext, version: int) -> None:
        env, timing = self.env, self.report.timing
        with timing.span("checks"):
            states = [check.before(env) for check in self._checks]
            self._claims.before(step)
        env.analyses.begin(self.schedule.claims.of(step.name).preserves)
        conduct = Conduct(env)
        try:
            work = step.make()
            ctx.counters.declare(work.counters)
            _execute(work, ctx)
        except BaseException:
            conduct.put_back()
            raise
        conduct.check()
        edited = env.root.version != version
        with timing.span("checks"):
            for check, state in zip(self._checks, states, strict=True):
                check.after(env, work, state, edited)
            self._claims.after(step, edited)
        env.analyses.end()


def _execute(work: Pass, ctx: PassContext) -> None:
    root = ctx.graph
    if isinstance(work, NodePass):
        _walk(work, ctx)
        return
    assert isinstance(work, (GraphPass, AnalysisPass))
    check_answer(work, work.run(root, ctx))
    for graph in list(root.subgraphs.values()):
        # An earlier run may have dropped it.
        if root.subgraphs.get(graph.name) is graph:
            below = PassContext(ctx.environment, ctx.declaration, graph, counters=ctx.counters)
            check_answer(work, work.run(graph, below))


def _walk(work: NodePass, ctx: PassContext) -> None:
    contexts: dict[Graph, PassContext] = {}

    def visit(node: Node, graph: Graph, after_subgraphs: bool) -> None:
        known = contexts.get(graph)
        if known is None:
            known = PassContext(ctx.environment, ctx.declaration, graph, walk, ctx.counters)
            contexts[graph] = known
        known.after_subgraphs = after_subgraphs
        ctx.visiting = node
        check_answer(work, work.visit(node, known))
        ctx.visiting = None

    def warn(text: str) -> None:
        declaration = ctx.declaration
        ctx.environment.warn(f"{declaration.name} ({declaration.owner}): {text}")

    walk = Walk(visit, warn, frozenset(work.only))
    walk.run(ctx.graph)


def _named(error: BaseException, step: Scheduled) -> GeError:
    """What a pass raised, as an error that names pass, package and version."""
    owner = str(step.declaration.owner)
    if isinstance(error, LimitExceeded):
        # The graph is at fault, not the pass.
        return error
    if isinstance(error, PassError) and error.owner is not None:
        # It names a rule's or checker's owner, or this pass, already.
        return error
    if isinstance(error, PassError):
        text = f"pass {step.name!r} {error.message}"
        return PassError(text, near=error.near, owner=owner, hint=error.hint)
    words = error.message if isinstance(error, GeError) else brief(error)
    hint = error.hint if isinstance(error, GeError) else None
    near = error.near if isinstance(error, GeError) else ()
    return PassError(f"pass {step.name!r} failed: {words}", near=near, owner=owner, hint=hint)
