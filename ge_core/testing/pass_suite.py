"""`pass_conformance`: what every pass promises, on random and on odd graphs."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest

from ge_core.errors import GeError, UsageError
from ge_core.ir import Graph, clone, print_graph
from ge_core.passes.base import AnalysisPass, Pass
from ge_core.passes.pass_options import describe_options
from ge_core.passes.registry import PassDeclaration
from ge_core.session.compiler import Compiler
from ge_core.session.execution import make_executor
from ge_core.session.request import CompileRequest
from ge_core.testing import examining
from ge_core.testing.declared import unknown_name
from ge_core.testing.examining import Examined, Examiner
from ge_core.testing.kernels import PluginSpec, quick_assigner
from ge_core.testing.odd_graphs import ODD_GRAPHS
from ge_core.testing.pass_subject import PassSubject
from ge_core.testing.random_graphs import GraphKnobs, OpRecipe
from ge_core.testing.reduce import reduce_graph
from ge_core.testing.replay import another_process
from ge_core.testing.samples import (
    Graphs,
    Sample,
    given_samples,
    odd_samples,
    ops_named_by,
    random_samples,
    recipes,
)
from ge_core.testing.suite import Suite, fail, indented, make_suite, plainly, skip

CODE = re.compile(r"([a-z][\w-]*\.)?[A-Z][A-Z0-9_]*")
"""What a stable reason code looks like, its owner's prefix in front."""


def pass_conformance(
    work: type[Pass] | str,
    *,
    plugin: PluginSpec = None,
    ops: Sequence[OpRecipe | str] | None = None,
    graphs: Graphs = None,
    knobs: GraphKnobs | None = None,
    options: Mapping[str, str] | None = None,
    executor: str | None = "numpy",
    tolerance: float | None = 0.0,
    idempotent: bool | str = True,
    edits: bool | str = True,
    samples: int = 12,
    shrink: bool = True,
    **registration: Any,
) -> type[Any]:
    """A suite of conformance tests for a pass.

    `test_my_pass = pass_conformance(MyPass)` is all of it.

    Args:
        work: the class, or the name under which a pass is registered.
        plugin: the module that registers it, where that isn't installed.
        ops: op types that random graphs are given for it to work on; by default those that its
            code names. `OpRecipe` says how a node of one is made.
        graphs: graphs to judge with instead of random ones: a function of a seed, a list, or a
            hypothesis strategy. Odd graphs are tried as well.
        knobs: what random graphs contain otherwise.
        options: GE options and fields of the pass, as texts.
        executor: who executes; None leaves that test out, and the report says so.
        tolerance: largest difference between outputs that counts as equal; None for a pass that
            is meant to change what is computed.
        idempotent: True, or the reason why a second run may change something again.
        edits: True, or the reason why the pass never edits, although it is no AnalysisPass; then it
            must really leave every graph as it is.
        samples: how many graphs.
        shrink: whether a graph that shows a fault is made smaller.
        registration: `stage=`, `levels=` and the other arguments of `passes.add`, for a pass that
            no plugin registers.
    """
    if idempotent is False:
        raise UsageError("idempotent=False needs a reason: idempotent='why a second run edits'")
    if edits is False:
        raise UsageError("edits=False needs a reason: edits='why it only looks and remarks'")
    subject = _Subject(
        find=PassSubject(work, plugin, registration, dict(options or {})),
        ops=ops,
        graphs=graphs,
        knobs=knobs or GraphKnobs(),
        executor=executor,
        tolerance=tolerance,
        settles=idempotent is True,
        reason=idempotent if isinstance(idempotent, str) else "",
        looks=edits if isinstance(edits, str) else "",
        count=samples,
        shrink=shrink,
    )
    return make_suite(PassSuite, subject.find.label, subject)


