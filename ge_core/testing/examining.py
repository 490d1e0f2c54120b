"""One graph compiled with the pass under test, and everything that is wrong with it.

Findings are of one aspect each. What follows from another fault is not a finding: a graph that the
pass broke or changed behind the kernel's back is judged no further, and only what was proved is
compared by execution.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final

from ge_core.errors import GeError, GraphError, UnknownNameError
from ge_core.ir import Graph, clone, structural_hash, verify, write_graph
from ge_core.passes.checks import (
    SUBJECT_KINDS,
    AnalysisAudit,
    ChangeAudit,
    PreserveAudit,
    SubjectAudit,
)
from ge_core.passes.claim_watch import ClaimWatch
from ge_core.passes.closing import KERNEL_CODES
from ge_core.passes.context import PassContext
from ge_core.passes.instruments import Instrument
from ge_core.passes.remarks import Remark, RemarkKind
from ge_core.session.compiler import Compiler
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest
from ge_core.session.result import Result
from ge_core.session.scheduling import schedule_for
from ge_core.testing.compare import compare_outputs
from ge_core.testing.kernels import run_passes, watched
from ge_core.testing.standins import changed_standins

RUNS: Final = "runs"
STRUCTURE: Final = "structure"
EDITS: Final = "edits"
CLAIMS: Final = "claims"
REMARKS: Final = "remarks"
ORIGINS: Final = "origins"
SETTLES: Final = "settles"
SAME_BYTES: Final = "same bytes"
PROOF: Final = "proof"
VALUES: Final = "values"

ENDS: Final = frozenset({RUNS, STRUCTURE, EDITS, CLAIMS})
"""Aspects after whose findings a graph is judged no further."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: which aspect, and what happened in words."""

    aspect: str
    text: str


@dataclass
class Examined:
    """What came of one graph.

    Attributes:
        worked: whether the pass changed the graph or said something.
        edited: whether it changed the graph.
        applied: whether it said of a node that the copy is gone.
        codes: how often it gave each code.
        judged: the aspects that could be judged.
    """

    findings: list[Finding] = field(default_factory=list)
    worked: bool = False
    edited: bool = False
    applied: bool = False
    codes: Counter[str] = field(default_factory=Counter)
    judged: set[str] = field(default_factory=set)

    def of(self, aspect: str) -> Finding | None:
        """The first finding of an aspect."""
        return next((f for f in self.findings if f.aspect == aspect), None)

    def add(self, aspect: str, text: str) -> None:
        """One more finding."""
        self.findings.append(Finding(aspect, text))

    @property
    def ended(self) -> bool:
        """Whether a finding makes the rest meaningless."""
        return any(f.aspect in ENDS for f in self.findings)


@dataclass(frozen=True)
class Examiner:
    """How graphs are examined.

    Attributes:
        name: the registered name of the pass.
        executor: the driver that executes; None leaves `VALUES` out.
        tolerance: largest difference between outputs; None leaves `VALUES` out.
        idempotent: whether a second run must change nothing.
    """

    kernel: Kernel
    name: str
    executor: Any = None
    tolerance: float | None = 0.0
    idempotent: bool = True

    def examine(self, graph: Graph, request: CompileRequest, *, brief: bool = False) -> Examined:
        """Compile a copy of the graph and judge what came of it.

        Args:
            brief: only whether it runs, is proved and computes the same.
        """
        found = Examined()
        watch = Watch(self.name, found)
        result = self._compile(graph, request, watch)
        found.judged.update(ENDS)
        if not found.ended and result is not None:
            self._judge(graph, request, watch, result, brief)
        found.worked = watch.changed or bool(watch.remarks) or bool(found.findings)
        found.edited = watch.changed
        found.applied = any(remark.kind is RemarkKind.APPLIED for remark in watch.remarks)
        found.codes.update(remark.code for remark in watch.remarks)
        return found

    def _judge(
        self, graph: Graph, request: CompileRequest, watch: Watch, result: Result, brief: bool
    ) -> None:
        found = watch.found
        if not brief:
            _judge_remarks(self.kernel, watch, result, found)
            _judge_origins(graph, watch, found)
            self._judge_second_run(request, watch, found)
            self._judge_bytes(graph, request, result, found)
        self._judge_values(result, found)

    def _compile(self, graph: Graph, request: CompileRequest, watch: Watch) -> Result | None:
        found = watch.found
        try:
            return Compiler(watched(self.kernel, watch)).compile(clone(graph), request)
        except Exception as error:  # whatever a pass leads to is what is being looked for
            if found.findings:
                return None
            if watch.failure is not None:
                aspect, text = watch.failure
                found.add(aspect, text)
                return None
            found.add(RUNS, self._told(graph, request, error))
            return None

    def _told(self, graph: Graph, request: CompileRequest, error: Exception) -> str:
        words = str(error) if isinstance(error, GeError) else f"{type(error).__name__}: {error}"
        without = CompileRequest(level=request.level, options=request.options, disable=(self.name,))
        try:
            Compiler(self.kernel).compile(clone(graph), without)
        except Exception:  # noqa: BLE001, RUF100  (any failure says the same)
            return f"the compile failed, and fails without the pass too: {words}"
        return f"the compile failed after it ran, and doesn't without it: {words}"

    def _judge_second_run(self, request: CompileRequest, watch: Watch, found: Examined) -> None:
        if not self.idempotent or watch.after is None or request.pipeline is None:
            return
        found.judged.add(SETTLES)
        again = Watch(self.name, Examined())
        root = clone(watch.after)
        try:
            run_passes(self.kernel, root, request, again)
        except GeError as error:
            found.add(SETTLES, f"run again on its own result, it fails: {error}")
            return
        if again.changed:
            first, second = write_lines(watch.after), write_lines(root)
            found.add(SETTLES, "a second run changed the graph again:\n" + _diff(first, second))

    def _judge_bytes(
        self, graph: Graph, request: CompileRequest, result: Result, found: Examined
    ) -> None:
        found.judged.add(SAME_BYTES)
        second = Compiler(self.kernel).compile(clone(graph), request)
        one, other = document(result), document(second)
        if one != other:
            found.add(SAME_BYTES, "two compiles of one graph differ:\n" + _diff(one, other))

    def _judge_values(self, result: Result, found: Examined) -> None:
        assert result.proof is not None
        found.judged.add(PROOF)
        if not result.proof.ok:
            found.add(PROOF, "\n".join(str(v) for v in result.proof.violations[:2]))
            return
        if self.executor is None or self.tolerance is None:
            return
        found.judged.add(VALUES)
        try:
            problem = execute_and_compare(result, self.executor, self.tolerance)
        except GeError as error:
            problem = f"the compiled graph can't be executed: {error}"
        if problem:
            found.add(VALUES, problem)


