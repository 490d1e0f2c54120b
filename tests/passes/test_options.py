"""Options: declarations, defaults per level, values that are none."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.errors import OptionError, PassError, PluginError, UnknownNameError
from ge_core.passes import (
    EntryPoint,
    Level,
    LevelRegistry,
    OptionRegistry,
    OptionValue,
    OptionValues,
)
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.visibility import GE_SECTIONS, ge_section
from ge_core.registry import Owner


@pytest.fixture
def options() -> OptionRegistry:
    """The kernel's own."""
    registry = OptionRegistry()
    register_builtin_options(registry)
    return registry


def default(options: OptionRegistry, name: str, level: str) -> str | None:
    """The default of an option at a level."""
    levels = LevelRegistry()
    levels.add("npu", extends="O3")
    return options.get(name).default_at(levels.working(level))


@pytest.mark.parametrize(
    ("level", "value"),
    [("O0", None), ("O1", "3"), ("O2", "3"), ("O3", ""), ("O4", ""), ("npu", "")],
)
def test_defaults_by_level(options: OptionRegistry, level: str, value: str | None) -> None:
    """GE's topoSortingMode: 3 at O1, empty at O3; a level between takes the next lower one's."""
    assert value == default(options, "ge.topoSortingMode", level)


def test_a_level_set_may_have_a_default_of_its_own(options: OptionRegistry) -> None:
    """The set's own name comes before what it extends."""
    options.add("bank", default={"O1": "a", "npu": "b"}, help="")
    assert ("a", "b") == (default(options, "bank", "O4"), default(options, "bank", "npu"))


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("ge.oo.constantFolding", ["", "true", "false"], ["on", "True"]),
        ("ge.topoSortingMode", ["", "0", "3"], ["4"]),
        ("ge.exec.disableReuseMemory", ["0", "1"], ["", "2"]),
        ("ge.exec.input_fusion_size", ["0", "25"], ["", "1.5", "x"]),
        ("ge.exec.inputReuseMemIndexes", ["", "0", "0,2"], ["0,abc", "0,", "-1"]),
        ("ge.exec.outputReuseInputMemIndexes", ["", "0,0", "0,0|1,1"], ["0", "0,0|", "a,0"]),
        ("OP_NO_REUSE_MEM", ["a,b"], [",".join("abcdefghijk"), "x" * 2001]),
        ("ge.exec.memoryOptimizationPolicy", ["", "MemoryPriority"], ["Speed"]),
    ],
)
def test_values_of_the_kernels_options(
    options: OptionRegistry, name: str, good: list[str], bad: list[str]
) -> None:
    """Which texts are values; others are E10001 and say who gave them."""
    for value in good:
        assert name == options.check(name, value, "x").name
    for value in bad:
        with pytest.raises(OptionError, match="is invalid") as raised:
            options.check(name, value, "--set")
        assert "given by: --set" in str(raised.value)


def test_a_declared_checker_gives_the_reason(options: OptionRegistry) -> None:
    """Its answer stands in the message."""
    options.add("even", type="integer", checker=lambda v: "odd" if int(v) % 2 else None, help="")
    with pytest.raises(OptionError, match="value '3' for option even is invalid: odd"):
        options.check("even", "3", "x")


def test_malformed_declarations(options: OptionRegistry) -> None:
    """An unknown type, a default that is no value, a taken name, a lone level."""
    with pytest.raises(PluginError, match="type 'number' is none of text"):
        options.add("a", type="number", help="")
    with pytest.raises(PluginError, match="its default 'yes' is no value"):
        options.add("a", type="switch", default="yes", help="")
    with pytest.raises(PluginError, match=r"option 'ge\.oo\.level' is registered twice"):
        options.add("ge.oo.level", help="")
    with pytest.raises(PluginError, match="is not a list"):
        options.add("a", levels="O1", help="")


def test_options_of_third_parties_get_the_prefix() -> None:
    """acme's bank_bits is acme.bank_bits."""
    staged, merged = OptionRegistry(), OptionRegistry()
    staged.add("bank_bits", type="integer", default="5", levels=Level.O1.and_above(), help="")
    merged.absorb(staged, Owner("acme", "acme-casts", "1.0"))
    assert "acme.bank_bits" == merged.get("acme.bank_bits").name


def test_reading_an_undeclared_option_is_an_error(options: OptionRegistry) -> None:
    """A pass that misspells an option would otherwise always see it unset."""
    values = OptionValues(options, {"ge.oo.constantFolding": OptionValue("", "x")})
    assert values.get("ge.buildGraphMode") is None
    with pytest.raises(UnknownNameError) as raised:
        values.get("ge.buildGraphmode")
    assert "ge.buildGraphMode (" in raised.value.near[0]


def test_every_option_of_the_kernel_has_help(options: OptionRegistry) -> None:
    """A declaration without a sentence is none."""
    assert [] == [option.name for option in options if not option.help.endswith(".")]


# ---- checkers ------------------------------------------------------------------------------------


def _raises(_: str) -> str | None:
    raise ValueError("out of order")


