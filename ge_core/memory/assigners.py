"""The registry of memory assigners (hook `ge_register_memory_assigners`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from ge_core.errors import PluginError
from ge_core.foreign import foreign
from ge_core.memory.problem import Assigner
from ge_core.registry import Entry, Registry, resolve_reference

AssignerSource: TypeAlias = "str | Callable[[], Assigner]"
"""A class or function that makes an assigner, or where to find one: `"module:Class"`."""


class AssignerRegistry(Registry[AssignerSource]):
    """Assigners by name; references are imported when an assigner is asked for."""

    kind = "assigner"

    def add(self, name: str, source: AssignerSource, *, about: str = "") -> None:
        """Declare an assigner: a class, or `"module:Class"` where importing it is not light.

        Raises:
            PluginError: the name is taken, or the source is neither text nor callable.
        """
        if not isinstance(source, str) and not callable(source):
            raise PluginError(f"assigner {name!r}: {source!r} is no class and no reference")
        self._put(Entry(name, source, about={"about": about}))

    def make(self, name: str) -> Assigner:
        """A new assigner of that name.

        Raises:
            UnknownNameError: nobody registered it; near names and their owners.
            PluginError: it can't be imported or made, or is no assigner; names its owner.
        """
        entry = self.entry(name)
        owner = str(entry.owner)
        source = entry.value
        factory = resolve_reference(source, entry.owner) if isinstance(source, str) else source
        with foreign(f"assigner {name!r} can't be made: it", owner):
            assigner = factory()
        if not callable(getattr(assigner, "assign", None)):
            raise PluginError(
                f"assigner {name!r} has no method assign(problem, budget)", owner=owner
            )
        return cast(Assigner, assigner)
