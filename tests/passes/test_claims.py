"""Claims while passes run: what is established stays true, or the breaker is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.errors import GraphError, PassError, PluginError
from ge_core.ir import Graph, GraphBuilder, print_graph
from ge_core.passes import GraphPass, PassContext, PassRegistry, Stage
from ge_core.passes.claims import Breach, ClaimRegistry, Since
from ge_core.passes.environment import Environment
from ge_core.passes.manager import PassManager, RunReport
from ge_core.passes.planning import Catalog, plan_passes

Run = Callable[..., tuple[Environment, RunReport]]
Work = Callable[[Graph, PassContext], object]


def relus(*names: str) -> Graph:
    """x -> Relu names[0] -> Relu names[1] ... -> out."""
    builder = GraphBuilder()
    feed = builder.data("x")
    for name in names:
        feed = builder.node("Relu", feed, name=name).outputs[0]
    builder.node("NetOutput", feed, name="out", outputs=[])
    return builder.graph


def work(does: Work | None = None, **about: Any) -> dict[str, Any]:
    """The declaration of a pass that does this on the root graph."""

    class Worker(GraphPass):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            if graph.is_root and does is not None:
                does(graph, ctx)

    return {"cls": Worker, **about}


def drop(name: str) -> Work:
    """Removes a node."""
    return lambda graph, ctx: graph.bypass(graph.node(name))


def add(name: str) -> Work:
    """Adds a Relu that nobody reads."""

    def does(graph: Graph, ctx: PassContext) -> None:
        feed = graph.node("x").outputs[0]
        graph.add_node("Relu", name, [feed], [feed.desc])

    return does


def mark(name: str, value: int = 1) -> Work:
    """Sets an attribute."""
    return lambda graph, ctx: graph.set_attr(graph.node(name), "mark", value)


def no_marks(graph: Graph) -> Breach | None:
    """A property of the graph: no node is marked."""
    found = next((node for node in graph.all_nodes() if "mark" in node.attrs), None)
    return None if found is None else Breach("is marked", found)


def unmarked(passes: PassRegistry) -> None:
    """Declares `unmarked`."""
    passes.add_claim("unmarked", check=no_marks, summary="no node is marked")


def broken(run: Run, graph: Graph, passes: dict[str, Any], **more: Any) -> PassError:
    """The error of a compile that breaks a claim; the graph is as the breaker found it."""
    with pytest.raises(PassError) as raised:
        run(graph, passes, **more)
    return raised.value


# ---- a claim holds from the pass that establishes it ---------------------------------------------


def test_a_pass_that_breaks_a_claim_is_named(run: Run) -> None:
    """With its package, the claim, the node, and who established it; its edits are undone."""
    graph = relus("a", "b")
    before = print_graph(graph)
    passes = {"A": work(establishes=("nodes_stay",))}
    acme = {"B": work(drop("b"), after=("A",))}
    error = broken(run, graph, passes, acme=acme)
    assert (
        "pass 'acme.B' breaks the claim 'nodes_stay' (no node is deleted), which pass 'A' "
        "(graph-engine-core 1.0) established: node 'b' (Relu) is gone"
    ) == error.message
    assert "acme-casts 1.0" == error.owner
    assert "declare invalidates=('nodes_stay',) if it may, or before=('A',)" == error.hint
    assert before == print_graph(graph)


def test_one_that_requires_the_claim_is_not_told_to_run_before_it(run: Run) -> None:
    """Before who establishes it the claim doesn't hold."""
    passes = {
        "A": work(establishes=("nodes_stay",)),
        "B": work(drop("b"), after=("A",), requires=("nodes_stay",)),
    }
    error = broken(run, relus("a", "b"), passes)
    assert "declare invalidates=('nodes_stay',) if it may" == error.hint


def test_before_it_is_established_a_claim_binds_nobody(run: Run) -> None:
    """The same pass may do the same thing earlier."""
    graph = relus("a", "b")
    run(graph, {"A": work(drop("b")), "B": work(establishes=("nodes_stay",))})
    assert graph.find("b") is None


def test_the_establishing_pass_itself_is_free(run: Run) -> None:
    """What it does is part of what it establishes."""
    graph = relus("a", "b")
    run(graph, {"A": work(drop("b"), establishes=("nodes_stay",))})
    assert graph.find("b") is None


def test_a_pass_that_invalidates_may_break_and_ends_the_claim(run: Run) -> None:
    """From there on, nobody is bound any more."""
    graph = relus("a", "b")
    passes = {
        "A": work(establishes=("nodes_stay",)),
        "B": work(drop("a"), invalidates=("nodes_stay",)),
        "C": work(drop("b")),
    }
    run(graph, passes)
    assert ["x", "out"] == [node.name for node in graph.nodes]


