"""What every registry of the kernel is made of: owners, and tables of named things that have one.

A registry lives in the row of the things it holds (targets in `ge_core.targets`, passes in
`ge_core.passes`, ...); this module knows none of them. Third parties' names are prefixed here and
nowhere else, so the rule can't be forgotten by one registry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, Protocol, Self, TypeVar

from ge_core.errors import GeError, PluginError, UnknownNameError, near_matches

T = TypeVar("T")

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


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """One named thing of a registry."""

    name: str
    value: T
    owner: Owner = NOBODY
    about: Mapping[str, Any] = field(default_factory=dict)


class SubRegistry(Protocol):
    """What the plugin loader needs of a registry; plugins see only its `add` methods."""

    def fork(self) -> Self:
        """A copy that can be changed without changing this one."""
        ...

    def absorb(self, staged: Self, owner: Owner) -> None:
        """Take over what one plugin registered, stamped with its owner.

        Raises:
            PluginError: a name is registered already; this registry may be half changed then, so
                the loader absorbs into a fork.
        """
        ...


class Registry(Generic[T]):
    """Named things of one kind, listed by name."""

    kind = "thing"
    """What the things are called in messages."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry[T]] = {}
        self.missing_hint: str | None = None
        """Said with every unknown name: which plugins failed to load."""
        self.absent: Mapping[str, str] = {}
        """Why a plugin isn't there, by its name."""

    def _put(self, entry: Entry[T]) -> None:
        """Raises `PluginError` naming both owners where the name is taken."""
        taken = self._entries.get(entry.name)
        if taken is not None:
            raise PluginError(
                f"{self.kind} {entry.name!r} is registered twice",
                owner=f"{taken.owner}, {entry.owner}",
            )
        self._entries[entry.name] = entry

    def _stamped(self, entry: Entry[T], owner: Owner) -> Entry[T]:
        """The entry as it is called once it belongs to somebody."""
        return Entry(owner.full(entry.name), entry.value, owner, entry.about)

    def fork(self) -> Self:
        """A copy that can be changed without changing this one."""
        copy = type(self)()
        copy._entries = dict(self._entries)
        copy.missing_hint, copy.absent = self.missing_hint, self.absent
        return copy

    def absorb(self, staged: Self, owner: Owner) -> None:
        """Take over what one plugin registered; raises `PluginError` for a taken name."""
        for name in sorted(staged._entries):
            self._put(self._stamped(staged._entries[name], owner))

    def entry(self, name: str) -> Entry[T]:
        """The entry of that name; `UnknownNameError` with near matches and their owners."""
        found = self._entries.get(name)
        if found is None:
            raise self.unknown(name)
        return found

    def get(self, name: str) -> T:
        """The thing of that name; `UnknownNameError` with near matches and their owners."""
        return self.entry(name).value

    def unknown(self, name: str) -> GeError:
        """The error for a name that nobody registered.

        `PluginError` where the prefix is that of a plugin which isn't there, so that a caller can
        tell what is misspelled from what is needed and missing.
        """
        prefix = name.partition(".")[0]
        if prefix in self.absent:
            return PluginError(
                f"no {self.kind} {name!r}: {self.absent[prefix]}", hint="see `ge plugins doctor`"
            )
        near = near_matches(name, self._entries)
        return UnknownNameError(
            f"no {self.kind} {name!r}",
            near=[f"{match} ({self._entries[match].owner})" for match in near],
            hint=self.missing_hint,
        )

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._entries)

    def entries(self) -> list[Entry[T]]:
        """All entries by name."""
        return [self._entries[name] for name in self.names()]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[T]:
        return (entry.value for entry in self.entries())

    def __len__(self) -> int:
        return len(self._entries)


def resolve_reference(reference: str, owner: Owner) -> Any:
    """The object behind a lazy `"module:Name"` reference.

    Raises:
        PluginError: the module can't be imported or has no such name; names the owner.
    """
    import importlib

    module, _, path = reference.partition(":")
    if not module or not path:
        raise PluginError(
            f"{reference!r} is not a reference", owner=str(owner), hint="write 'module:Name'"
        )
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # SystemExit too: a module that exits when it is imported must not end a compile.
        raise PluginError(
            f"{reference!r} can't be loaded: {type(error).__name__}: {error}", owner=str(owner)
        ) from error
    return found
