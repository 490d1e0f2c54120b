"""`ge plugins doctor`: what each plugin is, brings, takes and breaks; switches and their typos."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ge_core.session.kernel import forget_kernels

from .at_load import GOOD, at_import
from .conftest import Meet, Ran
from .table import GRAPH, HEAD, Fault

DOCTOR = ("plugins", "doctor", "--format", "json")


def doctor(meet: Meet, code: str, name: str = "acme") -> tuple[Ran, dict[str, Any]]:
    """What the doctor says of a plugin."""
    ran = meet(Fault("", code, (), run=DOCTOR, entry=(name, "{module}")))
    (row,) = [item for item in ran.json["items"] if item["distribution"] == "acme-dist"]
    return ran, row


def test_what_a_plugin_brings_is_counted(meet: Meet) -> None:
    """With package, version, API and the time that loading takes."""
    _, row = doctor(meet, GOOD)
    assert ("acme-dist", "1.5", "1", "loaded", {"targets": 1}, [], None) == tuple(
        row[key]
        for key in ("distribution", "version", "api", "status", "registered", "changes", "error")
    )
    assert row["seconds"] > 0


def test_a_failure_comes_with_its_traceback(meet: Meet) -> None:
    """And nothing counted."""
    ran, row = doctor(meet, "1 / 0")
    assert (1, "failed", {}) == (ran.code, row["status"], row["registered"])
    assert "ZeroDivisionError" in row["traceback"]


def test_a_slow_import_is_measured(meet: Meet, monkeypatch: pytest.MonkeyPatch) -> None:
    """By plugin; the clock is a stand-in that jumps while the plugin is imported."""
    from ge_core.plugin import watch

    times = iter(range(0, 100_000, 2))
    monkeypatch.setattr(watch, "perf_counter", lambda: float(next(times)))
    _, row = doctor(meet, GOOD)
    assert 4.0 == row["seconds"]


def test_changes_of_the_process_are_said(meet: Meet) -> None:
    """What was printed, for one."""
    ran, row = doctor(meet, at_import("print('hello')"))
    assert (1, ["wrote to standard output, which went to standard error"]) == (
        ran.code,
        row["changes"],
    )


def warnings(meet: Meet, place: Path, config: str) -> list[str]:
    """What a compile says about a configuration, acme being installed."""
    (place / "ge.toml").write_text(config, encoding="utf-8")
    forget_kernels()
    ran = meet(Fault("", GOOD, ()))
    return [text for text in ran.json["warnings"] if "acm" in text]


def test_a_misspelled_allow_list_names_what_is_near(meet: Meet, place: Path) -> None:
    """The plugin that was meant is not loaded, and that is said."""
    assert [
        f"{place / 'ge.toml'} lists plugin 'acmee', which is not installed; near: acme"
    ] == warnings(meet, place, 'plugins = ["acmee"]\n')


def test_a_misspelled_preference_names_what_is_near(meet: Meet, place: Path) -> None:
    """Of the plugin's name, and of its package's."""
    file = place / "ge.toml"
    assert [
        f"{file} prefers 'acme-dist' for plugin 'acne', which is not installed; near: acme"
    ] == warnings(meet, place, 'prefer = { acne = "acme-dist" }\n')


def test_a_preference_for_another_package(meet: Meet, place: Path) -> None:
    """The claimants are listed."""
    file = place / "ge.toml"
    assert [
        f"{file} prefers 'acme-dits' for plugin 'acme', which acme-dist brings; near: acme-dist"
    ] == warnings(meet, place, 'prefer = { acme = "acme-dits" }\n')


def test_a_misspelled_switch_names_what_is_near(
    meet: Meet, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GE_DISABLE_PLUGINS=acmee disables nothing and says so."""
    monkeypatch.setenv("GE_DISABLE_PLUGINS", "acmee")
    assert [
        "GE_DISABLE_PLUGINS names plugin 'acmee', which is not installed; near: acme"
    ] == warnings(meet, place, "")


NAMES = [
    ('plugins = ["acmee"]\n', None, "lists plugin 'acmee', which is not installed; near: acme"),
    ('prefer = { acne = "x" }\n', None, "for plugin 'acne', which is not installed; near: acme"),
    ("", "acmee", "names plugin 'acmee', which is not installed; near: acme"),
]


