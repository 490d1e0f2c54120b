"""Random programs that update variables, told twice: in place, and as functionalisation leaves it.

Both tell the same: every read sees the value that the program has at that point, and variables end
with the program's last value. The first form copies nothing, so whatever the second one copies is
there only because of how it is told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from ge_core.ir import Graph, GraphBuilder, Node, OutputAnchor, TensorDesc

SHAPE: Final = (4, 16)
SIZE: Final = 256
"""Bytes of a variable."""
DESC: Final = TensorDesc.make("float32", SHAPE)

STYLES: Final = ("late", "each", "new")
"""Copy at the first update and store at the end; copy and store at each; new tensors."""


@dataclass(frozen=True)
class Statement:
    """One step of a program.

    Attributes:
        kind: "read" a variable, "mix" two values, "update" a variable with a value, or do that in
            a "call" or in an "arm" of an If and read the result.
        variable: number of the variable; values: numbers of earlier values.
    """

    kind: str
    variable: int = 0
    values: tuple[int, ...] = ()


@dataclass(frozen=True)
class Program:
    """Variables, statements, and which values are results; value 0 is the graph's input."""

    variables: int
    statements: tuple[Statement, ...]
    results: tuple[int, ...]


def random_program(seed: int) -> Program:
    """A program of 3 to 14 statements over 1 to 3 variables."""
    draw = Random(seed)
    variables = draw.randint(1, 3)
    values = 1
    found: list[Statement] = []
    for _ in range(draw.randint(3, 14)):
        kind = draw.choice(("read", "read", "mix", "update", "update", "update", "call", "arm"))
        used = tuple(draw.randrange(values) for _ in range(2))
        found.append(Statement(kind, draw.randrange(variables), used))
        values += kind != "update"
    results = tuple(sorted({draw.randrange(values) for _ in range(3)} | {values - 1}))
    return Program(variables, tuple(found), results)


# ---- telling it ---------------------------------------------------------------------------------


class Teller:
    """Tells a program as a graph, in place."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.b = GraphBuilder("program")
        self.values = [self.b.data("x", SHAPE)]
        self.flag = self.b.data("flag", (), "bool")
        self.variables = [
            self.b.op("Variable", name=f"v{at}", outputs=[DESC]) for at in range(program.variables)
        ]
        self.now = list(self.variables)
        """By variable, what holds its value."""
        self.count = 0

    def tell(self) -> Graph:
        """The graph."""
        for number, statement in enumerate(self.program.statements):
            self.count = number
            getattr(self, f"_{statement.kind}")(statement)
        self._end()
        # Copies of results: that a result is a variable's memory is another question.
        self.b.net_output(
            *(self.b.op("Neg", self.values[at], name=f"r{at}") for at in self.program.results)
        )
        return self.b.graph

    def _name(self, stem: str) -> str:
        return f"{stem}{self.count}"

    def _read(self, s: Statement) -> None:
        self.values.append(self.b.op("Exp", self.now[s.variable], name=self._name("read")))

    def _mix(self, s: Statement) -> None:
        feeds = [self.values[at] for at in s.values]
        self.values.append(self.b.op("Add", *feeds, name=self._name("mix")))

    def _update(self, s: Statement) -> None:
        value = self.values[s.values[0]]
        self.now[s.variable] = in_place(self.b, self.now[s.variable], value, self._name("update"))

    def _call(self, s: Statement) -> None:
        inner = self.b.subgraph(self._name("f"))
        name = self._name("call")
        cache, value = (inner.data(f"{name}_d{at}", SHAPE) for at in range(2))
        inner.net_output(self._inside(inner, cache, value, name))
        feeds = self._handed(s), self.values[s.values[0]]
        made = self.b.op("PartitionedCall", *feeds, name=name, subgraphs={"f": inner})
        self.values.append(made)
        self._called(s, made.node)

    def _arm(self, s: Statement) -> None:
        name = self._name("if")
        yes, no = self.b.subgraph(f"{name}_yes"), self.b.subgraph(f"{name}_no")
        cache, value = (yes.data(f"{name}_y{at}", SHAPE, index=at) for at in (1, 2))
        yes.net_output(self._inside(yes, cache, value, f"{name}_yes"))
        other = no.data(f"{name}_n1", SHAPE, index=1)
        no.data(f"{name}_n2", SHAPE, index=2)
        no.net_output(no.op("Tanh", other, name=f"{name}_else"))
        feeds = self.flag, self._handed(s), self.values[s.values[0]]
        arms = {"then_branch": yes, "else_branch": no}
        made = self.b.op("If", *feeds, name=name, outputs=[DESC], subgraphs=arms)
        self.values.append(made)
        self._called(s, made.node)

    # ---- what the forms differ in ----------------------------------------------------------

    def _inside(
        self, b: GraphBuilder, cache: OutputAnchor, value: OutputAnchor, name: str
    ) -> OutputAnchor:
        """Update a cache inside a graph, and read it."""
        return b.op("Exp", in_place(b, cache, value, f"{name}_update"), name=f"{name}_read")

    def _handed(self, s: Statement) -> OutputAnchor:
        """The memory that a call is given, which holds the variable's value."""
        return self.now[s.variable]

    def _called(self, s: Statement, caller: Node) -> None:
        """A call has updated what it was given."""

    def _end(self) -> None:
        """All statements have been told."""


