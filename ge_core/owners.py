"""Owners: who registered something, and the prefix that its names carry."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

KERNEL_DISTRIBUTION = "graph-engine-core"


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """Who registered something.

    Attributes:
        name: the plugin's name, that of its entry point; prefix of what it registers.
        distribution: the installed package; the module of a local plugin.
        version: of the distribution; empty for a local module.
        builtin: whether its names are GE's bare ones.
    """

    name: str
    distribution: str
    version: str = ""
    builtin: bool = False

    def full(self, name: str) -> str:
        """The registered form of a name that the author wrote with or without the prefix."""
        if self.builtin or name.startswith(f"{self.name}."):
            return name
        return f"{self.name}.{name}"

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".rstrip()


@cache
def kernel_owner() -> Owner:
    """The kernel itself, as the owner of what it registers."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Owner("ge_core", KERNEL_DISTRIBUTION, version(KERNEL_DISTRIBUTION), builtin=True)
    except PackageNotFoundError:
        return Owner("ge_core", KERNEL_DISTRIBUTION, builtin=True)


NOBODY = Owner("", "(not registered yet)")
"""The owner of what a plugin has declared and the kernel has not taken over yet."""
