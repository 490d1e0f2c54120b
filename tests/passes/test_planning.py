"""Schedules: which passes run, in which order, with which options, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ge_core.errors import OptionError, PluginError, UnknownNameError, UsageError
from ge_core.ir import Graph
from ge_core.passes import GraphPass, Level, PassContext, Stage
from ge_core.passes.overlay_files import read_overlay
from ge_core.passes.pipelines import PipelineRegistry
from ge_core.passes.planning import Catalog, Schedule, plan_passes
from ge_core.passes.precedence import Source
from ge_core.passes.schedule_diff import diff_schedules

MakeCatalog = Callable[..., Catalog]


@dataclass(frozen=True)
class Limited(GraphPass):
    """Has an option."""

    limit: int = 0

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


def names(schedule: Schedule) -> list[str]:
    """What runs, in order."""
    return [step.name for step in schedule.passes]


def overlay(text: str) -> Callable[[PipelineRegistry], None]:
    """Registers overlays, separated by lines of dashes."""

    def register(pipelines: PipelineRegistry) -> None:
        for part in text.split("---\n"):
            pipelines.add(read_overlay(part, "acme.toml"))

    return register


PASSES = {
    "A": {},
    "B": {},
    "Late": {"stage": Stage.CHECK},
    "Off": {"levels": ("O4",), "cls": Limited},
    "On": {"cls": Limited},
}


# ---- levels and order ----------------------------------------------------------------------------


def test_stages_then_constraints_then_names(catalog: MakeCatalog) -> None:
    """Level O3 by default; a pass of O4 is off."""
    there = catalog({**PASSES, "B": {"before": ("A",)}})
    assert ["B", "A", "On", "Late"] == names(plan_passes(there))


def test_order_is_over_all_installed_passes(catalog: MakeCatalog) -> None:
    """A -> Off -> B keeps A before B though Off doesn't run."""
    passes = {"A": {}, "B": {"before": ("Mid",)}, "Mid": {"levels": (), "before": ("A",)}}
    assert ["B", "A"] == names(plan_passes(catalog(passes)))


def test_every_registered_pass_has_a_decision(catalog: MakeCatalog) -> None:
    """Also those that don't run."""
    schedule = plan_passes(catalog(PASSES))
    assert sorted(PASSES) == list(schedule.decisions)
    assert ("level", "O3; on at O4") == (
        schedule.decisions["Off"].because[0].rule,
        schedule.decisions["Off"].because[0].value,
    )


def test_pass_options_from_sources(catalog: MakeCatalog) -> None:
    """`On.limit=3` reaches the instance; an unknown field or a bad value is an error."""
    there = catalog(PASSES)
    (step,) = [
        s
        for s in plan_passes(there, [Source("project", {"On.limit": "3"})]).passes
        if s.name == "On"
    ]
    assert Limited(3) == step.make()
    with pytest.raises(UnknownNameError, match="has no option 'limt'"):
        plan_passes(there, [Source("project", {"On.limt": "3"})])
    with pytest.raises(OptionError, match=r"On\.limit is invalid"):
        plan_passes(there, [Source("project", {"On.limit": "x"})])


# ---- needs and abilities -------------------------------------------------------------------------


def test_a_needed_pass_runs_before(catalog: MakeCatalog) -> None:
    """needs orders like after."""
    assert ["B", "A"] == names(plan_passes(catalog({"A": {"needs": ("B",)}, "B": {}})))


def test_a_needed_pass_that_is_not_installed(catalog: MakeCatalog) -> None:
    """An error that names the package of who needs it."""
    there = catalog({"A": {}}, acme={"P": {"needs": ("Ghost",)}})
    with pytest.raises(PluginError, match=r"'acme\.P' needs 'Ghost'") as raised:
        plan_passes(there)
    assert "acme-casts 1.0" == raised.value.owner


