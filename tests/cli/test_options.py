"""`ge options`: what is offered where, and what holds for one option."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_core.session.kernel import forget_kernels
from tests.cli.conftest import Ge


def names(ge: Ge, *flags: str) -> list[str]:
    """What a listing shows, by the names that it shows."""
    return [item["shown"] for item in ge("options", *flags, "--format", "json").json["items"]]


def test_atc_shows_the_names_that_atc_has(ge: Ge) -> None:
    """Only options that have a name there; a pass's memory options have none."""
    shown = names(ge, "--entry-point", "atc")
    assert {"oo_level", "oo_constant_folding", "topo_sorting_mode", "export_compile_stat"} <= set(
        shown
    )
    assert [] == [name for name in shown if name.startswith("ge.")]


@pytest.mark.parametrize("entry", ["session", "ir_build", "python", "command"])
def test_other_entry_points_show_options_by_their_own_names(ge: Ge, entry: str) -> None:
    """And all of them but GE's internal ones."""
    assert names(ge) == names(ge, "--entry-point", entry)


def test_internal_options_are_listed_when_all_are(ge: Ge) -> None:
    """GE shows them nobody."""
    assert "fe_compile_o3_opt" not in names(ge)
    assert "fe_compile_o3_opt" in names(ge, "--all")


def test_a_section_by_our_name_and_by_ges(ge: Ge) -> None:
    """`Debug` and `debug` are one."""
    assert ["ge.exec.enableDump", "ge.exportCompileStat"] == names(ge, "--category", "Debug")
    assert names(ge, "--category", "debug") == names(ge, "--category", "Debug")


def test_a_section_that_there_is_not(ge: Ge) -> None:
    """An error with those there are, not an empty list."""
    ran = ge("options", "--category", "memroy")
    assert (2, "error GE00003: no options in section 'memroy'") == (
        ran.code,
        ran.err.splitlines()[0],
    )
    assert "  near: memory" in ran.err.splitlines()


def test_show_says_what_an_option_is_at_each_level(ge: Ge) -> None:
    """Default by level, its value here, and who says so."""
    shown = ge("options", "show", "ge.topoSortingMode", "--format", "json").json
    assert {"O0": None, "O1": "3", "O2": "3", "O3": "", "O4": ""} == {
        level: shown["at_levels"][level] for level in ("O0", "O1", "O2", "O3", "O4")
    }
    assert ("option", "", "level O3") == (shown["kind"], shown["value"], shown["source"])
    assert {"atc": "topo_sorting_mode"} == shown["show_names"]


def test_show_has_the_value_of_the_project(
    ge: Ge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And names its file."""
    (tmp_path / "ge.toml").write_text('[set]\n"ge.topoSortingMode" = "1"\n')
    monkeypatch.chdir(tmp_path)
    shown = ge("options", "show", "ge.topoSortingMode", "--format", "json").json
    assert ("1", str(tmp_path / "ge.toml")) == (shown["value"], shown["source"])


def test_a_pass_is_an_option_by_its_own_name(ge: Ge) -> None:
    """On or off, by level."""
    shown = ge("options", "show", "TensorMoveDeletePass", "--format", "json").json
    assert ("pass", "on", "off") == (shown["kind"], shown["value"], shown["at_levels"]["O1"])


def test_options_of_passes_are_shown_too(ge: Ge) -> None:
    """As fields of the pass; another field is an error."""
    shown = ge("options", "show", "TensorMoveDeletePass.search_limit", "--format", "json").json
    assert ("pass option", "whole number") == (shown["kind"], shown["type"])
    wrong = ge("options", "show", "TensorMoveDeletePass.search_limits")
    assert 2 == wrong.code
    assert "  near: search_limit" in wrong.err.splitlines()


def test_people_read_the_same(ge: Ge) -> None:
    """One fact in each line."""
    lines = ge("options", "show", "ge.oo.level").out.splitlines()
    assert "name          ge.oo.level" in lines
    assert "show_names    atc: oo_level" in lines


def test_a_name_of_atc_is_not_ours(ge: Ge) -> None:
    """The error says what it stands for."""
    ran = ge("options", "show", "oo_level")
    assert (2, "error GE00003: no option 'oo_level'") == (ran.code, ran.err.splitlines()[0])
    assert "  oo_level is what ATC calls it" in ran.err.splitlines()


BOUND = '''
from ge_core.api import AnalysisPass, Level, Stage, hookimpl


class CountConcats(AnalysisPass):
    """Counts."""

    def run(self, graph, ctx):
        pass


@hookimpl
def ge_register_options(options):
    options.add("count", type="switch", default={"O1": "false", "O3": "true"}, help="Count.")
    options.add("concats", type="switch", help="Count Concats.")


@hookimpl
def ge_register_passes(passes):
    passes.add(CountConcats, levels=(), stage=Stage.CHECK, switch=["count", "concats"])
'''


def test_show_says_what_a_bound_pass_is_at_each_level(
    ge: Ge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its options, which have their full names; a listing shows defaults by level."""
    (tmp_path / "acme_bound_options.py").write_text(BOUND, encoding="utf-8")
    (tmp_path / "ge.toml").write_text("plugins = ['acme = acme_bound_options']\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    forget_kernels()
    shown = ge("options", "show", "acme.CountConcats", "--format", "json").json
    assert ["acme.count", "acme.concats"] == shown["bound_to"]
    assert {"O0": "off", "O1": "off", "O2": "off", "O3": "on", "O4": "on"} == shown["at_levels"]
    rows = [line.split("  ") for line in ge("options").out.splitlines()]
    (row,) = [row for row in rows if row[0] == "acme.count"]
    assert "O1: false, O3: true" in [cell.strip() for cell in row]
    forget_kernels()


LIMITED = '''
from dataclasses import dataclass

from ge_core.api import AnalysisPass, Level, Stage, hookimpl


@dataclass(frozen=True)
class Look(AnalysisPass):
    """Looks."""

    limit: int | None = 5

    def run(self, graph, ctx):
        pass


@hookimpl
def ge_register_passes(passes):
    passes.add(Look, levels=Level.O1.and_above(), stage=Stage.CHECK)
'''


def test_show_has_the_value_none_where_somebody_gave_it(
    ge: Ge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no default."""
    (tmp_path / "acme_limited.py").write_text(LIMITED, encoding="utf-8")
    (tmp_path / "ge.toml").write_text(
        'plugins = [\'acme = acme_limited\']\n[set]\n"acme.Look.limit" = "none"\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    forget_kernels()
    shown = ge("options", "show", "acme.Look.limit", "--format", "json").json
    assert ("5", "none") == (shown["default"], shown["value"])
    forget_kernels()
