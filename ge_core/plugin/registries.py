"""All registries that plugins contribute to, staged, merged and forked together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Self

from ge_core.analysis import TraceRules
from ge_core.memory.anchor_types import AnchorTypeRegistry
from ge_core.memory.assigners import AssignerRegistry
from ge_core.memory.checkers import CheckerRegistry
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.codes import Code, CodeTable
from ge_core.passes.delete_rules import DeleteRules
from ge_core.passes.kernel_claims import register_builtin_claims
from ge_core.passes.options import OptionRegistry
from ge_core.passes.pipelines import PipelineRegistry
from ge_core.passes.planning import Catalog
from ge_core.passes.registry import PassRegistry
from ge_core.plugin.references import bring_up_to_date
from ge_core.registry import Owner, Registry, kernel_owner
from ge_core.targets import GENERIC, TargetRegistry
from ge_core.tasks import Kernels

HOOKS: dict[str, str] = {
    "ge_register_ops": "ops",
    "ge_register_options": "options",
    "ge_register_passes": "passes",
    "ge_register_trace_rules": "trace_rules",
    "ge_register_delete_rules": "delete_rules",
    "ge_register_anchor_types": "anchor_types",
    "ge_register_conflict_checkers": "checkers",
    "ge_register_memory_assigners": "assigners",
    "ge_register_targets": "targets",
    "ge_register_kernels": "kernels",
    "ge_register_pipelines": "pipelines",
}
"""Which hook fills which registry, in calling order."""


@dataclass
class Registries:
    """One registry per contributing hook."""

    ops: OpRegistry = field(default_factory=OpRegistry)
    options: OptionRegistry = field(default_factory=OptionRegistry)
    passes: PassRegistry = field(default_factory=PassRegistry)
    trace_rules: TraceRules = field(default_factory=TraceRules)
    delete_rules: DeleteRules = field(default_factory=DeleteRules)
    anchor_types: AnchorTypeRegistry = field(default_factory=AnchorTypeRegistry)
    checkers: CheckerRegistry = field(default_factory=CheckerRegistry)
    assigners: AssignerRegistry = field(default_factory=AssignerRegistry)
    targets: TargetRegistry = field(default_factory=TargetRegistry)
    kernels: Kernels = field(default_factory=Kernels)
    pipelines: PipelineRegistry = field(default_factory=PipelineRegistry)

    def fork(self) -> Self:
        """A copy that can be changed without changing this one."""
        return type(self)(**{part.name: getattr(self, part.name).fork() for part in fields(self)})

    def absorb(self, staged: Registries, owner: Owner) -> None:
        """Take over what one plugin registered, stamped with its owner.

        Raises:
            PluginError: a name is taken; this object may be half changed then.
        """
        for part in fields(self):
            getattr(self, part.name).absorb(getattr(staged, part.name), owner)

    def seal(self, hint: str | None, absent: dict[str, str]) -> tuple[str, ...]:
        """All plugins are merged: names in declarations are resolved, unknown names explained.

        Args:
            hint: said with every unknown name.
            absent: by the name of each plugin that isn't there, why.

        Returns:
            Warnings about declarations that use old names.
        """
        warnings = bring_up_to_date(self)
        for part in fields(self):
            registry: Any = getattr(self, part.name)
            if isinstance(registry, Registry):
                registry.missing_hint, registry.absent = hint, absent
        self.pipelines.levels.missing_hint = hint
        self.pipelines.levels.absent = absent
        self.close()
        return warnings

    def close(self) -> None:
        """Nothing is registered from now on: what came later would be nobody's, or everybody's."""
        for part in fields(self):
            getattr(self, part.name).closed = True
        self.pipelines.levels.closed = True

    def counts(self) -> dict[str, int]:
        """How many things there are of each kind, kinds without any left out."""
        found = {part.name: len(getattr(self, part.name)) for part in fields(self)}
        found["levels"] = len(self.pipelines.levels)
        if self.checkers.has_read_write:
            found["read_write"] = 1
        return {kind: count for kind, count in found.items() if count}

    def named(self) -> list[Registry[Any]]:
        """The registries whose names get their owner's prefix."""
        return [
            self.options,
            self.passes,
            self.delete_rules,
            self.anchor_types,
            self.assigners,
        ]

    def capabilities(self) -> tuple[str, ...]:
        """What passes may require and some plugin brings."""
        found = []
        if self.checkers.has_read_write:
            found.append("read_write")
        if len(self.checkers):
            found.append("layout_checkers")
        return tuple(found)

    def catalog(self) -> Catalog:
        """What planning needs."""
        return Catalog(self.passes, self.options, self.pipelines, self.capabilities())

    def codes(self) -> CodeTable:
        """Every reason code that a pass, rule or checker declared."""
        table = CodeTable()
        for declaration in self.passes:
            table.add(declaration.codes)
        for rule in self.delete_rules:
            table.add(rule.codes)
        for checker in self.checkers:
            giver = " and ".join(checker.types)
            table.add(_checker_codes(checker.codes, giver, checker.owner))
        return table


def _checker_codes(names: Iterable[str], giver: str, owner: Owner) -> list[Code]:
    return [
        Code(name, name.rpartition(".")[2].lower().replace("_", " "), None, giver, owner)
        for name in names
    ]


def builtin_registries() -> Registries:
    """What the kernel registers itself, by the same path as plugins."""
    staged = Registries()
    register_builtin_ops(staged.ops)
    register_builtin_options(staged.options)
    register_builtin_claims(staged.passes)
    staged.targets.add(GENERIC)
    registries = Registries()
    registries.absorb(staged, kernel_owner())
    return registries
