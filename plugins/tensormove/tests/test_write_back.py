"""`WriteBackRemovePass`: updates in place that were turned into copies lose them again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ge_core as ge
from ge_core.api import Graph, GraphBuilder
from ge_core.session.copies import CopyCount
from ge_core.session.execution import make_executor

from .coalescing import coalesce
from .written_back import (
    FORMS,
    HALF,
    KEPT,
    SIZE,
    Form,
    cache,
    copied,
    given,
    graph_of,
    remade,
    stored,
    updated,
)

STEPS = 2


def compiled(graph: Graph, level: str = "O4", **options: Any) -> ge.Result:
    """A proved compile of the graph."""
    result = ge.compile(graph, level=level, verify_each=True, audit=True, **options)
    assert result.proof is not None
    assert [] == [str(violation) for violation in result.proof.violations]
    return result


def differences(result: ge.Result, original: Graph | None = None) -> list[tuple[int, str]]:
    """What differs between arena and reference in steps in a row, each with its own variables."""
    assert result.kernel is not None
    before = result.original if original is None else original
    runner: Any = make_executor("numpy")
    known = {"ops": result.kernel.ops, "kernels": result.kernel.registries.kernels}
    kept: list[dict[str, Any]] = [{}, {}]
    found: list[tuple[int, str]] = []
    for step in range(STEPS):
        feeds = runner.make_feeds(before, step, ops=result.kernel.ops)
        want = runner.reference(before, {**feeds, **kept[0]}, **known)
        feeds = {**feeds, **kept[1]}
        got = runner.run(result.graph, result.plan, result.tasks, feeds, **known)
        for expected, actual in ((want.outputs, got.outputs), (want.variables, got.variables)):
            found += [
                (step, name)
                for name, value in expected.items()
                if not np.array_equal(value, actual[name], equal_nan=True)
            ]
        kept = [dict(want.variables), dict(got.variables)]
    return found


def moved(copies: CopyCount) -> int:
    """Bytes of copies and write-backs; what other passes put around a loop's values aside."""
    return sum(copies.by_op[op].bytes for op in ("TensorMove", "Assign") if op in copies.by_op)


def last_words(result: ge.Result) -> dict[str, str]:
    """By node, the code of the last remark."""
    return {remark.node: remark.code.rpartition(".")[2] for remark in result.remarks.finals()}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_nothing_is_copied_any_more(form: Form) -> None:
    """Neither the copy nor the write-back is left, and step for step the values are the same."""
    result = compiled(graph_of(form))
    assert 0 == moved(result.after) < moved(result.before)
    assert [] == differences(result)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_updates_lie_in_the_variables(form: Form) -> None:
    """An update that made a new tensor makes none: its result is no buffer of the arena."""
    result = compiled(graph_of(form))
    places = {f"{place.node}:{place.output}": place.pool for place in result.plan.tensors}
    for node in result.graph.nodes_of("TensorScatterUpdate"):
        assert places[f"{node.name}:0"] != "HBM"


@pytest.mark.parametrize("form", HALF.values(), ids=HALF)
def test_one_copy_of_two_goes(form: Form) -> None:
    """What has to be copied is copied once."""
    result = compiled(graph_of(form))
    assert SIZE == moved(result.after) < moved(result.before)
    assert [] == differences(result)


@pytest.mark.parametrize(("form", "code"), KEPT.values(), ids=KEPT)
def test_what_would_be_seen_stays(form: Form, code: str) -> None:
    """Nothing changes but for what other passes do; the write-back says why, and blames two."""
    result = compiled(graph_of(form))
    assert result.graph.find("back") is not None
    assert code == last_words(result)["back"]
    assert [] == differences(result)
    remark = next(r for r in result.remarks.finals() if r.node == "back")
    assert len({blame.node for blame in remark.blame}) >= 2
    assert SIZE == remark.bytes or form is KEPT["without_a_size"][0]


def test_a_declared_input_comes_back_as_its_result_without_a_copy() -> None:
    """A pair lets the input's memory be that graph output, and no other one."""
    for pairs, left in (("0,1", 0), ("0,0", SIZE)):
        result = compiled(
            graph_of(HALF["input_is_a_result"]),
            options={"ge.exec.outputReuseInputMemIndexes": pairs},
        )
        assert (pairs, left) == (pairs, moved(result.after))
        assert [] == differences(result)


