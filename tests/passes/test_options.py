"""Options: declarations, defaults per level, values that are none."""

from __future__ import annotations

import pytest

from ge_core.errors import OptionError, PluginError, UnknownNameError
from ge_core.passes import Level, LevelRegistry, OptionRegistry, OptionValue, OptionValues
from ge_core.passes.builtin_options import register_builtin_options
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
        ("ge.optimizationSwitch", ["", "A:on;B:off"], ["A"]),
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
    assert values.is_on("ge.oo.constantFolding")
    assert not values.is_on("ge.oo.deadCodeElimination")
    with pytest.raises(UnknownNameError) as raised:
        values.get("ge.buildGraphmode")
    assert "ge.buildGraphMode (" in raised.value.near[0]


def test_every_option_of_the_kernel_has_help(options: OptionRegistry) -> None:
    """A declaration without a sentence is none."""
    assert [] == [option.name for option in options if not option.help.endswith(".")]
