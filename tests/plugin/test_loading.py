"""Loading: each plugin alone, all of it or nothing, stamped with its owner, in a fixed order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ge_core.config import ProjectConfig
from ge_core.errors import PluginError, UnknownNameError
from ge_core.plugin import PluginIndex, Status, index_plugins, load_plugins
from ge_core.plugin.loading import LoadedPlugins

Install = Callable[..., str]

GOOD = """
@hookimpl
def ge_register_passes(passes):
    passes.add(Pass, name="Good", levels=ALWAYS, stage=Stage.PREPARE)
"""


def load(*names: str, **more: Any) -> LoadedPlugins:
    """Load the third parties of these names, whatever else is installed."""
    config = more.pop("config", ProjectConfig())
    index = index_plugins(config, {})
    kept = tuple(c for c in index.candidates if c.name in names)
    return load_plugins(PluginIndex(kept, index.warnings), config=config, **more)


def outcome(loaded: LoadedPlugins, name: str) -> tuple[str, str]:
    """Status and reason of a plugin."""
    (candidate,) = [c for c in loaded.candidates if c.name == name]
    return str(candidate.status), candidate.reason


def test_everything_that_a_plugin_registers_is_stamped(install: Install) -> None:
    """One hook per registry; third parties' names get the owner's prefix."""
    install(
        "acme",
        "acme-casts",
        """
        from ge_core.ops import OpTraits
        from ge_core.passes.overlays import Overlay

        @hookimpl
        def ge_register_ops(ops):
            ops.add(OpTraits("AcmeGelu", inplace=((0, 0),)), source="onnx")

        @hookimpl
        def ge_register_options(options):
            options.add("bits", type="integer", default="5", help="Bits.")

        @hookimpl
        def ge_register_passes(passes):
            passes.add(Pass, levels=ALWAYS, stage=Stage.PREPARE)

        @hookimpl
        def ge_register_trace_rules(rules):
            rules.add("AcmeWindow", step=lambda anchor, trace: None)

        @hookimpl
        def ge_register_delete_rules(rules):
            rules.add("bank", lambda query: None, codes=("OTHER_BANK",))

        @hookimpl
        def ge_register_anchor_types(types):
            types.add("PINNED", marks=lambda anchor: False)

        @hookimpl
        def ge_register_conflict_checkers(checkers):
            checkers.always("PINNED", "NORMAL_INPUT", code="PINNED_HERE")

        @hookimpl
        def ge_register_memory_assigners(assigners):
            assigners.add("first_fit", "acme_memory:FirstFit")

        @hookimpl
        def ge_register_targets(targets):
            targets.add(Target("acme-npu", align_bytes=256))

        @hookimpl
        def ge_register_kernels(kernels):
            kernels.add("AcmeGelu", "acme.kernels:gelu")

        @hookimpl
        def ge_register_pipelines(pipelines):
            pipelines.add(Overlay("acme-npu", base="O3"))
            pipelines.add_level("edge", extends="O1")
        """,
    )
    loaded = load("acme")
    assert ("loaded", "") == outcome(loaded, "acme")
    there = loaded.registries
    assert "acme-casts 1.0" == there.ops.of("AcmeGelu", "onnx").owner
    assert "acme.bits" in there.options
    assert "acme.Pass" in there.passes
    assert ["acme-casts"] == [rule.owner.distribution for rule in there.trace_rules]
    assert "acme.bank" in there.delete_rules
    assert ["acme.PINNED"] == there.anchor_types.names()
    assert [("acme.PINNED", "NORMAL_INPUT")] == [rule.types for rule in there.checkers]
    assert ["acme.first_fit"] == there.assigners.names()
    assert 256 == there.targets.get("acme-npu").align_bytes
    assert ["acme-casts"] == [kernel.owner.distribution for kernel in there.kernels]
    assert ["acme-npu"] == there.pipelines.names()
    assert ["edge"] == there.pipelines.levels.names()
    assert ["acme.NOOP", "acme.OTHER_BANK", "acme.PINNED_HERE"] == [
        code.name for code in there.codes().all()
    ]


def test_the_kernels_own_things_are_there_without_plugins() -> None:
    """GE's ops, the options, the generic target; built-in names are bare."""
    there = load().registries
    assert (True, True, ["generic"]) == (
        "ge.oo.level" in there.options,
        there.ops.of("Reshape", "ge").known,
        there.targets.names(),
    )
    assert "graph-engine-core" == there.targets.entry("generic").owner.distribution


def test_built_in_plugins_get_bare_names(install: Install) -> None:
    """By the distribution, a closed list."""
    install("report", "graph-engine-report", GOOD)
    assert ["Good"] == load("report").registries.passes.names()


def test_the_result_does_not_depend_on_the_order_of_installation(install: Install) -> None:
    """Plugins are taken over in sorted order."""
    for name in ("zeta", "alpha", "mid"):
        install(name, f"{name}-dist", GOOD)
    loaded = load("zeta", "alpha", "mid")
    assert ["alpha", "mid", "zeta"] == [c.name for c in loaded.candidates]
    assert ["alpha.Good", "mid.Good", "zeta.Good"] == loaded.registries.passes.names()