def test_what_needs_a_pass_that_is_off_is_off(catalog: MakeCatalog) -> None:
    """All the way up, with the reason; asked for by name it is an error."""
    passes = {"A": {"needs": ("B",)}, "B": {"needs": ("C",)}, "C": {"levels": ()}, "D": {}}
    there = catalog(passes)
    schedule = plan_passes(there)
    assert ["D"] == names(schedule)
    assert ("needs", "B is off") == (
        schedule.decisions["A"].because[0].rule,
        schedule.decisions["A"].because[0].value,
    )
    with pytest.raises(UsageError, match="pass 'A' can't run: needs: B is off"):
        plan_passes(there, [Source("arguments", enable=("A",))])


def test_a_pass_whose_ability_nobody_brings_is_off(catalog: MakeCatalog) -> None:
    """With a warning; where a plugin brings it, the pass runs."""
    passes = {"A": {"requires": ("read_write",)}, "B": {}}
    schedule = plan_passes(catalog(passes))
    assert ["B"] == names(schedule)
    assert ("pass A is off: nobody brings 'read_write'",) == schedule.warnings
    assert ["A", "B"] == names(plan_passes(catalog(passes, capabilities=("read_write",))))


# ---- texts ---------------------------------------------------------------------------------------


def test_a_text_says_exactly_what_runs(catalog: MakeCatalog) -> None:
    """In its order, with its options, repeated where it says so."""
    schedule = plan_passes(catalog(PASSES), pipeline="On{limit=2},A,On,Late")
    assert ["On", "A", "On", "Late"] == names(schedule)
    assert [2, 0] == [s.options.get("limit", 0) for s in schedule.passes if s.name == "On"]
    assert "not written in the pipeline" == schedule.decisions["B"].because[0].rule


def test_a_schedule_prints_a_text_that_gives_it_again(catalog: MakeCatalog) -> None:
    """Stages, order and options that differ from their defaults."""
    there = catalog(PASSES)
    schedule = plan_passes(there, [Source("arguments", {"On.limit": "4"}, enable=("Off",))])
    text = str(schedule.text())
    assert "OPTIMIZE_STAGE1(A,B,Off,On{limit=4}),CHECK(Late)" == text
    again = plan_passes(there, pipeline=text)
    assert schedule.passes == again.passes


def test_arguments_beat_a_text_and_the_project_does_not(catalog: MakeCatalog) -> None:
    """--disable takes a pass out and --enable adds one; weaker sources don't."""
    there = catalog(PASSES)
    arguments = Source("arguments", enable=("B",), disable=("A",))
    project = Source("project", {"On.limit": "1"}, enable=("Off",), disable=("On",))
    schedule = plan_passes(there, [arguments, project], pipeline="A,On{limit=2}")
    assert ["On", "B"] == names(schedule)
    assert {"limit": 2} == schedule.passes[0].options


def test_a_required_pass_joins_a_text_unless_it_is_exact(catalog: MakeCatalog) -> None:
    """Leaving it out by a text is no way to switch it off."""
    there = catalog({"A": {}, "Must": {"required": True}})
    assert ["A", "Must"] == names(plan_passes(there, pipeline="A"))
    assert ["A"] == names(plan_passes(there, pipeline="A", exact=True))


def test_what_is_written_later_runs_later(catalog: MakeCatalog) -> None:
    """A pass of an earlier stage written after a later one runs in that later stage."""
    schedule = plan_passes(catalog(PASSES), pipeline="Late,A")
    assert ["CHECK(Late,A)"] == [str(schedule.text())]


def test_stages_written_out_of_order(catalog: MakeCatalog) -> None:
    """An explicit stage can't lie before an earlier written one."""
    with pytest.raises(UsageError, match="writes PREPARE after CHECK"):
        plan_passes(catalog(PASSES), pipeline="CHECK(A),PREPARE(B)")


def test_a_text_must_meet_needs(catalog: MakeCatalog) -> None:
    """A needed pass left out or written later is an error."""
    there = catalog({"A": {"needs": ("B",)}, "B": {}})
    with pytest.raises(UsageError, match="pass 'A' can't run: needs: B is off"):
        plan_passes(there, pipeline="A")
    with pytest.raises(UsageError, match="pass 'A' needs 'B' to run before it"):
        plan_passes(there, pipeline="A,B")


