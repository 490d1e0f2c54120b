"""What every registry of the kernel is made of: owners, and tables of named things that have one.

A registry lives in the row of the things it holds (targets in `ge_core.targets`, passes in
`ge_core.passes`, ...); this module knows none of them. Third parties' names are prefixed here and
nowhere else, so the rule can't be forgotten by one registry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

from ge_core.errors import (
    GeError,
    MissingHookError,
    PluginError,
    PluginLoadError,
    UnknownNameError,
    near_matches,
)
from ge_core.foreign import shortened
from ge_core.owners import KERNEL_DISTRIBUTION as KERNEL_DISTRIBUTION
from ge_core.owners import NOBODY as NOBODY
from ge_core.owners import Owner as Owner
from ge_core.owners import kernel_owner as kernel_owner
from ge_core.renames import Rename, Renames, both_owners

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """One named thing of a registry."""

    name: str
    value: T
    owner: Owner = NOBODY
    about: Mapping[str, Any] = field(default_factory=dict)


class Registry(Generic[T]):
    """Named things of one kind, listed by name."""

    kind = "thing"
    """What the things are called in messages."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry[T]] = {}
        self._renames = Renames(self.kind)
        self.missing_hint: str | None = None
        """Said with unknown names that nothing is near to: which plugins aren't there."""
        self.absent: Mapping[str, str] = {}
        """Why a plugin isn't there, by its name."""
        self.closed = False
        """Whether the time to register things is over."""

    def _put(self, entry: Entry[T]) -> None:
        """Raises `PluginError` naming both owners where the name is taken, or was once."""
        check_open(self.closed, self.kind, entry.name)
        self._check_name(entry.name)
        self._refuse_old(entry.name, entry.owner)
        taken = self._entries.get(entry.name)
        if taken is not None:
            raise PluginError(
                f"{self.kind} {entry.name!r} is registered twice",
                owner=both_owners(taken.owner, entry.owner),
            )
        self._entries[entry.name] = entry

    def _check_name(self, name: object) -> None:
        """Raises `PluginError` for what can't be written where names are written."""
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise PluginError(
                f"{shortened(name)} is no name for {_article(self.kind)} {self.kind}",
                hint="at most 128 letters, digits and . _ - : +, the first a letter",
            )

    def _full(self, name: str, owner: Owner) -> str:
        """What a name is once it belongs to somebody: theirs, with their prefix."""
        return owner.full(name)

    def _stamped(self, entry: Entry[T], owner: Owner) -> Entry[T]:
        """The entry as it is called once it belongs to somebody."""
        return Entry(self._full(entry.name, owner), entry.value, owner, entry.about)

    # ---- old names -----------------------------------------------------------------------------

    def rename(self, old: str, new: str, *, since: str, until: str) -> None:
        """Declare that what was registered as `old` is called `new` now.

        Who asks for the old name gets the new thing and a warning; from the version `until` of the
        plugin's package on, an error that names the new one.

        Args:
            old, new: with or without the plugin's prefix; `new` is a name that the plugin
                registers, or one that it renamed itself.
            since: the version of the plugin's package that brought the new name.
            until: the version in which the old name goes; leave users two releases.

        Raises:
            PluginError: the old name is somebody's, versions are malformed, or renames lead in a
                circle.
        """
        self._put_rename(Rename(old, new, since, until))

    def _put_rename(self, rename: Rename) -> None:
        taken = self._entries.get(rename.old)
        if taken is not None:
            raise PluginError(
                f"{self.kind} {rename.old!r} is registered, so it can't be an old name of"
                f" {rename.new!r}",
                owner=both_owners(taken.owner, rename.owner),
            )
        self._renames.put(rename)

    def _refuse_old(self, name: str, owner: Owner) -> None:
        renamed = self._renames.find(name)
        if renamed is not None:
            raise PluginError(
                f"{self.kind} {name!r} is registered, and it is an old name of {renamed.new!r}",
                owner=both_owners(renamed.owner, owner),
            )

    def current(self, name: str) -> tuple[str, str | None]:
        """The name that holds today for one that a user gave, and a warning if that was an old one.

        A name that nobody knows comes back as it is, without a warning: `get` says what is wrong.

        Raises:
            UnknownNameError: an old name whose time is over; names the new one.
        """
        renamed = self._renames.find(name)
        if renamed is None:
            return name, None
        new = self._renames.latest(name)
        if renamed.expired:
            raise self.unknown(name)
        return new, renamed.warning(self.kind, new)

    def renames(self) -> list[Rename]:
        """The old names, sorted."""
        return self._renames.all()

    # ---- merging -------------------------------------------------------------------------------

    def fork(self) -> Self:
        """A copy that can be changed without changing this one."""
        copy = type(self)()
        copy._entries = dict(self._entries)
        copy._renames = self._renames.copy()
        copy.missing_hint, copy.absent = self.missing_hint, self.absent
        return copy

    def absorb(self, staged: Self, owner: Owner) -> None:
        """Take over what one plugin registered.

        Raises:
            PluginError: a name is taken, or an old name leads to nothing that the plugin registers.
        """
        for name in sorted(staged._entries):
            self._put(self._stamped(staged._entries[name], owner))
        added = [self._absorb_rename(rename, owner) for rename in staged._renames.all()]
        for rename in added:
            new = self._renames.latest(rename.old)
            found = self._entries.get(new)
            if found is None or found.owner != owner:
                raise PluginError(
                    f"{self.kind} {rename.old!r} is renamed to {new!r}, which "
                    + ("nobody registers" if found is None else f"is another's: {found.owner}"),
                    owner=str(owner),
                    near=near_matches(new, [e.name for e in self.entries() if e.owner == owner]),
                )

    def _absorb_rename(self, rename: Rename, owner: Owner) -> Rename:
        old, new = self._full(rename.old, owner), self._full(rename.new, owner)
        stamped = Rename(old, new, rename.since, rename.until, owner)
        self._put_rename(stamped)
        return stamped

    def revise(self, change: Callable[[Entry[T]], T]) -> None:
        """Put what `change` answers in the place of each thing; names and owners stay."""
        for name in self.names():
            entry = self._entries[name]
            self._entries[name] = Entry(name, change(entry), entry.owner, entry.about)

    # ---- looking up ----------------------------------------------------------------------------

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
        tell what is misspelled from what is needed and missing. An old name is told the new one.
        """
        renamed = self._renames.find(name)
        if renamed is not None:
            new = self._renames.latest(name)
            if renamed.expired:
                return UnknownNameError(renamed.gone(self.kind, new))
            return UnknownNameError(renamed.warning(self.kind, new))
        prefix = name.partition(".")[0]
        if prefix in self.absent:
            return PluginLoadError(
                f"no {self.kind} {name!r}: {self.absent[prefix]}", hint="see `ge plugins doctor`"
            )
        near = near_matches(name, self._entries)
        return UnknownNameError(
            f"no {self.kind} {name!r}",
            near=[f"{match} ({self._entries[match].owner})" for match in near],
            hint=None if near else self.missing_hint,
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


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:+-]{0,127}")


def _article(kind: str) -> str:
    return "an" if kind[0] in "aeiou" else "a"


def contested_error(
    kind: str, name: str, contested: Mapping[str, tuple[Owner, ...]]
) -> GeError | None:
    """The error for a name that several claim, None for others."""
    if name not in contested:
        return None
    owners = [str(owner) for owner in contested[name]]
    plugins = ", ".join(owner.name for owner in contested[name])
    return PluginError(
        f"{kind} {name!r} is contested: {' and '.join(owners)} register it",
        owner=", ".join(owners),
        hint=f"load one of the plugins {plugins}: GE_DISABLE_PLUGINS, or plugins in [tool.ge]",
    )


def check_open(closed: bool, kind: str, name: object) -> None:
    """Raises `PluginError` where something is registered after all plugins were merged."""
    if closed:
        raise PluginError(
            f"{kind} {shortened(name)} is registered too late: things are registered"
            " while the plugin is loaded",
            hint="register it in its ge_register_ hook",
        )


def resolve_reference(reference: str, owner: Owner) -> Any:
    """The object behind a lazy `"module:Name"` reference.

    Raises:
        PluginLoadError: the module can't be imported; names the owner.
        MissingHookError: it has no such name.
    """
    import importlib

    module, _, path = reference.partition(":")
    if not module or not path:
        raise PluginError(
            f"{reference!r} is not a reference", owner=str(owner), hint="write 'module:Name'"
        )
    try:
        found: Any = importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # SystemExit too: a module that exits when it is imported must not end a compile.
        raise PluginLoadError(
            f"{reference!r} can't be loaded: {type(error).__name__}: {error}", owner=str(owner)
        ) from error
    try:
        for part in path.split("."):
            found = getattr(found, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module's __getattr__ may raise anything
        raise MissingHookError(
            f"{reference!r} can't be loaded: {type(error).__name__}: {error}", owner=str(owner)
        ) from error
    return found
