"""The pluggy manager of one plugin: its hooks, those under old names among them."""

from __future__ import annotations

import warnings
from typing import Any

import pluggy

from ge_core import deprecation
from ge_core.deprecation import GeDeprecationWarning
from ge_core.errors import PluginError
from ge_core.plugin import specs


class HookManager(pluggy.PluginManager):
    """Takes an implementation of a hook by its old name for one of the hook, with a warning.

    A plugin that implements a hook by both names, for old kernels too, is called once, by the new.
    """

    def __init__(self) -> None:
        super().__init__(specs.PROJECT)

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> pluggy.HookimplOpts | None:
        """As pluggy does; raises `PluginError` for an old name whose time is over."""
        found = super().parse_hookimpl_opts(plugin, name)
        if found is None:
            return None
        rename = deprecation.HOOKS.get(found.get("specname") or name)
        if rename is None:
            return found
        if rename.expired:
            if found.get("optionalhook"):
                return None
            raise PluginError(rename.gone("hook", rename.new))
        if super().parse_hookimpl_opts(plugin, rename.new) is not None:
            return None
        warnings.warn(GeDeprecationWarning(rename.warning("hook", rename.new)), stacklevel=1)
        # The mark on the function is left as it is: other managers look at it too.
        mapped = found.copy()
        mapped["specname"] = rename.new
        return mapped