@dataclass
class _Subject:
    """What the tests of one suite share."""

    find: PassSubject
    ops: Sequence[OpRecipe | str] | None
    graphs: Graphs
    knobs: GraphKnobs
    executor: str | None
    tolerance: float | None
    settles: bool
    reason: str
    looks: str
    count: int
    shrink: bool

    @cached_property
    def recipes(self) -> list[OpRecipe]:
        """How nodes are made for the pass to work on."""
        registry = self.find.kernel.ops
        ops = self.ops
        if ops is None:
            ops = ops_named_by(self.find.declaration.load(), registry)
        return recipes(ops, registry)

    @cached_property
    def examiner(self) -> Examiner:
        """Who looks at each graph."""
        runner = None
        if self.executor is not None:
            try:
                runner = make_executor(self.executor)
            except GeError:
                # The test that executes says so; the others go on without.
                runner = None
        return Examiner(self.find.kernel, self.find.name, runner, self.tolerance, self.settles)

    @cached_property
    def misnamed(self) -> str:
        """What its declaration names and nobody knows; empty where all is known."""
        request = self.find.request(0, everything=True)
        ops = [recipe.op for recipe in self.recipes]
        return unknown_name(self.find.kernel, self.find.declaration, request, ops)

    @property
    def only_looks(self) -> bool:
        """Whether it is said never to edit."""
        return bool(self.looks) or issubclass(self.find.declaration.load(), AnalysisPass)

    def check_named(self) -> None:
        """Leave the running test out where the declaration names something that nobody knows."""
        if self.misnamed:
            skip("its declaration names what nobody knows: test_it_is_declared_well says more")

    @cached_property
    def usual(self) -> list[Sample]:
        """The ordinary graphs."""
        if self.graphs is not None:
            return given_samples(self.graphs, self.count)
        return random_samples(replace(self.knobs, ops=self.recipes), self.count)

    @cached_property
    def odd(self) -> dict[str, Sample]:
        """The odd graphs by name."""
        return {str(sample.odd): sample for sample in odd_samples(self.recipes)}

    @cached_property
    def examined(self) -> list[tuple[Sample, Examined, str]]:
        """Every ordinary graph, alone and, every other one, among all passes of the level."""
        found = []
        for at, sample in enumerate(self.usual):
            request = self.find.request(at)
            told = f"alone at {request.level}" if request.pipeline else f"at {request.level}"
            found.append((sample, self.examiner.examine(sample.graph, request), told))
            if at % 2 == 0 and request.pipeline is not None:
                request = self.find.request(at, everything=True)
                seen = self.examiner.examine(sample.graph, request, brief=True)
                found.append((sample, seen, f"with all passes of {request.level}"))
        return found

    def dirty(self) -> set[str]:
        """The aspects in which ordinary graphs show a fault."""
        return {f.aspect for _, seen, _ in self.examined for f in seen.findings}

    def judge(self, aspect: str, promise: str) -> None:
        """Fail with the first finding of an aspect; leave the test out where nothing was judged."""
        __tracebackhide__ = True
        self.check_named()
        for at, (sample, seen, told) in enumerate(self.examined):
            finding = seen.of(aspect)
            if finding is not None:
                fail(*self.report(promise, sample, finding.text, told, aspect, at))
        if not any(aspect in seen.judged for _, seen, _ in self.examined):
            faults = ", ".join(sorted(self.dirty())) or "none"
            skip(f"no graph could be judged: another fault comes first ({faults})")

    def report(
        self, promise: str, sample: Sample, text: str, told: str, aspect: str, at: int = 0
    ) -> list[str]:
        """A finding in full: the graph, made smaller, and how to make it again."""
        graph, note = sample.graph, ""
        nodes = sum(1 for _ in graph.all_nodes())
        if self.shrink:
            graph = self._smaller(sample, aspect, told)
            left = sum(1 for _ in graph.all_nodes())
            note = "" if left == nodes else f", made smaller: {nodes} nodes to {left}"
            text = self._finding(graph, aspect, told) or text
        lines = [
            f"{self.find}: {promise}",
            f"  on: {sample.name}, {told}{note}",
            indented(text, "  "),
            "  graph:",
            indented(print_graph(graph) or "(no nodes)"),
        ]
        if sample.again:
            lines.append(f"  the whole graph: {sample.again}")
        return lines

    def _smaller(self, sample: Sample, aspect: str, told: str) -> Graph:
        def shows(graph: Graph) -> bool:
            return bool(self._finding(graph, aspect, told)) and self._is_sound(graph)

        return reduce_graph(sample.graph, shows)

    def _is_sound(self, graph: Graph) -> bool:
        """Whether the graph is fine without the pass: what is left may mean nothing any more."""
        quick = quick_assigner(self.find.kernel)
        request = CompileRequest(level="O0", disable=(self.find.name,), assigner=quick)
        result = Compiler(self.find.kernel).compile(clone(graph), request)
        return result.proof is not None and result.proof.ok

    def _finding(self, graph: Graph, aspect: str, told: str) -> str:
        everything = told.startswith("with all")
        for at in range(len(self.find.levels)):
            request = self.find.request(at, everything=everything)
            if told.endswith(str(request.level)):
                found = self.examiner.examine(graph, request, brief=everything).of(aspect)
                return "" if found is None else found.text
        return ""


