"""Old names of registered things: what each is called today, since when, and until when it works.

A rename is part of the registry that holds the thing, so that every place which resolves a user's
name can ask `Registry.current` and say what changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ge_core.errors import PluginError
from ge_core.owners import NOBODY, Owner

_RELEASE = re.compile(r"v?(\d+(?:\.\d+)*)(?:[._-]?(a|b|c|rc|alpha|beta|pre|preview|dev)\.?\d*)?")


def release(version: str) -> tuple[tuple[int, ...], bool] | None:
    """A version's numbers, and whether it is final rather than a pre-release; None for no version.

    The pairs compare as versions do: 2.0rc1 comes before 2.0, which is 2.0.0. Local parts and
    post-releases don't matter to what a name is called.
    """
    found = _RELEASE.match(version)
    if found is None:
        return None
    numbers = [int(part) for part in found.group(1).split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), found.group(2) is None


@dataclass(frozen=True, slots=True)
class Rename:
    """One retired name.

    Attributes:
        old, new: the names; `new` may itself have been retired later.
        since: the owner's version that brought the new name.
        until: the owner's version in which the old name stops working.
    """

    old: str
    new: str
    since: str
    until: str
    owner: Owner = NOBODY

    def problem(self, kind: str) -> str | None:
        """What is wrong with the declaration itself, None where nothing is."""
        if self.old == self.new:
            return f"{kind} {self.old!r} is renamed to itself"
        first, last = release(self.since), release(self.until)
        for what, given, read in (("since", self.since, first), ("until", self.until, last)):
            if read is None:
                return f"rename of {kind} {self.old!r}: {what}={given!r} is no version"
        assert first is not None and last is not None
        if last <= first:
            return (
                f"rename of {kind} {self.old!r}: until={self.until!r} is not after"
                f" since={self.since!r}"
            )
        return None

    @property
    def expired(self) -> bool:
        """Whether the installed owner is past the version in which the old name goes.

        A local module has no version, and its old names never go by themselves.
        """
        here, last = release(self.owner.version), release(self.until)
        return here is not None and last is not None and here >= last

    def warning(self, kind: str, new: str) -> str:
        """What a user of the old name is told, `new` being the name that holds today."""
        whose = self.owner.distribution
        return (
            f"{kind} {self.old!r} is called {new!r} since {whose} {self.since};"
            f" the old name goes in {whose} {self.until}"
        )

    def gone(self, kind: str, new: str) -> str:
        """What a user of the old name is told once it no longer works."""
        whose = self.owner.distribution
        return (
            f"no {kind} {self.old!r}: it is called {new!r} since {whose} {self.since},"
            f" and the old name went in {whose} {self.until}"
        )


class Renames:
    """The old names of one registry."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._by_old: dict[str, Rename] = {}

    def put(self, rename: Rename) -> None:
        """Add one.

        Raises:
            PluginError: it is malformed, its old name was given away already, or old names lead in
                a circle; names the owners.
        """
        wrong = rename.problem(self._kind)
        if wrong is not None:
            raise PluginError(wrong, owner=both_owners(rename.owner))
        taken = self._by_old.get(rename.old)
        if taken is not None:
            raise PluginError(
                f"{self._kind} {rename.old!r} is renamed twice,"
                f" to {taken.new!r} and to {rename.new!r}",
                owner=both_owners(taken.owner, rename.owner),
            )
        chain = [rename.old, rename.new]
        while chain[-1] in self._by_old:
            chain.append(self._by_old[chain[-1]].new)
            if chain[-1] == rename.old:
                raise PluginError(
                    f"renames of {self._kind} {rename.old!r} lead in a circle: "
                    + " -> ".join(chain),
                    owner=both_owners(rename.owner),
                )
        self._by_old[rename.old] = rename

    def find(self, old: str) -> Rename | None:
        """The rename of an old name, None where it isn't one."""
        return self._by_old.get(old)

    def latest(self, name: str) -> str:
        """The name at the end of a chain of renames; the name itself where it has none."""
        while name in self._by_old:
            name = self._by_old[name].new
        return name

    def all(self) -> list[Rename]:
        """All, by old name."""
        return [self._by_old[old] for old in sorted(self._by_old)]

    def copy(self) -> Renames:
        """A copy that can be changed without changing this one."""
        twin = Renames(self._kind)
        twin._by_old = dict(self._by_old)
        return twin


def both_owners(*owners: Owner) -> str | None:
    """The owners for an error; None while a plugin's own declarations are still unstamped."""
    known = [str(owner) for owner in owners if owner is not NOBODY]
    return ", ".join(dict.fromkeys(known)) or None
