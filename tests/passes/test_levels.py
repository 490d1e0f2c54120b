"""Levels: the kernel's ladder, and sets of plugins on top of it."""

from __future__ import annotations

import pytest

from ge_core.errors import OptionError, PluginError
from ge_core.passes import Level, LevelRegistry
from ge_core.registry import Owner

ACME = Owner("acme", "acme-casts", "1.0")


def levels(**extends: str) -> LevelRegistry:
    """A registry with these level sets of acme."""
    staged, registry = LevelRegistry(), LevelRegistry()
    for name, base in extends.items():
        staged.add(name, extends=base)
    registry.absorb(staged, ACME)
    return registry


def test_a_level_and_above() -> None:
    """`Level.O2.and_above()` is O2, O3 and O4."""
    assert ("O2", "O3", "O4") == tuple(map(str, Level.O2.and_above()))


def test_a_level_of_the_kernel_stands_on_itself() -> None:
    """Its chain is only its own name."""
    level = levels().working("O1")
    assert ("O1", ("O1",), Level.O1) == (level.name, level.chain, level.base)


def test_a_plugin_level_is_on_where_its_base_is() -> None:
    """A pass that is on at O3 is on at a set that extends O3, and says through which."""
    level = levels(npu="edge", edge="O3").working("npu")
    assert ("npu", "edge", "O3") == level.chain
    assert "O3" == level.among(Level.O3.and_above())
    assert level.among(Level.O4.and_above()) is None


def test_a_plugin_level_may_be_named_by_passes() -> None:
    """A pass that names the set itself is on in it though it is off at its base."""
    assert "npu" == levels(npu="O1").working("npu").among(("npu",))


def test_an_unknown_level_lists_those_there_are() -> None:
    """E10001, with the owners of plugins' levels."""
    with pytest.raises(OptionError) as raised:
        levels(npu="O3").working("O5")
    assert "E10001" == raised.value.code
    assert "levels here: O0, O1, O2, O3, O4, npu (acme-casts 1.0)" in str(raised.value)


def test_levels_that_extend_each_other() -> None:
    """An error that shows the circle."""
    with pytest.raises(PluginError, match="a -> b -> a"):
        levels(a="b", b="a").working("a")


def test_a_level_set_on_a_missing_one() -> None:
    """An error that names the package whose level it is."""
    with pytest.raises(PluginError) as raised:
        levels(npu="O9").working("npu")
    assert "level 'npu' extends 'O9', which nobody registers" == raised.value.message
    assert "acme-casts 1.0" == raised.value.owner


def test_the_kernels_levels_are_its_own() -> None:
    """A plugin can't declare O3."""
    with pytest.raises(PluginError, match="level 'O3' is the kernel's"):
        LevelRegistry().add("O3", extends="O1")