@pytest.mark.parametrize(("config", "switch", "says"), NAMES)
def test_a_name_that_no_plugin_has_is_told_by_the_doctor(
    config: str,
    switch: str | None,
    says: str,
    meet: Meet,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In `plugins`, in `prefer` or in GE_DISABLE_PLUGINS: something is wrong, exit code 1."""
    (place / "ge.toml").write_text(config, encoding="utf-8")
    if switch is not None:
        monkeypatch.setenv("GE_DISABLE_PLUGINS", switch)
    ran = meet(Fault("", GOOD, (), run=DOCTOR))
    (line,) = ran.json["unknown"]
    assert (1, True) == (ran.code, line.endswith(says)), line


@pytest.mark.parametrize("run", [("compile", GRAPH), ("explain", GRAPH), ("passes",)])
@pytest.mark.parametrize(("config", "switch", "says"), NAMES)
def test_a_name_that_no_plugin_has_is_an_error_under_strict_plugins(
    config: str,
    switch: str | None,
    says: str,
    run: tuple[str, ...],
    meet: Meet,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the command does, since it may miss the plugin that was meant."""
    (place / "ge.toml").write_text(config, encoding="utf-8")
    if switch is not None:
        monkeypatch.setenv("GE_DISABLE_PLUGINS", switch)
    ran = meet(Fault("", GOOD, (), run=("--strict-plugins", *run)))
    assert (4, "") == (ran.code, ran.out)
    assert "plugins are not there, and --strict-plugins was asked for" in ran.err
    assert says in ran.err


def test_the_doctor_speaks_in_strict_projects_too(meet: Meet, place: Path) -> None:
    """It shows what is wrong, and ends as every command there does."""
    (place / "ge.toml").write_text('strict-plugins = true\nplugins = ["acmee"]\n')
    ran = meet(Fault("", GOOD, (), run=DOCTOR))
    assert (4, 1) == (ran.code, len(ran.json["unknown"]))


@pytest.mark.parametrize(
    ("name", "told"),
    [("TensorMoveDeletePas", False), ("acme.Drop", True), ("Qwxz", True)],
)
def test_a_plugin_that_is_not_there_is_told_where_it_may_matter(
    name: str, told: bool, meet: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With names of its prefix and with those that nothing is near to, and with no others."""
    monkeypatch.setenv("GE_DISABLE_PLUGINS", "acme")
    ran = meet(Fault("", GOOD, (), run=("compile", GRAPH, "--enable", name)))
    assert told == ("acme-dist 1.5" in ran.err), ran.err


def test_drivers_of_third_parties_are_switched_off_too(
    meet: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GE_DISABLE_PLUGINS=* hides a frontend; its suffix is not known then."""
    monkeypatch.setenv("GE_DISABLE_PLUGINS", "*")
    code = HEAD + "class D:\n    def load(self, path, *, input_shapes): raise SystemExit\n"
    group = "ge_core.frontends.v1"
    run = ("compile", "model.acme")
    ran = meet(Fault("", code, (), run=run, group=group, entry=("acme", "{module}:D")))
    assert (2, True) == (ran.code, "no reader for suffix '.acme'" in ran.err)


def test_what_is_declared_wrongly_is_found(meet: Meet) -> None:
    """Passes in a circle, a switch that nobody declares, levels, targets and pools."""
    code = (
        HEAD
        + """
class P(AnalysisPass):
    def run(self, graph, ctx):
        pass

@hookimpl
def ge_register_passes(passes):
    passes.add(P, name="A", levels=["O3"], stage=Stage.PREPARE, before=["B"])
    passes.add(P, name="B", levels=["O3"], stage=Stage.PREPARE, before=["A"])
    passes.add(P, name="C", levels=["O4"], stage=Stage.PREPARE, switch="nowhere")

@hookimpl
def ge_register_options(options):
    options.add("b", help="x", default={"O9": "1"})

@hookimpl
def ge_register_targets(targets):
    targets.add(Target("npu", pools={"HMB": 1000}))
"""
    )
    ran = meet(Fault("", code, (), run=DOCTOR, entry=("acme", "{module}")))
    assert 1 == ran.code
    assert [
        ("pass acme.C", "pass 'acme.C' is bound to option 'nowhere', which nobody declares"),
        (
            "option acme.b",
            "has a default for level 'O9', and there is none; levels are O0, O1, O2, O3, O4",
        ),
        ("passes at O0", "the order of passes contradicts itself: acme.A -> acme.B -> acme.A"),
        ("target npu", "limits pool 'HMB', in which nothing lies, and not HBM"),
    ] == [(row["name"], row["error"]) for row in ran.json["pipelines"]]
    assert {("acme-dist", "1.5")} == {
        (row["owner"], row["version"]) for row in ran.json["pipelines"]
    }
