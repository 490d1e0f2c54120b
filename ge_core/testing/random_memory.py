"""Which outputs of a random graph are one memory, who accessed it, and the edges that order it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ge_core.ir import GraphBuilder, Node, OutputAnchor, TensorDesc
from ge_core.testing.choices import Choices
from ge_core.testing.random_knobs import GraphKnobs


@dataclass(eq=False)
class Memory:
    """One memory of the original.

    Attributes:
        accesses: who accessed it and whether that wrote, in listed order.
        constant: whether nobody may write it.
        variable: the name of the variable that it is.
        shared: whether it is the same wherever it is accessed, in whatever subgraph.
    """

    accesses: list[tuple[Node, bool]] = field(default_factory=list)
    constant: bool = False
    variable: str = ""
    shared: bool = False


class Memories:
    """Makes nodes, and keeps what is known of the memory of their outputs.

    Attributes:
        touched: per graph that is being built, the innermost last: memories accessed in it, and
            whether one of the accesses wrote.
        world: what ops with effects change.
    """

    def __init__(self, choices: Choices, knobs: GraphKnobs) -> None:
        self.pick = choices
        self.knobs = knobs
        self.count = 0
        self.memory: dict[OutputAnchor, Memory] = {}
        self.touched: list[dict[Memory, bool]] = [{}]
        self.world = Memory(shared=True)

    def name(self, stem: str) -> str:
        """A name that no node has."""
        self.count += 1
        return f"{stem}{self.count}"

    def node(
        self,
        build: GraphBuilder,
        op: str,
        sources: Sequence[OutputAnchor],
        outputs: Sequence[TensorDesc],
        *,
        attrs: Mapping[str, object] | None = None,
        subgraphs: Mapping[str, GraphBuilder] | None = None,
        writes: Sequence[int] = (),
        ports: tuple[Sequence[str], Sequence[str]] = ((), ()),
        kind: str = "",
    ) -> Node:
        """Add a node that accesses its inputs.

        Args:
            writes: the inputs whose memory it writes.
            ports: names of inputs and outputs.
            kind: "view" for one that accesses nothing; "view" and "store" keep descriptions.
        """
        facts = dict(attrs or {})
        if self.knobs.streams > 1:
            facts["stream_id"] = self.pick.integer(0, self.knobs.streams - 1)
        if kind == "" and self.knobs.decorate is not None and self.pick.chance(34):
            decorate = self.knobs.decorate
            outputs = [decorate(self.pick, bare(desc)) for desc in outputs]
        elif kind not in ("view", "store"):
            # Described like a source, which may be a view: that alone makes this node none.
            outputs = [bare(desc) for desc in outputs]
        node = build.graph.add_node(
            op,
            self.name(op.lower()),
            sources,
            outputs,
            attrs=facts,
            subgraphs={label: sub.graph for label, sub in (subgraphs or {}).items()},
            input_names=ports[0],
            output_names=ports[1],
        )
        if kind != "view":
            for at, source in enumerate(sources):
                self.access(node, source, write=at in writes)
        return node

    def access(self, node: Node, source: OutputAnchor, *, write: bool) -> None:
        """Order this access after those it must not overtake, by an edge where streams need one."""
        self.use(node, self.memory[source], write=write)

    def use(self, node: Node, memory: Memory, *, write: bool) -> None:
        """As `access`, of a memory."""
        graph = node.graph
        assert graph is not None
        if self.knobs.streams > 1 or self.pick.chance(30):
            for earlier, wrote in memory.accesses:
                if (wrote or write) and earlier is not node and earlier.graph is graph:
                    graph.add_control(earlier, node)
        memory.accesses.append((node, write))
        self.touch(memory, write=write)

    def affect(self, node: Node) -> None:
        """Order an op with effects behind the others, where streams don't."""
        if self.knobs.streams > 1:
            self.use(node, self.world, write=True)

    def touch(self, memory: Memory, *, write: bool) -> None:
        """Note that the graph that is being built accesses a memory."""
        inside = self.touched[-1]
        inside[memory] = inside.get(memory, False) or write

    def fresh(self, anchor: OutputAnchor) -> OutputAnchor:
        """Give an output memory of its own."""
        memory = Memory()
        # The producer writes it: a later access in another stream follows by the data edge, but one
        # through the memory's other names needs the producer among the accesses.
        memory.accesses.append((anchor.node, True))
        self.memory[anchor] = memory
        return anchor


def same(a: OutputAnchor, b: OutputAnchor) -> bool:
    """Whether two outputs are described alike, as far as an op could tell."""
    return a.desc.shape == b.desc.shape and a.desc.dtype == b.desc.dtype


def bare(desc: TensorDesc) -> TensorDesc:
    """A description without attributes, of memory of its own."""
    return desc.replace(attrs={}, reuse_input=None)