def execute_and_compare(result: Result, executor: Any, tolerance: float = 0.0) -> str:
    """What differs between the run in the arena and an unplanned run of the original, in words."""
    assert result.kernel is not None
    ops, kernels = result.kernel.ops, result.kernel.registries.kernels
    feeds = executor.make_feeds(result.original, 0, {}, ops=ops)
    reference = executor.reference(result.original, feeds, ops=ops, kernels=kernels)
    ran = executor.run(result.graph, result.plan, result.tasks, feeds, ops=ops, kernels=kernels)
    compared = compare_outputs(list(executor.compare(reference.outputs, ran.outputs)), tolerance)
    if compared:
        return ""
    told = f"executed, it computes something else:\n{compared}"
    # Executors of others may not tell.
    made_up = {**getattr(reference, "stand_ins", {}), **getattr(ran, "stand_ins", {})}
    standins = changed_standins(result, made_up)
    if standins:
        told += (
            f"\nonly a stand-in computes {', '.join(standins)}: it can't show that ops cancel out"
            " or may be exchanged;\nregister kernels that compute them, or leave execution out"
            " (executor=None)"
        )
    return told


class Watch(Instrument):
    """Looks at the graph before and after the pass under test."""

    def __init__(self, name: str, found: Examined) -> None:
        self.name = name
        self.found = found
        self.changed = False
        self.failure: tuple[str, str] | None = None
        self.context: PassContext | None = None
        self.after: Graph | None = None
        self.remarks: list[Remark] = []
        self.known: set[str] = set()
        self._hash = ""
        self._mark = 0

    def before_pass(self, ctx: PassContext) -> None:
        """Remember what the graph is."""
        if ctx.declaration.name != self.name:
            return
        root = ctx.environment.root
        self.context = ctx
        self._hash = structural_hash(root)
        self._mark = ctx.environment.remarks.mark()
        self.known |= {node.name for node in root.all_nodes()}

    def after_pass(self, ctx: PassContext, changed: bool, seconds: float) -> None:
        """Judge the graph as the pass left it."""
        if ctx.declaration.name != self.name:
            return
        root = ctx.environment.root
        self.remarks += ctx.environment.remarks.since(self._mark)
        try:
            verify(root)
        except GraphError as error:
            self.found.add(STRUCTURE, f"it left a broken graph: {error}")
            return
        edited = structural_hash(root) != self._hash
        self.changed |= changed or edited
        if edited and not changed:
            self.found.add(
                EDITS,
                "it changed the graph and the graph doesn't know: edit through Graph.set_attr,"
                " Graph.rewire, ... only",
            )
            return
        self.after = clone(root)

    def pass_failed(self, ctx: PassContext, error: GeError) -> None:
        """Remember what went wrong, and which promise that breaks."""
        if ctx.declaration.name == self.name and self.failure is None:
            # The manager tells while it handles what was raised; `error` is that, with names.
            self.failure = _aspect_of(sys.exc_info()[1] or error), str(error)


_CHECKS: Final = {
    AnalysisAudit: EDITS,
    ChangeAudit: EDITS,
    ClaimWatch: CLAIMS,
    PreserveAudit: CLAIMS,
    SubjectAudit: REMARKS,
}


