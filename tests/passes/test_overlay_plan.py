"""What overlays do to a schedule: includes, whole stages, repeats, order, and who says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ge_core.errors import GeError, InputFileError, PluginError, UnknownNameError, UsageError
from ge_core.ir import Graph
from ge_core.passes import GraphPass, PassContext, Stage
from ge_core.passes.overlay_files import read_overlay, read_overlay_file
from ge_core.passes.overlays import Change, Overlay
from ge_core.passes.pipelines import PipelineRegistry
from ge_core.passes.planning import Catalog, plan_passes
from ge_core.passes.precedence import Source

MakeCatalog = Callable[..., Catalog]
Planned = Callable[..., str]


@dataclass(frozen=True)
class Limited(GraphPass):
    """Has an option."""

    limit: int = 0

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


PASSES = {"A": {}, "B": {"cls": Limited}, "C": {}, "Late": {"stage": Stage.CHECK}}


def registering(*overlays: str, **texts: str) -> Callable[[PipelineRegistry], None]:
    """Registers overlays, each called after its `name`, and texts."""

    def register(pipelines: PipelineRegistry) -> None:
        for at, text in enumerate(overlays):
            pipelines.add(read_overlay(text, f"p{at}.toml"))
        for name, text in texts.items():
            pipelines.add_text(name, text)

    return register


@pytest.fixture
def planned(catalog: MakeCatalog) -> Planned:
    """`planned("npu", overlays, text=...)` -> what runs, as a text."""

    def make(name: str, *overlays: str, passes: object = PASSES, **texts: str) -> str:
        there = catalog(passes, pipelines=registering(*overlays, **texts))
        return str(plan_passes(there, pipeline=name).text())

    return make


# ---- layers --------------------------------------------------------------------------------------


def test_what_is_included_comes_first(planned: Planned) -> None:
    """In its order; what the overlay says itself beats it, and both beat the base."""
    assert "OPTIMIZE_STAGE1(B{limit=3},C)" == planned(
        "npu",
        "name='base'\n[[remove]]\npass='Late'\n[set]\n'B.limit'=1",
        "name='one'\n[[remove]]\npass='C'\n[set]\n'B.limit'=2",
        "name='two'\n[[add]]\npass='C'\n[[remove]]\npass='A'\n[set]\n'B.limit'=3",
        "name='npu'\nbase='base'\ninclude=['one', 'two']",
    )
    assert "OPTIMIZE_STAGE1(A,B{limit=4},C),CHECK(Late)" == planned(
        "npu",
        "name='one'\n[[remove]]\npass='A'\n[[add]]\npass='B'\noptions={limit=2}",
        "name='npu'\ninclude='one'\n[[add]]\npass='A'\n[set]\n'B.limit'=4",
    )


def test_what_two_include_counts_once(planned: Planned) -> None:
    """At its first place: what comes later wins over it."""
    assert "OPTIMIZE_STAGE1(A,B,C)" == planned(
        "npu",
        "name='common'\n[[remove]]\npass='Late'\n[[remove]]\npass='A'",
        "name='one'\ninclude='common'\n[[add]]\npass='A'",
        "name='two'\ninclude='common'",
        "name='npu'\ninclude=['one', 'two']",
    )


def test_the_base_of_an_overlay_without_one(catalog: MakeCatalog) -> None:
    """That of what it includes; O3 where nothing says one."""
    passes = {**PASSES, "A": {"levels": ("O1",)}}
    one, same, other = ("name='one'\nbase='O1'", "name='same'\nbase='O1'", "name='x'\nbase='O2'")
    there = catalog(passes, pipelines=registering(one, same, other))

    def level(include: str, base: str | None = None) -> str:
        overlay = Overlay("npu", base=base, include=tuple(include.split()))
        there.pipelines.add(overlay)
        found = plan_passes(there, pipeline="npu").level.name
        there.pipelines._entries.pop("npu")
        return found

    assert ("O3", "O1", "O1", "O4") == (
        level(""),
        level("one"),
        level("one same"),
        level("x", "O4"),
    )
    with pytest.raises(UsageError) as raised:
        level("one x")
    assert "O1 (p0.toml:2), O2 (p2.toml:2)" in raised.value.message
    assert "say which one with base" == raised.value.hint


def test_the_target_is_that_of_the_strongest(catalog: MakeCatalog) -> None:
    """A pipeline on top of another one is for the same device unless it says otherwise."""
    overlays = ("name='one'\ntarget='npu-1'", "name='two'\nbase='one'", "name='x'\ntarget='npu-2'")
    there = catalog(PASSES, pipelines=registering(*overlays, "name='y'\nbase='x'\ninclude='one'"))
    targets = [plan_passes(there, pipeline=name).target for name in ("one", "two", "x", "y")]
    assert ["npu-1", "npu-1", "npu-2", "npu-1"] == targets


@pytest.mark.parametrize(
    ("text", "problem", "near"),
    [
        ("\nbase='onx'", "p1.toml:3: pipeline 'npu' stands on 'onx'", "one"),
        (
            "include=['onx']",
            "p1.toml:2: pipeline 'npu' includes 'onx', which is no pipeline",
            "one",
        ),
        ("base='short'", "p1.toml:2: pipeline 'npu' stands on 'short', which is a text", None),
        ("include='npu'", "pipelines stand on each other: npu -> npu", None),
        ("base='one.toml'", "p1.toml:2: pipeline 'npu' stands on 'one.toml', which is no", None),
        ("include='O3'", "includes 'O3', which is a level", None),
    ],
)
def test_a_base_or_include_that_is_none(
    catalog: MakeCatalog, text: str, problem: str, near: str | None
) -> None:
    """File, line, and what is near."""
    there = catalog(PASSES, pipelines=registering("name='one'", f"name='npu'\n{text}", short="A"))
    with pytest.raises(GeError) as raised:
        plan_passes(there, pipeline="npu")
    assert problem in raised.value.message
    assert near is None or near in raised.value.near


def test_overlays_that_stand_on_each_other(catalog: MakeCatalog) -> None:
    """Through bases and includes; the circle alone is shown, with its files."""
    overlays = ("name='a'\nbase='b'", "name='b'\ninclude='c'", "name='c'\nbase='b'")
    there = catalog(PASSES, pipelines=registering(*overlays))
    with pytest.raises(UsageError) as raised:
        plan_passes(there, pipeline="a")
    assert "pipelines stand on each other: b -> c -> b" == raised.value.message
    assert "p1.toml; p2.toml" == raised.value.hint


def test_an_overlay_made_in_python(catalog: MakeCatalog) -> None:
    """It may hold others; a file has to be read first."""
    inner = Overlay("inner", remove=(Change("A"),))
    overlay = Overlay("npu", include=(inner,), add=(Change("B", options={"limit": "2"}),))
    there = catalog(PASSES, pipelines=lambda pipelines: pipelines.add(overlay))
    schedule = plan_passes(there, pipeline="npu")
    assert "OPTIMIZE_STAGE1(B{limit=2},C),CHECK(Late)" == str(schedule.text())
    assert "pipeline inner" == schedule.decisions["A"].because[0].source
    there.pipelines.add(Overlay("bad", include=("x.toml",)))
    with pytest.raises(UnknownNameError, match=r"includes 'x\.toml'") as raised:
        plan_passes(there, pipeline="bad")
    assert "read_overlay_file" in str(raised.value.hint)


# ---- names ---------------------------------------------------------------------------------------


def test_a_mistake_is_said_with_its_place(catalog: MakeCatalog) -> None:
    """File and line of the change; a name without its prefix is explained."""
    text = "name='npu'\n[[add]]\npass='A'\nbefore='Drop'\n"
    there = catalog(PASSES, acme={"Drop": {}}, pipelines=registering(text))
    with pytest.raises(UnknownNameError) as raised:
        plan_passes(there, pipeline="npu")
    assert ("acme.Drop (acme-casts 1.0)",) == raised.value.near
    assert "named by: p0.toml:2\n  write it with its owner's prefix" == raised.value.hint


def test_a_setting_is_said_with_its_place(catalog: MakeCatalog) -> None:
    """A bad value of an option and of a pass's, and a pass that can't be removed."""
    passes = {**PASSES, "Must": {"required": True}}
    for text, place in (
        ("[set]\n'ge.topoSortingMode' = 'x'", "p0.toml:3"),
        ("[set]\n'ge.no' = 1", "p0.toml:3"),
        ("[[add]]\npass='A'\n[[remove]]\npass='Must'", "pipeline npu"),
    ):
        there = catalog(passes, pipelines=registering(f"name='npu'\n{text}"))
        with pytest.raises(GeError) as raised:
            plan_passes(there, pipeline="npu")
        assert place in str(raised.value)


def test_a_soft_constraint_on_anothers_short_name(catalog: MakeCatalog) -> None:
    """It says nothing, as the pass isn't there by that name; a warning asks what was meant."""
    there = catalog({"A": {"before": ("Drop",)}}, acme={"Drop": {}})
    assert (
        "pass A (graph-engine-core 1.0) says before Drop, which is no pass:"
        " is acme.Drop (acme-casts 1.0) meant?",
    ) == plan_passes(there).warnings


