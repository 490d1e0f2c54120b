"""Error classes: each has its code, GE's where GE has one, and an exit code."""

from __future__ import annotations

import inspect

import pytest

from ge_core import errors
from ge_core.errors import (
    GeError,
    MissingHookError,
    OptionError,
    PassError,
    PluginError,
    PluginLoadError,
)
from ge_core.owners import Owner
from ge_core.passes import GraphPass, LevelRegistry, OptionRegistry, PassRegistry
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.precedence import Source, settle
from ge_core.registry import resolve_reference

ACME = Owner("acme", "acme-casts", "1.0")


def test_no_two_classes_share_a_code() -> None:
    """But for the base, whose code nothing raises alone, a code tells the class."""
    found = [
        cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, GeError)
    ]
    codes = [cls.code for cls in found]
    assert sorted(codes) == sorted(set(codes))


@pytest.mark.parametrize(
    ("cls", "code"),
    [(PassError, "E13028"), (PluginLoadError, "E13029"), (MissingHookError, "E13030")],
)
def test_faults_of_plugins_have_ges_codes(cls: type[GeError], code: str) -> None:
    """And all of them end with one exit code, as plugins' errors."""
    assert (code, 4) == (cls.code, cls.exit_code)
    assert issubclass(cls, PluginError)


def test_a_module_that_can_not_be_imported_was_not_loaded() -> None:
    """GE's E13029 names the library, ours the reference and the package."""
    with pytest.raises(PluginLoadError, match="'acme_nowhere:Pass' can't be loaded") as raised:
        resolve_reference("acme_nowhere:Pass", ACME)
    assert "acme-casts 1.0" == raised.value.owner


def test_a_name_that_a_module_lacks_is_missing() -> None:
    """GE's E13030: the library is there and the function isn't."""
    with pytest.raises(MissingHookError, match="has no attribute 'Nothing'"):
        resolve_reference("ge_core.errors:Nothing", ACME)


def test_a_pass_without_run_lacks_a_function() -> None:
    """Told when it is declared."""

    class Half(GraphPass):
        pass

    with pytest.raises(MissingHookError, match="pass 'Half' lacks run"):
        PassRegistry().add(Half, levels=("O3",), stage="PREPARE")


def test_what_a_plugin_that_failed_would_have_brought_was_not_loaded() -> None:
    """Asking for it says why it isn't there."""
    options = OptionRegistry()
    options.absent = {"vendorx": "plugin 'vendorx' failed at import"}
    assert isinstance(options.unknown("vendorx.bank"), PluginLoadError)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"ge.oo.level": "O5"},
            "Value O5 for parameter ge.oo.level is invalid. Reason: The value must be one of O0,"
            " O1, O2, O3, O4.",
        ),
        (
            {"ge.oo.constantFolding": "maybe"},
            "Value maybe for parameter ge.oo.constantFolding is invalid. Reason: The value must be"
            " true, false or empty.",
        ),
        (
            {"ge.optimizationSwitch": "A"},
            "Value A for parameter ge.optimizationSwitch is invalid. Reason: 'A' is not Pass:on or"
            " Pass:off.",
        ),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_every_bad_value_can_be_told_in_ges_words(options: dict[str, str], text: str) -> None:
    """Value, parameter and reason are parts of the error."""
    registered = OptionRegistry()
    register_builtin_options(registered)
    with pytest.raises(OptionError) as raised:
        settle([Source("arguments", options)], registered, PassRegistry(), LevelRegistry())
    assert text == raised.value.ge_text