def test_an_unknown_pass_in_a_text(catalog: MakeCatalog) -> None:
    """Near names and owners."""
    with pytest.raises(UnknownNameError, match="no pass 'acme.Q'") as raised:
        plan_passes(catalog(PASSES, acme={"P": {}}), pipeline="A,acme.Q")
    assert ("acme.P (acme-casts 1.0)",) == raised.value.near


# ---- overlays ------------------------------------------------------------------------------------

NPU = """
name = "npu"
base = "O1"
target = "npu-1"
[[add]]
pass = "Off"
before = "A"
options = { limit = 7 }
[[remove]]
pass = "B"
[set]
"ge.topoSortingMode" = "1"
"""


def test_an_overlay_adds_removes_and_sets(catalog: MakeCatalog) -> None:
    """On the level it stands on; `why` names the pipeline."""
    there = catalog(PASSES, pipelines=overlay(NPU))
    schedule = plan_passes(there, pipeline="npu")
    assert ["Off", "A", "On", "Late"] == names(schedule)
    assert ("O1", "npu", "npu-1") == (schedule.level.name, schedule.pipeline, schedule.target)
    assert {"limit": 7} == schedule.passes[0].options
    assert "1" == schedule.options.get("ge.topoSortingMode")
    assert ("pipeline npu", "explicit off") == (
        schedule.decisions["B"].because[0].source,
        schedule.decisions["B"].because[0].rule,
    )


def test_an_overlay_may_be_given_as_the_level(catalog: MakeCatalog) -> None:
    """`-O npu` is the pipeline npu; an unknown level lists it."""
    there = catalog(PASSES, pipelines=overlay(NPU))
    by_level = plan_passes(there, [Source("arguments", {"ge.oo.level": "npu"})])
    assert plan_passes(there, pipeline="npu").passes == by_level.passes
    with pytest.raises(OptionError, match=r"O4, npu \(acme-casts 1.0\)"):
        plan_passes(there, [Source("arguments", {"ge.oo.level": "npx"})])


def test_arguments_beat_an_overlay_and_it_beats_the_project(catalog: MakeCatalog) -> None:
    """Level, switches and options alike."""
    there = catalog(PASSES, pipelines=overlay(NPU))
    sources = [
        Source("arguments", {"Off.limit": "9"}, enable=("B",)),
        Source("project", {"ge.topoSortingMode": "2", "ge.oo.level": "O4"}, disable=("Off",)),
    ]
    schedule = plan_passes(there, sources, "npu")
    assert ["B", "Off", "A", "On", "Late"] == names(schedule)
    assert ("O1", "1", {"limit": 9}) == (
        schedule.level.name,
        schedule.options.get("ge.topoSortingMode"),
        schedule.passes[1].options,
    )


def test_overlays_stand_on_each_other(catalog: MakeCatalog) -> None:
    """The outer one is stronger."""
    text = (
        NPU
        + "---\nname = 'small'\nbase = 'npu'\n[[remove]]\npass = 'Off'\n"
        + "[set]\n'ge.topoSortingMode' = '2'\n"
    )
    schedule = plan_passes(catalog(PASSES, pipelines=overlay(text)), pipeline="small")
    assert ["A", "On", "Late"] == names(schedule)
    assert ("O1", "2") == (schedule.level.name, schedule.options.get("ge.topoSortingMode"))


def test_a_replacement_takes_place_and_constraints(catalog: MakeCatalog) -> None:
    """Passes that name the original mean the replacement too, needs included."""
    text = "name='npu'\n[[replace]]\npass='A'\nwith='acme.A'\n"
    there = catalog(
        {"A": {"after": ("Z",)}, "Z": {}, "User": {"needs": ("A",)}},
        acme={"A": {"stage": Stage.CHECK, "levels": ()}},
        pipelines=overlay(text),
    )
    schedule = plan_passes(there, pipeline="npu")
    assert ["Z", "acme.A", "User"] == names(schedule)
    assert Stage.OPTIMIZE_STAGE1 == schedule.passes[1].place.stage


