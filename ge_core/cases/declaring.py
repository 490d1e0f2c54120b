"""What a case of the family `pass_registry` declares: registries with its passes and options.

Declarations go the way that plugins' go: each owner's are staged alone, stamped and merged.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import field, make_dataclass
from typing import Any, Final

from ge_core.cases.registry_case import RegistryCase
from ge_core.errors import InputFileError, near_matches
from ge_core.ir import Graph
from ge_core.passes.base import GraphPass, Pass
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.levels import Level
from ge_core.passes.options import OptionRegistry
from ge_core.passes.overlay_files import read_overlay
from ge_core.passes.pipelines import PipelineRegistry
from ge_core.passes.planning import Catalog
from ge_core.passes.registry import PassRegistry
from ge_core.registry import Owner, kernel_owner

BUILTIN: Final = Owner("kernel", "graph-engine-core", "1.0", builtin=True)
"""The owner of what has no prefix."""

_KINDS: Final = (
    "passes",
    "options",
    "levels",
    "pipelines",
    "claims",
    "capabilities",
    "owners",
    "renamed_passes",
    "renamed_options",
)
_PASS: Final = (
    *(
        name
        for name in inspect.signature(PassRegistry.add).parameters
        if name not in ("self", "cls")
    ),
    "fields",
)
_OPTION: Final = tuple(
    name
    for name in inspect.signature(OptionRegistry.add).parameters
    if name not in ("self", "name")
)


def declared(case: RegistryCase, installed: Catalog) -> Catalog:
    """What there is to plan with in a case.

    Raises:
        InputFileError: the case declares something that it can't.
        PluginError: as for a plugin that declares the same.
    """
    return _Declaring(case, installed).catalog()


class _Declaring:
    def __init__(self, case: RegistryCase, installed: Catalog) -> None:
        self.case = case
        self.installed = installed
        self._known(case.declare, _KINDS, "declare")
        self.owners = {
            name: Owner(name, *str(text).rpartition(" ")[::2])
            for name, text in self._table("owners").items()
        }

    def catalog(self) -> Catalog:
        """The registries, with everything merged."""
        there = self.installed if self.case.installed else _bare()
        passes, options = there.passes.fork(), there.options.fork()
        pipelines = there.pipelines.fork()
        for owner in self._all_owners():
            pipelines.absorb(self._pipelines(owner), owner)
        for owner in self._all_owners():
            options.absorb(self._options(owner), owner)
        for owner in self._all_owners():
            passes.absorb(self._passes(owner), owner)
        able = [*there.capabilities, *map(str, self.case.declare.get("capabilities", []))]
        return Catalog(passes, options, pipelines, able)

    # ---- kinds ---------------------------------------------------------------------------------

    def _passes(self, owner: Owner) -> PassRegistry:
        staged = PassRegistry()
        for name, about in self._of(owner, "passes"):
            where = f"declare.passes.{name}"
            self._known(about, _PASS, where)
            facts = {"levels": "O0+", "stage": "OPTIMIZE_STAGE1", **about}
            facts["levels"] = self._levels(facts["levels"], f"{where}.levels")
            fields = facts.pop("fields", {})
            staged.add(_pass(name, fields), name=name, **facts)
        for name, summary in self._of(owner, "claims"):
            staged.add_claim(name, check=_holds, summary=str(summary))
        self._rename(staged, owner, "renamed_passes")
        return staged

    def _options(self, owner: Owner) -> OptionRegistry:
        staged = OptionRegistry()
        for name, about in self._of(owner, "options"):
            where = f"declare.options.{name}"
            self._known(about, _OPTION, where)
            facts = {"help": "An option of the case.", **about}
            if "levels" in facts:
                facts["levels"] = self._levels(facts["levels"], f"{where}.levels")
            staged.add(name, **facts)
        self._rename(staged, owner, "renamed_options")
        return staged

    def _pipelines(self, owner: Owner) -> PipelineRegistry:
        staged = PipelineRegistry()
        for name, extends in self._of(owner, "levels", bare="acme"):
            staged.add_level(name, extends=str(extends))
        for name, text in self._of(owner, "pipelines", bare="acme"):
            if "=" in str(text):
                staged.add(read_overlay(str(text), f"declare.pipelines.{name}", name))
            else:
                staged.add_text(name, str(text))
        return staged

    def _rename(self, staged: PassRegistry | OptionRegistry, owner: Owner, kind: str) -> None:
        for old, new in self._of(owner, kind):
            staged.rename(old, str(new), since="1.1", until="9.0")

    # ---- parts ---------------------------------------------------------------------------------

    def _all_owners(self) -> list[Owner]:
        names = {"acme"}
        for kind in ("passes", "options", "claims", "renamed_passes", "renamed_options"):
            names.update(name.partition(".")[0] for name in self._table(kind) if self._third(name))
        others = [self._owner(name) for name in sorted(names | self.owners.keys())]
        return [BUILTIN, *others]

    def _third(self, name: str) -> bool:
        """Whether a name has an owner's prefix; GE's own options have dots too."""
        return "." in name and not name.startswith("ge.")

    def _owner(self, name: str) -> Owner:
        return self.owners.get(name) or Owner(name, f"{name}-casts", "1.0")

    def _of(self, owner: Owner, kind: str, bare: str | None = None) -> list[tuple[str, Any]]:
        """The declarations of one owner; those without a prefix belong to `bare`."""
        return [
            (name, about)
            for name, about in self._table(kind).items()
            if owner.name == (name.partition(".")[0] if self._third(name) else bare or BUILTIN.name)
        ]

    def _table(self, kind: str) -> dict[str, Any]:
        value = self.case.declare.get(kind, {})
        if not isinstance(value, dict):
            raise self._error("is no object", f"declare.{kind}")
        return value

    def _levels(self, value: Any, where: str) -> tuple[str, ...]:
        """A list of levels, or `O1+` for one and all above."""
        if isinstance(value, str) and value.endswith("+") and value[:-1] in set(Level):
            return Level(value[:-1]).and_above()
        if isinstance(value, list):
            return tuple(map(str, value))
        raise self._error(f"{value!r} is neither a list of levels nor one with a plus", where)

    def _known(self, table: Any, keys: Iterable[str], where: str) -> None:
        known = tuple(keys)
        if not isinstance(table, Mapping):
            raise self._error("is no object", where)
        for key in table:
            if key not in known:
                raise self._error(
                    "can't be declared", f"{where}.{key}", near=near_matches(key, known)
                )

    def _error(self, problem: str, where: str, **about: Any) -> InputFileError:
        return InputFileError(problem, file=str(self.case.path), field=where, **about)


def _bare() -> Catalog:
    """The kernel's own options and claims, and nothing else."""
    from ge_core.passes.kernel_claims import register_builtin_claims

    options, passes = OptionRegistry(), PassRegistry()
    staged, claims = OptionRegistry(), PassRegistry()
    register_builtin_options(staged)
    options.absorb(staged, kernel_owner())
    register_builtin_claims(claims)
    passes.absorb(claims, kernel_owner())
    return Catalog(passes, options)


def _pass(name: str, defaults: Mapping[str, Any]) -> type[Pass]:
    """A pass that does nothing, with these options."""
    return make_dataclass(
        name.rpartition(".")[2],
        [(option, type(value), field(default=value)) for option, value in defaults.items()],
        bases=(GraphPass,),
        namespace={"run": _nothing, "__doc__": "A pass of the case."},
        frozen=True,
    )


def _nothing(self: Any, graph: Graph, ctx: Any) -> None:
    """Changes nothing."""


def _holds(graph: Graph) -> None:
    """A claim that no pass of a case breaks."""
