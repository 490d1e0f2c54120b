"""Retired names of the kernel: they work with a warning, then they are errors with the new name."""

from __future__ import annotations

import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pluggy
import pytest
from click.testing import CliRunner

import ge_core
import ge_core.api
import ge_core.testing
from ge_core import deprecation
from ge_core.cli.main import ge as command
from ge_core.config import find_config
from ge_core.deprecation import GeDeprecationWarning, ageing_argument, retired
from ge_core.errors import InputFileError, PluginError, UnknownNameError
from ge_core.owners import Owner, kernel_owner
from ge_core.plugin import specs
from ge_core.plugin.hook_manager import HookManager
from ge_core.renames import Rename
from ge_core.session.kernel import forget_kernels, make_kernel

KERNEL = kernel_owner().distribution
TODAY = kernel_owner().version


def soon(old: str, new: str) -> Rename:
    """A name that is retired and still works."""
    return retired(old, new, since="0.9", until="99.0")


def over(old: str, new: str) -> Rename:
    """A name whose time is over."""
    return retired(old, new, since="0.1", until="0.2")


def words(kind: str, old: str, new: str) -> str:
    """What is said of a name that still works."""
    return (
        f"{kind} {old!r} is called {new!r} since {KERNEL} 0.9; the old name goes in {KERNEL} 99.0"
    )


def gone(kind: str, old: str, new: str) -> str:
    """What is said of one that doesn't."""
    return (
        f"no {kind} {old!r}: it is called {new!r} since {KERNEL} 0.1,"
        f" and the old name went in {KERNEL} 0.2"
    )


