"""A pass under test: its declaration, the kernel it runs in, how it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from ge_core.errors import GeError, UsageError, near_matches
from ge_core.passes.base import Pass
from ge_core.passes.levels import Level
from ge_core.passes.registry import PassDeclaration
from ge_core.passes.stages import Place
from ge_core.plugin.registries import Registries
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest
from ge_core.session.scheduling import schedule_for
from ge_core.testing.elsewhere import (
    find,
    find_plugin,
    plugin_whereabouts,
    source_file,
    whereabouts,
)
from ge_core.testing.kernels import (
    PluginSpec,
    hook_module,
    installed_kernel,
    kernel_with,
    owned,
    quick_assigner,
)

OBJECTIVE: Final = "copies"
"""Alone, a pass is judged by what it does, not by what is taken back to keep the peak down."""


@dataclass
class PassSubject:
    """Where a pass is found, and with what it is compiled.

    Attributes:
        work: the class, or the name of a registered pass.
        plugin: where it is registered; None looks at what is installed, then at its module.
        keywords: of `passes.add`, for a pass that nobody registers.
        options: GE options and fields of the pass, as texts by full name.
    """

    work: type[Pass] | str
    plugin: PluginSpec = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.plugin is not None and self.keywords:
            given = ", ".join(sorted(self.keywords))
            raise UsageError(f"plugin= says how the pass is registered, so {given} can't be given")

    @property
    def label(self) -> str:
        """What the suite is called."""
        return self.work if isinstance(self.work, str) else self.work.__name__

    @cached_property
    def _found(self) -> tuple[Kernel, PassDeclaration]:
        if self.keywords:
            return self._registered()
        kernel, owner = kernel_with(self.plugin)
        declaration = self._declared(kernel, owner)
        if declaration is None and self.plugin is None and not isinstance(self.work, str):
            module = hook_module(self.work)
            if module is not None:
                kernel, owner = kernel_with(module)
                declaration = self._declared(kernel, owner)
        if declaration is not None:
            return kernel, declaration
        names = kernel.registries.passes.names()
        raise UsageError(
            f"no installed plugin registers pass {self.label!r}",
            near=near_matches(self.label, names),
            hint="say how: pass_conformance(..., stage=Stage.OPTIMIZE_STAGE2), or plugin=my_module",
        )

    def _registered(self) -> tuple[Kernel, PassDeclaration]:
        keywords = {"levels": tuple(str(level) for level in Level), **self.keywords}
        if "stage" not in keywords:
            raise UsageError(f"pass {self.label!r} is given keywords and no stage=")
        staged = Registries()
        work: Any = self.work
        staged.passes.add(work, **keywords)
        kernel = owned(installed_kernel(), staged)
        (name,) = staged.passes.names()
        return kernel, kernel.registries.passes.get(f"under_test.{name}")

    def _declared(self, kernel: Kernel, owner: str | None) -> PassDeclaration | None:
        for declaration in kernel.registries.passes:
            if owner is not None and declaration.owner.name != owner:
                continue
            if self._is(declaration):
                return declaration
        return None

    def _is(self, declaration: PassDeclaration) -> bool:
        if isinstance(self.work, str):
            return declaration.name == self.work
        if isinstance(declaration.reference, str):
            return declaration.reference == f"{self.work.__module__}:{self.work.__qualname__}"
        return declaration.reference is self.work or (
            # The same module, loaded by the plugin loader under its own name.
            declaration.reference.__qualname__ == self.work.__qualname__
            and source_file(declaration.reference) == source_file(self.work)
        )

    @property
    def kernel(self) -> Kernel:
        """The kernel that has the pass."""
        return self._found[0]

    @property
    def declaration(self) -> PassDeclaration:
        """How it is registered."""
        return self._found[1]

    @property
    def name(self) -> str:
        """Its registered name."""
        return self.declaration.name

    def __str__(self) -> str:
        return f"{self.name} ({self.declaration.owner})"

    # ---- requests ------------------------------------------------------------------------------

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The lowest and the highest of the kernel's levels that it is on at; O3 without one."""
        on = [str(level) for level in Level if str(level) in self.declaration.levels]
        return tuple(dict.fromkeys((on[0], on[-1]))) if on else ("O3",)

    @cached_property
    def alone(self) -> str | None:
        """A pipeline of the pass and what it needs; None where it can't run without the rest."""
        passes = self.kernel.registries.passes
        names: list[str] = []

        def need(name: str) -> None:
            if name in names:
                return
            for other in passes.get(name).needs:
                need(other)
            names.append(name)

        try:
            need(self.name)
            text = ",".join(names)
            schedule_for(self.kernel, CompileRequest(pipeline=text, options=self.options))
        except GeError:
            return None
        return text

    def request(self, at: int, *, everything: bool = False) -> CompileRequest:
        """How sample number `at` is compiled.

        Args:
            everything: with all passes of the level, rather than alone.
        """
        level = self.levels[-1 - at % len(self.levels)]
        request = CompileRequest(
            level=level,
            options=dict(self.options),
            audit=True,
            assigner=quick_assigner(self.kernel),
        )
        if everything or self.alone is None:
            return replace(request, enable=(self.name,))
        return replace(request, pipeline=self.alone, objective=OBJECTIVE)

    # ---- another process -----------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """What another process needs to find the pass; see `subject_from_json`.

        Raises:
            UsageError: the class can't be imported, since a function defines it.
        """
        record: dict[str, Any] = {"options": dict(self.options), "keywords": {}}
        if isinstance(self.work, str):
            record["name"] = self.work
        else:
            record |= whereabouts(self.work, self.label)
        record |= plugin_whereabouts(self.plugin)
        for key, value in self.keywords.items():
            record["keywords"][key] = _words(key, value)
        return record


def _words(key: str, value: Any) -> Any:
    """A keyword's value in JSON: a place by its name, names as a list."""
    if key == "stage":
        return str(Place.of(value))
    if isinstance(value, (bool, int, str)):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, Mapping):
        return dict(value)
    return [str(part) for part in value]


def subject_from_json(record: Mapping[str, Any]) -> PassSubject:
    """The subject that `PassSubject.to_json` described, its module imported from its file."""
    plugin = find_plugin(record)
    work = record.get("name") or find(record)
    return PassSubject(work, plugin, record["keywords"], record["options"])
