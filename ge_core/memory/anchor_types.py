"""The registry of anchor types (hook `ge_register_anchor_types`).

An anchor type is a name and a marker: a function that looks at one anchor and says whether it is
of that type. Conflict checkers speak of pairs of types.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from ge_core.errors import PassError, PluginError
from ge_core.foreign import edit_hint, in_words, located
from ge_core.ir import InputAnchor, OutputAnchor
from ge_core.registry import NOBODY, Entry, Owner, Registry

Anchor: TypeAlias = InputAnchor | OutputAnchor
Marker: TypeAlias = Callable[[Anchor], object]


@dataclass(frozen=True, slots=True)
class AnchorType:
    """One registered type.

    Attributes:
        marks: answers with something true for an anchor of this type.
        about: one line for listings.
    """

    name: str
    marks: Marker
    about: str = ""
    owner: Owner = NOBODY

    def __call__(self, anchor: Anchor) -> bool:
        """Whether the anchor is of this type; `PassError` naming the owner if the marker raises."""
        try:
            return bool(self.marks(anchor))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failure = PassError(
                f"anchor type {self.name!r} {in_words(error)} (asked about {anchor!r})",
                owner=str(self.owner),
                hint=edit_hint(error, "a marker"),
            )
            raise located(failure, error) from error


class AnchorTypeRegistry(Registry[AnchorType]):
    """Anchor types by name."""

    kind = "anchor type"

    def __init__(self) -> None:
        super().__init__()
        self._in_order: tuple[AnchorType, ...] | None = None

    def _put(self, entry: Entry[AnchorType]) -> None:
        super()._put(entry)
        self._in_order = None

    def add(self, name: str, marks: Marker, *, about: str = "") -> None:
        """Declare a type: `types.add("PINNED_BANK", marks=lambda anchor: ...)`.

        A marker is asked about inputs and outputs alike. Raises `PluginError` for a taken name.
        """
        if not callable(marks):
            raise PluginError(f"anchor type {name!r}: {marks!r} is no function")
        self._put(Entry(name, AnchorType(name, marks, about)))

    def _stamped(self, entry: Entry[AnchorType], owner: Owner) -> Entry[AnchorType]:
        name = owner.full(entry.name)
        return Entry(name, replace(entry.value, name=name, owner=owner), owner, entry.about)

    def of(self, anchor: Anchor) -> list[str]:
        """Names of the types an anchor has, in the order of names; markers may only look."""
        kinds, graph = self._in_order, anchor.node.graph
        if kinds is None:
            # Asked about every anchor of a graph: not sorted each time.
            kinds = self._in_order = tuple(self)
        if graph is None:
            return [kind.name for kind in kinds if kind(anchor)]
        with graph.read_only():
            return [kind.name for kind in kinds if kind(anchor)]
