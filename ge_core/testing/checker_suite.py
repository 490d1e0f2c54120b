"""`checker_conformance`: what anchor types and conflict checkers promise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from ge_core.analysis import AliasClasses, Anchor, InputKind, OutputKind, Scheme
from ge_core.errors import GeError, UsageError
from ge_core.ir import Graph, TensorDesc, structural_hash
from ge_core.memory.anchor_types import AnchorType
from ge_core.memory.checkers import PairRule
from ge_core.memory.conflict_query import Answer, LayoutQuery
from ge_core.plugin.registries import Registries
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest
from ge_core.session.scheduling import schedule_for
from ge_core.testing.choices import Choices
from ge_core.testing.kernels import (
    UNDER_TEST,
    PluginSpec,
    kernel_with,
    owned,
    owner_of,
    run_passes,
)
from ge_core.testing.random_graphs import GraphKnobs, OpRecipe
from ge_core.testing.samples import Graphs, Sample, given_samples, odd_samples, random_samples
from ge_core.testing.suite import Suite, fail, make_suite, plainly

MOST_PAIRS: Final = 60
"""Pairs of anchors that one rule is asked about in one graph."""


def checker_conformance(
    plugin: PluginSpec = None,
    *,
    types: Callable[[Any], object] | None = None,
    checkers: Callable[[Any], object] | None = None,
    graphs: Graphs = None,
    attrs: Mapping[str, Sequence[object]] | None = None,
    ops: Sequence[OpRecipe | str] = (),
    knobs: GraphKnobs | None = None,
    samples: int = 12,
) -> type[Any]:
    """A suite of conformance tests for anchor types and checkers.

    `test_x = checker_conformance(acme_ge)` is all of it.

    Args:
        plugin: the module with the hooks, or the name of an installed plugin.
        types, checkers: the two hook functions, where no plugin is given.
        graphs: graphs to judge with, instead of random ones.
        attrs: attributes of tensor descriptions that random graphs are strewn with, each with
            the values to choose from: `{"acme.bank": (1, 2)}`.
        ops, knobs: what random graphs contain otherwise.
    """
    if plugin is None and types is None and checkers is None:
        raise UsageError("checker_conformance needs a plugin, or the functions of its hooks")
    subject = _Subject(plugin, types, checkers, graphs, dict(attrs or {}), ops, knobs, samples)
    label = plugin if isinstance(plugin, str) else getattr(plugin, "__name__", "hooks")
    return make_suite(CheckerSuite, label, subject)


@dataclass
class _Subject:
    plugin: PluginSpec
    types: Callable[[Any], object] | None
    checkers: Callable[[Any], object] | None
    graphs: Graphs
    attrs: Mapping[str, Sequence[object]]
    ops: Sequence[OpRecipe | str]
    knobs: GraphKnobs | None
    count: int

    @cached_property
    def _found(self) -> tuple[Kernel, str]:
        kernel, name = kernel_with(self.plugin)
        if name is not None:
            return kernel, name
        staged = Registries()
        if self.types is not None:
            self.types(staged.anchor_types)
        if self.checkers is not None:
            self.checkers(staged.checkers)
        return owned(kernel, staged), UNDER_TEST.name

    @property
    def kernel(self) -> Kernel:
        """The kernel that has them."""
        return self._found[0]

    @cached_property
    def owner(self) -> str:
        """Package and version, for messages."""
        return str(owner_of(self.kernel, self._found[1])[0])

    @cached_property
    def marked(self) -> list[AnchorType]:
        """The anchor types under test."""
        registry = self.kernel.registries.anchor_types
        return [kind for kind in registry if str(kind.owner) == self.owner]

    @cached_property
    def rules(self) -> list[PairRule]:
        """The rules under test."""
        return [r for r in self.kernel.registries.checkers if str(r.owner) == self.owner]

    @cached_property
    def samples(self) -> list[Sample]:
        """Graphs as passes leave them: their marks are what types look at."""
        if self.graphs is not None:
            found = given_samples(self.graphs, self.count)
        else:
            knobs = self.knobs or GraphKnobs(nodes=10)
            decorate = self._strew if self.attrs else None
            knobs = dataclasses.replace(knobs, ops=list(self.ops), decorate=decorate)
            found = random_samples(knobs, self.count)
        found += odd_samples([])
        return [dataclasses.replace(s, graph=self._marked(s)) for s in found]

    def _strew(self, pick: Choices, desc: TensorDesc) -> TensorDesc:
        for name in sorted(self.attrs):
            desc = desc.with_attr(name, pick.pick(list(self.attrs[name])))
        return desc

    def _marked(self, sample: Sample) -> Graph:
        """The graph as the passes leave it; as it came where they refuse it."""
        graph = sample.fresh()
        if self.graphs is None:
            try:
                run_passes(self.kernel, graph, CompileRequest())
            except GeError:
                return sample.fresh()
        return graph

    @cached_property
    def scenes(self) -> list[_Scene]:
        """Each graph with its anchors by type; a marker that raises is met elsewhere."""
        found = []
        for sample in self.samples:
            try:
                found.append(_Scene(self, sample))
            except GeError:
                continue
        return found

    @cached_property
    def option(self) -> Callable[[str], str | None]:
        """The values in force where nobody sets anything."""
        return schedule_for(self.kernel, CompileRequest()).options.get

    def about(self, rule: PairRule) -> str:
        """A rule in words."""
        return f"the rule for {' and '.join(rule.types)} ({self.owner})"


class _Scene:
    """One graph, ready for questions."""

    def __init__(self, subject: _Subject, sample: Sample) -> None:
        self.subject, self.sample = subject, sample
        self.graph = sample.graph
        registries = subject.kernel.registries
        types = registries.anchor_types.of
        self.classes = AliasClasses(self.graph, registries.ops, Scheme.SYMBOLS, types)
        self.by_type: dict[str, list[Anchor]] = {}
        for anchor in anchors_of(self.graph):
            for name in types(anchor):
                self.by_type.setdefault(name, []).append(anchor)

    def pairs(self, rule: PairRule) -> list[tuple[Anchor, Anchor]]:
        """Pairs of anchors of a rule's types, of different nodes, spread over the graph."""
        a, b = rule.types
        found = [
            (one, other)
            for one in self.by_type.get(a, ())
            for other in self.by_type.get(b, ())
            if one is not other and one.node is not other.node
        ]
        step = max(1, len(found) // MOST_PAIRS)
        return found[::step][:MOST_PAIRS]

    def ask(self, rule: PairRule, one: Anchor, other: Anchor) -> Any:
        """What a rule answers about two anchors in one memory."""
        ops = self.subject.kernel.ops

        def members() -> Iterator[Anchor]:
            yield from self.classes.members(one)
            yield from self.classes.members(other)

        query = LayoutQuery(self.graph, ops, self.subject.option, members, (one, other))
        return rule(one, other, query)


def anchors_of(graph: Graph) -> Iterator[Anchor]:
    """All anchors of a graph and its subgraphs, in listed order."""
    for node in graph.all_nodes():
        yield from node.inputs
        yield from node.outputs


class CheckerSuite(Suite):
    """What anchor types and conflict checkers promise."""

    subject: ClassVar[_Subject]

    @plainly
    def test_there_is_something_to_check(self) -> None:
        """The plugin declares types or rules, and the graphs have anchors of them."""
        subject = self.subject
        if not subject.marked and not subject.rules:
            fail(f"{subject.owner} declares neither anchor types nor checkers")
        found: dict[str, int] = {}
        for scene in subject.scenes:
            for name, anchors in scene.by_type.items():
                found[name] = found.get(name, 0) + len(anchors)
        for kind in subject.marked:
            if kind.name not in found:
                fail(
                    f"no anchor in {len(subject.samples)} graphs is of type {kind.name}"
                    f" ({subject.owner})",
                    "  strew descriptions with what it looks at: attrs={'acme.bank': (1, 2)},"
                    " or give graphs=",
                )

    @plainly
    def test_markers_answer_for_every_anchor(self) -> None:
        """On inputs and outputs, of odd graphs too, twice the same, editing nothing."""
        for kind in self.subject.marked:
            for sample in self.subject.samples:
                before = structural_hash(sample.graph)
                first = [kind(anchor) for anchor in anchors_of(sample.graph)]
                second = [kind(anchor) for anchor in reversed(list(anchors_of(sample.graph)))]
                if first != second[::-1]:
                    fail(f"anchor type {kind.name} ({self.subject.owner}) answers differently when"
                         f" asked again, on {sample.name}")  # fmt: skip
                if structural_hash(sample.graph) != before:
                    fail(f"anchor type {kind.name} ({self.subject.owner}) edited {sample.name}")

    @plainly
    def test_rules_speak_of_known_types(self) -> None:
        """Every type in a rule is registered by somebody."""
        known = self.subject.kernel.registries.anchor_types
        for rule in self.subject.rules:
            for name in rule.types:
                if name not in known:
                    raise known.unknown(name)

    @plainly
    def test_checkers_answer_rightly(self) -> None:
        """With the query's own answers, declared codes, and an anchor of the graph to isolate."""
        for rule, scene, one, other in self._questions():
            answer = scene.ask(rule, one, other)
            about = f"{self.subject.about(rule)}, asked about {one!r} and {other!r}"
            if not isinstance(answer, Answer):
                fail(f"{about}, answered {answer!r}:"
                     " answer query.conflict(code=...) or query.no_conflict()")  # fmt: skip
            if answer.code is None:
                continue
            if rule.owner.full(answer.code) not in rule.codes:
                declared = ", ".join(rule.codes) or "no codes"
                fail(f"{about}, gave code {answer.code!r} and declares {declared}:"
                     f" checkers.check(..., codes=({answer.code!r},))")  # fmt: skip
            where = answer.isolate
            if where is not None and (where.node.graph is None or _not_in(where, scene.graph)):
                fail(f"{about}, wants a copy at {where!r}, which is not in the graph")

    @plainly
    def test_checkers_are_pure(self) -> None:
        """Asked again, and in another order, they answer the same and edit nothing."""
        for rule in self._functions():
            for scene in self.subject.scenes:
                pairs = scene.pairs(rule)
                before = structural_hash(scene.graph)
                first = [_plain(scene.ask(rule, *pair)) for pair in pairs]
                second = [_plain(scene.ask(rule, *pair)) for pair in reversed(pairs)][::-1]
                for pair, one, other in zip(pairs, first, second, strict=True):
                    if one != other:
                        fail(f"{self.subject.about(rule)} answered {one} about {pair[0]!r} and"
                             f" {pair[1]!r}, and {other} when asked again")  # fmt: skip
                if structural_hash(scene.graph) != before:
                    fail(f"{self.subject.about(rule)} edited {scene.sample.name}")

    @plainly
    def test_checkers_are_symmetric(self) -> None:
        """Of two anchors of one type, it doesn't matter which comes first."""
        for rule, scene, one, other in self._questions():
            if rule.types[0] != rule.types[1]:
                # The kernel hands these over in the order in which the types were written.
                continue
            there, back = (_plain(scene.ask(rule, *pair)) for pair in ((one, other), (other, one)))
            if isinstance(there, tuple) and there[:1] != back[:1]:
                fail(
                    f"{self.subject.about(rule)} is not symmetric:"
                    f" {there[0] or 'no conflict'} for {one!r} and {other!r},"
                    f" {back[0] or 'no conflict'} the other way round",
                    f"  on: {scene.sample.name}",
                )

    @plainly
    def test_reads_and_writes_are_all_judged(self) -> None:
        """The read/write checker beside it, its own or another's, says yes or no to each pair."""
        registry = self.subject.kernel.registries.checkers
        checker = registry.make_read_write()
        if checker is None:
            # Nobody brings one: passes keep their copies and say so, and nothing is answered.
            return
        for output in OutputKind:
            for reader in InputKind:
                answers = {repr(checker.conflict(output, reader)) for _ in range(2)}
                if not answers <= {"True", "False"} or len(answers) != 1:
                    said = " and ".join(sorted(answers))
                    fail(
                        f"the read/write checker ({registry.read_write_owner}) answers {said} for"
                        f" {output} read as {reader}"
                    )

    def _functions(self) -> list[PairRule]:
        return [rule for rule in self.subject.rules if rule.kind == "check"]

    def _questions(self) -> Iterator[tuple[PairRule, _Scene, Anchor, Anchor]]:
        for scene in self.subject.scenes:
            for rule in self._functions():
                for one, other in scene.pairs(rule):
                    yield rule, scene, one, other


def _plain(answer: Any) -> Any:
    """An answer without identity: its code, and the anchor's name."""
    return (answer.code, repr(answer.isolate)) if isinstance(answer, Answer) else repr(answer)


def _not_in(anchor: Anchor, graph: Graph) -> bool:
    home = anchor.node.graph
    return home is None or home.root is not graph.root
