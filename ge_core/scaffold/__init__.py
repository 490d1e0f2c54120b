"""`ge new`: writes packages that install, are found, and pass their own tests.

What a package registers is rendered from the kernel's own declarations: hooks and their arguments
from the specs, calls checked against the registries' signatures, stages and levels by their
members. The modules and tests are templates in `templates/`.
"""

from __future__ import annotations

from ge_core.scaffold.names import Names, plugin_names
from ge_core.scaffold.package import new_plugin, package_files
from ge_core.scaffold.pieces import KINDS

__all__ = ["KINDS", "Names", "new_plugin", "package_files", "plugin_names"]
