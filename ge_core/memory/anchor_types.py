"""The registry of anchor types (hook `ge_register_anchor_types`).

An anchor type is a name and a marker: a function that looks at one anchor and says whether it is
of that type. Conflict checkers speak of pairs of types.

Every anchor of a graph is asked about. Who has many types can answer for all of them in one go,
with a *sorter*; ordinary anchors, which are most, then cost one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from ge_core.errors import PassError, PluginError
from ge_core.foreign import edit_hint, in_words, located
from ge_core.ir import InputAnchor, OutputAnchor
from ge_core.registry import NOBODY, Entry, Owner, Registry

Anchor: TypeAlias = InputAnchor | OutputAnchor
Marker: TypeAlias = Callable[[Anchor], object]
Sorter: TypeAlias = "Callable[[Anchor], Iterable[str]]"


@dataclass(frozen=True, slots=True)
class AnchorType:
    """One registered type.

    Attributes:
        marks: answers with something true for an anchor of this type.
        about: one line for listings.
        sort: names all types of an anchor that were declared with it, this one among them, as they
            were declared; asked instead of the markers of those types.
    """

    name: str
    marks: Marker
    about: str = ""
    owner: Owner = NOBODY
    sort: Sorter | None = None

    def __call__(self, anchor: Anchor) -> bool:
        """Whether the anchor is of this type; `PassError` naming the owner if the marker raises."""
        try:
            return bool(self.marks(anchor))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self._failure(error, anchor) from error

    def _failure(self, error: BaseException, anchor: Anchor) -> PassError:
        failure = PassError(
            f"anchor type {self.name!r} {in_words(error)} (asked about {anchor!r})",
            owner=str(self.owner),
            hint=edit_hint(error, "a marker"),
        )
        return located(failure, error)


class _Sorted(NamedTuple):
    """Types that one sorter answers for: one of them, and all names, as declared and in full."""

    first: AnchorType
    names: dict[str, str]

    def of(self, anchor: Anchor) -> list[str]:
        sort = self.first.sort
        assert sort is not None
        try:
            return [self.names[name] for name in sort(anchor)]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self.first._failure(error, anchor) from error


class AnchorTypeRegistry(Registry[AnchorType]):
    """Anchor types by name."""

    kind = "anchor type"

    def __init__(self) -> None:
        super().__init__()
        self._asked: tuple[list[_Sorted], list[AnchorType]] | None = None

    def _put(self, entry: Entry[AnchorType]) -> None:
        super()._put(entry)
        self._asked = None

    def add(self, name: str, marks: Marker, *, about: str = "", sort: Sorter | None = None) -> None:
        """Declare a type: `types.add("PINNED_BANK", marks=lambda anchor: ...)`.

        A marker is asked about inputs and outputs alike. Raises `PluginError` for a taken name.

        Args:
            sort: given with several types, answers for all of them in one call: the names that an
                anchor has, as given here. It must say what the markers say.
        """
        for function in (marks, *(() if sort is None else (sort,))):
            if not callable(function):
                raise PluginError(f"anchor type {name!r}: {function!r} is no function")
        self._put(Entry(name, AnchorType(name, marks, about, sort=sort)))

    def _stamped(self, entry: Entry[AnchorType], owner: Owner) -> Entry[AnchorType]:
        name = owner.full(entry.name)
        return Entry(name, replace(entry.value, name=name, owner=owner), owner, entry.about)

    def of(self, anchor: Anchor) -> list[str]:
        """Names of the types an anchor has, in the order of names; markers may only look."""
        graph = anchor.node.graph
        if graph is None:
            return self._of(anchor)
        with graph.read_only():
            return self._of(anchor)

    def _of(self, anchor: Anchor) -> list[str]:
        asked = self._asked
        if asked is None:
            # Asked about every anchor of a graph: not put together each time.
            asked = self._asked = self._grouped()
        together, alone = asked
        found = [kind.name for kind in alone if kind(anchor)]
        for each in together:
            found += each.of(anchor)
        return found if len(found) < 2 else sorted(found)

    def _grouped(self) -> tuple[list[_Sorted], list[AnchorType]]:
        together: dict[Sorter, _Sorted] = {}
        alone: list[AnchorType] = []
        for kind in self:
            if kind.sort is None:
                alone.append(kind)
            else:
                names = together.setdefault(kind.sort, _Sorted(kind, {})).names
                # The author may have written the prefix, or left it to us.
                names[kind.name] = names[kind.name.removeprefix(f"{kind.owner.name}.")] = kind.name
        return list(together.values()), alone
