"""What inputs, variables and constants hold at the start.

Two constants hold equal bytes when their values are equal. Reading gigabytes of weights to find
that out would cost more than the rest of the proof, so a value is digested only where it can
matter: when it is small, when the two graphs don't share their values of that size one to one, or
when two of them lie in one place.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

from ge_core.ir import ConstValue, Graph, Node
from ge_core.proof.contents import Content, Store
from ge_core.proof.facts import FactTable
from ge_core.proof.names import Names
from ge_core.proof.sizes import extent

_SMALL: Final = 4096


class Sources:
    """Contents of sources, for the reference graph and the compiled one alike."""

    def __init__(self, store: Store, facts: FactTable, names: Names) -> None:
        self._store = store
        self._facts = facts
        self._names = names
        self._digested: set[int] = set()
        self._values: dict[int, tuple[ConstValue, int]] = {}

    def compare(self, reference: Graph, compiled: Graph) -> None:
        """Find the sizes of which the graphs hold different value objects."""
        one = {id(value): value for value in _values(reference)}
        other = {id(value): value for value in _values(compiled)}
        for number in sorted(one.keys() ^ other.keys()):
            value = one[number] if number in one else other[number]
            self._digested.add(value.nbytes)

    def digest_also(self, sizes: Iterable[int]) -> None:
        """Compare constants of these sizes by their bytes."""
        self._digested.update(sizes)

    def initial(self, node: Node) -> Content:
        """What output 0 of an input, variable or constant holds at the start."""
        kind = self._facts.of(node).kind
        name = (self._names.originals(node) or (node.name,))[0]
        key: Hashable = (kind, name)
        if kind == "constant" and node.value is not None:
            key = ("constant", self._value_key(node.value))
        size = extent(node.outputs[0].desc)
        return self._store.whole(self._store.source(key, f"{node.name}:0"), size)

    def _value_key(self, value: ConstValue) -> Hashable:
        if value.nbytes <= _SMALL or value.nbytes in self._digested:
            return value.digest()
        # The object itself stands for its bytes; it is kept so that its id stays its own.
        return self._values.setdefault(id(value), (value, len(self._values)))[1]


def _values(graph: Graph) -> list[ConstValue]:
    return [node.value for node in graph.root.all_nodes() if node.value is not None]