def test_a_pass_may_break_a_claim_and_establish_it_again(run: Run) -> None:
    """It ends where the pass begins, and holds where it ends."""
    passes = {
        "A": work(establishes=("nodes_stay",)),
        "B": work(drop("a"), invalidates=("nodes_stay",), establishes=("nodes_stay",)),
        "C": work(drop("b")),
    }
    error = broken(run, relus("a", "b"), passes)
    assert error.message.startswith("pass 'C' breaks the claim 'nodes_stay'")
    assert "which pass 'B'" in error.message


def test_nodes_that_came_after_the_claim_are_bound_too(run: Run) -> None:
    """`since` a pass: each pass is compared with what it found."""
    passes = {
        "A": work(establishes=("nodes_stay",)),
        "B": work(add("new")),
        "C": work(lambda graph, ctx: graph.remove(graph.node("new"))),
    }
    assert "node 'new' (Relu) is gone" in broken(run, relus("a"), passes).message


def test_what_differs_from_the_time_of_establishment(run: Run) -> None:
    """`since="established"`: it is noted once, so a change in small steps is seen."""

    def declare(passes: PassRegistry) -> None:
        passes.add_claim(
            "as_many",
            remember=len,
            check=lambda graph, count: None if len(graph) <= count + 1 else "two nodes too many",
            since="established",
            summary="the graph grows by one node at most",
        )

    passes = {
        "A": work(establishes=("as_many",)),
        "B": work(add("b1")),
        "C": work(add("b2")),
    }
    error = broken(run, relus("a"), passes, declare=declare)
    assert error.message.startswith("pass 'C' breaks the claim 'as_many'")
    assert error.message.endswith(": two nodes too many")
    run(relus("a"), {name: passes[name] for name in ("A", "B")}, declare=declare)


def test_a_property_of_the_graph_is_checked_when_it_is_established(run: Run) -> None:
    """A pass that promises what isn't so is at fault, not the next one."""
    graph = relus("a")
    graph.set_attr(graph.node("a"), "mark", 1)
    passes = {"A": work(establishes=("unmarked",))}
    error = broken(run, graph, passes, declare=unmarked)
    text = "pass 'A' establishes the claim 'unmarked' (no node is marked), which doesn't hold:"
    assert f"{text} node 'a' is marked" == error.message


def test_a_property_of_the_graph_holds_after_every_later_pass(run: Run) -> None:
    """A third party's claim, established by a third party, broken by a built-in pass."""
    acme = {"A": work(establishes=("unmarked",))}
    late = work(mark("a"), stage=Stage.CHECK)
    error = broken(run, relus("a"), {"B": late}, acme=acme, acme_declare=unmarked)
    assert (
        "pass 'B' breaks the claim 'acme.unmarked' (no node is marked), which pass 'acme.A' "
        "(acme-casts 1.0) established: node 'a' is marked"
    ) == error.message


def test_a_pass_that_changes_nothing_is_not_checked(run: Run) -> None:
    """A check costs a look at the graph: it is asked where something may have changed."""
    asked: list[int] = []

    def declare(passes: PassRegistry) -> None:
        passes.add_claim("seen", check=lambda graph: asked.append(1), summary="it is seen")

    passes = {
        "A": work(establishes=("seen",)),
        "B": work(),
        "C": work(mark("a")),
        "D": work(),
    }
    run(relus("a"), passes, declare=declare)
    assert 2 == len(asked)


def test_what_is_compared_with_is_noted_once_per_state_of_the_graph(run: Run) -> None:
    """Passes that change nothing do not pay for a claim."""
    noted: list[int] = []

    def declare(passes: PassRegistry) -> None:
        passes.add_claim(
            "noted",
            remember=lambda graph: noted.append(1),
            check=lambda graph, before: None,
            summary="it is noted",
        )

    passes = {
        "A": work(establishes=("noted",)),
        **{f"B{at}": work() for at in range(5)},
        "C": work(mark("a")),
        "D": work(),
    }
    run(relus("a"), passes, declare=declare)
    assert 2 == len(noted)


# ---- passes that repeat --------------------------------------------------------------------------


def drop_last(graph: Graph, ctx: PassContext) -> None:
    """Removes the last Relu, if there is one."""
    last = graph.nodes_of("Relu")[-1:]
    for node in last:
        graph.bypass(node)


def test_a_pass_that_repeats_is_free_each_time(run: Run) -> None:
    """What it establishes binds others, not its own next run."""
    graph = relus("a", "b", "c")
    passes = {"A": work(drop_last, establishes=("nodes_stay",), repeat=9)}
    run(graph, passes)
    assert [] == graph.nodes_of("Relu")
    error = broken(run, relus("a"), {**passes, "B": work(drop("x"))})
    assert error.message.startswith("pass 'B' ")