# ---- order ---------------------------------------------------------------------------------------


def test_an_overlay_turns_the_others_constraint_round_too(planned: Planned) -> None:
    """Soft ones give way, whoever declared them."""
    passes = {"A": {}, "B": {"after": ("A",)}, "C": {}}
    text = "name='npu'\n[[reorder]]\npass='A'\nafter='B'"
    assert "OPTIMIZE_STAGE1(B,A,C)" == planned("npu", text, passes=passes)


def test_a_hard_need_does_not_give_way(planned: Planned) -> None:
    """The cycle names the overlay's line and the pass's owner."""
    passes = {"A": {}, "B": {"needs": ("A",)}}
    with pytest.raises(PluginError) as raised:
        planned("npu", "name='npu'\n[[reorder]]\npass='A'\nafter='B'", passes=passes)
    assert "A says after B (p0.toml:2)" in str(raised.value.hint)
    assert "B says needs A (graph-engine-core 1.0)" in str(raised.value.hint)


def test_a_reorder_against_the_stages(planned: Planned) -> None:
    """The overlay's line is named; moving the pass helps."""
    text = "name='npu'\n[[reorder]]\npass='A'\nafter='Late'\n"
    with pytest.raises(PluginError, match="the stages run the other way") as raised:
        planned("npu", text)
    assert "said by: p0.toml:2" == raised.value.hint
    assert planned("npu", text + "stage='CHECK'\n").endswith("CHECK(Late,A)")


