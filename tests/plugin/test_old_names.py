"""Names that a plugin has retired, where users and other plugins still write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import ge_core as ge
from ge_core.api import GraphBuilder
from ge_core.cli.main import ge as command
from ge_core.errors import UnknownNameError, UsageError
from ge_core.plugin.loading import load_plugins
from ge_core.session.kernel import forget_kernels

Install = Callable[..., str]

ACME = """
class First:
    def assign(self, problem, budget):
        for cluster in problem.clusters:
            problem.place(cluster, problem.lowest_free(cluster))
        return problem.placement()

@hookimpl
def ge_register_passes(passes):
    passes.add(Pass, name="New", levels=ALWAYS, stage=Stage.PREPARE)
    passes.rename("Old", "New", since="1.1", until="2.0")
    passes.add_claim("tidy", check=lambda graph: None, summary="s")
    passes.claims.rename("clean", "tidy", since="1.1", until="2.0")
    passes.add_analysis("widths", same=lambda a, b: True, summary="s")
    passes.analyses.rename("sizes", "widths", since="1.1", until="2.0")

@hookimpl
def ge_register_options(options):
    options.add("bank", type="switch", default="false", help="h")
    options.rename("banks", "bank", since="1.1", until="2.0")

@hookimpl
def ge_register_pipelines(pipelines):
    pipelines.add_level("Onpu", extends="O3")
    pipelines.levels.rename("Oacme", "Onpu", since="1.1", until="2.0")

@hookimpl
def ge_register_targets(targets):
    targets.add(Target("npu", align_bytes=128))
    targets.rename("npu1", "npu", since="1.1", until="2.0")

@hookimpl
def ge_register_memory_assigners(assigners):
    assigners.add("first", First)
    assigners.rename("firstfit", "first", since="1.1", until="2.0")

@hookimpl
def ge_register_anchor_types(types):
    types.add("BANK", marks=lambda anchor: False)
    types.rename("PINNED", "BANK", since="1.1", until="2.0")

@hookimpl
def ge_register_delete_rules(rules):
    rules.add("near", lambda query: None, codes=("FAR",))
    rules.rename("close", "near", since="1.1", until="2.0")
"""

LATER = """
@hookimpl
def ge_register_passes(passes):
    passes.add(
        Pass, name="Mine", levels=("Oacme",), stage=Stage.PREPARE, after=("acme.Old",),
        switch="acme.banks", establishes=("acme.clean",), preserves=("acme.sizes",),
    )

@hookimpl
def ge_register_options(options):
    options.add("speed", default={"Oacme": "2"}, levels=("Oacme",), help="h")

@hookimpl
def ge_register_pipelines(pipelines):
    pipelines.add_level("Olater", extends="Oacme")

@hookimpl
def ge_register_conflict_checkers(checkers):
    checkers.always("acme.PINNED", "USER_MEMORY_OUTPUT", code="NOT_THERE")

@hookimpl
def ge_register_delete_rules(rules):
    rules.add(
        "far", lambda query: None, codes=("FAR",), passes=("acme.Old",), before=("acme.close",)
    )
"""


@pytest.fixture(autouse=True)
def _fresh() -> None:
    forget_kernels()


def small() -> ge.Graph:
    """x -> Relu -> y."""
    build = GraphBuilder("small")
    x = build.data("x", shape=(4,))
    build.net_output(build.op("Relu", x, name="relu"))
    return build.graph


def words(kind: str, old: str, new: str) -> str:
    """The warning for a name of acme's."""
    return f"{kind} {old!r} is called {new!r} since acme-ge 1.1; the old name goes in acme-ge 2.0"


def test_a_compile_with_an_old_target_and_assigner(install: Install) -> None:
    """Both are found, and the result's warnings say what they are called today."""
    install("acme", "acme-ge", ACME, version="1.1")
    result = ge.compile(small(), target="npu1", assigner="acme.firstfit")
    assert ("npu", "acme.first") == (result.target, result.assigner)
    assert [
        words("assigner", "acme.firstfit", "acme.first"),
        words("target", "npu1", "npu"),
    ] == [w for w in result.warnings if "old name" in w]


def test_the_base_of_a_target_file(install: Install, tmp_path: Path) -> None:
    """A file that stands on an old name is read, and told."""
    install("acme", "acme-ge", ACME, version="1.1")
    file = tmp_path / "mine.toml"
    file.write_text('base = "npu1"\n')
    result = ge.compile(small(), target=str(file))
    assert words("target", "npu1", "npu") in result.warnings


