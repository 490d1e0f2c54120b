"""What lies behind one remark: where the node's values come from, and who else uses their memory.

Everything is found in the graph as it was read (of a node that a pass put in, in the compiled one),
by traits and trace rules alone. So the story is as complete for the passes and rules of third
parties, and can't repeat a pass's mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ge_core.analysis import SourceTracer
from ge_core.ir import Graph, InputAnchor, Node
from ge_core.passes.remarks import Remark
from ge_core.session.accesses import Access, Accesses
from ge_core.session.trail import Trail, trail_to

if TYPE_CHECKING:
    from ge_core.session.kernel import Kernel

MOST_INPUTS: Final = 4
"""Inputs of one node that are followed; those that its remark blames come first."""
MOST_TOLD: Final = 6
"""Accesses of one memory that are told of a move; those that write come first."""
MOST_OF_MANY: Final = 2
"""The same per operand of a join, whose remark names those that matter."""


@dataclass(frozen=True, slots=True)
class Value:
    """One input of the node: the way to it, and who else uses the memory on that way.

    Attributes:
        others: as listed, the most important ones; `more` are left out.
    """

    input: str
    trail: Trail
    others: tuple[Access, ...]
    more: int

    def to_json(self) -> dict[str, Any]:
        """As in `ge-explain/1`."""
        return {
            "input": self.input,
            "path": [hop.to_json() for hop in self.trail.hops],
            "stopped": self.trail.stopped,
            "special": self.trail.special,
            "others": [access.to_json() for access in self.others],
            "more_others": self.more,
        }


@dataclass(frozen=True, slots=True)
class Journey:
    """The story of one node.

    Attributes:
        inserted: whether a pass put it in.
        gone: whether the compiled graph lacks it.
        moves: whether it only moves what it reads.
        readers: who uses its output, views and calls looked through.
        waiting: nodes that a control edge has wait for it.
        now: by input that read it: the output that feeds that input now.
        edges: control edges between those who use its memory that the compile added.
    """

    node: str
    op: str
    inserted: bool
    gone: bool
    moves: bool
    values: tuple[Value, ...]
    readers: tuple[Access, ...]
    more_readers: int
    waiting: tuple[str, ...]
    now: Mapping[str, str]
    edges: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """The `story` of `ge-explain/1`."""
        return {
            "node": self.node,
            "op": self.op,
            "inserted": self.inserted,
            "gone": self.gone,
            "values": [value.to_json() for value in self.values],
            "readers": [access.to_json() for access in self.readers],
            "more_readers": self.more_readers,
            "waiting": list(self.waiting),
            "now": [{"input": at, "reads": output} for at, output in self.now.items()],
            "edges": [list(edge) for edge in self.edges],
        }


def journey_of(
    name: str, original: Graph, compiled: Graph, remark: Remark | None, kernel: Kernel
) -> Journey | None:
    """The story of a node by name; None of one that neither graph has."""
    node = original.find(name)
    inserted = node is None
    node = compiled.find(name) if node is None else node
    if node is None or node.graph is None:
        return None
    return _Teller(node, node.graph.root, kernel).tell(compiled, remark, inserted)


class _Teller:
    def __init__(self, node: Node, root: Graph, kernel: Kernel) -> None:
        self._node = node
        self._tracer = SourceTracer(root, kernel.ops, kernel.registries.trace_rules)
        self._accesses = Accesses(root, kernel.ops)
        self._ops = kernel.ops
        self._moves = kernel.ops.kind(node) == "move"
        self._readers = list(
            dict.fromkeys(reader.node for out in node.outputs for reader in out.readers)
        )

    def tell(self, compiled: Graph, remark: Remark | None, inserted: bool) -> Journey:
        node = self._node
        blamed = frozenset() if remark is None else frozenset(b.anchor for b in remark.blame)
        connected = [anchor for anchor in node.inputs if anchor.source is not None]
        # A blamed operand, or what feeds it, is what the reader wants to know of.
        connected.sort(key=lambda a: not {str(a), str(a.source)} & blamed)
        values = [self._value(anchor) for anchor in connected[:MOST_INPUTS]]
        readers = self._accesses.of(node.outputs, node.inputs)
        told, more = self._told(readers, None)
        gone = compiled.find(node.name) is None
        beside = [a.node for v in values for a in v[1]] + [a.node for a in readers]
        return Journey(
            node=node.name,
            op=node.op,
            inserted=inserted,
            gone=gone,
            moves=self._moves,
            values=tuple(value for value, _ in values),
            readers=told,
            more_readers=more,
            waiting=tuple(other.name for other in node.control_outputs[:MOST_TOLD]),
            now=self._now(compiled) if gone else {},
            edges=() if inserted else self._edges([*beside, *node.control_outputs], compiled),
        )

    def _value(self, anchor: InputAnchor) -> tuple[Value, list[InputAnchor]]:
        trail = trail_to(anchor, self._tracer, self._ops)
        passed = [*self._node.inputs, *trail.through]
        mine = frozenset(self._accesses.of(self._node.outputs, ()))
        others = [a for a in self._accesses.of(trail.outputs, passed) if a not in mine]
        told, more = self._told(others, self._node, MOST_TOLD if self._moves else MOST_OF_MANY)
        return Value(str(anchor), trail, told, more), others

    def _told(
        self, anchors: list[InputAnchor], copy: Node | None, most: int = MOST_TOLD
    ) -> tuple[tuple[Access, ...], int]:
        """The most important ones in words, as listed, and how many are left out."""
        ranked = sorted(range(len(anchors)), key=lambda at: not self._accesses.writes(anchors[at]))
        chosen = sorted(ranked[:most])
        return (
            tuple(self._accesses.told(anchors[at], copy, self._readers) for at in chosen),
            len(anchors) - len(chosen),
        )

    def _now(self, compiled: Graph) -> dict[str, str]:
        """What the node's direct readers read in the compiled graph."""
        found: dict[str, str] = {}
        for anchor in (reader for out in self._node.outputs for reader in out.readers):
            node = compiled.find(anchor.node.name)
            if node is None or node.op != anchor.node.op or anchor.index >= len(node.inputs):
                continue
            source = node.inputs[anchor.index].source
            if source is not None:
                found[str(anchor)] = str(source)
        return dict(list(found.items())[:MOST_TOLD])

    def _edges(self, beside: list[Node], compiled: Graph) -> tuple[tuple[str, str], ...]:
        """Control edges that the compile added between nodes that use the memory."""
        names = dict.fromkeys(node.name for node in beside)
        before = {node.name: {other.name for other in node.control_inputs} for node in beside}
        found: list[tuple[str, str]] = []
        for name in names:
            node = compiled.find(name)
            for other in () if node is None else node.control_inputs:
                # A node that passes put between many and many has no origin.
                if (other.name in names or not other.origin) and other.name not in before[name]:
                    found.append((other.name, name))
        return tuple(found)