def test_a_constraint_on_itself_is_not_lost(catalog: MakeCatalog) -> None:
    """Refused, as it can't be met."""
    with pytest.raises(PluginError, match="'A' says before 'A', which is itself"):
        plan_passes(catalog({"A": {"before": ("A",)}}))


# ---- repeats -------------------------------------------------------------------------------------


def test_an_overlay_repeats_passes(planned: Planned) -> None:
    """In the order written, without anything between them."""
    text = "name='npu'\n[[repeat]]\npass=['C','A']\nlimit=4\n"
    assert "OPTIMIZE_STAGE1(B,repeat{limit=4}(C,A)),CHECK(Late)" == planned("npu", text)
    one = "name='npu'\n[[repeat]]\npass='B'\nlimit=1\n"
    passes = {"A": {}, "B": {"repeat": 5}}
    assert "OPTIMIZE_STAGE1(A,repeat{limit=1}(B))" == planned("npu", one, passes=passes)


def test_repeated_passes_keep_their_constraints(planned: Planned) -> None:
    """What stands before one of them stands before all."""
    passes = {"A": {"after": ("X",)}, "B": {}, "X": {}, "Y": {"before": ("B",)}}
    text = "name='npu'\n[[repeat]]\npass=['B','A']\nlimit=4\n"
    assert "OPTIMIZE_STAGE1(X,Y,repeat{limit=4}(B,A))" == planned("npu", text, passes=passes)
    between = {"A": {}, "B": {}, "M": {"after": ("A",), "needs": ("A",), "before": ("B",)}}
    with pytest.raises(PluginError, match=r"\(A,B\) -> M -> \(A,B\)"):
        planned("npu", text.replace("'B','A'", "'A','B'"), passes=between)