@pytest.mark.parametrize(
    ("arguments", "new"),
    [({"target": "npu1"}, "npu"), ({"assigner": "acme.firstfit"}, "acme.first")],
)
def test_when_its_time_is_over(install: Install, arguments: dict[str, str], new: str) -> None:
    """From the version on in which it goes, an old name is an error that names the new one."""
    install("acme", "acme-ge", ACME, version="2.0")
    with pytest.raises(UnknownNameError) as caught:
        ge.compile(small(), **arguments)  # type: ignore[arg-type]  # names of texts only
    (old,) = arguments.values()
    assert f"{old!r}: it is called {new!r} since acme-ge 1.1" in caught.value.message
    assert "the old name went in acme-ge 2.0" in caught.value.message


def test_the_command_says_it(install: Install, tmp_path: Path) -> None:
    """`ge compile` prints the warning, and its document has it."""
    install("acme", "acme-ge", ACME, version="1.1")
    graph = tmp_path / "small.json"
    ge.save(small(), graph)
    arguments = ["compile", str(graph), "--target", "npu1"]
    shown = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert words("target", "npu1", "npu") in shown.output
    document = CliRunner().invoke(command, [*arguments, "--format", "json"])
    assert words("target", "npu1", "npu") in json.loads(document.stdout)["warnings"]


def test_declarations_of_others_follow(install: Install) -> None:
    """What another plugin declares against old names means the new things, and everyone is told."""
    install("acme", "acme-ge", ACME, version="1.1")
    install("later", "later-ge", LATER, version="0.2")
    loaded = load_plugins()
    registries = loaded.registries
    mine = registries.passes.get("later.Mine")
    assert (("Onpu",), ("acme.New",), ("acme.bank",)) == (mine.levels, mine.after, mine.switch)
    assert (("acme.tidy",), ("acme.widths",)) == (mine.establishes, mine.preserves)
    speed = registries.options.get("later.speed")
    assert (("Onpu",), {"Onpu": "2"}) == (speed.levels, speed.default)
    assert "Onpu" == registries.pipelines.levels.get("Olater")
    assert registries.checkers.rule("acme.BANK", "USER_MEMORY_OUTPUT") is not None
    rule = registries.delete_rules.get("later.far")
    assert (("acme.New",), ("acme.near",)) == (rule.passes, rule.before)
    told = [warning for warning in loaded.warnings if "names an old name" in warning]
    assert (
        "pass 'later.Mine' (later-ge 0.2) names an old name: "
        + words("pass", "acme.Old", "acme.New")
        in told
    )
    assert (
        "a conflict checker (later-ge 0.2) names an old name: "
        + words("anchor type", "acme.PINNED", "acme.BANK")
        in told
    )
    assert 10 == len(told)


def test_declarations_of_others_when_its_time_is_over(install: Install) -> None:
    """They are left, as if the other plugin weren't installed; the warning names the new name."""
    install("acme", "acme-ge", ACME, version="2.1")
    install("later", "later-ge", LATER, version="0.2")
    loaded = load_plugins()
    assert ("acme.Old",) == loaded.registries.passes.get("later.Mine").after
    assert (
        "pass 'later.Mine' (later-ge 0.2) names an old name: no pass 'acme.Old': it is called"
        " 'acme.New' since acme-ge 1.1, and the old name went in acme-ge 2.0;"
        " it means nothing there" in loaded.warnings
    )


def test_an_outdated_plugin_of_one_owner_warns_nobody_without_old_names(install: Install) -> None:
    """Nothing is said where all names are present ones."""
    install("acme", "acme-ge", ACME, version="1.1")
    assert () == tuple(w for w in load_plugins().warnings if "old name" in w)


PIPELINES = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Counts(GraphPass):
    limit: int = 3

    def run(self, graph, ctx):
        ctx.environment.warn(f"limit {self.limit}, bank {ctx.option('acme.banks')}")

@hookimpl
def ge_register_passes(passes):
    passes.add(Counts, levels=(), stage=Stage.PREPARE)
    passes.rename("Tally", "Counts", since="1.1", until="2.0")

@hookimpl
def ge_register_options(options):
    options.add("bank", default="0", help="h")
    options.rename("banks", "bank", since="1.1", until="2.0")

