"""Lines of keys in TOML files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import InputFileError
from ge_core.toml_lines import index_lines, line_of, parse, read_text

TEXT = '''\
# [[add]] is not one
name = "a # b"   # [x]
long = """
[[add]]
key = 1
"""
list = [
  "x = 1",
  [1, 2],
]
[[add]]
pass = "A"
options = { a = 1, "b.c" = 2 }
[[add]]
pass = "B"
[add.options]
"d.e" = 1
[set]
"ge.x" = '[y'
a.b = 1
'''


def test_each_table_and_key_has_its_line() -> None:
    """Texts and lists of several lines, comments and brackets in texts don't mislead."""
    assert {
        ("name",): 2,
        ("long",): 3,
        ("list",): 7,
        ("add",): 11,
        ("add", 0): 11,
        ("add", 0, "pass"): 12,
        ("add", 0, "options"): 13,
        ("add", 1): 14,
        ("add", 1, "pass"): 15,
        ("add", 1, "options"): 16,
        ("add", 1, "options", "d.e"): 17,
        ("set",): 18,
        ("set", "ge.x"): 19,
        ("set", "a", "b"): 20,
    } == index_lines(TEXT)


def test_what_is_not_written_is_where_its_table_is() -> None:
    """The longest part of a path that is written; the first line where none is."""
    index = index_lines(TEXT)
    assert (13, 14, 18, 1) == (
        line_of(index, ("add", 0, "options", "a")),
        line_of(index, ("add", 1, "before")),
        line_of(index, ("set", "gone")),
        line_of(index, ("gone",)),
    )


keys = st.from_regex(r"[a-z]{1,3}", fullmatch=True)
values = st.sampled_from(["1", '"[[x]]"', "'a = 1'", '"""\n[z]\n"""', "[\n1,\n2\n]", "{ q = 1 }"])


@given(st.lists(st.tuples(keys, st.lists(st.tuples(keys, values), max_size=3)), max_size=4))
def test_written_keys_are_found(tables: list[tuple[str, list[tuple[str, str]]]]) -> None:
    """In arrays of tables with any values, each key is at the line where it begins."""
    lines: list[str] = []
    expected: dict[Any, int] = {}
    counts: dict[str, int] = {}
    for table, entries in tables:
        lines.append(f"[[{table}]]")
        at = counts[table] = counts.get(table, -1) + 1
        expected.setdefault((table,), len(lines))
        expected[(table, at)] = len(lines)
        for key, value in dict(entries).items():
            expected[(table, at, key)] = len(lines) + 1
            lines += f"{key} = {value}".split("\n")
    text = "\n".join(lines)
    tomllib.loads(text)
    assert expected == index_lines(text)


@pytest.mark.parametrize("text", ["x=" + "[" * 100_000 + "]" * 100_000, "x=" + "9" * 5000])
def test_what_python_cannot_read_is_one_error(text: str) -> None:
    """Too deep, or a number that is too long: the file is named."""
    with pytest.raises(InputFileError, match=r"nasty\.toml"):
        parse(text, "nasty.toml")


def test_a_name_that_no_file_can_have_is_one_error() -> None:
    """A NUL is shown, not handed to a terminal."""
    with pytest.raises(InputFileError, match=r"can't be read"):
        read_text(Path("a\x00.toml"))
