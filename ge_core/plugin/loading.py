"""Loading: each plugin alone, into a staging registry; all of it is taken over, or nothing.

stevedore loads the objects, from our own index: its discovery is not used (see
`ge_core.plugin.index`), and what it would swallow or let escape at import is caught around each
entry point.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import pluggy
from stevedore.extension import ExtensionManager

from ge_core import deprecation
from ge_core.config import ProjectConfig
from ge_core.errors import PluginError, near_matches
from ge_core.plugin import specs
from ge_core.plugin.failures import FailureTable, PluginFailure
from ge_core.plugin.hook_manager import HookManager
from ge_core.plugin.hooks import (
    HookInstrument,
    WatchingPlugin,
    refuse_answers,
    refuse_unusual,
)
from ge_core.plugin.index import GROUP, Candidate, PluginIndex, Status, index_plugins
from ge_core.plugin.registries import HOOKS, Registries, builtin_registries
from ge_core.plugin.watch import LoadWatch


@dataclass(frozen=True)
class LoadReport:
    """How loading one plugin went.

    Attributes:
        seconds: in its import and its hooks.
        registered: how many things of each kind, by kind; empty where nothing was taken over.
        changes: what it changed in the process that is none of its business.
    """

    candidate: Candidate
    seconds: float
    registered: dict[str, int]
    changes: tuple[str, ...]

    def warning(self) -> str | None:
        """What is said of it on every run, None where it behaved."""
        if not self.changes:
            return None
        return f"while it was loaded, {self.candidate} {'; '.join(self.changes)} (put back)"


@dataclass(frozen=True)
class LoadedPlugins:
    """What loading gave.

    Attributes:
        registries: everything that plugins and the kernel registered.
        failures: what is installed and not loaded.
        candidates: the index with load results.
        warnings: said on every run.
    """

    registries: Registries
    failures: FailureTable
    candidates: tuple[Candidate, ...]
    warnings: tuple[str, ...] = ()
    watching: tuple[WatchingPlugin, ...] = field(default=(), repr=False)
    reports: tuple[LoadReport, ...] = field(default=(), repr=False)

    def instrument(self) -> HookInstrument:
        """The plugins' instrument hooks, for the pass manager."""
        return HookInstrument(self.watching)


def load_plugins(
    index: PluginIndex | None = None,
    *,
    config: ProjectConfig | None = None,
    environ: Mapping[str, str] | None = None,
    strict: bool = False,
) -> LoadedPlugins:
    """Load what the index says, in its order.

    Args:
        index: made from `config` and `environ` where it isn't given.
        strict: a plugin that is installed and can't be loaded is an error, and so is a name in the
            configuration or the environment that no plugin has.

    Raises:
        PluginError: with `strict`, naming every such plugin with package and version.
    """
    index = index_plugins(config, environ) if index is None else index
    loading = _Loading(builtin_registries(), [c.name for c in index.candidates])
    for candidate, plugin in _import_all(index.loadable(), loading.fail, loading.watch):
        loading.take(candidate, plugin)
    failures = FailureTable(loading.failures, index.refused(), index.disabled(), index.unknown)
    if strict or (config is not None and config.strict_plugins):
        failures.check_strict()
    registries = loading.registries
    outdated = registries.seal(failures.hint(), failures.absent())
    results = {id(c): c for c in index.candidates}
    for candidate, result in loading.results:
        results[id(candidate)] = result
    return LoadedPlugins(
        registries=registries,
        failures=failures,
        candidates=tuple(results[id(c)] for c in index.candidates),
        warnings=(
            *index.warnings,
            *(f"not loaded: {line}" for line in failures.lines()),
            *outdated,
            *filter(None, (report.warning() for report in loading.reports())),
        ),
        watching=tuple(loading.watching),
        reports=tuple(loading.reports()),
    )


# ---- importing -----------------------------------------------------------------------------------


class _Refused(Exception):
    """Stands in for whatever a plugin raised, in a form that stevedore hands to its callback."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


class _Point:
    """An entry point of our index, as stevedore wants it."""

    def __init__(self, candidate: Candidate, watch: LoadWatch) -> None:
        self.candidate = candidate
        self.watch = watch
        self.name = candidate.name
        self.value = candidate.value
        self.group = GROUP

    def load(self) -> Any:
        """The plugin's object; raises only `_Refused` and KeyboardInterrupt."""
        try:
            with self.watch():
                return _import(self.candidate)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # stevedore lets AssertionError and SystemExit through and logs the rest to nobody.
            raise _Refused(error) from error


def _import(candidate: Candidate) -> Any:
    if candidate.point is not None:
        return candidate.point.load()
    module, _, path = candidate.value.partition(":")
    folder = None if candidate.folder is None else str(candidate.folder)
    if folder is not None and folder not in sys.path:
        # Last, so that it hides nothing; it stays, since lazy references are imported later.
        sys.path.append(folder)
    found: Any = import_module(module)
    for part in filter(None, path.split(".")):
        found = getattr(found, part)
    return found