def test_repeated_passes_stand_in_one_stage(planned: Planned) -> None:
    """Or are moved to one."""
    text = "name='npu'\n[[repeat]]\npass=['A','Late']\nlimit=4\n"
    with pytest.raises(UsageError) as raised:
        planned("npu", text)
    assert "p0.toml:2: a repeat runs passes of one stage, and these stand apart" in str(
        raised.value
    )
    moved = planned("npu", text + "stage='PREPARE'\n")
    assert "PREPARE(repeat{limit=4}(A,Late)),OPTIMIZE_STAGE1(B,C)" == moved


def test_the_outer_overlay_takes_passes_out_of_a_repeat(planned: Planned) -> None:
    """By moving, repeating, replacing or removing them; the rest stays together."""
    inner = "name='in'\n[[repeat]]\npass=['A','B','C']\nlimit=4\n"
    for change, expected in (
        ("[[reorder]]\npass='A'\nafter='C'", "repeat{limit=4}(B,C),A"),
        ("[[repeat]]\npass='B'\nlimit=2", "repeat{limit=4}(A,C),repeat{limit=2}(B)"),
        ("[[remove]]\npass='B'", "repeat{limit=4}(A,C)"),
        ("[[replace]]\npass='B'\nwith='Late'", "repeat{limit=4}(A,Late,C)"),
        ("[[add]]\npass='B'\noptions={limit=3}", "repeat{limit=4}(A,B{limit=3},C)"),
    ):
        text = planned("npu", inner, f"name='npu'\nbase='in'\n{change}")
        assert f"OPTIMIZE_STAGE1({expected})" == text.removesuffix(",CHECK(Late)")


# ---- whole stages --------------------------------------------------------------------------------

STAGE = "name='npu'\n[[replace]]\nstage='OPTIMIZE_STAGE1'\nwith='short'\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C,A", "C,A"),
        ("OPTIMIZE_STAGE1(C,Late,A)", "C,Late,A"),
        ("C,A,C", "C,A,C"),
        ("B{limit=2},A,B{limit=3}", "B{limit=2},A,B{limit=3}"),
        ("repeat{limit=3}(C,A)", "repeat{limit=3}(C,A)"),
        ("A,repeat{limit=3}(C,A),B", "A,repeat{limit=3}(C,A),B"),
        ("repeat{limit=3}(C,A),repeat{limit=3}(A),B", None),
        ("PREPARE(B),OPTIMIZE_STAGE1(A),CHECK(C)", "A"),
    ],
)
def test_a_stage_is_replaced_by_what_a_text_has_in_it(
    planned: Planned, text: str, expected: str | None
) -> None:
    """In its order, with its options and repeats; the text's other stages don't matter."""
    late = "" if "Late" in text else ",CHECK(Late)"
    stage = f"OPTIMIZE_STAGE1({expected or text}){late}"
    assert stage == planned("npu", STAGE, short=text)


def test_why_a_pass_of_a_replaced_stage_is_off(catalog: MakeCatalog) -> None:
    """The overlay is named; what it adds itself stays, in its place among the rest."""
    text = STAGE + "[[add]]\npass='B'\nafter='C'\nbefore='A'\n"
    there = catalog({**PASSES, "D": {}}, pipelines=registering(text, short="C,A"))
    schedule = plan_passes(there, pipeline="npu")
    assert "OPTIMIZE_STAGE1(C,B,A),CHECK(Late)" == str(schedule.text())
    assert ("pipeline npu", "explicit off") == (
        schedule.decisions["D"].because[0].source,
        schedule.decisions["D"].because[0].rule,
    )


def test_settings_beat_the_options_in_a_stages_text(planned: Planned) -> None:
    """Where the pass stands there once; else each use has its own."""
    outer = "name='out'\nbase='npu'\n[set]\n'B.limit'=9\n"
    assert "OPTIMIZE_STAGE1(B{limit=9})" == planned("out", STAGE, outer, short="B{limit=2}")[:27]