def test_a_reorder_turns_a_soft_constraint_round(catalog: MakeCatalog) -> None:
    """What the pass declared the other way gives way; another stage may be named."""
    text = "name='npu'\n[[reorder]]\npass='A'\nafter='B'\n[[reorder]]\npass='On'\nstage='CHECK'\n"
    there = catalog({**PASSES, "A": {"before": ("B",)}}, pipelines=overlay(text))
    assert ["B", "A", "Late", "On"] == names(plan_passes(there, pipeline="npu"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[add]]\npass='Ghost'", "no pass 'Ghost'"),
        ("[[add]]\npass='A'\nbefore='Ghost'", "no pass 'Ghost'"),
        ("[[replace]]\npass='A'\nwith='Ghost'", "no pass 'Ghost'"),
        ("[set]\n'ge.no' = 1", "no option 'ge.no'"),
        ("base='O9'", "stands on 'O9', which is no level or pipeline"),
        ("base='npu'", "stand on each other: npu -> npu"),
        ("[[remove]]\npass='Must'", "pass 'Must' is required"),
    ],
)
def test_a_mistake_in_an_overlay(catalog: MakeCatalog, text: str, problem: str) -> None:
    """An unknown name is an error here, though constraints of passes may name what isn't there."""
    there = catalog(
        {**PASSES, "Must": {"required": True}}, pipelines=overlay(f"name='npu'\n{text}\n")
    )
    with pytest.raises((UnknownNameError, UsageError)) as raised:
        plan_passes(there, pipeline="npu")
    assert problem in str(raised.value)


def test_pipelines_by_name_file_and_text(catalog: MakeCatalog, tmp_path: Path) -> None:
    """A registered text, a TOML file, and a name that is only spelled wrongly."""

    def register(pipelines: PipelineRegistry) -> None:
        pipelines.add_text("short", "A,B")

    there = catalog(PASSES, pipelines=register)
    path = tmp_path / "mine.toml"
    path.write_text("[[remove]]\npass='A'\n", encoding="utf-8")
    assert ["A", "B"] == names(plan_passes(there, pipeline="short"))
    assert "A" not in names(plan_passes(there, pipeline=str(path)))
    with pytest.raises(UnknownNameError, match="no pipeline 'Short'"):
        plan_passes(there, pipeline="Short")


def test_a_pipeline_in_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`add_toml` reads a resource; the name stays as its author wrote it."""
    package = tmp_path / "acme_pipes"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "npu.toml").write_text("base='O1'", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    pipelines = PipelineRegistry()
    pipelines.add_toml("acme_pipes", "npu.toml")
    assert ["npu"] == pipelines.names()
    with pytest.raises(PluginError, match=r"acme_pipes/gone\.toml can't be read"):
        pipelines.add_toml("acme_pipes", "gone.toml")


def test_the_difference_to_the_base(catalog: MakeCatalog) -> None:
    """What came, went, moved or changed, line by line; nothing between equals."""
    there = catalog(PASSES, pipelines=overlay(NPU))
    base = plan_passes(there, [Source("arguments", {"ge.oo.level": "O1"})])
    other = plan_passes(there, [Source("arguments", {"On.limit": "2"})], "npu")
    assert [
        "- B (OPTIMIZE_STAGE1)",
        "+ Off{limit=7} (OPTIMIZE_STAGE1), first",
        "~ On (OPTIMIZE_STAGE1) -> On{limit=2} (OPTIMIZE_STAGE1)",
        "~ ge.topoSortingMode=3 -> 1",
        "+ target npu-1",
    ] == diff_schedules(base, other)
    assert [] == diff_schedules(base, base)


def test_a_plugin_level_runs_what_its_base_runs(catalog: MakeCatalog) -> None:
    """And what names it."""
    there = catalog(
        {
            "A": {"levels": Level.O3.and_above()},
            "B": {"levels": ("edge",)},
            "C": {"levels": ("O4",)},
        },
        pipelines=lambda p: p.add_level("edge", extends="O3"),
    )
    schedule = plan_passes(there, [Source("arguments", {"ge.oo.level": "edge"})])
    assert ["A", "B"] == names(schedule)
    assert "edge extends O3; on at O3, O4" == schedule.decisions["A"].because[0].value
