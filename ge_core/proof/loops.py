"""The shape of a loop: which values it carries, collects, makes per turn, or hands in from outside.

A loop is judged by induction over its turns. At the head each slot holds a symbol of its own; what
the condition and the body leave is told in terms of those symbols; and the end of a turn must bring
back a state of the same form. The value behind a loop is keyed by all of this.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ge_core.ir import Graph, Node
from ge_core.proof.contents import Content
from ge_core.proof.facts import Facts


@dataclass(frozen=True, slots=True)
class Slot:
    """A carried value.

    Attributes:
        input: the node's input with the initial value.
        output: the node's output that is the slot; None where it has none for it.
        data: parent index of the Data nodes that are the slot inside.
        result: parent index of the body's result that is its next value.
    """

    input: int
    output: int | None
    data: int
    result: int


@dataclass(slots=True)
class LoopShape:
    """How a While, Loop or Scan runs.

    Attributes:
        condition: the condition's graph, where it is one of its own.
        made: parent indices of Data nodes that the executor writes at the head of each turn.
        passed: inputs that the body sees as they are, under the same index.
        entry: inputs read once; turn_reads: inputs read in every turn.
        collected: (body result, output) of what is put together from all turns.
        continues: the body result that says whether to go on.
    """

    body: Graph
    condition: Graph | None = None
    slots: list[Slot] = field(default_factory=list)
    made: tuple[int, ...] = ()
    passed: tuple[int, ...] = ()
    entry: tuple[int, ...] = ()
    turn_reads: tuple[int, ...] = ()
    collected: tuple[tuple[int, int], ...] = ()
    continues: int | None = None


def loop_shape(node: Node, facts: Facts) -> LoopShape:
    """The shape of a loop node."""
    graphs = list(node.subgraphs.values())
    captured = int(node.attrs.get("captured", 0))
    count, outs = len(node.inputs), len(node.outputs)

    def slot(at: int, source: int, result: int) -> Slot:
        return Slot(source, at if at < outs else None, source, result)

    if facts.kind == "while":
        return LoopShape(
            node.subgraphs.get("body", graphs[-1]),
            node.subgraphs.get("cond", graphs[0]),
            [slot(at, at, at) for at in range(count)],
        )
    if facts.kind == "loop":
        carried = max(0, count - 2 - captured)
        return LoopShape(
            graphs[0],
            slots=[slot(at, 2 + at, 1 + at) for at in range(carried)],
            made=(0, 1),
            passed=tuple(range(2 + carried, count)),
            entry=(0, 1),
            collected=tuple((1 + at, at) for at in range(carried, outs)),
            continues=0,
        )
    scanned = int(node.attrs.get("onnx.num_scan_inputs", 0))
    states = max(0, count - captured - scanned)
    return LoopShape(
        graphs[0],
        slots=[slot(at, at, at) for at in range(states)],
        made=tuple(range(states, states + scanned)),
        passed=tuple(range(states + scanned, count)),
        turn_reads=tuple(range(states, states + scanned)),
        collected=tuple((at, at) for at in range(states, outs)),
    )


@dataclass(slots=True)
class CarriedMemory:
    """Memory from outside that a loop's graphs update: one more carried value.

    Attributes:
        home: the frame and output whose memory it is.
        symbol: what it holds at the head; after: at the end of a turn; final: behind the loop.
    """

    home: object
    symbol: Content
    after: Content
    final: Content


@dataclass(slots=True)
class LoopRecord:
    """What the reference run found out about a loop instance.

    Attributes:
        heads: per slot the symbol at the head of a turn.
        tested: per slot what it holds when the condition has run.
        nexts: per slot what it holds at the end of a turn.
        finals: per slot what it holds behind the loop; collected likewise, by output.
    """

    heads: list[Content]
    tested: list[Content]
    nexts: list[Content]
    finals: list[Content]
    collected: dict[int, Content]
    made: dict[int, Content]
    carried: list[CarriedMemory]