def _exits(_: str) -> str | None:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("checker", "says"),
    [
        (_raises, "raised ValueError: out of order"),
        (_exits, "raised SystemExit: 3"),
        (lambda _: True, "answered True, which is neither text nor None"),
        (lambda _: 3, "answered 3, which is neither text nor None"),
    ],
)
def test_a_broken_checker_is_its_owners_fault(checker: Any, says: str) -> None:
    """E13028 with package and version: never a value that is taken, or refused, by accident."""
    staged, merged = OptionRegistry(), OptionRegistry()
    staged.add("width", checker=checker, help="")
    merged.absorb(staged, Owner("acme", "acme-casts", "1.0"))
    with pytest.raises(PassError) as raised:
        merged.check("acme.width", "5", "--set acme.width=5")
    assert [
        f"the checker of option 'acme.width' {says} (asked about '5')",
        "  owner: acme-casts 1.0",
        *([] if raised.value.where is None else ["  " + raised.value.where]),
        "  a checker answers why a text is no value, or None where it is one",
    ] == str(raised.value).splitlines()
    assert (raised.value.where is None) == says.startswith("answered")
    assert "E13028" == raised.value.code


def test_a_checker_may_refuse_without_a_reason(options: OptionRegistry) -> None:
    """GE's words for that."""
    options.add("odd", checker=lambda _: "", help="")
    with pytest.raises(OptionError, match="value 'x' for option odd is invalid: invalid option"):
        options.check("odd", "x", "here")


def test_a_checker_must_be_callable(options: OptionRegistry) -> None:
    """Told when it is declared."""
    with pytest.raises(PluginError, match=r"its checker 're' can't be called"):
        options.add("a", checker="re", help="")  # type: ignore[arg-type]


def test_the_error_has_the_parts_of_ges(options: OptionRegistry) -> None:
    """And its wording, for who looks for that."""
    with pytest.raises(OptionError) as raised:
        options.check("ge.topoSortingMode", "9", "here")
    error = raised.value
    assert ("ge.topoSortingMode", "9") == (error.parameter, error.value)
    assert (
        "Value 9 for parameter ge.topoSortingMode is invalid. Reason: The value must be one of"
        " '', '0', '1', '2', '3'." == error.ge_text
    )


# ---- who is offered what -------------------------------------------------------------------------


def test_entry_points_and_names(options: OptionRegistry) -> None:
    """ATC offers what has a name there; ours offer what their counterparts in GE do."""
    options.add(
        "a", entry_points=["session", "atc"], show_names={"atc": "a_of_atc"}, help="An option."
    )
    option = options.get("a")
    assert ["session", "atc", "python", "command"] == [
        str(entry) for entry in EntryPoint if option.visible_at(entry)
    ]
    assert ("a_of_atc", "a") == (
        option.shown_at(EntryPoint.ATC),
        option.shown_at(EntryPoint.SESSION),
    )
    assert ["a"] == [found.name for found in options.called("a_of_atc")]


def test_without_a_name_atc_does_not_offer_it(options: OptionRegistry) -> None:
    """As in GE."""
    assert not options.get("ge.strictOptions").visible_at(EntryPoint.ATC)
    assert options.get("ge.strictOptions").visible_at(EntryPoint.COMMAND)


def test_hidden_options_are_offered_nowhere(options: OptionRegistry) -> None:
    """GE's internal ones; they have values in force, which plans list only where they were set."""
    option = options.get("fe_compile_o3_opt")
    assert [] == [entry for entry in EntryPoint if option.visible_at(entry)]
    values = {
        "fe_compile_o3_opt": OptionValue("true", "level O3"),
        "tf_op_fussion": OptionValue("false", "arguments", 0),
        "ge.oo.level": OptionValue("O3", "level O3"),
    }
    assert {"ge.oo.level": "O3", "tf_op_fussion": "false"} == OptionValues(
        options, values
    ).as_dict()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"entry_points": ["atcc"]}, "'atcc' is no entry point"),
        ({"entry_points": "atc"}, "entry_points='atc' is not a list"),
        ({"show_names": {"act": "x"}}, "'act' is no entry point"),
    ],
)
def test_entry_points_that_there_are_not(
    options: OptionRegistry, arguments: dict[str, Any], says: str
) -> None:
    """An error, with near ones."""
    with pytest.raises(PluginError, match=says):
        options.add("a", help="", **arguments)


def test_sections_have_ges_names_too(options: OptionRegistry) -> None:
    """`ModelTuning` is read; one that a plugin makes up stands in GE's `Feature`."""
    options.add("a", category="ModelTuning", help="")
    options.add("b", category="banks", help="")
    assert ("model_tuning", "banks") == (options.get("a").category, options.get("b").category)
    assert ("ModelTuning", "Feature") == (ge_section("model_tuning"), ge_section("banks"))
    assert {"General", "Input", "Output", "Target", "Feature"} <= set(GE_SECTIONS.values())
    assert {"ModelTuning", "OperatorTuning", "Debug"} <= set(GE_SECTIONS.values())


def test_options_of_the_kernel_stand_in_known_sections(options: OptionRegistry) -> None:
    """Each belongs to one of GE's."""
    assert [] == [option.name for option in options if option.category not in GE_SECTIONS]
