"""`pass_conformance`: a good pass passes, and each bad one fails in just the aspect it breaks."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from ge_core.api import GraphPass, OpRegistry, Stage, register_builtin_ops
from ge_core.errors import UsageError
from ge_core.testing import (
    GraphKnobs,
    OpRecipe,
    pass_conformance,
    pass_suite,
    random_graph,
    strategies,
)
from ge_core.testing.samples import ops_named_by
from tests.testing import bad_passes as bad

STAGE: dict[str, Any] = {"stage": Stage.OPTIMIZE_STAGE2}

test_a_good_pass_is_fine = pass_conformance(bad.Good, changes_values=True, **STAGE)


LINES, FIRST = inspect.getsourcelines(bad.Raises)
RAISED_AT = FIRST + next(at for at, line in enumerate(LINES) if "raise " in line)

BAD: list[tuple[type[GraphPass] | Any, dict[str, Any], str, list[str]]] = [
    (
        bad.Raises,
        {},
        "test_it_runs",
        ["failed: KeyError: ", "code under test", f"bad_passes.py:{RAISED_AT} in run"],
    ),
    (bad.Breaks, {}, "test_graphs_stay_whole", ["left a broken graph"]),
    (
        bad.EditsInSecret,
        {},
        "test_the_graph_knows_of_every_change",
        ["without its methods", "Graph.set_attr"],
    ),
    (
        bad.EditsWhileAnalysing,
        {},
        "test_the_graph_knows_of_every_change",
        ["is an AnalysisPass and edited the graph"],
    ),
    (
        bad.ReordersLate,
        {"stage": Stage.MEM_ASSIGN},
        "test_claims_and_analyses_hold",
        ["SCHEDULE"],
    ),
    (
        bad.PreservesWrongly,
        {"preserves": ["aliases"]},
        "test_claims_and_analyses_hold",
        ["says that it preserves 'aliases', which is wrong after its edits"],
    ),
    (
        bad.IsSilent,
        {},
        "test_every_copy_is_explained",
        ["removed", "without saying so", "ctx.applied"],
    ),
    (
        bad.SaysNothing,
        {"handles": ["move"]},
        "test_every_copy_is_explained",
        ["it handles 'move' and says nothing of"],
    ),
    (
        bad.GivesUnknownCodes,
        {},
        "test_every_copy_is_explained",
        ["NEVER_DECLARED", "nobody declared", "declare it with the pass"],
    ),
    (bad.LeavesReasonsOpen, {}, "test_every_copy_is_explained", ["no finished reason"]),
    (bad.LosesOrigins, {}, "test_origins_are_kept", ["_anew", "add_node(..., origin=...)"]),
    (
        bad.NeverSettles,
        {},
        "test_a_second_run_changes_nothing",
        ["a second run changed the graph again", '"runs": 2'],
    ),
    (bad.CountsRuns, {}, "test_equal_graphs_give_equal_bytes", ["differ", "run number"]),
    (
        bad.IteratesOverASet,
        {},
        "test_equal_graphs_give_equal_bytes",
        ["another hash seed", "a set is iterated"],
    ),
    (bad.Miscalculates, {}, "test_the_proof_accepts_it", ["Sqrt"]),
    (
        bad.Miscalculates,
        {"changes_values": True},
        "test_it_computes_the_same",
        ["computes something else", "differs by"],
    ),
    (bad.NeedsRows, {}, "test_odd_graphs[scalar]", ["IndexError", "odd_graph('scalar')"]),
    (
        bad.LetsWritersThrough,
        {"changes_values": True},
        "test_it_computes_the_same",
        ["computes something else", "differs by"],
    ),
    (
        bad.CountsInWords,
        {},
        "test_every_copy_is_explained",
        ["bytes='many' is no number of bytes"],
    ),
    (
        bad.BlamesANumber,
        {},
        "test_every_copy_is_explained",
        ["blame=3 is no node and no anchor"],
    ),
    (
        bad.HintsAtNothing,
        {},
        "test_every_copy_is_explained",
        ["names an option that is not there: no option 'ge.oo.levle'", "near: ge.oo.level "],
    ),
    (
        bad.HasNoWork,
        {},
        "test_it_has_something_to_do",
        ["in 6 graphs it edited nothing", "codes that it gave: none", "ops=[OpRecipe("],
    ),
    (
        bad.OnlySaysNo,
        {},
        "test_it_has_something_to_do",
        ["in 6 graphs it edited nothing", "under_test.NO 40 times", "for it: Swirl"],
    ),
    (bad.IsNotExplained, {}, "test_it_is_declared_well", ["option 'limit' is not explained"]),
]


FEW_ODD = ("empty", "scalar", "shared_subgraph")
"""Odd graphs that bad passes are tried on; good ones are tried on all."""
ASKS_ANOTHER_PROCESS = bad.IteratesOverASet


@pytest.mark.parametrize(
    ("work", "more", "aspect", "words"),
    BAD,
    ids=[f"{work.__name__}-{aspect}" for work, _, aspect, _ in BAD],
)
def test_a_bad_pass_fails_in_its_aspect(
    work: Any,
    more: dict[str, Any],
    aspect: str,
    words: list[str],
    run_suite: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing else fails, and the message says what was broken and how to make the graph again."""
    if work is not ASKS_ANOTHER_PROCESS:
        monkeypatch.setattr(pass_suite, "another_process", lambda *_: None)
    registration = {**STAGE, "levels": ["O3"], **more}
    suite = pass_conformance(work, samples=6, shrink=False, **registration)
    verdict = run_suite(suite, only=FEW_ODD)
    assert [aspect] == list(verdict.failed), verdict.failed
    for word in (*words, work.__name__):
        assert word in verdict.failed[aspect]