class PassSuite(Suite):
    """What every pass promises."""

    subject: ClassVar[_Subject]

    @plainly
    def test_it_is_declared_well(self) -> None:
        """It has a summary, its options have a text, its codes are names that can stay."""
        declaration = self.subject.find.declaration
        if self.subject.misnamed:
            fail(f"{self.subject.find} names what nobody knows", f"  {self.subject.misnamed}")
        if not declaration.summary.strip():
            fail(f"{self.subject.find} has no summary: give its class a docstring")
        for name in _options_without_text(declaration):
            fail(
                f"{self.subject.find}: option {name!r} is not explained:"
                " write a docstring below the field"
            )
        strange = [code.name for code in declaration.codes if not CODE.fullmatch(code.name)]
        if strange:
            fail(
                f"{self.subject.find}: {strange[0]!r} is no stable reason code:"
                " codes look like SOME_REASON"
            )

    @plainly
    def test_it_has_something_to_do(self) -> None:
        """The graphs contain its business; otherwise all the other tests would say nothing."""
        subject = self.subject
        subject.check_named()
        all_seen = [seen for _, seen, _ in subject.examined]
        if any(seen.findings for seen in all_seen):
            return  # there was something, and other tests say what
        if subject.only_looks:
            if subject.looks and any(seen.edited for seen in all_seen):
                fail(
                    f"{subject.find} edited a graph, and is said not to: {subject.looks}",
                    "  leave edits= out",
                )
            done, word = any(seen.worked for seen in all_seen), "remarked on"
        else:
            done = any(seen.edited or seen.applied for seen in all_seen)
            word = "edited"
        if not done:
            fail(*_nothing_done(subject, word, all_seen))

    @plainly
    def test_it_runs(self) -> None:
        """It raises nothing."""
        self.subject.judge(examining.RUNS, "it must not fail")

    @plainly
    def test_graphs_stay_whole(self) -> None:
        """The structure of the graph is right afterwards, and frozen parts are as they were."""
        self.subject.judge(examining.STRUCTURE, "it must leave a graph that is whole")

    @plainly
    def test_the_graph_knows_of_every_change(self) -> None:
        """What changes the graph goes through its methods, and is said to have changed it."""
        self.subject.judge(examining.EDITS, "it must edit through the graph's methods")

    @plainly
    def test_claims_and_analyses_hold(self) -> None:
        """It breaks no claim that is in force, and what it preserves is really right."""
        self.subject.judge(examining.CLAIMS, "it must keep what others rely on")

    @plainly
    def test_every_copy_is_explained(self) -> None:
        """Each move, join and split ends with one final remark of a declared code."""
        self.subject.judge(examining.REMARKS, "it must say what became of every copy")

    @plainly
    def test_origins_are_kept(self) -> None:
        """Every node still names the original nodes that it stands for."""
        self.subject.judge(examining.ORIGINS, "it must keep the trace to the original")

    @plainly
    def test_a_second_run_changes_nothing(self) -> None:
        """It is done when it has run."""
        if not self.subject.settles:
            skip(f"may change something again: {self.subject.reason}")
        if self.subject.find.alone is None:
            skip("it can't run alone: passes that it needs can't be named in one pipeline")
        self.subject.judge(examining.SETTLES, "a second run must change nothing")

    @plainly
    def test_the_proof_accepts_it(self) -> None:
        """The compiled graph is proved to compute what the original does."""
        self.subject.judge(examining.PROOF, "the proof must accept what it made")

    @plainly
    def test_it_computes_the_same(self) -> None:
        """Executed in its arena, the compiled graph gives what the original gives, bit by bit."""
        subject = self.subject
        if subject.executor is None:
            skip("executor=None leaves execution out")
        if subject.tolerance is None:
            skip("tolerance=None: it is meant to change what is computed")
        if subject.examiner.executor is None:
            make_executor(subject.executor)
        subject.judge(examining.VALUES, "it must not change what is computed")

    @plainly
    def test_equal_graphs_give_equal_bytes(self) -> None:
        """Two compiles give one document, in another process with another hash seed too."""
        subject = self.subject
        subject.judge(examining.SAME_BYTES, "equal inputs must give equal bytes")
        clean = {id(s): s for s, seen, _ in subject.examined if not seen.findings}
        if not clean:
            return
        try:
            differing = another_process(subject.find, list(clean.values()))
        except UsageError as error:
            skip(f"equal in this process; not tried in another one: {error.message}")
        if differing:
            sample, text = differing
            fail(
                f"{subject.find}: another process, with another hash seed, gives other bytes",
                f"  on: {sample.name}",
                indented(text, "  "),
                "  a set is iterated, probably: sort it, or use dict.fromkeys",
            )

    @plainly
    @pytest.mark.parametrize("name", list(ODD_GRAPHS))
    def test_odd_graphs(self, name: str) -> None:
        """No shape of graph is too odd: everything above holds on each of them."""
        subject = self.subject
        subject.check_named()
        sample, dirty = subject.odd[name], subject.dirty()
        for at in range(len(subject.find.levels)):
            request = subject.find.request(at)
            seen = subject.examiner.examine(sample.graph, request)
            for finding in seen.findings:
                if finding.aspect not in dirty:
                    told = (
                        f"alone at {request.level}" if request.pipeline else f"at {request.level}"
                    )
                    promise = f"an odd graph breaks a promise ({finding.aspect})"
                    fail(*subject.report(promise, sample, finding.text, told, finding.aspect))
            if seen.findings:
                skip("the same fault shows on ordinary graphs")


