"""Rules that name what isn't there: near misses are told, all others are marked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ge_core.plugin.odd_rules import odd_rules, unknown_types
from ge_core.plugin.registries import Registries
from ge_core.session.kernel import forget_kernels, make_kernel

PLUGIN = """
from ge_core.api import hookimpl


@hookimpl
def ge_register_anchor_types(types):
    types.add("BANK", marks=lambda anchor: False)


@hookimpl
def ge_register_conflict_checkers(checkers):
    checkers.never({first!r}, {second!r})


@hookimpl
def ge_register_delete_rules(rules):
    rules.add("fits", lambda copy: None, codes=["NO"], passes=[{asked!r}])
"""

Load = Callable[..., Registries]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """`load(first, second, asked)`: the registries with acme's rules for two types and a pass."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    module = f"acme_odd_{abs(hash(str(tmp_path)))}"
    (tmp_path / "ge.toml").write_text(f"plugins = ['acme = {module}']\n", encoding="utf-8")

    def run(
        first: str = "BANK", second: str = "NORMAL_INPUT", asked: str = "TensorMoveDeletePass"
    ) -> Registries:
        text = PLUGIN.format(first=first, second=second, asked=asked)
        (tmp_path / f"{module}.py").write_text(text, encoding="utf-8")
        return make_kernel(folder=tmp_path, environ={}).registries

    yield run
    forget_kernels()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({}, []),
        ({"second": "zz.SOMETHING"}, []),
        ({"asked": "OtherCompanyPass"}, []),
        (
            {"second": "NORMAL_INPTU"},
            [
                (
                    "checker for acme.BANK and NORMAL_INPTU",
                    "there is no anchor type 'NORMAL_INPTU'",
                ),
                (
                    "checker for acme.BANK and NORMAL_INPTU",
                    "near: NORMAL_INPUT (graph-engine-memco",
                ),
            ],
        ),
        ({"first": "BANKS"}, [("checker for BANKS and NORMAL_INPUT", "near: acme.BANK (acme_odd")]),
        (
            {"asked": "TensorMoveDeltePass"},
            [("delete rule acme.fits", "near: TensorMoveDeletePass (graph-engine-tensormove")],
        ),
    ],
)
def test_near_misses_are_told(load: Load, named: dict[str, str], said: list[Any]) -> None:
    """Names that are like nothing may be those of a package that isn't installed."""
    odd = list(odd_rules(load(**named)))
    assert len({what for what, _ in said}) == len(odd)
    assert all(what == odd[0].what and words in odd[0].words for what, words in said)


def test_a_rule_for_a_type_that_nobody_registered_is_marked(load: Load, ge: Any) -> None:
    """Whatever the name looks like."""
    registries = load(second="zz.SOMETHING")
    found = {
        rule.types: unknown_types(rule, registries.anchor_types) for rule in registries.checkers
    }
    assert ["zz.SOMETHING"] == found.pop(("acme.BANK", "zz.SOMETHING"))
    assert all(not unknown for unknown in found.values())
    rows = json.loads(ge("checkers", "--format", "json").out)["items"]
    assert [["zz.SOMETHING"]] == [row["unknown"] for row in rows if "unknown" in row]
    assert "zz.SOMETHING" in ge("checkers").out


def test_doctor_tells_near_misses(load: Load, ge: Any) -> None:
    """With the rule, its package and what is near."""
    load(asked="TensorMoveDeltePass")
    said = ge("plugins", "doctor").out
    assert "delete rule acme.fits" in said
    assert "there is none; near: TensorMoveDeletePass" in said


def test_a_compile_tells_near_misses(load: Load, ge: Any, graph_file: Path) -> None:
    """Among its warnings."""
    load(second="NORMAL_INPTU")
    warnings = json.loads(ge("compile", str(graph_file), "--format", "json").out)["warnings"]
    assert 1 == sum("there is no anchor type 'NORMAL_INPTU'; near" in one for one in warnings)
