"""Old names of registered things: `Registry.rename` and `Registry.current`."""

from __future__ import annotations

import pytest

from ge_core.errors import PluginError, UnknownNameError
from ge_core.owners import Owner
from ge_core.passes.levels import LevelRegistry
from ge_core.registry import Entry, Registry
from ge_core.renames import release
from ge_core.targets import Target, TargetRegistry


class Things(Registry[int]):
    """A registry of numbers."""

    kind = "thing"

    def add(self, name: str, value: int = 0) -> None:
        """Register a number."""
        self._put(Entry(name, value))


ACME = Owner("acme", "acme-ge", "1.1")
OTHER = Owner("other", "other-ge", "0.3")


def merged(*plugins: tuple[Owner, Things]) -> Things:
    """The registry after these plugins were loaded."""
    things = Things()
    for owner, staged in plugins:
        fork = things.fork()
        fork.absorb(staged, owner)
        things = fork
    return things


def things(*names: str, **renames: str) -> Things:
    """What a plugin registers: names, and old=new pairs renamed in 1.1, until 2.0."""
    staged = Things()
    for name in names:
        staged.add(name)
    for old, new in renames.items():
        staged.rename(old, new, since="1.1", until="2.0")
    return staged


def test_a_present_name_is_itself() -> None:
    """It comes back without a warning, and so does a name that nobody knows."""
    registry = merged((ACME, things("New", Old="New")))
    assert ("acme.New", None) == registry.current("acme.New")
    assert ("acme.Odd", None) == registry.current("acme.Odd")


def test_an_old_name_leads_to_the_new_one() -> None:
    """The warning says old, new, since which version, when it goes, and whose it is."""
    registry = merged((ACME, things("New", Old="New")))
    assert (
        "acme.New",
        "thing 'acme.Old' is called 'acme.New' since acme-ge 1.1; the old name goes in acme-ge 2.0",
    ) == registry.current("acme.Old")


def test_authors_may_write_their_prefix() -> None:
    """Both names are the owner's, written either way."""
    staged = things("New")
    staged.rename("acme.Old", "acme.New", since="1.1", until="2.0")
    assert "acme.New" == merged((ACME, staged)).current("acme.Old")[0]


def test_an_old_name_is_not_listed() -> None:
    """Listings show what things are called today; the old names are a list of their own."""
    registry = merged((ACME, things("New", Old="New")))
    assert ["acme.New"] == registry.names()
    assert "acme.Old" not in registry
    assert [("acme.Old", "acme.New", ACME)] == [(r.old, r.new, r.owner) for r in registry.renames()]


def test_chains_are_followed() -> None:
    """A name renamed twice leads to the last one; when it goes is what its own rename says."""
    staged = things("C")
    staged.rename("A", "B", since="1.0", until="1.4")
    staged.rename("B", "C", since="1.1", until="1.5")
    name, warning = merged((ACME, staged)).current("acme.A")
    assert "acme.C" == name
    assert (
        "thing 'acme.A' is called 'acme.C' since acme-ge 1.0; the old name goes in acme-ge 1.4"
        == warning
    )


def test_circles_are_refused() -> None:
    """The error prints the way round."""
    staged = things("D", A="B", B="C")
    with pytest.raises(PluginError) as caught:
        staged.rename("C", "A", since="1.1", until="2.0")
    assert "renames of thing 'C' lead in a circle: C -> A -> B -> C" == caught.value.message


@pytest.mark.parametrize(
    ("version", "works"),
    [
        ("1.1", True),
        ("1.99.3", True),
        ("2.0rc1", True),
        ("2.0.dev3", True),
        ("2", False),
        ("2.0.0", False),
        ("2.0.post1", False),
        ("10.0", False),
        ("", True),
        ("unknown", True),
    ],
)
def test_until(version: str, works: bool) -> None:
    """From that version of the owner on the old name is an error; without one it stays."""
    registry = merged((Owner("acme", "acme-ge", version), things("New", Old="New")))
    if works:
        assert "acme.New" == registry.current("acme.Old")[0]
        return
    with pytest.raises(UnknownNameError) as caught:
        registry.current("acme.Old")
    assert (
        "no thing 'acme.Old': it is called 'acme.New' since acme-ge 1.1,"
        " and the old name went in acme-ge 2.0" == caught.value.message
    )


def test_looking_up_an_old_name_names_the_new_one() -> None:
    """A place that forgot to ask `current` still fails with the right words."""
    with pytest.raises(UnknownNameError, match=r"'acme\.Old' is called 'acme\.New' since"):
        merged((ACME, things("New", Old="New"))).get("acme.Old")