def test_arguments_switch_passes_of_a_replaced_stage(catalog: MakeCatalog) -> None:
    """One that is off leaves its place; one that is on joins."""
    there = catalog(PASSES, pipelines=registering(STAGE, short="repeat{limit=2}(C,A),C"))
    arguments = Source("arguments", enable=("B",), disable=("C",))
    schedule = plan_passes(there, [arguments], "npu")
    assert "OPTIMIZE_STAGE1(B,repeat{limit=2}(A)),CHECK(Late)" == str(schedule.text())


def test_soft_constraints_inside_a_written_stage_give_way(planned: Planned) -> None:
    """Needs don't: a stage whose order can't work is an error."""
    passes = {"A": {"before": ("C",)}, "C": {}}
    assert "OPTIMIZE_STAGE1(C,A)" == planned("npu", STAGE, passes=passes, short="C,A")
    with pytest.raises(PluginError, match="contradicts itself"):
        planned("npu", STAGE, passes={"A": {}, "C": {"needs": ("A",)}}, short="C,A")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("other", "A", "no pipeline 'short'"),
        ("short", "Late", "p0.toml:2: pipeline 'short' has nothing in OPTIMIZE_STAGE1"),
        ("short", "Ghost", "no pass 'Ghost'"),
    ],
)
def test_a_stage_that_nothing_stands_in_for(
    planned: Planned, name: str, text: str, problem: str
) -> None:
    """The overlay's line and what there is."""
    with pytest.raises(GeError) as raised:
        planned("npu", STAGE, **{name: text})
    assert problem in raised.value.message
    assert "p0.toml:2" in str(raised.value)


def test_a_stage_takes_texts_only(planned: Planned) -> None:
    """An overlay has no order of its own."""
    with pytest.raises(UsageError, match="pipeline 'short' is an overlay"):
        planned("npu", STAGE, "name='short'")


def test_a_required_pass_of_a_replaced_stage(planned: Planned) -> None:
    """The text must have it."""
    passes = {"A": {}, "Must": {"required": True}}
    with pytest.raises(UsageError, match="pass 'Must' is required"):
        planned("npu", STAGE, passes=passes, short="A")
    assert "OPTIMIZE_STAGE1(Must,A)" == planned("npu", STAGE, passes=passes, short="Must,A")


def test_a_stage_may_be_written_where_it_is_replaced(planned: Planned) -> None:
    """The text itself, or one pass; what is wrong with it names the line."""
    stage = "name='npu'\n[[replace]]\nstage='OPTIMIZE_STAGE1'\nwith='{}'"
    assert "OPTIMIZE_STAGE1(C,A),CHECK(Late)" == planned(
        "npu", stage.format("OPTIMIZE_STAGE1(C,A)")
    )
    assert "OPTIMIZE_STAGE1(C),CHECK(Late)" == planned("npu", stage.format("C"))
    with pytest.raises(UnknownNameError, match=r"(?s)no pass 'Ghost'.*named by: p0\.toml:2"):
        planned("npu", stage.format("C,Ghost"))
    with pytest.raises(UsageError, match=r"(?s)column 3.*named by: p0\.toml:2"):
        planned("npu", stage.format("C,"))


# ---- who says so ---------------------------------------------------------------------------------


def test_a_constraint_that_names_what_is_replaced(planned: Planned) -> None:
    """The circle says what its author wrote, and where the other takes its place."""
    passes = {"A": {"before": ("B",)}, "B": {}, "C": {"before": ("A",)}}
    with pytest.raises(PluginError) as raised:
        planned("npu", "name='npu'\n[[replace]]\npass='B'\nwith='C'", passes=passes)
    assert "A says before B (" in str(raised.value.hint)
    assert "), whose place C takes by p0.toml:2" in str(raised.value.hint)
    assert "A says before C" not in str(raised.value.hint)