def test_what_shows_a_fault_is_made_small(run_suite: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A handful of nodes is left of a random graph; the call that makes the whole one is told."""
    monkeypatch.setattr(pass_suite, "another_process", lambda *_: None)
    suite = pass_conformance(bad.LosesOrigins, samples=2, levels=["O3"], **STAGE)
    text = run_suite(suite, only=FEW_ODD).failed["test_origins_are_kept"]
    assert int(re.findall(r"made smaller: \d+ nodes to (\d+)", text)[0]) <= 5
    assert "random_graph(0, GraphKnobs(nodes=8, ops=['Cast']))" in text


def test_a_second_run_may_edit_for_a_reason(run_suite: Any) -> None:
    """It is left out, and the report says why; without a reason it is refused."""
    suite = pass_conformance(
        bad.NeverSettles, samples=2, idempotent="counts its runs", levels=["O3"], **STAGE
    )
    verdict = run_suite(suite, only=FEW_ODD)
    assert {} == verdict.failed
    assert "counts its runs" in verdict.skipped["test_a_second_run_changes_nothing"]
    with pytest.raises(UsageError, match="needs a reason"):
        pass_conformance(bad.NeverSettles, idempotent=False, **STAGE)


def test_attributes_are_given_by_recipes(run_suite: Any) -> None:
    """What a pass looks for is put into the graphs, and then it has something to do."""
    recipe = OpRecipe("Swirl", attrs={"mode": ("idle", "wild")})
    verdict = run_suite(
        pass_conformance(bad.OnlySaysNo, ops=[recipe], samples=2, levels=["O3"], **STAGE),
        only=FEW_ODD,
    )
    assert {} == verdict.failed


def test_a_pass_may_only_look_for_a_reason(run_suite: Any) -> None:
    """No test is left out for it; one that edits all the same fails, and so does a silent one."""
    about: dict[str, Any] = {"samples": 2, "levels": ["O3"], "edits": "it only counts", **STAGE}
    verdict = run_suite(pass_conformance(bad.OnlySaysNo, **about), only=FEW_ODD)
    assert {} == verdict.failed
    assert {} == verdict.skipped
    good = run_suite(pass_conformance(bad.Good, changes_values=True, **about), only=FEW_ODD)
    assert ["test_it_has_something_to_do"] == list(good.failed)
    assert "is said not to: it only counts" in good.failed["test_it_has_something_to_do"]
    silent = run_suite(pass_conformance(bad.HasNoWork, **about), only=FEW_ODD)
    assert "it remarked on nothing" in silent.failed["test_it_has_something_to_do"]
    with pytest.raises(UsageError, match="needs a reason"):
        pass_conformance(bad.OnlySaysNo, edits=False, **STAGE)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"preserves": ["aliasez"]}, ["preserves 'aliasez', which nobody declared", "aliases"]),
        ({"establishes": ["neat"]}, ["establishes 'neat', which nobody declared"]),
        (
            {"requires": ["read_wrte"]},
            ["requires 'read_wrte', which nobody declared", "read_write"],
        ),
        ({"handles": ["mov"]}, ["handles 'mov', which is neither a kind of ops nor", "near: move"]),
        ({"needs": ["TensorMoveDelet"]}, ["needs 'TensorMoveDelet', which is not there"]),
    ],
)
def test_a_misspelled_name_is_one_failure(
    names: dict[str, Any], words: list[str], run_suite: Any
) -> None:
    """The declaration's test fails; the others say that they wait for it."""
    suite = pass_conformance(bad.Good, samples=2, changes_values=True, **names, **STAGE)
    verdict = run_suite(suite, only=FEW_ODD)
    assert ["test_it_is_declared_well"] == list(verdict.failed)
    for word in words:
        assert word in verdict.failed["test_it_is_declared_well"]
    assert "its declaration names what nobody knows" in verdict.skipped["test_it_runs"]


def test_ops_that_are_made_up_are_named(run_suite: Any) -> None:
    """Where the executor has no kernel for what was changed, a difference may mean nothing."""
    suite = pass_conformance(
        bad.CancelsSwirls, samples=6, changes_values=True, levels=["O3"], shrink=False, **STAGE
    )
    failed = run_suite(suite, only=FEW_ODD).failed
    assert "only a stand-in computes Swirl:" in failed["test_it_computes_the_same"]


def test_execution_is_not_left_out_in_silence(run_suite: Any) -> None:
    """Without an executor the suite fails and says what to install, unless it is told to."""
    suite = pass_conformance(bad.Good, samples=2, executor="abacus", changes_values=True, **STAGE)
    failed = run_suite(suite, only=FEW_ODD).failed
    assert ["test_it_computes_the_same"] == list(failed)
    assert "no executor 'abacus' is installed" in failed["test_it_computes_the_same"]
    told = pass_conformance(bad.Good, samples=2, executor=None, changes_values=True, **STAGE)
    verdict = run_suite(told, only=FEW_ODD)
    assert {} == verdict.failed
    assert "leaves execution out" in verdict.skipped["test_it_computes_the_same"]


def test_a_pass_that_nobody_registers_is_asked_for(run_suite: Any) -> None:
    """Each test fails with the two ways to say how it is registered."""
    failed = run_suite(pass_conformance(bad.Good)).failed
    assert "no installed plugin registers pass 'Good'" in failed["test_it_runs"]
    assert "stage=Stage.OPTIMIZE_STAGE2" in failed["test_it_runs"]
    assert "plugin=my_module" in failed["test_it_runs"]


def test_graphs_may_be_given(run_suite: Any) -> None:
    """As a function of a seed, as a list, or as a strategy; what each sample is called says so."""
    knobs = GraphKnobs(ops=["Cast"], nodes=4)
    for graphs, name in (
        (lambda seed: random_graph(seed, knobs), "<lambda>(0)"),
        ([random_graph(1, knobs)], "given graph 0 (root)"),
        (strategies.graphs(knobs), "example 0"),
    ):
        suite = pass_conformance(bad.Good, graphs=graphs, samples=2, **STAGE)
        assert name == suite.subject.usual[0].name
        assert suite.subject.examined


def test_ops_are_read_from_the_code() -> None:
    """Those that compute, and such as nobody declared; not those that random graphs have anyway."""
    assert ["Cast"] == ops_named_by(bad.Good, registry())
    assert ["Add", "Cast", "Foo", "Relu"] == ops_named_by(bad.IteratesOverASet, registry())
    assert [] == ops_named_by(bad.IsSilent, registry())


def registry() -> OpRegistry:
    """The kernel's ops."""
    ops = OpRegistry()
    register_builtin_ops(ops)
    return ops