def _nothing_done(subject: _Subject, word: str, all_seen: Sequence[Examined]) -> list[str]:
    """What to say of a pass for which the graphs were no test, line by line."""
    codes: Counter[str] = sum((seen.codes for seen in all_seen), Counter())
    most = sorted(codes.items(), key=lambda item: (-item[1], item[0]))
    said = ", ".join(f"{name} {count} times" for name, count in most) or "none"
    made = ", ".join(recipe.op for recipe in subject.recipes) or "none besides the usual ones"
    lines = [
        f"{subject.find}: in {len(subject.usual)} graphs it {word} nothing,"
        " so that the other tests say nothing",
        f"  codes that it gave: {said}",
    ]
    if subject.graphs is None:
        lines.append(f"  ops that the graphs were given for it: {made}")
    lines.append(
        "  say what it works on: pass_conformance(..., ops=[OpRecipe('Cast', attrs={...})]),"
        " or graphs=my_function"
    )
    if word == "edited":
        lines.append("  where it never edits: derive from AnalysisPass, or edits='why it does not'")
    return lines


def _options_without_text(declaration: PassDeclaration) -> list[str]:
    """Names of options that have no docstring below them; none where there is no source."""
    try:
        inspect.getsource(declaration.load())
    except (OSError, TypeError):
        return []
    return [option.name for option in describe_options(declaration) if not option.help]
