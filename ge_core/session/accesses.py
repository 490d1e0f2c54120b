"""Who else reads or writes a memory, and when: seen from a copy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ge_core.analysis import AliasClasses, Anchor, Effects, InputKind, Order
from ge_core.ir import Graph, InputAnchor, Node, OutputAnchor
from ge_core.ops import OpRegistry, ref_of

_DOES: Final = {
    InputKind.READ_ONLY: "reads",
    InputKind.WRITEABLE: "overwrites",
    InputKind.SCOPE_WRITEABLE: "uses up",
    InputKind.INVALID: "may do anything to",
}


@dataclass(frozen=True, slots=True)
class Access:
    """One input that reads or writes a memory.

    Attributes:
        anchor, op: the input, and its node's type.
        does: `reads`, `overwrites`, `uses up`, `may do anything to`, `hands on`, `returns`,
            `passes on`.
        what: the output that it is fed by.
        writes: whether the memory may have changed afterwards.
        when: where it stands to the copy, in words; empty for readers of the copy.
    """

    anchor: str
    op: str
    does: str
    what: str
    writes: bool
    when: str = ""

    def to_json(self) -> dict[str, Any]:
        """As in `ge-explain/1`."""
        return {
            "anchor": self.anchor,
            "op": self.op,
            "does": self.does,
            "what": self.what,
            "writes": self.writes,
            "when": self.when,
        }


class Accesses:
    """Looks for who uses a memory, in one graph as it stands."""

    def __init__(self, root: Graph, ops: OpRegistry) -> None:
        self._ops = ops
        self._order = Order(root, ops)
        self._effects = Effects(ops)
        self._memory = AliasClasses(root, ops)
        self._place = {node: at for at, node in enumerate(root.all_nodes())}

    def of(self, outputs: Sequence[OutputAnchor], passed: Iterable[Anchor]) -> list[InputAnchor]:
        """The inputs that use the memory of some outputs, as they are listed.

        What was passed on the way is left out, and so are the boundaries of subgraphs in which
        somebody uses it: what is inside is found itself.
        """
        left_out = frozenset(passed)
        found: dict[InputAnchor, None] = {}
        roots: dict[Anchor, None] = {}
        for output in outputs:
            root = self._memory.root(output) if output in self._memory else output
            if root in roots:
                continue
            roots[root] = None
            members = self._memory.members(output) if output in self._memory else output.readers
            for anchor in members:
                if isinstance(anchor, InputAnchor) and _counts(anchor, left_out):
                    found[anchor] = None
        inside = {anchor.node.graph for anchor in found}
        for anchor in list(found):
            if not inside.isdisjoint(anchor.node.subgraphs.values()):
                del found[anchor]
        return sorted(found, key=lambda anchor: (self._place.get(anchor.node, -1), anchor.index))

    def writes(self, anchor: InputAnchor) -> bool:
        """Whether the memory may have changed after an access."""
        return anchor.node.op != "NetOutput" and self._effects.input_kind(anchor).writes

    def told(self, anchor: InputAnchor, copy: Node | None, readers: Sequence[Node]) -> Access:
        """One access in words.

        Args:
            copy: seen from where; None where time doesn't matter.
            readers: the nodes that read the copy.
        """
        node = anchor.node
        kind = self._effects.input_kind(anchor)
        when = "" if copy is None else self._when(node, copy, readers)
        does, what = self._does(anchor, kind), str(anchor.source)
        return Access(str(anchor), node.op, does, what, self.writes(anchor), when)

    def _does(self, anchor: InputAnchor, kind: InputKind) -> str:
        node = anchor.node
        if node.op == "NetOutput":
            return "returns"
        if node.subgraphs:
            return "passes on" if kind is InputKind.READ_ONLY else _DOES[kind]
        viewed = any(ref_of(output, self._ops) == anchor.index for output in node.outputs)
        return "hands on" if viewed and kind is InputKind.READ_ONLY else _DOES[kind]

    def _when(self, node: Node, copy: Node, readers: Sequence[Node]) -> str:
        """Where a node stands to the copy; what only the listing says is no order by edges."""
        order = self._order
        if node in readers:
            return "and reads the copy too"
        if order.exclusive(node, copy):
            return "in another branch"
        if order.depends(node, copy):
            return "before the copy"
        if readers and all(order.depends(reader, node) for reader in readers):
            return "after all that read the copy"
        words = "after the copy" if order.depends(copy, node) else self._listed(node, copy)
        loose = next((r for r in readers if not self._ordered(r, node)), None)
        if loose is not None and order.depends(copy, node):
            return f"{words}, in no order with {loose.name}"
        return words

    def _listed(self, node: Node, copy: Node) -> str:
        place = "before" if self._place[node] < self._place[copy] else "after"
        return f"in no order with the copy, listed {place} it"

    def _ordered(self, one: Node, other: Node) -> bool:
        return self._order.depends(one, other) or self._order.depends(other, one)


def _counts(anchor: InputAnchor, left_out: frozenset[Anchor]) -> bool:
    node = anchor.node
    if anchor.source is None or anchor in left_out:
        return False
    # A subgraph's result is used by whoever reads its caller.
    return node.op != "NetOutput" or node.graph is None or node.graph.is_root