def test_a_pass_that_establishes_what_another_one_did_is_bound(run: Run) -> None:
    """It must say that it invalidates, or leave the claim whole."""
    passes = {
        "A": work(establishes=("nodes_stay",)),
        "B": work(drop("a"), establishes=("nodes_stay",)),
    }
    assert "which pass 'A'" in broken(run, relus("a"), passes).message


def test_a_group_that_repeats_keeps_its_claims(
    catalog: Callable[..., Catalog], environment: Callable[..., Environment]
) -> None:
    """What its first pass establishes binds the others in every turn."""
    declared = {"A": work(establishes=("nodes_stay",)), "B": work(drop_last)}
    schedule = plan_passes(catalog(declared), pipeline="repeat{limit=3}(B,A)")
    env = environment(relus("a", "b"), schedule)
    with pytest.raises(PassError, match="pass 'B' breaks the claim 'nodes_stay'"):
        PassManager(schedule, env).run()
    assert ["a"] == [node.name for node in env.root.nodes_of("Relu")]


# ---- claims that always hold ---------------------------------------------------------------------


def always_unmarked(passes: PassRegistry) -> None:
    """Declares an invariant."""
    passes.add_claim("unmarked", check=no_marks, always=True, summary="no node is marked")


def test_an_invariant_is_checked_on_the_incoming_graph(run: Run) -> None:
    """It is the graph's fault then, and no pass's."""
    graph = relus("a")
    graph.set_attr(graph.node("a"), "mark", 1)
    with pytest.raises(GraphError) as raised:
        run(graph, {}, acme_declare=always_unmarked)
    assert (
        "the graph breaks the claim 'acme.unmarked' (no node is marked), which always holds:"
        " node 'a' is marked"
    ) == raised.value.message
    assert "acme-casts 1.0" == raised.value.owner


def test_an_invariant_holds_after_every_pass(run: Run) -> None:
    """Nobody has to establish it."""
    error = broken(run, relus("a"), {"B": work(mark("a"))}, acme_declare=always_unmarked)
    assert "which always holds: node 'a' is marked" in error.message


def test_a_claim_that_holds_after_a_stage(run: Run) -> None:
    """Passes up to that stage, and those registered just after it, are free."""

    def declare(passes: PassRegistry) -> None:
        passes.add_claim(
            "unmarked", check=no_marks, holds_after="TENSOR_MOVE", summary="no node is marked"
        )

    def tidy(graph: Graph, ctx: PassContext) -> None:
        graph.del_attr(graph.node("a"), "mark")

    early = {
        "A": work(mark("a"), stage=Stage.TENSOR_MOVE),
        "B": work(tidy, stage=Stage.TENSOR_MOVE.after),
    }
    run(relus("a"), {**early, "C": work(mark("a"), stage="PREPARE")}, declare=declare)
    late = {**early, "C": work(mark("a"), stage=Stage.MEM_CONFLICT.before)}
    error = broken(run, relus("a"), late, declare=declare)
    assert "pass 'C' breaks the claim 'unmarked' (no node is marked)" in error.message
    assert "which holds after TENSOR_MOVE: node 'a' is marked" in error.message


def test_a_claim_that_does_not_hold_after_its_stage(run: Run) -> None:
    """What the passes up to there left undone is found where it should hold."""

    def declare(passes: PassRegistry) -> None:
        passes.add_claim(
            "unmarked", check=no_marks, holds_after="TENSOR_MOVE", summary="no node is marked"
        )

    passes = {"A": work(mark("a"), stage="PREPARE"), "B": work(stage="CHECK")}
    # Whether anything runs after it or not.
    for some in (passes, {"A": passes["A"]}):
        with pytest.raises(GraphError) as raised:
            run(relus("a"), some, acme_declare=declare)
        assert (
            "the graph breaks the claim 'acme.unmarked' (no node is marked),"
            " which holds after TENSOR_MOVE: node 'a' is marked"
        ) == raised.value.message


def test_the_kernels_own_work_is_held_to_properties_of_the_graph(run: Run) -> None:
    """The kernel is named, not the pass that runs next."""

    def plan(env: Environment) -> None:
        env.root.set_attr(env.root.node("a"), "mark", 1)

    actions = {Stage.MEM_ASSIGN: plan}
    passes = {"A": work(establishes=("unmarked", "nodes_stay"))}
    error = broken(run, relus("a"), passes, declare=unmarked, actions=actions)
    assert "the kernel's work in MEM_ASSIGN breaks the claim 'unmarked'" in error.message
    assert str(error.owner).startswith("graph-engine-core")


# ---- checks that are wrong -----------------------------------------------------------------------