class Functional(Teller):
    """Tells a program as functionalisation leaves it."""

    def __init__(self, program: Program, draw: Random) -> None:
        super().__init__(program)
        self.draw = draw
        self.styles = [draw.choice(STYLES) for _ in self.variables]
        self.dirty = [False for _ in self.variables]
        """By variable, whether its value has not been stored yet."""

    def _update(self, s: Statement) -> None:
        value, style = self.values[s.values[0]], self.styles[s.variable]
        target, name = self.now[s.variable], self._name("update")
        if style == "new":
            self.now[s.variable] = new_tensor(self.b, target, value, name)
        else:
            if style == "each" or not self.dirty[s.variable]:
                target = self.b.op("TensorMove", target, name=self._name("copy"))
            self.now[s.variable] = in_place(self.b, target, value, name)
        self.dirty[s.variable] = True
        if style == "each" or (style == "new" and self.draw.random() < 0.5):
            self._store(s.variable)

    def _store(self, variable: int) -> None:
        name = f"store{self.count}_{variable}"
        back = store(self.b, self.variables[variable], self.now[variable], name)
        self.dirty[variable] = False
        # The value is known by three names now.
        self.now[variable] = self.draw.choice((back, self.now[variable], self.variables[variable]))

    def _inside(
        self, b: GraphBuilder, cache: OutputAnchor, value: OutputAnchor, name: str
    ) -> OutputAnchor:
        if self.draw.random() < 0.5:
            made = new_tensor(b, cache, value, f"{name}_update")
        else:
            copy = b.op("TensorMove", cache, name=f"{name}_copy")
            made = in_place(b, copy, value, f"{name}_update")
        store(b, cache, made, f"{name}_store")
        return b.op("Exp", made, name=f"{name}_read")

    def _handed(self, s: Statement) -> OutputAnchor:
        # The call updates the variable itself, so that it has to hold the value.
        if self.dirty[s.variable]:
            self._store(s.variable)
        self.now[s.variable] = self.variables[s.variable]
        return self.variables[s.variable]

    def _end(self) -> None:
        self.count += 1
        for variable, dirty in enumerate(self.dirty):
            if dirty:
                self._store(variable)


def in_place(b: GraphBuilder, target: OutputAnchor, value: OutputAnchor, name: str) -> OutputAnchor:
    """An update in place."""
    attrs = {"reference": True}
    return b.op("ScatterUpdate", target, value, name=name, attrs=attrs, reuse_input=0)


def new_tensor(
    b: GraphBuilder, target: OutputAnchor, value: OutputAnchor, name: str
) -> OutputAnchor:
    """The same update as a new tensor, which may take the target's place."""
    attrs: dict[str, Any] = {"_output_inplace_ability": [[0, 0]]}
    return b.op("ScatterUpdate", target, value, name=name, attrs=attrs)


def store(b: GraphBuilder, target: OutputAnchor, value: OutputAnchor, name: str) -> OutputAnchor:
    """A write-back."""
    return b.op("Assign", target, value, name=name, reuse_input=0)


# ---- another listing ----------------------------------------------------------------------------


@dataclass
class _Memory:
    """Who reads and who writes a memory, in the listed order."""

    uses: list[tuple[Node, bool]] = field(default_factory=list)


def shuffled(graph: Graph, draw: Random) -> None:
    """List the root's nodes in another order that means the same."""
    after: dict[Node, set[Node]] = {node: set() for node in graph.nodes}
    for node in graph.nodes:
        after[node].update(node.in_nodes, node.control_inputs)
    for memory in _memories(graph):
        for at, (node, writes) in enumerate(memory.uses):
            for other, also in memory.uses[:at]:
                if (writes or also) and other is not node:
                    after[node].add(other)
    order: list[Node] = []
    listed: set[Node] = set()
    waiting = list(graph.nodes)
    while waiting:
        ready = [node for node in waiting if after[node] <= listed]
        node = draw.choice(ready)
        waiting.remove(node)
        listed.add(node)
        order.append(node)
    graph.reorder(order)


def _memories(graph: Graph) -> list[_Memory]:
    """The memories of the root's tensors; what a call does with its arguments counts as writing."""
    found: dict[OutputAnchor, _Memory] = {}
    for node in graph.nodes:
        for anchor in node.inputs:
            source = anchor.source
            if source is not None and source in found:
                writes = bool(node.subgraphs) or (
                    anchor.index == 0 and node.outputs[0].desc.reuse_input == 0
                    if node.outputs
                    else False
                )
                found[source].uses.append((node, writes))
        for output in node.outputs:
            at = output.desc.reuse_input
            feed = None if at is None else node.inputs[at].source
            found[output] = found[feed] if feed is not None else _Memory([(node, True)])
    return list({id(memory): memory for memory in found.values()}.values())


def told(seed: int, *, shuffle: bool) -> tuple[Graph, Graph]:
    """A program in place, and the same functionalised."""
    program, draw = random_program(seed), Random(seed + 1)
    functional = Functional(program, draw).tell()
    if shuffle:
        shuffled(functional, draw)
    return Teller(program).tell(), functional