def _aspect_of(error: BaseException) -> str:
    """Which promise an error of the kernel's own checks is about: by where it was raised."""
    at: BaseException | None = error
    while at is not None:
        for frame in _frames(at.__traceback__):
            aspect = _CHECKS.get(type(frame.f_locals.get("self")))
            if aspect is not None and frame.f_code.co_name in ("before", "after", "after_action"):
                return aspect
            home, name = frame.f_globals.get("__name__"), frame.f_code.co_name
            if home == "ge_core.passes.context" and name == "_made":
                return REMARKS
        at = at.__cause__
    return RUNS


def _frames(trace: TracebackType | None) -> Any:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


# ---- remarks and origins -------------------------------------------------------------------------


def _judge_remarks(kernel: Kernel, watch: Watch, result: Result, found: Examined) -> None:
    found.judged.add(REMARKS)
    assert watch.context is not None
    environment, declaration = watch.context.environment, watch.context.declaration
    for remark in watch.remarks:
        problem = _remark_problem(remark, watch) or _hint_problem(kernel, remark)
        if problem:
            found.add(REMARKS, problem)
            return
    closed = {code.name for code in KERNEL_CODES}
    for node in result.original.all_nodes():
        kind = environment.ops.of(node.op, node.graph.source if node.graph else "ge").kind
        if kind not in SUBJECT_KINDS:
            continue
        final = result.remarks.final(node.name)
        if final is None:
            found.add(REMARKS, f"{node.op} {node.name} ends without a final remark")
            return
        handled = kind in declaration.handles or node.op in declaration.handles
        if handled and final.code in closed and node.name in watch.known:
            found.add(
                REMARKS,
                f"it handles {kind!r} and says nothing of {node.op} {node.name}:"
                " give ctx.missed(node, code) where it stays",
            )
            return


def _remark_problem(remark: Remark, watch: Watch) -> str:
    assert watch.context is not None
    environment = watch.context.environment
    code = environment.codes.find(remark.code)
    about = f"the remark {remark.code} on {remark.node}"
    if code is None:
        return f"{about} has a code that nobody declared"
    if not remark.reason.strip() or "{" in remark.reason:
        return f"{about} has no finished reason: {remark.reason!r}"
    if remark.node not in watch.known and environment.root.find(remark.node) is None:
        return f"{about} speaks of a node that never was in the graph"
    if remark.bytes is not None and remark.bytes < 0:
        return f"{about} counts {remark.bytes} bytes"
    gone = environment.root.find(remark.node) is None
    if gone and remark.kind in (RemarkKind.MISSED, RemarkKind.FAILED):
        # It may have gone later on; then its last word is another one.
        final = environment.remarks.final(remark.node)
        if final is remark:
            return f"{about} says that the node stays, and it is gone"
    return ""


def _hint_problem(kernel: Kernel, remark: Remark) -> str:
    """Whether what a hint tells users to set can be set."""
    if remark.hint is None or remark.hint.kind != "set":
        return ""
    about = f"the hint of the remark {remark.code} on {remark.node}"
    name, equals, value = remark.hint.value.partition("=")
    if not equals:
        return f"{about} says no value: {{'set': {remark.hint.value!r}}}; write 'option=value'"
    try:
        schedule_for(kernel, CompileRequest(options={name: value}))
    except UnknownNameError as error:
        near = f"\n  near: {', '.join(error.near)}" if error.near else ""
        return f"{about} names an option that is not there: {error.message}{near}"
    except GeError as error:
        return f"{about} can't be followed: {error}"
    return ""


def _judge_origins(graph: Graph, watch: Watch, found: Examined) -> None:
    found.judged.add(ORIGINS)
    if watch.after is None:
        return
    originals = {node.name for node in graph.all_nodes()} | watch.known
    for node in watch.after.all_nodes():
        strange = [name for name in node.origin if name not in originals]
        if strange:
            found.add(
                ORIGINS,
                f"{node.op} {node.name} stands for {', '.join(map(repr, strange))}, which no graph"
                " had before: give add_node(..., origin=...), () for a node that is new",
            )
            return


# ---- documents -----------------------------------------------------------------------------------


def document(result: Result) -> str:
    """All of a result that must be the same on every run, as one text."""
    return json.dumps(
        {
            "graph": write_graph(result.graph),
            "plan": result.plan.to_json(),
            "tasks": [str(task) for task in result.tasks.tasks],
            "remarks": [remark.to_json() for remark in result.remarks],
            "summary": result.summary(),
        },
        indent=1,
        sort_keys=True,
        default=str,
    )


def write_lines(graph: Graph) -> str:
    """A graph as text, for comparisons line by line."""
    return json.dumps(write_graph(graph), indent=1, sort_keys=True, default=str)


def _diff(one: str, other: str, most: int = 12) -> str:
    import difflib

    lines = difflib.unified_diff(
        one.splitlines(), other.splitlines(), "first", "second", lineterm="", n=1
    )
    shown = list(lines)
    more = len(shown) - most
    tail = [f"... {more} more lines"] if more > 0 else []
    return "\n".join([*shown[:most], *tail])
