"""The walk over pairs finds what a walk over all anchors finds, and looks at little more."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import pytest

from ge_core.api import (
    AliasClasses,
    Anchor,
    Graph,
    GraphBuilder,
    InputAnchor,
    LayoutChecks,
    Node,
    OutputAnchor,
    Scheme,
)
from ge_core.memory.conflict_query import LayoutQuery
from ge_core.session.kernel import default_kernel

from .layout_graphs import HCCL, PACKED, demanding_graph

KERNEL = default_kernel()
RULES = KERNEL.registries.checkers
TYPES = KERNEL.registries.anchor_types
OPTIONS = {"ge.featureBaseRefreshable": "1"}
GROUPED_OUT = {"CONTINUOUS_OUTPUT", "NOPADDING_CONTINUOUS_OUTPUT"}

Found = tuple[str, str, str, str]


def checks_of(graph: Graph) -> LayoutChecks:
    """The rules, where addresses change."""
    return LayoutChecks(RULES, graph, KERNEL.ops, OPTIONS.get)


def classes_of(graph: Graph) -> AliasClasses:
    """GE's symbols."""
    return AliasClasses(graph, KERNEL.ops, Scheme.SYMBOLS, TYPES.of)


def listed_anchors(graph: Graph) -> Iterator[Anchor]:
    """All anchors as they are listed."""
    for node in graph.all_nodes():
        yield from node.inputs
        yield from node.outputs


def everything(graph: Graph) -> set[Found]:
    """Section 9.2, word by word: every memory, every pair, every attribute with every other."""
    classes = classes_of(graph)
    places = {node: at for at, node in enumerate(graph.nodes)}
    found = set()
    for root in classes.classes():
        members = list(classes.members(root))
        query = LayoutQuery(graph, KERNEL.ops, OPTIONS.get, partial(iter, members))
        for a, b in combinations(members, 2):
            if a.node is b.node or is_variable_and_reference(a, b):
                continue
            for one in TYPES.of(a):
                for other in TYPES.of(b):
                    answer = told(query, members, places, (one, a), (other, b))
                    if answer is not None:
                        found.add((str(a), str(b), *answer))
    return found


def is_variable_and_reference(a: Anchor, b: Anchor) -> bool:
    """Two outputs, neither packed, one of which names the other's node."""
    if isinstance(a, InputAnchor) or isinstance(b, InputAnchor):
        return False
    if GROUPED_OUT & {*TYPES.of(a), *TYPES.of(b)}:
        return False
    names = [anchor.desc.attrs.get("ref_var_src_var_name") for anchor in (a, b)]
    return names[0] == b.node.name or names[1] == a.node.name


def told(
    query: LayoutQuery,
    members: list[Anchor],
    places: dict[Node, int],
    first: tuple[str, Anchor],
    second: tuple[str, Anchor],
) -> tuple[str, str] | None:
    """What the rule for two attributes says: code and side."""
    (one, a), (other, b) = first, second
    rule = RULES.rule(one, other)
    if rule is None or rule.kind == "never":
        return None
    if rule.kind == "always":
        return rule.codes[0], str(absolute(a, b, members, places))
    query.earlier = a
    answer = rule(b, a, query) if rule.types != (one, other) else rule(a, b, query)
    return None if answer.code is None else (answer.code, str(answer.isolate))


def absolute(a: Anchor, b: Anchor, members: list[Anchor], places: dict[Node, int]) -> Anchor:
    """The input; of two the smaller node without an output in this memory, else the second."""
    if isinstance(a, OutputAnchor):
        return b
    if isinstance(b, OutputAnchor):
        return a
    hands_on = any(isinstance(m, OutputAnchor) and m.node is a.node for m in members)
    return a if places[a.node] < places[b.node] and not hands_on else b


@pytest.mark.parametrize("seed", range(60))
def test_the_walk_by_types_finds_what_a_walk_over_all_pairs_finds(seed: int) -> None:
    """The same clashes with the same codes and sides, and none twice for one pair of types."""
    graph = demanding_graph(seed)
    classes, checks = classes_of(graph), checks_of(graph)
    found = [
        (str(clash.first), str(clash.second), clash.code, str(clash.isolate))
        for root in classes.classes()
        for clash in checks.clashes(classes, root)
    ]
    assert everything(graph) == set(found)


def test_the_table_reads_the_same_both_ways() -> None:
    """Rules are for unordered pairs."""
    names = TYPES.names()
    assert 14 == sum(1 for name in names if TYPES.get(name).owner.builtin)
    for one in names:
        for other in names:
            assert RULES.rule(one, other) is RULES.rule(other, one)


def test_only_pairs_that_no_graph_should_have_lack_a_rule() -> None:
    """Every other pair of GE's types has one, or has a type that demands nothing."""
    names = [name for name in TYPES.names() if not RULES.is_indifferent(name)]
    lacking = [
        (one, other)
        for one in names
        for other in names
        if one <= other and not RULES.rule(one, other)
    ]
    fixed, given = "IMMUTABLE_ADDRESS_OUTPUT", "USER_MEMORY_INPUT"
    assert [(fixed, fixed), (fixed, given), (given, given)] == lacking


@pytest.mark.parametrize("seed", range(20))
def test_joining_two_memories_is_symmetric(seed: int) -> None:
    """Whether it would clash doesn't depend on which one is named first."""
    graph = demanding_graph(seed, nodes=10)
    classes, checks = classes_of(graph), checks_of(graph)
    roots = list(classes.classes())
    for one, other in combinations(roots, 2):
        ways = [checks.first_clash(classes, *pair) for pair in ((one, other), (other, one))]
        assert (ways[0] is None) == (ways[1] is None)


def readers(count: int, *demanding: str) -> Graph:
    """One value with many ordinary readers and some that demand something."""
    b = GraphBuilder()
    value = b.op("Relu", b.data("x"))
    for at in range(count):
        b.op("Exp", value, name=f"e{at}")
    for at, kind in enumerate(demanding):
        other = b.op("Exp", b.data(f"y{at}"))
        marks = PACKED if kind == "packed" else {"_input_memory_type": ["P2P"]}
        b.op("Foo", value, other, name=f"d{at}", attrs=marks)
    return b.graph


@pytest.mark.parametrize(
    ("demanding", "asked"),
    [((), 0), (("packed",), 0), (("packed", "packed"), 1), (("packed", "packed", "special"), 3)],
)
def test_ordinary_readers_are_not_looked_at(demanding: tuple[str, ...], asked: int) -> None:
    """Only anchors of types with a rule are paired, however many others the memory has."""
    for count in (10, 2000):
        graph = readers(count, *demanding)
        classes, checks = classes_of(graph), checks_of(graph)
        for root in classes.classes():
            list(checks.clashes(classes, root))
        assert asked == checks.asked


def test_a_reader_that_can_t_follow_is_compared_with_each_other_once() -> None:
    """One switch among many readers: as many questions as there are readers and writers."""
    b = GraphBuilder()
    value = b.op("Relu", b.data("x"))
    for at in range(500):
        b.op("Exp", value, name=f"e{at}")
    b.op("StreamSwitch", value)
    classes, checks = classes_of(b.graph), checks_of(b.graph)
    for root in classes.classes():
        list(checks.clashes(classes, root))
    assert 501 == checks.asked


def test_what_may_be_unable_is_typed_whatever_the_options() -> None:
    """Types can't ask options; the rules do."""
    b = GraphBuilder()
    made = b.op("HcomFoo", b.data("x"), attrs=HCCL)
    assert ["UNSUPPORTED_ADDRESS_REFRESH_OPERATOR_OUTPUT"] == TYPES.of(made)