def test_a_place_that_an_overlay_says(planned: Planned) -> None:
    """Where a constraint contradicts it, the overlay's line is at fault and no package."""
    passes = {"A": {"before": ("B",)}, "B": {}}
    with pytest.raises(UsageError) as raised:
        planned("npu", "name='npu'\n[[reorder]]\npass='A'\nstage='after_SCHEDULE'", passes=passes)
    assert raised.value.message.startswith("p0.toml:2: A says before B (")
    assert None is raised.value.owner
    assert "A stands in after_SCHEDULE by p0.toml:2" == raised.value.hint


def test_why_says_which_change_switches(catalog: MakeCatalog) -> None:
    """File, line and change; without a file, the change."""
    there = catalog(
        PASSES,
        pipelines=registering(
            "name='npu'\n[[replace]]\nstage='CHECK'\nwith='CHECK(C)'\n[[remove]]\npass='A'"
        ),
    )
    decisions = plan_passes(there, pipeline="npu").decisions
    assert {
        "A": "p0.toml:5: remove A",
        "C": "p0.toml:2: replace stage CHECK",
        "Late": "p0.toml:2: replace stage CHECK",
    } == {name: decisions[name].because[0].value for name in ("A", "C", "Late")}
    lab = Overlay("lab", remove=(Change("A"),))
    assert "remove A" == plan_passes(there, pipeline=lab).decisions["A"].because[0].value


def test_changes_to_a_pass_that_is_off(catalog: MakeCatalog) -> None:
    """A warning for each, unless somebody switched it off or asked for another level."""
    text = (
        "name='npu'\nbase='O1'\n[[reorder]]\npass='B'\nbefore='A'\n"
        "[[repeat]]\npass='C'\nlimit=2\n[set]\n'B.limit'=3"
    )
    passes = {"A": {}, "B": {"cls": Limited, "levels": ("O3",)}, "C": {"levels": ("O3",)}}
    there = catalog(passes, pipelines=registering(text))
    assert (
        "option B.limit is set (p0.toml:10: B.limit=3), and B does not run",
        "p0.toml:3: B is moved, and does not run",
        "p0.toml:6: C is repeated, and does not run",
    ) == plan_passes(there, pipeline="npu").warnings
    off = Source("arguments", disable=("B", "C"))
    assert () == plan_passes(there, [off], "npu").warnings
    lower = Source("arguments", {"ge.oo.level": "O0"})
    assert () == plan_passes(there, [lower], "npu").warnings


@pytest.mark.parametrize(
    ("overlay", "problem"),
    [
        (Overlay("lab", base=3), "pipeline 'lab': base is 3, which is no text"),  # type: ignore[arg-type]
        (Overlay("lab", target=1), "pipeline 'lab': target is 1, which is no text"),  # type: ignore[arg-type]
        (
            Overlay("lab", include="base.toml"),  # type: ignore[arg-type]
            "pipeline 'lab': include is 'base.toml', not a tuple",
        ),
        (Overlay("lab", include=(3,)), "include has 3, which is no text or Overlay"),  # type: ignore[arg-type]
        (Overlay(3), "pipeline 3 has no name; give a text"),  # type: ignore[arg-type]
    ],
)
def test_an_overlay_of_wrong_types(catalog: MakeCatalog, overlay: Overlay, problem: str) -> None:
    """Told when it is used, without being registered."""
    with pytest.raises(UsageError) as raised:
        plan_passes(catalog(PASSES), pipeline=overlay)
    assert problem in raised.value.message


def test_a_switch_file_lies_beside_the_overlay(tmp_path: Path) -> None:
    """And in no package."""
    path = tmp_path / "npu.toml"
    path.write_text("[set]\n'ge.fusionSwitchFile' = 'parts/sw.cfg'", encoding="utf-8")
    settings = read_overlay_file(path).settings
    assert {"ge.fusionSwitchFile": str(tmp_path / "parts" / "sw.cfg")} == settings
    with pytest.raises(InputFileError, match=r"p\.toml:2: .*lies in no folder"):
        read_overlay("[set]\n'ge.fusionSwitchFile' = 'sw.cfg'", "p.toml", "npu")
