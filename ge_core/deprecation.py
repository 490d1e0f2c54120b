"""What the kernel itself retires: Python names, hooks and their arguments, commands, flags, keys.

Everything that is retired stands in a table here and goes on working for two releases, with a
warning that names what to use instead. Names in registries (passes, options, targets, ...) are
retired by their owners, with `Registry.rename`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from ge_core.owners import kernel_owner
from ge_core.renames import Rename

Renames = Mapping[str, Rename]


class GeDeprecationWarning(DeprecationWarning):
    """Something of the plugin API is retired; the text says what to use, and until when it works.

    A plugin's tests should treat it as an error: `-W error::ge_core.api.GeDeprecationWarning`.
    """


def retired(old: str, new: str, *, since: str, until: str) -> Rename:
    """An entry of a table: what was called `old` is called `new` since a version of the kernel."""
    return Rename(old, new, since, until, kernel_owner())


PYTHON_NAMES: Final[Mapping[str, Renames]] = {
    "ge_core": {},
    "ge_core.api": {},
    "ge_core.testing": {},
}
"""Module -> old name -> its rename; the new name is `module:Name`."""

HOOKS: Final[Renames] = {}
"""Hooks by their old names."""

COMMANDS: Final[Renames] = {}
"""Commands by their old names: `ge NAME`."""

FLAGS: Final[Mapping[str, Renames]] = {}
"""Command -> flag by its old name, dashes included."""

CONFIG_KEYS: Final[Renames] = {}
"""Keys of the configuration, as written with dashes, by their old names."""


def old_names(module: str, stacklevel: int = 2) -> Callable[[str], Any]:
    """A module's `__getattr__`: serves names that it has retired, with a warning.

    Hide it from type checkers (`if not TYPE_CHECKING`), which would take every name for one that
    exists.

    Args:
        stacklevel: how far up, from the function that is answered, the code is that asks.
    """

    def serve(name: str) -> Any:
        rename = PYTHON_NAMES[module].get(name)
        if rename is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = rename.new.partition(":")
        shown = Rename(
            f"{module}.{name}", f"{home}.{new}", rename.since, rename.until, rename.owner
        )
        if rename.expired:
            raise AttributeError(shown.gone("name", shown.new))
        warnings.warn(GeDeprecationWarning(shown.warning("name", shown.new)), stacklevel=stacklevel)
        return getattr(import_module(home), new)

    return serve


def ageing_argument(name: str, *, instead: str, since: str, until: str) -> GeDeprecationWarning:
    """The warning for a hook's implementation that takes an argument which is to go.

    For `@hookspec(warn_on_impl_args={name: ageing_argument(name, ...)})`.
    """
    whose = kernel_owner().distribution
    return GeDeprecationWarning(
        f"argument {name!r} is retired since {whose} {since} and goes in {whose} {until};"
        f" use {instead}"
    )
