"""Errors about settings say how they were given: the flag as typed, the variable, the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import ge_core
from ge_core.errors import UnknownNameError, UsageError
from tests.cli.conftest import Ge

TYPED = [
    (("--set", "ge.oo.level=O5"), "E10001", "--set ge.oo.level=O5"),
    (("-O", "O5"), "E10001", "-O O5"),
    (("--level", "O5"), "E10001", "-O O5"),
    (("--enable", "Ghost"), "GE00003", "--enable Ghost"),
    (("--disable", "Ghost"), "GE00003", "--disable Ghost"),
    (("--set", "ge.oo.levle=O1"), "GE00003", "--set ge.oo.levle=O1"),
    (("--set", "TensorMoveDeletePass=maybe"), "E10001", "--set TensorMoveDeletePass=maybe"),
    (
        ("--set", "ge.optimizationSwitch=Ghost:off"),
        "E10001",
        "--set ge.optimizationSwitch=Ghost:off",
    ),
]


@pytest.mark.parametrize("command", ["compile", "why"])
@pytest.mark.parametrize(("flags", "code", "typed"), TYPED, ids=[t for _, _, t in TYPED])
def test_flags_are_named_as_typed(
    flags: tuple[str, ...], code: str, typed: str, command: str, ge: Ge, graph_file: Path
) -> None:
    """By every command that takes them."""
    words = ("passes", "why", "TensorMoveDeletePass")
    ran = ge("compile", graph_file, *flags) if command == "compile" else ge(*words, *flags)
    assert (2, f"error {code}:") == (ran.code, " ".join(ran.err.split()[:2]))
    assert f"  given by: {typed}" in ran.err.splitlines()


def test_a_variable_is_named(ge: Ge, graph_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its value, so that it can be found."""
    monkeypatch.setenv("GE_OPTION_ge__oo__level", "O5")
    ran = ge("compile", graph_file)
    assert "  given by: GE_OPTION_ge__oo__level=O5" in ran.err.splitlines()


def test_the_projects_file_is_named(
    ge: Ge, graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the option in it."""
    (tmp_path / "ge.toml").write_text('disable = ["Ghost"]\n')
    monkeypatch.chdir(tmp_path)
    ran = ge("compile", graph_file)
    assert f"  given by: {tmp_path / 'ge.toml'}: disable Ghost" in ran.err.splitlines()


@pytest.mark.parametrize(
    "flags",
    [
        ("--set", "ge.topoSortingMode=1", "--set", "ge.topoSortingMode=2"),
        ("-O", "O1", "--set", "ge.oo.level=O3"),
    ],
)
def test_two_values_for_one_option_are_an_error(
    flags: tuple[str, ...], ge: Ge, graph_file: Path
) -> None:
    """Which one counts nobody has said; the same value twice says one thing."""
    ran = ge("compile", graph_file, *flags)
    assert (2, "error GE00002: an option is given twice, with two values") == (
        ran.code,
        ran.err.splitlines()[0],
    )
    assert 0 == ge("compile", graph_file, "-O", "O1", "--set", "ge.oo.level=O1").code


def test_a_switch_file_is_found_beside_the_projects_file(
    ge: Ge, graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever in the project the command runs."""
    (tmp_path / "ge.toml").write_text('[set]\n"ge.fusionSwitchFile" = "switch.cfg"\n')
    (tmp_path / "switch.cfg").write_text("TensorMoveDeletePass:off\n")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    why = ge("passes", "why", "TensorMoveDeletePass", "--format", "json").json
    assert {
        "source": str(tmp_path / "ge.toml"),
        "rule": "switch file",
        "value": "switch.cfg: TensorMoveDeletePass:off",
    } == why["because"][0]
    assert not why["runs"]


def test_python_says_how_settings_were_given(graph_file: Path) -> None:
    """By default as arguments; a caller with flags of its own can name them."""
    with pytest.raises(UnknownNameError) as raised:
        ge_core.compile(graph_file, enable="Ghost")
    assert "given by: arguments: enable Ghost" in str(raised.value)
    with pytest.raises(UnknownNameError) as raised:
        ge_core.compile(graph_file, enable="Ghost", origins={"enable Ghost": "my.yaml"})
    assert "given by: my.yaml" in str(raised.value)


def test_python_refuses_two_levels(graph_file: Path) -> None:
    """As an argument and as an option."""
    with pytest.raises(UsageError, match="the level is given twice"):
        ge_core.compile(graph_file, level="O1", options={"ge.oo.level": "O3"})


def test_a_level_among_the_options_is_compared_with_o1_too(graph_file: Path) -> None:
    """The peak of O1 that a compile is held to is computed without that option."""
    result = ge_core.compile(graph_file, options={"ge.oo.level": "O3"})
    assert "O3" == result.level