def fails(graph: Graph, *more: object) -> Breach | None:
    """Raises."""
    raise ZeroDivisionError("by nothing")


def exits(graph: Graph, *more: object) -> Breach | None:
    """Would end the process."""
    raise SystemExit(3)


def edits(graph: Graph, *more: object) -> Breach | None:
    """Edits the graph."""
    graph.set_attr(graph.node("a"), "seen", 1)
    return None


def pokes(graph: Graph, *more: object) -> Breach | None:
    """Edits the graph past its methods."""
    graph.node("a").op = "Sigmoid"
    return None


def answers_true(graph: Graph, *more: object) -> Any:
    """Takes itself for a predicate."""
    return True


def answers_nothing(graph: Graph, *more: object) -> Any:
    """Says that something is wrong, and not what."""
    return ""


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (fails, "the check of claim 'acme.odd' failed after pass 'A': ZeroDivisionError: by noth"),
        (exits, "the check of claim 'acme.odd' failed after pass 'A': SystemExit: 3"),
        (edits, "the check of claim 'acme.odd' edited the graph after pass 'A'"),
        (pokes, "the check of claim 'acme.odd' edited the graph after pass 'A'"),
        (answers_true, "the check of claim 'acme.odd' answered True after pass 'A'"),
        (answers_nothing, "the check of claim 'acme.odd' answered '' after pass 'A'"),
    ],
)
@pytest.mark.parametrize("always", [False, True])
def test_a_check_that_is_wrong_is_its_owners_fault(
    run: Run, check: Callable[..., Any], words: str, always: bool
) -> None:
    """Not that of the pass after which it was asked."""

    def declare(passes: PassRegistry) -> None:
        passes.add_claim("odd", check=check, always=always, summary="odd")

    establishes = () if always else ("acme.odd",)
    passes = {"A": work(mark("a"), establishes=establishes)}
    error = broken(run, relus("a"), passes, acme_declare=declare, audit=True)
    expected = words.replace("after pass 'A'", "on the incoming graph") if always else words
    assert error.message.startswith(expected)
    assert "acme-casts 1.0" == error.owner


@pytest.mark.parametrize("remember", [fails, edits])
@pytest.mark.parametrize(
    ("since", "when"), [("pass", "before pass 'B'"), ("established", "after pass 'A'")]
)
def test_remembering_that_is_wrong(
    run: Run, remember: Callable[..., Any], since: Since, when: str
) -> None:
    """Named apart from the check."""

    def declare(passes: PassRegistry) -> None:
        passes.add_claim(
            "odd",
            remember=remember,
            check=lambda graph, before: None,
            since=since,
            summary="odd",
        )

    passes = {"A": work(establishes=("acme.odd",)), "B": work()}
    error = broken(run, relus("a"), passes, acme_declare=declare)
    assert error.message.startswith("the remember of claim 'acme.odd' ")
    assert when in error.message
    assert "acme-casts 1.0" == error.owner


# ---- declaring -----------------------------------------------------------------------------------


def check_one(graph: Graph) -> None:
    """A check of a property."""


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"name": ""}, "is no name"),
        ({"name": "no spaces"}, "is no name"),
        ({"summary": ""}, "has no summary"),
        ({"check": None}, "has check=None, which is not a function check(graph)"),
        ({"check": lambda: None}, "has a check that can't be called as check(graph)"),
        ({"remember": len}, "has a check that can't be called as check(graph, remembered)"),
        ({"remember": 3}, "has remember=3, which is not a function remember(graph)"),
        ({"since": "pas"}, "has since='pas'; it is 'pass' or 'established'"),
        ({"since": "established"}, "and no remember to compare with"),
        ({"always": True, "holds_after": "CHECK"}, "not both"),
    ],
)
def test_a_claim_that_is_malformed(about: dict[str, Any], words: str) -> None:
    """One sentence that says what to change."""
    arguments = {"name": "odd", "check": check_one, "summary": "odd", **about}
    name = arguments.pop("name")
    with pytest.raises(PluginError) as raised:
        PassRegistry().add_claim(name, **arguments)
    assert f"claim {name!r} " in raised.value.message
    assert words in raised.value.message


def test_a_check_without_a_signature_is_believed() -> None:
    """Some built-in functions have none."""
    claims = ClaimRegistry()
    claims.add("odd", check=print, remember=id, summary="odd")
    assert ["odd"] == claims.names()


def test_a_claim_declared_twice(run: Run) -> None:
    """By one owner; two owners' names differ by their prefixes."""
    passes = PassRegistry()
    unmarked(passes)
    with pytest.raises(PluginError, match="claim 'unmarked' is registered twice"):
        unmarked(passes)
    env, _ = run(relus("a"), {}, declare=unmarked, acme_declare=unmarked)
    assert [] == env.warnings