class _Manager(ExtensionManager[Any]):
    """A stevedore manager over points that we found ourselves."""

    def __init__(self, points: Sequence[_Point], failed: Callable[[Any, Any, Any], None]) -> None:
        self._points = points
        super().__init__(GROUP, on_load_failure_callback=failed)

    def list_entry_points(self) -> list[Any]:
        """Our own, in their order."""
        return list(self._points)


def _import_all(
    candidates: Iterable[Candidate],
    fail: Callable[[Candidate, str, BaseException], None],
    watch: Callable[[Candidate], LoadWatch],
) -> list[tuple[Candidate, Any]]:
    """The objects of the plugins that could be imported, in order."""

    def failed(manager: Any, point: _Point, error: _Refused) -> None:
        fail(point.candidate, "at import", error.error)

    manager = _Manager([_Point(c, watch(c)) for c in candidates], failed)
    # stevedore's types know only the library's own entry points.
    found: list[Any] = list(manager)
    return [(extension.entry_point.candidate, extension.plugin) for extension in found]


# ---- registering ---------------------------------------------------------------------------------


class _Loading:
    def __init__(self, registries: Registries, names: Iterable[str]) -> None:
        self.registries = registries
        self.names = frozenset(names) | {"ge"}
        self.failures: list[PluginFailure] = []
        self.results: list[tuple[Candidate, Candidate]] = []
        self.watching: list[WatchingPlugin] = []
        self.watches: dict[int, tuple[Candidate, LoadWatch]] = {}
        self.registered: dict[int, dict[str, int]] = {}

    def watch(self, candidate: Candidate) -> LoadWatch:
        """The watch over a candidate's code, the same one every time."""
        return self.watches.setdefault(id(candidate), (candidate, LoadWatch()))[1]

    def reports(self) -> list[LoadReport]:
        """One per candidate whose code ran, in order."""
        return [
            LoadReport(c, watch.seconds, self.registered.get(key, {}), tuple(watch.changes))
            for key, (c, watch) in self.watches.items()
        ]

    def fail(self, candidate: Candidate, when: str, error: BaseException) -> None:
        failure = PluginFailure.of(candidate, when, error)
        self.failures.append(failure)
        self.results.append((candidate, failure.as_candidate()))

    def take(self, candidate: Candidate, plugin: Any) -> None:
        """Register one plugin alone, then take over all of it or nothing."""
        when = "when its hooks were read"
        try:
            manager = _hooks_of(candidate, plugin)
            staged = Registries()
            for hook, part in HOOKS.items():
                when = f"in {hook}"
                caller = getattr(manager.hook, hook)
                if not caller.get_hookimpls():
                    continue
                with self.watch(candidate)():
                    answers = caller(**{caller.spec.argnames[0]: getattr(staged, part)})
                refuse_answers(hook, answers)
            staged.close()
            when = "when it was merged"
            if not candidate.is_first_party:
                self._check_prefixes(staged, candidate)
            merged = self.registries.fork()
            merged.absorb(staged, candidate.owner)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.fail(candidate, when, error)
            return
        self.registries = merged
        self.registered[id(candidate)] = staged.counts()
        self.results.append((candidate, replace(candidate, status=Status.LOADED)))
        self.watching.append(WatchingPlugin(candidate, manager))

    def _check_prefixes(self, staged: Registries, candidate: Candidate) -> None:
        """A name under somebody else's prefix would be registered as something else: refuse it."""
        others = self.names - {candidate.name}
        for registry in staged.named():
            for name in registry.names():
                prefix, dot, _ = name.partition(".")
                if dot and prefix in others:
                    whose = "GE's" if prefix == "ge" else f"plugin {prefix!r}'s"
                    raise PluginError(
                        f"{registry.kind} {name!r} has {whose} prefix",
                        hint=f"names of this plugin begin with '{candidate.name}.', or have no dot",
                    )


def _hooks_of(candidate: Candidate, plugin: Any) -> pluggy.PluginManager:
    """A plugin manager that holds this plugin alone, its hooks checked against the specs.

    Raises:
        PluginError: a hook is misspelled, lacks its marker, or there is none.
        pluggy.PluginValidationError: a hook asks for arguments that it is not given.
    """
    manager = HookManager()
    manager.add_hookspecs(specs)
    known = [name for name in dir(specs) if hasattr(getattr(specs, name), "ge_core_spec")]
    unmarked = [
        name
        for name in (*known, *deprecation.HOOKS)
        if callable(getattr(plugin, name, None))
        and not hasattr(getattr(plugin, name), "ge_core_impl")
    ]
    if unmarked:
        raise PluginError(
            f"{unmarked[0]} is not marked",
            hint="decorate it with @hookimpl (from ge_core.api import hookimpl)",
        )
    manager.register(plugin, candidate.name)
    callers = manager.get_hookcallers(plugin) or []
    for caller in callers:
        required = [impl for impl in caller.get_hookimpls() if not impl.optionalhook]
        for impl in caller.get_hookimpls():
            refuse_unusual(caller.name, impl.function, impl.wrapper or impl.hookwrapper)
        if caller.name not in known and required:
            raise PluginError(
                f"there is no hook {caller.name!r}", near=near_matches(caller.name, known)
            )
    if not callers:
        raise PluginError(
            f"{candidate.value!r} implements no hook",
            hint="an entry point names the module or object that has the @hookimpl functions",
        )
    return manager