@hookimpl
def ge_register_pipelines(pipelines):
    pipelines.add_level("Onpu", extends="O3")
    pipelines.levels.rename("Oacme", "Onpu", since="1.1", until="2.0")
    pipelines.add_text("counting", "acme.Counts{limit=7}")
    pipelines.rename("tallying", "counting", since="1.1", until="2.0")
"""

COUNTS = words("pass", "acme.Tally", "acme.Counts")
BANK = words("option", "acme.banks", "acme.bank")


@pytest.mark.parametrize(
    ("arguments", "told", "outcome"),
    [
        ({"enable": ["acme.Tally"]}, [COUNTS], "limit 3, bank 0"),
        (
            {"enable": ["acme.Tally"], "options": {"acme.banks": "1"}},
            [COUNTS, BANK],
            "limit 3, bank 1",
        ),
        (
            {"enable": ["acme.Counts"], "options": {"acme.Tally.limit": "5"}},
            [COUNTS],
            "limit 5, bank 0",
        ),
        (
            {"options": {"ge.optimizationSwitch": "acme.Tally:on"}},
            [COUNTS],
            "limit 3, bank 0",
        ),
        ({"pipeline": "acme.Tally{limit=4}"}, [COUNTS], "limit 4, bank 0"),
        (
            {"pipeline": "tallying"},
            [words("pipeline", "tallying", "counting")],
            "limit 7, bank 0",
        ),
        (
            {"level": "Oacme", "enable": ["acme.Counts"]},
            [words("level", "Oacme", "Onpu")],
            "limit 3, bank 0",
        ),
        ({"pipeline": "mine.toml"}, [COUNTS, BANK], "limit 9, bank 2"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_every_place_where_a_user_names_something(
    arguments: dict[str, object],
    told: list[str],
    outcome: str,
    install: Install,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Old names are found there, and the compile's warnings tell the new ones."""
    install("acme", "acme-ge", PIPELINES, version="1.1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(
        'base = "O3"\n[[add]]\npass = "acme.Tally"\n'
        '[set]\n"acme.Tally.limit" = 9\n"acme.banks" = "2"\n'
    )
    result = ge.compile(small(), **arguments)  # type: ignore[arg-type]  # of many types
    assert outcome in result.warnings
    for warning in told:
        assert any(warning in said for said in result.warnings), result.warnings


@pytest.mark.parametrize(
    "arguments",
    [
        {"enable": ["acme.Tally"]},
        {"options": {"acme.banks": "1"}},
        {"options": {"acme.Tally.limit": "5"}},
        {"options": {"ge.optimizationSwitch": "acme.Tally:on"}},
        {"pipeline": "acme.Tally{limit=4}"},
        {"pipeline": "tallying"},
        {"level": "Oacme"},
    ],
    ids=str,
)
def test_every_place_when_its_time_is_over(arguments: dict[str, object], install: Install) -> None:
    """There each is an error that names the new name."""
    install("acme", "acme-ge", PIPELINES, version="2.0")
    with pytest.raises(UsageError, match=r"it is called '\S+' since acme-ge 1\.1, and the old"):
        ge.compile(small(), **arguments)  # type: ignore[arg-type]  # of many types


def test_commands_about_old_names(install: Install) -> None:
    """`passes show`, `passes why` and `options show` find what is meant."""
    install("acme", "acme-ge", PIPELINES, version="1.1")
    for arguments in (
        ["passes", "show", "acme.Tally"],
        ["passes", "why", "acme.Tally"],
        ["options", "show", "acme.banks"],
    ):
        done = CliRunner().invoke(command, arguments, catch_exceptions=False)
        assert 0 == done.exit_code
        assert "acme.Counts" in done.stdout or "acme.bank\n" in done.stdout


def test_verify_with_an_old_target(install: Install, tmp_path: Path) -> None:
    """`ge verify` says on standard error what the target is called."""
    install("acme", "acme-ge", ACME, version="1.1")
    graph, plan = str(tmp_path / "small.json"), str(tmp_path / "plan.json")
    ge.save(small(), graph)
    CliRunner().invoke(command, ["compile", graph, "--plan", plan, "--target", "npu"])
    done = CliRunner().invoke(command, ["verify", graph, graph, plan, "--target", "npu1"])
    assert f"warning: {words('target', 'npu1', 'npu')}\n" == done.stderr
    assert "ok" in done.stdout
