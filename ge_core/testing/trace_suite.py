"""`trace_rule_conformance`: what rules for tracing values to their source promise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from ge_core.analysis import (
    Interfaces,
    SourceTracer,
    Step,
    TraceCursor,
    TraceRules,
)
from ge_core.analysis.trace import ANY_OP, TraceRule, TraceStep
from ge_core.errors import GeError, UsageError
from ge_core.ir import InputAnchor, Node, OutputAnchor, structural_hash
from ge_core.plugin.registries import Registries
from ge_core.session.kernel import Kernel
from ge_core.testing.kernels import UNDER_TEST, PluginSpec, kernel_with, owned, owner_of
from ge_core.testing.random_graphs import GraphKnobs, OpRecipe
from ge_core.testing.samples import (
    Graphs,
    Sample,
    given_samples,
    odd_samples,
    random_samples,
    recipes,
)
from ge_core.testing.suite import Suite, fail, make_suite, plainly

CIRCLE = "trace rules that lead in a circle"


def trace_rule_conformance(
    plugin: PluginSpec = None,
    *,
    op: str | None = None,
    step: TraceStep | None = None,
    graphs: Graphs = None,
    ops: Sequence[OpRecipe | str] = (),
    knobs: GraphKnobs | None = None,
    samples: int = 12,
) -> type[Any]:
    """A suite of conformance tests for trace rules.

    `test_x = trace_rule_conformance(acme_ge)` is all of it.

    Args:
        plugin: the module with the hook, or the name of an installed plugin.
        op, step: one rule, where no plugin is given: `op="AcmeWindow", step=step_over_window`.
        graphs: graphs to judge with, instead of random ones.
        ops: op types in random graphs; those that the rules are for by default.
        knobs: what random graphs contain otherwise.
    """
    if plugin is None and (op is None or step is None):
        raise UsageError("trace_rule_conformance needs a plugin, or op= and step=")
    subject = _Subject(plugin, op, step, graphs, ops, knobs, samples)
    label = plugin if isinstance(plugin, str) else getattr(plugin, "__name__", str(op))
    return make_suite(TraceRuleSuite, label, subject)


@dataclass
class _Subject:
    plugin: PluginSpec
    op: str | None
    step: TraceStep | None
    graphs: Graphs
    ops: Sequence[OpRecipe | str]
    knobs: GraphKnobs | None
    count: int

    @cached_property
    def _found(self) -> tuple[Kernel, str]:
        kernel, name = kernel_with(self.plugin)
        if name is not None:
            return kernel, name
        staged = Registries()
        assert self.op is not None and self.step is not None
        staged.trace_rules.add(self.op, self.step)
        return owned(kernel, staged), UNDER_TEST.name

    @property
    def kernel(self) -> Kernel:
        """The kernel that has the rules."""
        return self._found[0]

    @cached_property
    def owner(self) -> str:
        """Package and version, for messages."""
        return str(owner_of(self.kernel, self._found[1])[0])

    @cached_property
    def rules(self) -> list[TraceRule]:
        """The rules under test."""
        return [r for r in self.kernel.registries.trace_rules if str(r.owner) == self.owner]

    @cached_property
    def samples(self) -> list[Sample]:
        """The graphs."""
        registry = self.kernel.ops
        named = [rule.op for rule in self.rules if rule.op != ANY_OP]
        plain = [op for op in named if registry.of(op, "ge").kind == "compute"]
        made = recipes(list(self.ops) or plain, registry)
        if self.graphs is not None:
            found = given_samples(self.graphs, self.count)
        else:
            knobs = self.knobs or GraphKnobs()
            found = random_samples(replace(knobs, ops=made), self.count)
        return found + odd_samples(made)

    def questions(self) -> Iterator[tuple[TraceRule, Sample, OutputAnchor]]:
        """Every rule with every output that it would be asked about."""
        for rule in self.rules:
            for sample in self.samples:
                for node in sample.graph.all_nodes():
                    if rule.op in (node.op, ANY_OP):
                        for output in node.outputs:
                            yield rule, sample, output

    def ask(self, rule: TraceRule, sample: Sample, output: OutputAnchor) -> Step | None:
        """What the rule answers; `PassError` where it raises or answers something else."""
        return rule(output, TraceCursor(sample.graph.root, self.kernel.ops, Interfaces()))

    def about(self, rule: TraceRule) -> str:
        """A rule in words."""
        return f"the trace rule for {rule.op!r} ({self.owner})"


class TraceRuleSuite(Suite):
    """What trace rules promise."""

    subject: ClassVar[_Subject]

    @plainly
    def test_there_is_something_to_step_over(self) -> None:
        """The plugin has rules, and each meets its op and steps or stops somewhere."""
        subject = self.subject
        if not subject.rules:
            fail(f"{subject.owner} declares no trace rules")
        for rule in subject.rules:
            asked = [q for q in subject.questions() if q[0] is rule]
            if not any(_answered(subject, *question) for question in asked):
                fail(
                    f"{subject.about(rule)} never answered: {len(asked)} outputs of"
                    f" {rule.op!r} in {len(subject.samples)} graphs",
                    "  say what it is for: ops=[...], or graphs=my_function",
                )

    @plainly
    def test_rules_answer_steps(self) -> None:
        """With the cursor's own answers or None, for every output; whatever is raised is named."""
        for question in self.subject.questions():
            self.subject.ask(*question)

    @plainly
    def test_traces_end(self) -> None:
        """No trace goes in a circle, whatever it begins at."""
        subject = self.subject
        for sample in subject.samples:
            tracer = SourceTracer(sample.graph, subject.kernel.ops, self._rules())
            for anchor in _inputs(sample):
                try:
                    trace = tracer.trace(anchor)
                except GeError:
                    continue
                if trace.stopped == CIRCLE:
                    path = " <- ".join(point.node.name for point in trace.path)
                    fail(f"{subject.owner}: the trace from {anchor!r} goes in a circle: {path}",
                         f"  on: {sample.name}")  # fmt: skip

    @plainly
    def test_steps_stay_on_the_way_of_the_data(self) -> None:
        """From an output to an input of its node, of its caller, or of a result inside it."""
        for rule, sample, output in self.subject.questions():
            step = _quiet(self.subject, rule, sample, output)
            if step is None or step.through is None:
                continue
            if step.through.node not in _neighbours(output.node):
                fail(
                    f"{self.subject.about(rule)} leads from {output!r} to {step.through!r}, which"
                    " is not on the way of the data",
                    f"  on: {sample.name}",
                    "  go through an input of the node, trace.leave(node) or trace.enter(output)",
                )
            lost = [point.node.name for point in step.via if point.node.graph is None]
            if lost:
                fail(f"{self.subject.about(rule)} passes {lost[0]!r}, which is in no graph")

    @plainly
    def test_rules_are_pure(self) -> None:
        """Asked again, and in another order, they answer the same and edit nothing."""
        subject = self.subject
        for sample in subject.samples:
            before = structural_hash(sample.graph)
            mine = [q for q in subject.questions() if q[1] is sample]
            first = [_told(_quiet(subject, *question)) for question in mine]
            second = [_told(_quiet(subject, *question)) for question in reversed(mine)][::-1]
            for (rule, _, output), one, other in zip(mine, first, second, strict=True):
                if one != other:
                    fail(f"{subject.about(rule)} answered {one} at {output!r}, and {other} when"
                         " asked again")  # fmt: skip
            if structural_hash(sample.graph) != before:
                fail(f"a trace rule of {subject.owner} edited {sample.name}")

    def _rules(self) -> TraceRules:
        return self.subject.kernel.registries.trace_rules


def _answered(subject: _Subject, rule: TraceRule, sample: Sample, output: OutputAnchor) -> bool:
    return _quiet(subject, rule, sample, output) is not None


def _quiet(subject: _Subject, rule: TraceRule, sample: Sample, output: OutputAnchor) -> Step | None:
    """An answer; None where the rule raises, which another test is about."""
    try:
        return subject.ask(rule, sample, output)
    except GeError:
        return None


def _told(step: Step | None) -> str:
    if step is None:
        return "None"
    if step.through is None:
        return f"stop({step.stopped!r})"
    return f"through({step.through!r})"


def _neighbours(node: Node) -> set[Node]:
    """The node, its callers, and what delivers the results of its subgraphs."""
    found = {node}
    if node.graph is not None:
        found.update(caller for caller, _ in node.graph.callers)
    for graph in node.subgraphs.values():
        if graph.net_output is not None:
            found.add(graph.net_output)
    return found


def _inputs(sample: Sample) -> Iterator[InputAnchor]:
    for node in sample.graph.all_nodes():
        yield from node.inputs