# ---- Python names --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "module", [ge_core, ge_core.api, ge_core.testing], ids=lambda m: m.__name__
)
def test_a_retired_python_name(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what the new name is; the warning points at who asked."""
    names = {"OldGraph": soon("OldGraph", "ge_core.api:Graph")}
    monkeypatch.setitem(deprecation.PYTHON_NAMES, module.__name__, names)
    with pytest.warns(GeDeprecationWarning) as caught:
        found = module.OldGraph
    assert ge_core.api.Graph is found
    assert [words("name", f"{module.__name__}.OldGraph", "ge_core.api.Graph")] == [
        str(warning.message) for warning in caught
    ]
    assert [__file__] == [warning.filename for warning in caught]


def test_an_import_of_a_retired_python_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """`from ... import` is served, and told, likewise."""
    names = {"OldGraph": soon("OldGraph", "ge_core.api:Graph")}
    monkeypatch.setitem(deprecation.PYTHON_NAMES, "ge_core.api", names)
    with pytest.warns(GeDeprecationWarning) as caught:
        from ge_core.api import OldGraph  # type: ignore[attr-defined]
    assert ge_core.api.Graph is OldGraph
    assert {__file__} == {warning.filename for warning in caught}


def test_a_python_name_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the new one."""
    names = {"OldGraph": over("OldGraph", "ge_core.api:Graph")}
    monkeypatch.setitem(deprecation.PYTHON_NAMES, "ge_core.api", names)
    with pytest.raises(AttributeError) as caught:
        _ = ge_core.api.OldGraph  # type: ignore[attr-defined]
    assert gone("name", "ge_core.api.OldGraph", "ge_core.api.Graph") == str(caught.value)


@pytest.mark.parametrize(
    "module", [ge_core, ge_core.api, ge_core.testing], ids=lambda m: m.__name__
)
def test_a_python_name_that_never_was(module: ModuleType) -> None:
    """It is the usual error, and `hasattr` and `dir` work."""
    assert not hasattr(module, "Nothing")
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = module.Nothing
    assert set(module.__all__) <= set(dir(module))


def test_names_of_the_tables_exist() -> None:
    """What is retired today leads to public names, is well formed, and not public itself."""
    for module, names in deprecation.PYTHON_NAMES.items():
        for old, rename in names.items():
            home, _, new = rename.new.partition(":")
            assert rename.problem("name") is None
            assert old not in sys.modules[module].__all__
            assert new in sys.modules[home].__all__


# ---- hooks ---------------------------------------------------------------------------------------


class Plugin:
    """Implements a hook by an old name."""

    def __init__(self) -> None:
        self.given: list[object] = []

    @specs.hookimpl
    def ge_register_devices(self, targets: object) -> None:
        """The hook as it was once called."""
        self.given.append(targets)


class Both(Plugin):
    """Implements it by both names, for old kernels and new ones."""

    @specs.hookimpl
    def ge_register_targets(self, targets: object) -> None:
        """The hook as it is called now."""
        self.given.append(("new", targets))


@pytest.fixture
def manager() -> HookManager:
    """A manager that knows the hooks."""
    made = HookManager()
    made.add_hookspecs(specs)
    return made


@pytest.fixture
def historic(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ge_register_targets` was once called `ge_register_devices`."""
    rename = soon("ge_register_devices", "ge_register_targets")
    monkeypatch.setattr(deprecation, "HOOKS", {rename.old: rename})


@pytest.mark.usefixtures("historic")
def test_a_hook_by_its_old_name(manager: HookManager) -> None:
    """It is called as the hook it has become."""
    plugin = Plugin()
    with pytest.warns(GeDeprecationWarning) as caught:
        manager.register(plugin)
    manager.hook.ge_register_targets(targets="these")
    assert ["these"] == plugin.given
    assert [words("hook", "ge_register_devices", "ge_register_targets")] == [
        str(warning.message) for warning in caught
    ]


@pytest.mark.usefixtures("historic")
def test_a_hook_by_both_names(manager: HookManager) -> None:
    """It is called once, by the new name, and nothing is said."""
    plugin = Both()
    manager.register(plugin)
    manager.hook.ge_register_targets(targets="these")
    assert [("new", "these")] == plugin.given


def test_a_hook_name_that_is_gone(manager: HookManager, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the new one."""
    rename = over("ge_register_devices", "ge_register_targets")
    monkeypatch.setattr(deprecation, "HOOKS", {rename.old: rename})
    with pytest.raises(PluginError) as caught:
        manager.register(Plugin())
    assert gone("hook", "ge_register_devices", "ge_register_targets") == caught.value.message


def test_an_ageing_argument() -> None:
    """Who takes it is warned when the plugin is loaded; who leaves it out is not."""
    spec = pluggy.HookspecMarker("ge_core")
    told = ageing_argument("seconds", instead="`ctx.seconds`", since="1.4", until="1.6")

    class Specs:
        @spec(warn_on_impl_args={"seconds": told})
        def ge_timed(self, ctx: object, seconds: float) -> None:
            """A hook."""

    class Takes:
        @specs.hookimpl
        def ge_timed(self, ctx: object, seconds: float) -> None:
            """An implementation that takes it."""

    class LeavesOut:
        @specs.hookimpl
        def ge_timed(self, ctx: object) -> None:
            """One that doesn't."""

    manager = HookManager()
    manager.add_hookspecs(Specs)
    with pytest.warns(GeDeprecationWarning) as caught:
        manager.register(Takes())
    assert [
        f"argument 'seconds' is retired since {KERNEL} 1.4 and goes in {KERNEL} 1.6;"
        " use `ctx.seconds`"
    ] == [str(warning.message) for warning in caught]
    with warnings.catch_warnings(record=True) as none:
        warnings.simplefilter("always")
        manager.register(LeavesOut())
    assert [] == none


# ---- commands, flags, keys of the configuration --------------------------------------------------


def test_a_command_by_its_old_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, and standard error says what it is called."""
    monkeypatch.setattr(deprecation, "COMMANDS", {"devices": soon("devices", "targets")})
    done = CliRunner().invoke(command, ["devices"], catch_exceptions=False)
    assert f"warning: {words('command', 'devices', 'targets')}\n" == done.stderr
    assert "generic" in done.stdout


def test_a_command_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the new one."""
    monkeypatch.setattr(deprecation, "COMMANDS", {"devices": over("devices", "targets")})
    with pytest.raises(UnknownNameError) as caught:
        command.main(["devices"], standalone_mode=False)
    assert gone("command", "devices", "targets") == caught.value.message


@pytest.mark.parametrize("given", [["--form", "json"], ["--form=json"]])
def test_a_flag_by_its_old_name(given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read, with its value either way, and told."""
    monkeypatch.setattr(deprecation, "FLAGS", {"targets": {"--form": soon("--form", "--format")}})
    done = CliRunner().invoke(command, ["targets", *given], catch_exceptions=False)
    assert f"warning: {words('flag', '--form', '--format')}\n" == done.stderr
    assert '"ge-targets/1"' in done.stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose configuration has a key by an old name."""
    (tmp_path / "ge.toml").write_text(
        textwrap.dedent(
            """\
            planner = "fast"
            """
        )
    )
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    forget_kernels()


def test_a_key_by_its_old_name(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read, and every compile says what it is called."""
    monkeypatch.setattr(deprecation, "CONFIG_KEYS", {"planner": soon("planner", "assigner")})
    config = find_config(project)
    told = words("key of the configuration", "planner", "assigner")
    assert ("fast", (told,)) == (config.assigner, config.warnings)
    graph = ge_core.Graph("empty")
    result = ge_core.compile(graph)
    assert told in result.warnings


def test_a_key_that_is_gone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the new one."""
    monkeypatch.setattr(deprecation, "CONFIG_KEYS", {"planner": over("planner", "assigner")})
    with pytest.raises(UnknownNameError) as caught:
        make_kernel(folder=project)
    assert gone("key of the configuration", "planner", "assigner") == caught.value.message


def test_a_key_by_both_names(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is ignored in silence."""
    monkeypatch.setattr(deprecation, "CONFIG_KEYS", {"planner": soon("planner", "assigner")})
    (project / "ge.toml").write_text('assigner = "best"\nplanner = "fast"\n')
    with pytest.raises(InputFileError, match=r":2: field 'planner': is set twice, as 'assigner'"):
        find_config(project)


def test_whose_names_these_are() -> None:
    """They are the kernel's, and go with its versions."""
    assert Owner("ge_core", KERNEL, TODAY, builtin=True) == soon("a", "b").owner
