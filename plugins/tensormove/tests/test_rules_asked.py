"""Delete rules of plugins are asked by every pass that takes copies out, at each level."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ge_core as ge
from ge_core.api import Graph, GraphBuilder, PassError
from ge_core.session.kernel import forget_kernels

from .written_back import SHAPE, cache, copied, given, stored, updated

PLUGIN = """\
from ge_core.api import Keep, hookimpl

def stay(copy):
    if copy.copy.attrs.get("acme.raise"):
        raise ValueError("bah")
    if not copy.copy.attrs.get("acme.stay"):
        return None
    names = [copy.feed.node.name, copy.origin.node.name, copy.trace.path[-1].node.name]
    hint = {"unmark": f"{copy.copy.name} acme.stay"}
    return Keep("ASKED", blame=[copy.input, copy.output], hint=hint, fields={"names": names})

@hookimpl
def ge_register_delete_rules(rules):
    rules.add("stay", stay, codes={"ASKED": "the value of {names} is to be copied"}, passes=PASSES)
"""


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: str = "()") -> None:
    """A project with the rule for some passes, all by default."""
    (tmp_path / "ge.toml").write_text('plugins = ["acme = staying"]\n', encoding="utf-8")
    text = PLUGIN.replace("PASSES", passes)
    (tmp_path / "staying.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "staying", raising=False)
    forget_kernels()


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """No kernel with the rule is left to other tests."""
    yield
    forget_kernels()


def plain(b: GraphBuilder, op: str) -> None:
    """A copy that nobody could tell from its source."""
    made = b.op("Relu", given(b), name="made")
    b.net_output(b.op("Exp", b.op(op, made, name="copy"), name="use"))


def several_readers(b: GraphBuilder) -> None:
    """An Identity that is taken apart, as all of its readers can read its source."""
    copy = b.op("Identity", b.op("Relu", given(b), name="made"), name="copy")
    b.net_output(b.op("Exp", copy), b.op("Tanh", copy))


def unread(b: GraphBuilder) -> None:
    """An Identity that nobody reads."""
    made = b.op("Relu", given(b), name="made")
    b.op("Identity", made, name="copy")
    b.net_output(b.op("Exp", made))


def written_back(b: GraphBuilder) -> None:
    """A variable that could be updated where it lies."""
    v = cache(b)
    u = updated(b, copied(b, v), given(b))
    stored(b, v, u)
    b.net_output(b.op("Relu", u))


def stored_ahead(b: GraphBuilder) -> None:
    """A copy that could store what it copies where the updated value belongs."""
    v = cache(b)
    u = updated(b, copied(b, given(b, "y")), given(b))
    stored(b, v, u)
    b.net_output(b.op("Relu", u))


FORMS: dict[str, tuple[Callable[[GraphBuilder], None], tuple[str, ...]]] = {
    "TensorMove": (lambda b: plain(b, "TensorMove"), ("O3", "O4")),
    "Identity": (lambda b: plain(b, "Identity"), ("O2", "O3", "O4")),
    "several_readers": (several_readers, ("O3", "O4")),
    "unread": (unread, ("O3", "O4")),
    "written_back": (written_back, ("O4",)),
    "stored_ahead": (stored_ahead, ("O4",)),
}
CASES = [(name, level) for name, (_, levels) in FORMS.items() for level in levels]


def graph_of(name: str, **marks: bool) -> Graph:
    """The graph of a form; the marks are the copy's."""
    b = GraphBuilder(name)
    FORMS[name][0](b)
    for mark, value in marks.items():
        b.graph.set_attr(b.graph.node("copy"), f"acme.{mark}", value)
    return b.graph


def compiled(graph: Graph, level: str) -> ge.Result:
    """A proved compile."""
    result = ge.compile(graph, level=level, verify_each=True)
    assert result.proof is not None
    assert [] == [str(violation) for violation in result.proof.violations]
    return result


@pytest.mark.parametrize(("name", "level"), CASES)
def test_a_rule_for_all_passes_keeps_a_copy_at_every_level(
    name: str, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the rule's code, blaming two; the same copy goes where the rule says nothing."""
    install(tmp_path, monkeypatch)
    kept = compiled(graph_of(name, stay=True), level)
    assert kept.graph.find("copy") is not None
    said = [r for r in kept.remarks if r.node == "copy" and r.code == "acme.ASKED"]
    others = [r for r in kept.remarks if r.code == "acme.ASKED" and r.node == "back"]
    assert [] != said + others
    assert all(len({blame.node for blame in remark.blame}) >= 2 for remark in said + others)
    assert compiled(graph_of(name), level).graph.find("copy") is None


@pytest.mark.parametrize(("name", "level"), CASES)
def test_a_rule_that_raises_stops_the_compile_in_its_package_s_name(
    name: str, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever pass asks it."""
    install(tmp_path, monkeypatch)
    with pytest.raises(PassError, match=r"delete rule 'acme\.stay' raised ValueError: bah") as no:
        compiled(graph_of(name, **{"raise": True}), level)
    assert "staying" == no.value.owner


def test_a_rule_is_asked_by_the_passes_that_it_names_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another removal pass takes the copy out."""
    install(tmp_path, monkeypatch, '["TensorMoveDeletePass"]')
    assert compiled(graph_of("TensorMove", stay=True), "O3").graph.find("copy") is not None
    assert compiled(graph_of("TensorMove", stay=True), "O4").graph.find("copy") is None


def test_the_hint_is_given_where_the_rule_alone_keeps_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a reason of the pass's own comes first."""
    install(tmp_path, monkeypatch)
    alone = compiled(graph_of("TensorMove", stay=True), "O4").remarks.final("copy")
    assert alone is not None and alone.hint is not None
    assert ("acme.ASKED", "copy acme.stay") == (alone.code, alone.hint.value)
    b = GraphBuilder()
    v = cache(b)
    b.net_output(b.op("TensorMove", v, name="copy", attrs={"acme.stay": True}))
    last = compiled(b.graph, "O4").remarks.final("copy")
    assert last is not None
    assert "O4_FIXED_TO_RESULT" == last.code


def test_a_kept_copy_does_not_take_the_place_of_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two copies that can't both go the one that no rule keeps goes, though it saves no more."""
    install(tmp_path, monkeypatch)
    b = GraphBuilder()
    made, x = b.op("Relu", given(b), name="made", shape=SHAPE), given(b, "y")
    first = b.op("TensorMove", made, name="first", attrs={"acme.stay": True})
    second = b.op("TensorMove", made, name="second")
    b.net_output(b.op("Exp", updated(b, first, x)), b.op("Exp", updated(b, second, x, name="u2")))
    result = compiled(b.graph, "O4")
    assert result.graph.find("first") is not None
    assert result.graph.find("second") is None
