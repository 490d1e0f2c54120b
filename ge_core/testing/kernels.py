"""Kernels to test in: everything installed, and what is under test besides.

The environment's option settings are left out, so that a suite judges the same thing everywhere;
which plugins are switched off (`GE_DISABLE_PLUGINS`) and the project's configuration count.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from ge_core.errors import PluginError, UsageError
from ge_core.ir import Graph
from ge_core.passes.environment import Environment
from ge_core.passes.instruments import Instrument
from ge_core.passes.manager import PassManager
from ge_core.plugin.index import API, DISABLE, Candidate, PluginIndex, index_plugins
from ge_core.plugin.loading import load_plugins
from ge_core.plugin.registries import Registries
from ge_core.registry import Owner
from ge_core.session.kernel import Kernel, make_kernel
from ge_core.session.request import CompileRequest
from ge_core.session.scheduling import schedule_for

UNDER_TEST = Owner("under_test", "code under test")
"""Who owns what a suite registers itself."""

QUICK = "fast"
"""The assigner that suites compile with: plans are what others are tested for."""

PluginSpec = ModuleType | str | None
"""A module with hooks, its name, `"owner = module"`, or None for what is installed."""


@dataclass(frozen=True)
class WatchedKernel(Kernel):
    """A kernel whose compiles are watched by instruments of a test."""

    watching: tuple[Instrument, ...] = ()

    @property
    def instruments(self) -> list[Instrument]:
        """The plugins' and the test's."""
        return [self.plugins.instrument(), *self.watching]


def watched(kernel: Kernel, *instruments: Instrument) -> WatchedKernel:
    """The kernel with instruments that watch its compiles."""
    return WatchedKernel(kernel.plugins, kernel.config, kernel.sources, instruments)


def installed_kernel() -> Kernel:
    """The kernel with all installed plugins, loaded once per folder and set of plugins."""
    return _installed(str(Path.cwd()), os.environ.get(DISABLE))


@functools.lru_cache(maxsize=8)
def _installed(folder: str, disabled: str | None) -> Kernel:
    return make_kernel(environ={} if disabled is None else {DISABLE: disabled})


def forget_installed() -> None:
    """Load the plugins anew when the kernel is asked for next; for tests that install some."""
    _installed.cache_clear()


def kernel_with(plugin: PluginSpec) -> tuple[Kernel, str | None]:
    """A kernel with a plugin besides the installed ones, and the plugin's owner name.

    Raises:
        PluginError: it can't be loaded; says why.
    """
    kernel = installed_kernel()
    if plugin is None:
        return kernel, None
    name, value = _named(plugin)
    known = [c for c in kernel.plugins.candidates if name == c.name or value == c.value]
    if known:
        failure = known[0].reason
        if failure:
            raise PluginError(f"{known[0]} is not loaded: {failure}")
        return kernel, known[0].name
    if isinstance(plugin, str) and "=" not in plugin and "." not in plugin:
        try:
            found = importlib.util.find_spec(value)
        except ImportError:
            found = None
        if found is None:
            names = ", ".join(c.name for c in kernel.plugins.candidates)
            raise PluginError(f"no plugin {plugin!r} is installed; there are: {names}")
    added = Candidate(name, API, value, value.partition(":")[0], "")
    index = index_plugins(kernel.config, {})
    plugins = load_plugins(
        PluginIndex((*index.candidates, added), index.warnings), config=kernel.config
    )
    for candidate in plugins.candidates:
        if candidate.value == value and candidate.reason:
            raise PluginError(f"plugin {name!r} is not loaded: {candidate.reason}")
    return replace(kernel, plugins=plugins), name


def _named(plugin: ModuleType | str) -> tuple[str, str]:
    text = plugin if isinstance(plugin, str) else plugin.__name__
    name, _, value = (part.strip() for part in text.partition("="))
    return (name, value) if value else (text.rpartition(".")[2], text)


def owned(kernel: Kernel, staged: Registries, owner: Owner = UNDER_TEST) -> Kernel:
    """The kernel with further registrations, stamped as a plugin's would be."""
    registries = kernel.registries.fork()
    registries.absorb(staged, owner)
    registries.checkers.resolve(registries.anchor_types)
    return replace(kernel, plugins=replace(kernel.plugins, registries=registries))


def hook_module(cls: type) -> ModuleType | None:
    """The module of a class, where it is a plugin that registers passes itself."""
    module = inspect.getmodule(cls)
    hooks = ("ge_register_passes",)
    return module if module is not None and any(hasattr(module, h) for h in hooks) else None


def owner_of(kernel: Kernel, name: str | None) -> list[Owner]:
    """The owner of that name; every third party that is loaded for None.

    Raises:
        UsageError: nobody of that name is loaded.
    """
    owners = [c.owner for c in kernel.plugins.candidates if not c.reason]
    if name is None:
        return [owner for owner in owners if not owner.builtin]
    found = [owner for owner in owners if owner.name == name]
    if not found and name != UNDER_TEST.name:
        raise UsageError(f"no plugin {name!r} is loaded", near=[o.name for o in owners])
    return found or [UNDER_TEST]


def quick_assigner(kernel: Kernel) -> str | None:
    """The name of a quick assigner; None, which stands for the default, where it isn't there."""
    return QUICK if QUICK in kernel.assigners else None


def run_passes(
    kernel: Kernel, graph: Graph, request: CompileRequest, *watching: Instrument
) -> Environment:
    """Run the passes of a request on a graph, in place, without planning its memory.

    Raises:
        GeError: what the passes raise, or the schedule.
    """
    schedule = schedule_for(kernel, request)
    target = schedule.device
    assert target is not None
    environment = kernel.environment(graph, schedule, target)
    PassManager(schedule, environment, watching, audit=request.audit).run()
    return environment