@pytest.mark.parametrize("level", ["O0", "O3"])
def test_other_levels_leave_write_backs(level: str) -> None:
    """The pass is O4's alone."""
    result = compiled(graph_of(FORMS["new_tensor"]), level)
    assert result.graph.find("back") is not None


@pytest.mark.parametrize("level", ["O3", "O4"])
def test_every_copy_that_is_counted_has_its_reason_and_its_bytes(level: str) -> None:
    """A write-back too, also where no pass of the level looks at it."""
    result = compiled(graph_of(FORMS["copy_and_update"]), level)
    said = {r.node: (r.code, r.bytes) for r in result.remarks.finals()}
    above, gone = ("NO_RULE_AT_LEVEL", SIZE), ("WRITE_BACK_GONE", SIZE)
    assert (above if level == "O3" else gone) == said["back"]
    assert SIZE == said["copy"][1]
    assert 2 * SIZE == moved(result.before)


def test_control_edges_of_a_write_back_are_kept() -> None:
    """Who waited for the write-back waits for the update, and runs before whom it came before."""
    b = GraphBuilder()
    v = cache(b)
    first = b.op("Exp", given(b, "y"), name="first")
    u = remade(b, v, given(b))
    back = stored(b, v, u, control=[first])
    last = b.op("Tanh", first, name="last", control=[back])
    b.net_output(last)
    result = compiled(b.graph)
    order = [node.name for node in result.graph.nodes]
    assert order.index("update") < order.index("last")
    assert result.graph.node("update") in result.graph.node("last").control_inputs


def test_readers_of_the_old_value_are_ordered_before_the_update() -> None:
    """Only the listing said so before; the edge says it to every stream."""
    result = compiled(graph_of(FORMS["old_value_read_before"]))
    assert result.graph.node("old") in result.graph.node("update").control_inputs


def test_a_thousand_readers_of_the_old_value_are_ordered() -> None:
    """Each gets an edge to the one update; there are no pairs beyond that."""
    b = GraphBuilder()
    v = cache(b)
    readers = [b.op("Exp", v, name=f"old{at}") for at in range(1000)]
    stored(b, v, remade(b, v, given(b)))
    b.net_output(*readers)
    result = compiled(b.graph)
    assert 0 == moved(result.after)
    assert 1000 == len(result.graph.node("update").control_inputs)


# ---- graph inputs that come back ----------------------------------------------------------------

PAIR = {"ge.exec.outputReuseInputMemIndexes": "0,0"}


def returned(*, steps: int = 1, late: bool = False) -> Graph:
    """A graph input that is updated and returned; a reader of the old value is listed last."""
    b = GraphBuilder()
    past = given(b, "past")
    at = past
    for step in range(steps):
        at = remade(b, at, given(b, f"x{step}"), name=f"update{step}")
    old = b.op("Add", past, b.op("Exp", at if late else past), name="old")
    b.net_output(at, old)
    return b.graph


@pytest.mark.parametrize("steps", [1, 2])
def test_a_declared_input_is_updated_in_place(steps: int) -> None:
    """The reader of the old value is brought forward, and no update makes a buffer."""
    result = compiled(returned(steps=steps), options=PAIR)
    home = result.plan.find("past:0")
    for step in range(steps):
        place = result.plan.find(f"update{step}:0")
        assert (home.pool, home.offset) == (place.pool, place.offset)
        assert "RETURNED_IN_PLACE" == last_words(result)[f"update{step}"]
    assert [] == differences(result)


@pytest.mark.parametrize(
    ("late", "options", "code"),
    [(True, PAIR, "W_STILL_READ"), (False, {}, None)],
    ids=["needed later", "not declared"],
)
def test_other_inputs_stay_as_they_were(
    late: bool, options: dict[str, str], code: str | None
) -> None:
    """Who waits for the update still finds the old value; what nobody declared isn't touched."""
    result = compiled(returned(late=late), options=options)
    places = [result.plan.find(name) for name in ("past:0", "update0:0")]
    assert places[0].offset != places[1].offset
    assert code == last_words(result).get("update0")
    assert [] == differences(result)


def test_a_change_of_the_listing_is_taken_back() -> None:
    """The reader was brought forward for the first update; the second one is another matter."""
    b = GraphBuilder()
    past = given(b, "past")
    one = remade(b, past, given(b), name="one")
    old = b.op("Exp", past, name="old")
    two = remade(b, one, given(b, "y"), name="two")
    b.net_output(two, old, b.op("Add", one, b.op("Exp", two), name="late"))
    result = compiled(b.graph, options=PAIR)
    assert "W_STILL_READ" == last_words(result)["one"]
    order = [node.name for node in result.graph.nodes]
    assert order.index("one") < order.index("old")
    assert not result.graph.node("old").control_outputs


