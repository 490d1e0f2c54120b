"""Names that plugins write in their declarations, brought up to date once all plugins are merged.

A pass names other passes, options and levels; a checker names anchor types. Where such a name is
an old one (`Registry.rename`), the declaration gets the present one, and everybody is told whose
declaration is outdated. A name whose time is over is left as it stands: it means nothing then, as
if the other plugin weren't installed, and the warning says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ge_core.errors import UnknownNameError
from ge_core.passes.delete_rules import DeleteRule
from ge_core.passes.options import OptionDeclaration
from ge_core.passes.registry import PassDeclaration
from ge_core.registry import Entry, Owner, Registry

if TYPE_CHECKING:
    from ge_core.plugin.registries import Registries


def bring_up_to_date(registries: Registries) -> tuple[str, ...]:
    """Replace old names in all declarations; the warnings, in a fixed order."""
    updating = _Updating(registries)
    registries.pipelines.levels.revise(updating.level)
    registries.options.revise(updating.option)
    registries.passes.revise(updating.declaration)
    registries.delete_rules.revise(updating.rule)
    registries.checkers.resolve(registries.anchor_types, updating.anchor_type)
    return tuple(dict.fromkeys(updating.warnings))


class _Updating:
    def __init__(self, registries: Registries) -> None:
        self._registries = registries
        self.warnings: list[str] = []

    def level(self, entry: Entry[str]) -> str:
        """The level that a level set extends."""
        levels = self._registries.pipelines.levels
        return self._name(levels, entry.value, entry.owner, f"level {entry.name!r}")

    def option(self, entry: Entry[OptionDeclaration]) -> OptionDeclaration:
        """An option's levels, and those that it has defaults for."""
        option = entry.value
        level = self._namer(self._registries.pipelines.levels, entry, "option")
        default = option.default
        if default is not None and not isinstance(default, str):
            default = {level(name): value for name, value in default.items()}
        return replace(option, levels=_each(level, option.levels), default=default)

    def declaration(self, entry: Entry[PassDeclaration]) -> PassDeclaration:
        """The passes, levels, options, claims and analyses that a pass names."""
        found = entry.value
        other = self._namer(self._registries.passes, entry, "pass")
        level = self._namer(self._registries.pipelines.levels, entry, "pass")
        option = self._namer(self._registries.options, entry, "pass")
        claim = self._namer(self._registries.passes.claims, entry, "pass")
        analysis = self._namer(self._registries.passes.analyses, entry, "pass")
        return replace(
            found,
            levels=_each(level, found.levels),
            before=_each(other, found.before),
            after=_each(other, found.after),
            needs=_each(other, found.needs),
            switch=_each(option, found.switch),
            requires=_each(claim, found.requires),
            establishes=_each(claim, found.establishes),
            invalidates=_each(claim, found.invalidates),
            preserves=_each(analysis, found.preserves),
        )

    def rule(self, entry: Entry[DeleteRule]) -> DeleteRule:
        """The passes and rules that a delete rule names."""
        found = entry.value
        other = self._namer(self._registries.delete_rules, entry, "delete rule")
        passes = self._namer(self._registries.passes, entry, "delete rule")
        return replace(
            found,
            passes=_each(passes, found.passes),
            before=_each(other, found.before),
            after=_each(other, found.after),
        )

    def anchor_type(self, name: str, owner: Owner) -> str:
        """An anchor type that a checker names."""
        return self._name(self._registries.anchor_types, name, owner, "a conflict checker")

    def _namer(self, registry: Registry[Any], entry: Entry[Any], kind: str) -> Callable[[str], str]:
        where = f"{kind} {entry.name!r}"
        return lambda name: self._name(registry, name, entry.owner, where)

    def _name(self, registry: Registry[Any], name: str, owner: Owner, where: str) -> str:
        """The present name: as written, else with its author's prefix."""
        for written in (name, owner.full(name)):
            if written in registry:
                return name
            try:
                new, warning = registry.current(written)
            except UnknownNameError as error:
                new, warning = name, f"{error.message}; it means nothing there"
            if warning is not None:
                self.warnings.append(f"{where} ({owner}) names an old name: {warning}")
                return new
        return name


def _each(change: Callable[[str], str], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(change(name) for name in names)