# ---- faults --------------------------------------------------------------------------------------

FAULTS = {
    "raises at import": ("raise ValueError('bad')", "failed at import: ValueError: bad"),
    "lacks a module": ("import numba_is_not_here", "No module named 'numba_is_not_here'"),
    "exits at import": ("raise SystemExit(3)", "it tried to end the process (SystemExit: 3)"),
    "asserts at import": ("assert False, 'no'", "failed at import: AssertionError: no"),
    "is cancelled at import": (
        "import asyncio\nraise asyncio.CancelledError('x')",
        "failed at import: CancelledError: x",
    ),
    "raises in its second hook": (
        GOOD + "@hookimpl\ndef ge_register_targets(targets):\n    raise KeyError('t')\n",
        "failed in ge_register_targets: KeyError: 't'",
    ),
    "exits in a hook": (
        "@hookimpl\ndef ge_register_passes(passes):\n    raise SystemExit('bye')\n",
        "failed in ge_register_passes: it tried to end the process",
    ),
    "registers a name twice": (
        GOOD + "    passes.add(Pass, name='Good', levels=(), stage='CHECK')\n",
        "failed in ge_register_passes: pass 'Good' is registered twice",
    ),
    "misspells a hook": (
        "@hookimpl\ndef ge_register_pases(passes):\n    pass\n",
        "there is no hook 'ge_register_pases'; near: ge_register_passes",
    ),
    "forgets the marker": (
        "def ge_register_passes(passes):\n    pass\n",
        "ge_register_passes is not marked; decorate it with @hookimpl",
    ),
    "asks for an argument that hooks don't have": (
        "@hookimpl\ndef ge_register_passes(passes, extra):\n    pass\n",
        "Argument(s) {'extra'} are declared in the hookimpl but can not be found",
    ),
    "implements nothing": ("x = 1", "implements no hook"),
    "takes the kernel's target": (
        "@hookimpl\ndef ge_register_targets(targets):\n    targets.add(Target('generic'))\n",
        "failed when it was merged: target 'generic' is registered twice",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_and_the_rest_works(install: Install, fault: str) -> None:
    """Plugin, package, version and reason; nothing of it stays; the others are loaded."""
    code, reason = FAULTS[fault]
    install("bad", "bad-dist", code, version="0.3")
    install("good", "good-dist", GOOD)
    install("zood", "zood-dist", GOOD)
    loaded = load("bad", "good", "zood")
    status, said = outcome(loaded, "bad")
    assert "failed" == status
    assert reason in said
    assert ["good.Good", "zood.Good"] == loaded.registries.passes.names()
    assert ["generic"] == loaded.registries.targets.names()
    (failure,) = loaded.failures.failures
    assert "Traceback" in failure.traceback
    (warning,) = loaded.warnings
    assert warning.startswith("not loaded: plugin 'bad' (bad-dist 0.3) failed")


@pytest.mark.parametrize("fault", ["raises at import", "raises in its second hook"])
def test_strict_plugins_make_a_failure_an_error(install: Install, fault: str) -> None:
    """Exit code 4; the configuration may ask for it as well."""
    install("bad", "bad-dist", FAULTS[fault][0], version="0.3")
    for more in ({"strict": True}, {"config": ProjectConfig(strict_plugins=True)}):
        with pytest.raises(PluginError, match=r"plugin 'bad' \(bad-dist 0\.3\)") as raised:
            load("bad", **more)
        assert 4 == raised.value.exit_code


def test_an_interrupt_at_import_is_an_interrupt(install: Install) -> None:
    """The only thing that goes through."""
    install("bad", "bad-dist", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load("bad")


def test_what_is_refused_is_said_and_not_imported(install: Install) -> None:
    """Incompatible and contested plugins are warnings on every run, errors when strict."""
    modules = [
        install("old", "old-dist", "raise SystemExit", group="ge_core.plugins.v0"),
        install("acme", "acme-one", "raise SystemExit"),
        install("acme", "acme-two", "raise SystemExit"),
    ]
    loaded = load("old", "acme")
    assert [] == [module for module in modules if module in sys.modules]
    claims = "has a contested name (acme-one 1.0, acme-two 1.0); choose with [tool.ge] prefer"
    assert (
        "not loaded: plugin 'old' (old-dist 1.0) is for plugin API 0, this kernel has 1",
        f"not loaded: plugin 'acme' (acme-one 1.0) {claims}",
        f"not loaded: plugin 'acme' (acme-two 1.0) {claims}",
    ) == loaded.warnings
    with pytest.raises(PluginError, match="old-dist"):
        load("old", "acme", strict=True)


def test_an_unknown_name_quotes_the_failures(install: Install) -> None:
    """It may be that of a plugin which isn't loaded."""
    install("vendorx", "vendorx-ge", "import numba_is_not_here", version="0.3")
    passes = load("vendorx").registries.passes
    with pytest.raises(UnknownNameError) as raised:
        passes.get("ConcatNoTaskPass")
    assert (
        "no pass 'ConcatNoTaskPass'\n"
        "  not loaded: plugin 'vendorx' (vendorx-ge 0.3) failed at import: "
        "No module named 'numba_is_not_here'; see `ge plugins doctor`"
    ) == str(raised.value)


def test_something_needed_of_a_failed_plugin_is_a_plugin_error(install: Install) -> None:
    """Its name has the plugin's prefix: exit code 4, with package, version and reason."""
    install("vendorx", "vendorx-ge", "raise ValueError('x')", version="0.3")
    there = load("vendorx").registries
    for registry in (there.passes, there.options, there.assigners, there.targets):
        with pytest.raises(PluginError) as raised:
            registry.get("vendorx.Thing")
        assert 4 == raised.value.exit_code
        assert "plugin 'vendorx' (vendorx-ge 0.3) failed at import: ValueError: x" in str(
            raised.value
        )


def test_something_needed_of_a_disabled_plugin_is_explained(install: Install) -> None:
    """Switched off is no failure: no warning, and nothing for --strict-plugins."""
    install("acme", "acme-casts", GOOD)
    index = index_plugins(environ={"GE_DISABLE_PLUGINS": "*"})
    kept = tuple(c for c in index.candidates if c.name == "acme")
    loaded = load_plugins(PluginIndex(kept), strict=True)
    assert () == loaded.warnings
    with pytest.raises(PluginError, match=r"plugin 'acme' \(acme-casts 1.0\) is disabled by"):
        loaded.registries.passes.get("acme.Good")


def test_a_target_that_two_plugins_claim_is_nobodys(install: Install) -> None:
    """Both are loaded, in whatever order; who asks for it is told both packages."""
    code = """
    @hookimpl
    def ge_register_passes(passes):
        passes.add(Pass, levels=ALWAYS, stage=Stage.PREPARE)

    @hookimpl
    def ge_register_targets(targets):
        targets.add(Target("npu"))
    """
    install("a", "a-dist", code)
    install("b", "b-dist", code)
    loaded = load("a", "b")
    assert ["a.Pass", "b.Pass"] == loaded.registries.passes.names()
    assert ["generic"] == loaded.registries.targets.names()
    with pytest.raises(PluginError, match=r"'npu' is contested: a-dist 1.0 and b-dist 1.0"):
        loaded.registries.targets.select("npu")


def test_a_hook_of_a_later_kernel_may_be_optional(install: Install) -> None:
    """An older kernel loads the plugin without it."""
    install(
        "acme",
        "acme-casts",
        GOOD + "@hookimpl(optionalhook=True)\ndef ge_register_from_the_future(things):\n    pass\n",
    )
    assert ("loaded", "") == outcome(load("acme"), "acme")


def test_an_entry_point_may_name_an_object(install: Install, site: Path) -> None:
    """`module:object`, with methods as hooks."""
    install(
        "acme",
        "acme-casts",
        """
        class Plugin:
            @hookimpl
            def ge_register_targets(self, targets):
                targets.add(Target("npu"))

        plugin = Plugin()
        """,
        value="held_in_module:plugin",
    )
    (source,) = site.glob("plug_*_acme.py")
    source.rename(site / "held_in_module.py")
    assert "npu" in load("acme").registries.targets


def test_a_local_module_is_loaded_from_the_project(
    tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its folder, which goes to the end of the import path."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    project = tmp_path / "project"
    project.mkdir()
    (project / "local_passes_here.py").write_text(
        "from ge_core.plugin.specs import hookimpl\n"
        "from ge_core.targets import Target\n"
        "@hookimpl\ndef ge_register_targets(targets):\n    targets.add(Target('mine'))\n",
        encoding="utf-8",
    )
    config = ProjectConfig(plugins=("mine = local_passes_here",), file=project / "ge.toml")
    loaded = load("mine", config=config)
    assert ("loaded", "") == outcome(loaded, "mine")
    assert "local_passes_here" == str(loaded.registries.targets.entry("mine").owner)
    assert str(project) == sys.path[-1]
    assert "runs code of the project" in loaded.warnings[0]


def test_a_plugin_may_be_loaded_again(install: Install) -> None:
    """Nothing global is kept: two loads give equal, independent registries."""
    install("acme", "acme-casts", GOOD)
    first, second = load("acme"), load("acme")
    assert first.registries.passes.names() == second.registries.passes.names()
    assert first.registries.passes is not second.registries.passes


def test_failed_plugins_keep_their_place_in_the_listing(install: Install) -> None:
    """`ge plugins doctor` shows every candidate once."""
    install("b", "b-dist", "raise ValueError")
    install("a", "a-dist", GOOD)
    assert [("a", Status.LOADED), ("b", Status.FAILED)] == [
        (c.name, c.status) for c in load("a", "b").candidates
    ]
