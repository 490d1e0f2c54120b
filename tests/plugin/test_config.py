"""Project configuration: where it is found, what it may say, and how mistakes are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_core.config import ProjectConfig, find_config
from ge_core.errors import InputFileError

PYPROJECT = """\
[project]
name = "model"

[tool.ge]
level = "O4"
target = "ascend"
objective = "peak"
plugins = ["acme", "mine = my_passes"]
strict-plugins = true
enable = ["A"]
disable = ["B"]
prefer = { acme = "acme-casts" }

[tool.ge.set]
"ge.exec.inputReuseMemIndexes" = "0"
"acme.DropNoOpCast.limit" = 100
"acme.DropNoOpCast.loud" = true
"""


def write(folder: Path, name: str, text: str) -> Path:
    """A file in a folder, both made."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def error_of(folder: Path, text: str, name: str = "ge.toml") -> str:
    """What is said about a file."""
    write(folder, name, text)
    with pytest.raises(InputFileError) as raised:
        find_config(folder)
    return str(raised.value)


def test_the_table_is_found_upwards(tmp_path: Path) -> None:
    """From a folder below the project."""
    path = write(tmp_path, "pyproject.toml", PYPROJECT)
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert ProjectConfig(
        level="O4",
        target="ascend",
        objective="peak",
        plugins=("acme", "mine = my_passes"),
        strict_plugins=True,
        enable=("A",),
        disable=("B",),
        prefer={"acme": "acme-casts"},
        settings={
            "ge.exec.inputReuseMemIndexes": "0",
            "acme.DropNoOpCast.limit": 100,
            "acme.DropNoOpCast.loud": True,
        },
        file=path,
    ) == find_config(tmp_path / "a" / "b")


def test_settings_become_texts(tmp_path: Path) -> None:
    """As options are."""
    write(tmp_path, "pyproject.toml", PYPROJECT)
    assert {
        "ge.exec.inputReuseMemIndexes": "0",
        "acme.DropNoOpCast.limit": "100",
        "acme.DropNoOpCast.loud": "true",
    } == find_config(tmp_path).options()


def test_names_with_dots_need_no_quotes(tmp_path: Path) -> None:
    """A dotted key, a table and an inline table say what the quoted name says."""
    texts = (
        "[set]\n'acme.Casts.limit' = 3",
        "[set]\nacme.Casts.limit = 3",
        "set.acme.Casts.limit = 3",
        "[set.acme.Casts]\nlimit = 3",
        "[set]\nacme = { Casts = { limit = 3 } }",
        "[set.acme]\n'Casts.limit' = 3",
    )
    for text in texts:
        write(tmp_path, "ge.toml", text)
        assert {"acme.Casts.limit": "3"} == find_config(tmp_path).options(), text


def test_the_nearest_file_counts_alone(tmp_path: Path) -> None:
    """ge.toml before pyproject.toml; a pyproject.toml without the table is passed by."""
    write(tmp_path, "pyproject.toml", PYPROJECT)
    write(tmp_path / "a", "ge.toml", "level = 'O1'")
    write(tmp_path / "a", "pyproject.toml", "[tool.ge]\nlevel = 'O2'")
    write(tmp_path / "a" / "b", "pyproject.toml", "[tool.other]\nx = 1")
    found = find_config(tmp_path / "a" / "b")
    assert ("O1", None, tmp_path / "a") == (found.level, found.target, found.folder)


def test_without_a_file_nothing_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The working directory is where the search begins."""
    monkeypatch.chdir(tmp_path)
    assert ProjectConfig() == find_config()
    assert find_config().folder is None


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("\nlevle = 'O1'", 2, "field 'levle': is no key of the configuration\n  near: level"),
        ("level = 1", 1, "field 'level': input should be a valid string (got 1)"),
        ("level='O1'\nobjective = 'fast'", 2, "field 'objective': input should be 'copies'"),
        (
            "plugins = 'acme'",
            1,
            "field 'plugins': input should be a list (got 'acme')\n  write plugins = [\"acme\"]",
        ),
        ("disable = 1", 1, "field 'disable': input should be a list (got 1)"),
        (
            "\n[set]\n# ge\n'ge.a' = 1\n'ge.b' = [1]",
            5,
            "field 'set.ge.b': input should be a text, a number or a truth value (got [1])",
        ),
        ("[set]\nge.a = 1\nge.b = [1]", 3, "field 'set.ge.b': input should be a text"),
        ("[set.ge]\na = 1\nb = [1]", 3, "field 'set.ge.b': input should be a text"),
        ("[set]\n'ge.a' = 1\nge.a = 2", 3, "field 'set.ge.a': is set twice"),
        ("[prefer]\nacme = 1", 2, "field 'prefer.acme': input should be a valid string"),
        ("strict-plugins = 'maybe'", 1, "field 'strict-plugins': input should be a valid boolean"),
    ],
)
def test_a_mistake_is_reported_with_file_and_line(
    tmp_path: Path, text: str, line: int, problem: str
) -> None:
    """And the field as it is written."""
    said = error_of(tmp_path, text)
    assert said.startswith(f"{tmp_path / 'ge.toml'}:{line}: {problem}")


def test_lines_are_those_of_the_whole_file(tmp_path: Path) -> None:
    """Keys of equal names in other tables are not taken for it."""
    text = "[project]\nlevel = 1\n[tool.ge]\n[tool.ge.prefer]\nlevel = 3\n[tool.ge.set]\nlevel = []"
    assert ":5: field 'prefer.level'" in error_of(tmp_path, text, "pyproject.toml")


def test_what_is_not_toml(tmp_path: Path) -> None:
    """The parser says where."""
    assert "is not TOML" in error_of(tmp_path, "a = ")
    assert "(at line 2, column 5)" in error_of(tmp_path, "b = 1\na = =\n")


def test_a_table_that_is_none(tmp_path: Path) -> None:
    """`ge = 1` under [tool]."""
    assert "field 'tool.ge': is not a table" in error_of(
        tmp_path, "[tool]\nge = 1", "pyproject.toml"
    )
