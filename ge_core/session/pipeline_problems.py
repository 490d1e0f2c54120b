"""What of the registered declarations can't be used, and why: `ge plugins doctor` says it."""

from __future__ import annotations

from ge_core.errors import GeError
from ge_core.passes.levels import Level
from ge_core.passes.misspelled import odd_declarations
from ge_core.passes.planning import plan_passes
from ge_core.passes.precedence import undeclared_switches
from ge_core.passes.sources import ARGUMENTS, LEVEL, Source
from ge_core.plugin.odd_rules import odd_rules
from ge_core.plugin.registries import Registries
from ge_core.registry import Owner
from ge_core.targets import odd_pools

Problem = dict[str, str]
"""What, owner, version and error."""


def declaration_problems(registries: Registries) -> list[Problem]:
    """What is wrong with passes, rules, options, targets, level sets and pipelines.

    Every level and every pipeline is planned once with nothing else set: a file that can't be read,
    a pass that isn't there and an order that contradicts itself are found before somebody needs it.
    An error that spoils several of them is said once.
    """
    looking = _Looking(registries)
    looking.at_contested()
    looking.at_passes()
    looking.at_rules()
    looking.at_levels()
    looking.at_pipelines()
    looking.at_targets()
    return looking.found


def pipeline_problems(registries: Registries) -> dict[str, str]:
    """What is wrong with level sets and named pipelines, by their names."""
    looking = _Looking(registries, once=False)
    looking.at_levels(kernel=False)
    looking.at_pipelines()
    return {row["name"].partition(" ")[2]: row["error"] for row in looking.found}


class _Looking:
    def __init__(self, registries: Registries, once: bool = True) -> None:
        self._all = registries
        self._catalog = registries.catalog()
        self._once = once
        self._said: set[str] = set()
        self.found: list[Problem] = []

    def _add(self, what: str, owner: Owner, words: str) -> None:
        self.found.append(
            {"name": what, "owner": owner.distribution, "version": owner.version, "error": words}
        )

    def _raised(self, what: str, owner: Owner, error: GeError) -> None:
        """Note an error, with whom it names where that is somebody else."""
        if self._once and error.message in self._said:
            return
        self._said.add(error.message)
        others = error.owner if error.owner not in (None, str(owner)) else None
        near = [] if not error.near else [f"near: {', '.join(error.near)}"]
        near += [] if others is None else [f"owner: {others}"]
        self._add(what, owner, error.message + (f" ({'; '.join(near)})" if near else ""))

    def at_contested(self) -> None:
        """Names that several packages claim, once for each of them."""
        for registry in (self._all.pipelines, self._all.targets):
            for name, owners in sorted(registry.contested.items()):
                for owner in owners:
                    self._add(f"{registry.kind} {name}", owner, registry.unknown(name).message)

    def at_passes(self) -> None:
        """Switch options that nobody declares, and what is declared without effect."""
        all_of = self._all
        for declaration in all_of.passes:
            for error in undeclared_switches(declaration, all_of.options):
                self._raised(f"pass {declaration.name}", declaration.owner, error)
        for odd in odd_declarations(all_of.passes, all_of.options, all_of.pipelines.levels):
            self._add(odd.what, odd.owner, odd.words)

    def at_rules(self) -> None:
        """Delete rules and checkers that are never asked."""
        for odd in odd_rules(self._all):
            self._add(odd.what, odd.owner, odd.words)

    def at_levels(self, kernel: bool = True) -> None:
        """What every level runs."""
        levels = self._all.pipelines.levels
        for level in Level if kernel else ():
            try:
                plan_passes(self._catalog, [Source(ARGUMENTS, {LEVEL: level})])
            except GeError as error:
                # The kernel's levels are right: whoever makes the error is to blame alone.
                self._raised(f"passes at {level}", _blamed(error, self._all), error)
        for entry in levels.entries():
            try:
                levels.working(entry.name)
                plan_passes(self._catalog, [Source(ARGUMENTS, {LEVEL: entry.name})])
            except GeError as error:
                self._raised(f"level {entry.name}", entry.owner, error)

    def at_pipelines(self) -> None:
        """What every named pipeline runs."""
        pipelines = self._all.pipelines
        for entry in pipelines.entries():
            try:
                plan_passes(self._catalog, pipeline=entry.name)
            except GeError as error:
                self._raised(f"pipeline {entry.name}", entry.owner, error)

    def at_targets(self) -> None:
        """Pipelines of targets that aren't there, and pools that nothing lies in."""
        targets, pipelines = self._all.targets, self._all.pipelines
        for target in targets.entries():
            wanted = target.value.pipeline
            if wanted is not None and not wanted.endswith(".toml"):
                try:
                    pipelines.entry(pipelines.current(wanted)[0])
                except GeError as error:
                    self._raised(f"target {target.name}", target.owner, error)
            for words in odd_pools(target.value):
                self._add(f"target {target.name}", target.owner, words)


def _blamed(error: GeError, registries: Registries) -> Owner:
    """The owner that an error names: of a pass, since passes are what is planned."""
    return next(
        (one.owner for one in registries.passes if str(one.owner) == error.owner),
        Owner(error.owner or "", error.owner or ""),
    )