def test_a_result_that_changes_behind_its_write_back_is_not_saved_before() -> None:
    """What is stored in the cache, and what is returned, are one memory at two times."""
    b = GraphBuilder()
    memory, new = cache(b), given(b, "new")
    copy = copied(b, memory)
    stored(b, memory, copy)
    view = b.op("Reshape", copy, name="view", reuse_input=0)
    updated(b, b.op("Reshape", view, name="again", reuse_input=0), view)
    stored(b, memory, new, name="last")
    b.net_output(view)
    assert [] == differences(compiled(b.graph))


def test_a_copy_is_saved_only_where_that_is_enough() -> None:
    """Of two write-backs one can go; for the other one a second reader is in the way later."""
    b = GraphBuilder()
    results = []
    for name in ("one", "two"):
        v = cache(b, name)
        made = updated(b, copied(b, v, f"{name}_copy"), given(b, f"{name}_x"), name=f"{name}_made")
        old = b.op("Add", v, b.op("Relu", made), name=f"{name}_old")
        back = stored(b, v, made, name=f"{name}_back", control=[old])
        results.append(old)
    # The value goes on being changed, and its name from before is read behind that.
    later = updated(b, made, given(b, "y"), name="later", control=[back])
    results.append(b.op("Relu", made, name="seen", control=[later]))
    b.net_output(*results)
    result = compiled(b.graph)
    assert result.graph.find("one_back") is None
    assert result.graph.find("two_back") is not None
    assert ["one_saved"] == [node.name for node in result.graph.nodes if "_saved" in node.name]
    assert [] == differences(result)


def test_a_reader_on_another_stream_comes_before_the_update() -> None:
    """So far it came before the write-back alone, by what the streams wait for."""
    b = GraphBuilder()
    memory, here, there = cache(b), {"stream_id": 0}, {"stream_id": 1}
    old = b.op("Exp", memory, name="old", attrs=here)
    copy = b.op("TensorMove", memory, name="copy", attrs=there)
    new = b.op("Foo", copy, name="new", attrs=there)
    reached = b.node("NoOp", name="reached", outputs=[], attrs=here)
    b.node("NoOp", name="waiting", outputs=[], attrs=there, control=[reached])
    b.op("Assign", memory, new, name="back", reuse_input=0, attrs=there)
    b.net_output(old)
    result = compiled(b.graph)
    assert 0 == moved(result.after)
    assert "old" in {node.name for node in result.graph.node("new").control_inputs}


def test_an_old_value_is_saved_behind_what_stored_it_on_another_stream() -> None:
    """The copy waits for what the node waited for that begins to change the value."""
    b = GraphBuilder()
    v = cache(b)
    x = given(b)
    first = stored(b, v, b.op("Exp", x, name="exp"), name="first")
    copy = copied(b, v)
    b.graph.add_control(first.node, copy.node)
    made = updated(b, copy, x, name="made")
    old = b.op("Add", v, b.op("Relu", made, name="relu"), name="old", control=[first])
    back = stored(b, v, made, name="back", control=[old])
    b.net_output(old)
    for node in (copy.node, made.node, b.graph.node("relu"), old.node, back.node):
        b.graph.set_attr(node, "stream_id", 0)
    for node in (first.node, b.graph.node("exp")):
        b.graph.set_attr(node, "stream_id", 1)
    result = compiled(b.graph)
    (saved,) = (node for node in result.graph.nodes if "_saved" in node.name)
    assert "first" in [node.name for node in saved.control_inputs]


@pytest.mark.parametrize("node", ["copy", "back"])
def test_what_would_raise_the_peak_stays(node: str) -> None:
    """A copy without which the arena would grow is left, and so is what only goes with it."""
    graph = graph_of(FORMS["copy_and_update"])
    env, _ = coalesce(graph, name="WriteBackRemovePass", kept=frozenset({node}))
    assert graph.find("copy") is not None
    remark = env.remarks.final("back")
    assert remark is not None and remark.hint is not None
    assert ("W_RAISES_PEAK", "--objective copies", SIZE) == (
        remark.code,
        remark.hint.value,
        remark.bytes,
    )
    assert node in [blame.node for blame in remark.blame]