def test_the_new_name_must_exist() -> None:
    """A rename to nothing fails the plugin, with near matches among its own names."""
    with pytest.raises(PluginError) as caught:
        merged((ACME, things("Newer", Old="New")))
    assert "thing 'acme.Old' is renamed to 'acme.New', which nobody registers" == (
        caught.value.message
    )
    assert ("acme.Newer",) == caught.value.near
    assert "acme-ge 1.1" == caught.value.owner


def test_an_old_name_that_is_registered() -> None:
    """One plugin can't both register a name and retire it, in either order."""
    with pytest.raises(PluginError, match="'Old' is registered, so it can't be an old name"):
        things("Old", "New", Old="New")
    staged = things("New", Old="New")
    with pytest.raises(PluginError, match="'Old' is registered, and it is an old name of 'New'"):
        staged.add("Old")
    spelled = things("New", "acme.Old", Old="New")
    with pytest.raises(PluginError, match=r"'acme\.Old' is registered"):
        merged((ACME, spelled))


def targets(*names: str, **renames: str) -> TargetRegistry:
    """What a plugin registers as targets, whose names carry no prefix."""
    staged = TargetRegistry()
    for name in names:
        staged.add(Target(name))
    for old, new in renames.items():
        staged.rename(old, new, since="1.1", until="2.0")
    return staged


@pytest.mark.parametrize("first", ["renames", "registers"])
def test_an_old_name_that_is_another_owners(first: str) -> None:
    """The error names both packages, whichever comes first."""
    plugins = [(ACME, targets("npu", npu1="npu")), (OTHER, targets("npu1"))]
    registry = TargetRegistry()
    if first == "registers":
        plugins.reverse()
    registry.absorb(plugins[0][1], plugins[0][0])
    with pytest.raises(PluginError) as caught:
        registry.absorb(plugins[1][1], plugins[1][0])
    assert {"acme-ge 1.1", "other-ge 0.3"} == set((caught.value.owner or "").split(", "))
    assert "target 'npu1' is registered" in caught.value.message


def test_two_owners_with_one_old_name() -> None:
    """The error names both new names and both packages."""
    registry = TargetRegistry()
    registry.absorb(targets("npu", npu1="npu"), ACME)
    with pytest.raises(PluginError) as caught:
        registry.absorb(targets("chip", npu1="chip"), OTHER)
    assert "target 'npu1' is renamed twice, to 'npu' and to 'chip'" == caught.value.message
    assert "acme-ge 1.1, other-ge 0.3" == caught.value.owner


def test_a_rename_to_another_owners_thing() -> None:
    """Nobody sends users of his old name to what somebody else registers."""
    registry = TargetRegistry()
    registry.absorb(targets("npu"), OTHER)
    with pytest.raises(PluginError, match=r"which is another's: other-ge 0\.3"):
        registry.absorb(targets(old="npu"), ACME)


def test_levels_and_targets_keep_their_bare_names() -> None:
    """What a user types without a prefix has old names without a prefix."""
    registry = TargetRegistry()
    registry.absorb(targets("npu", npu1="npu"), ACME)
    assert "npu" == registry.current("npu1")[0]
    staged, levels = LevelRegistry(), LevelRegistry()
    staged.add("Onpu", extends="O3")
    staged.rename("Oacme", "Onpu", since="1.1", until="2.0")
    levels.absorb(staged, ACME)
    assert "Onpu" == levels.current("Oacme")[0]


@pytest.mark.parametrize(
    ("old", "since", "until", "words"),
    [
        ("New", "1.1", "2.0", "thing 'New' is renamed to itself"),
        ("Old", "soon", "2.0", "rename of thing 'Old': since='soon' is no version"),
        ("Old", "1.1", "", "rename of thing 'Old': until='' is no version"),
        ("Old", "2.0", "2", "rename of thing 'Old': until='2' is not after since='2.0'"),
    ],
)
def test_malformed_renames(old: str, since: str, until: str, words: str) -> None:
    """They fail where they are declared."""
    staged = Things()
    with pytest.raises(PluginError) as caught:
        staged.rename(old, "New", since=since, until=until)
    assert words == caught.value.message


def test_a_fork_keeps_its_own_old_names() -> None:
    """What is staged in a fork is not seen in the registry it came from."""
    registry = merged((ACME, things("New")))
    fork = registry.fork()
    fork.absorb(things("Other", Odd="Other"), OTHER)
    assert ("other.Odd", None) == registry.current("other.Odd")
    assert "other.Other" == fork.current("other.Odd")[0]


def test_versions_compare_as_versions() -> None:
    """By number, trailing zeros aside, pre-releases before their release."""
    ordered = ["0.9", "1.0rc1", "1", "1.0.1", "1.10", "2.0.dev1", "2.0"]
    keys = [release(text) for text in ordered]
    assert keys == sorted(keys, key=lambda key: key or ((), False))
    assert release("1.0") == release("1") == release("1.0.0+local")
