"""`Kernel`: the registries with every plugin merged, and the project's configuration."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ge_core.config import ProjectConfig, config_stamps, find_config
from ge_core.errors import GeError, InputFileError, hint_lines
from ge_core.ir import Graph
from ge_core.memory.assigners import AssignerRegistry
from ge_core.ops import OpRegistry
from ge_core.passes.environment import Environment
from ge_core.passes.instruments import Instrument
from ge_core.passes.planning import Catalog, Schedule
from ge_core.passes.precedence import ENVIRONMENT, LEVEL, PROJECT, Source
from ge_core.plugin.loading import LoadedPlugins, load_plugins
from ge_core.plugin.odd_rules import odd_rules
from ge_core.plugin.registries import Registries
from ge_core.targets import GENERIC, Target

ENVIRONMENT_PREFIX = "GE_OPTION_"
"""`GE_OPTION_ge__oo__level=O1` sets `ge.oo.level`: two underscores stand for a dot."""

GE_VARIABLES: Final[Mapping[str, str]] = {
    "OP_NO_REUSE_MEM": "OP_NO_REUSE_MEM",
    "GE_USE_STATIC_MEMORY": "ge.exec.staticMemoryPolicy",
    "RESOURCE_CONFIG_PATH": "ge.resourceConfigPath",
}
"""What GE reads from the environment itself, and the options that these set here."""


@dataclass(frozen=True)
class Kernel:
    """Everything that compiles share; nothing here changes after loading, so threads may share it.

    Attributes:
        plugins: what was loaded and what failed.
        sources: settings below the arguments: project configuration, environment.
    """

    plugins: LoadedPlugins
    config: ProjectConfig
    sources: tuple[Source, ...]

    @property
    def registries(self) -> Registries:
        """What plugins and the kernel registered."""
        return self.plugins.registries

    @property
    def warnings(self) -> tuple[str, ...]:
        """Of the configuration and of loading plugins: said on every run."""
        return (*self.config.warnings, *self.plugins.warnings)

    @property
    def ops(self) -> OpRegistry:
        """Op traits."""
        return self.registries.ops

    @property
    def assigners(self) -> AssignerRegistry:
        """Memory assigners."""
        return self.registries.assigners

    @property
    def catalog(self) -> Catalog:
        """What passes are planned with."""
        return self.registries.catalog()

    @property
    def instruments(self) -> list[Instrument]:
        """The plugins' instrument hooks."""
        return [self.plugins.instrument()]

    def target(
        self,
        wanted: Target | Path | str | None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> Target:
        """A target by name or TOML file; the configured one, or `generic`, for None.

        Args:
            warn: is told when the name is an old one.

        Raises:
            UnknownNameError: no such target; says where it is configured.
            InputFileError: the file can't be read as a target.
        """
        targets = self.registries.targets
        if isinstance(wanted, Target):
            return wanted
        if isinstance(wanted, Path):
            return targets.read_file(wanted, warn)
        if wanted is not None:
            return targets.select(wanted, warn)
        try:
            return targets.select(self.config.target or GENERIC.name, warn)
        except GeError as error:
            said = f"given by: {self.config.file}: target"
            error.hint = hint_lines(said, error.hint)
            raise

    def environment(self, graph: Graph, schedule: Schedule, target: Target) -> Environment:
        """What the passes of one compile share."""
        registries = self.registries
        environment = Environment(
            root=graph,
            level=schedule.level,
            target=target,
            ops=registries.ops,
            options=schedule.options,
            codes=registries.codes(),
            delete_rules=registries.delete_rules,
            trace_rules=registries.trace_rules,
            read_write=registries.checkers.make_read_write(),
            layout_checkers=registries.checkers,
            anchor_types=registries.anchor_types,
        )
        for warning in (*self.warnings, *map(str, odd_rules(registries))):
            environment.warn(warning)
        return environment

    def with_op_traits(self, files: Sequence[Path | str], folder: Path | None = None) -> Kernel:
        """A kernel in which the op traits of these TOML files hold as well.

        Args:
            folder: that the files' names start from; the working directory by default.

        Raises:
            InputFileError: a file is malformed, or speaks of an op that has traits already.
        """
        if not files:
            return self
        from ge_core.ops.traits_file import add_statements, read_traits

        ops = self.ops.fork()
        found = [
            statement
            for file in files
            for statement in read_traits(Path(folder or "") / file, str(file))
        ]
        add_statements(ops, found)
        registries = replace(self.registries, ops=ops)
        return replace(self, plugins=replace(self.plugins, registries=registries))

    def with_configured_traits(self) -> Kernel:
        """A kernel in which the op traits hold that the project's configuration names."""
        return self.with_op_traits(self.config.op_traits, self.config.folder)


def make_kernel(
    *,
    strict: bool = False,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Kernel:
    """Load the plugins and the configuration that holds in a folder.

    Raises:
        PluginError: with `strict`, for every installed plugin that can't be loaded.
        InputFileError: the configuration is malformed.
    """
    return _load(strict, folder, environ).with_configured_traits()


def _load(strict: bool, folder: Path | None, environ: Mapping[str, str] | None) -> Kernel:
    environ = os.environ if environ is None else environ
    config = find_config(folder)
    plugins = load_plugins(config=config, environ=environ, strict=strict)
    return Kernel(plugins, config, (*_project(config), *_environment(environ)))


def _project(config: ProjectConfig) -> list[Source]:
    if config.file is None:
        return []
    options = config.options()
    if config.level is not None:
        written = options.setdefault(LEVEL, config.level)
        if written != config.level:
            raise InputFileError(
                f"{config.level!r} is the level here, and {written!r} by {LEVEL} in set",
                file=str(config.file),
                field="level",
                hint="leave out one of them",
            )
    return [
        Source(
            PROJECT,
            options,
            config.enable,
            config.disable,
            str(config.file),
            folder=config.folder,
        )
    ]


def _environment(environ: Mapping[str, str]) -> list[Source]:
    variables = {
        name.removeprefix(ENVIRONMENT_PREFIX).replace("__", "."): name
        for name in sorted(environ)
        if name.startswith(ENVIRONMENT_PREFIX)
    }
    for name, option in GE_VARIABLES.items():
        if name in environ:
            variables.setdefault(option, name)
    if not variables:
        return []
    options = {name: environ[variable] for name, variable in variables.items()}
    origins = {name: f"{variable}={options[name]}" for name, variable in variables.items()}
    return [Source(ENVIRONMENT, options, origin="environment", origins=origins)]


_lock = threading.Lock()
_kernels: dict[tuple[bool, str, str], Kernel] = {}


def default_kernel(*, strict: bool = False) -> Kernel:
    """The kernel for the working directory, loaded once as long as nothing that it reads changes.

    That is: the folder, the configuration files from there upwards, and the environment. Packages
    that are installed later need a new process, or `forget_kernels`.
    """
    watched = ("GE_DISABLE_PLUGINS", *GE_VARIABLES)
    seen = {
        name: value
        for name, value in os.environ.items()
        if name in watched or name.startswith(ENVIRONMENT_PREFIX)
    }
    folder = Path.cwd()
    key = (strict, str(folder), repr((sorted(seen.items()), config_stamps(folder))))
    with _lock:
        found = _kernels.get(key)
        if found is None:
            for stale in [other for other in _kernels if other[:2] == key[:2]]:
                del _kernels[stale]
            found = _kernels[key] = _load(strict, None, None)
    # Read again each time: they are small, and edited while they are tried.
    return found.with_configured_traits()


def forget_kernels() -> None:
    """Drop what `default_kernel` remembers; for tests that install plugins."""
    with _lock:
        _kernels.clear()
