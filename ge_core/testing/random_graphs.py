"""Random graphs from GE for tests: every memory effect there is, and always a meaning.

A graph is run in its listed order. With several streams every two accesses to one memory, one of
them a write, are ordered by an edge, so that the original has no race of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ge_core.ir import Graph, GraphBuilder, Node, OutputAnchor, TensorDesc
from ge_core.testing.choices import Choices, SeededChoices, optionally, recent

Describe = Callable[[Choices, TensorDesc], TensorDesc]
"""What a node's output looks like, from its first input's description."""


@dataclass(frozen=True)
class OpRecipe:
    """How a random graph makes a node of one op type; inputs are alike, outputs like the first.

    Attributes:
        inputs, outputs: how many of each.
        attrs: of the node; a tuple offers a choice for each attribute.
        describe: what the outputs look like, where they aren't like the input.
        views: whether output 0 is the memory of input 0, as the op's traits say.
    """

    op: str
    inputs: int = 1
    outputs: int = 1
    attrs: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    describe: Describe | None = None
    views: bool = False

    @classmethod
    def of(cls, op: OpRecipe | str) -> OpRecipe:
        """A recipe, or the usual one for an op type; a Cast draws the dtype it casts to."""
        if not isinstance(op, str):
            return op
        return cls(op, describe=_cast) if op == "Cast" else cls(op)


def _cast(pick: Choices, desc: TensorDesc) -> TensorDesc:
    return desc.replace(dtype=pick.pick((desc.dtype, "float32", "float16")))


@dataclass(frozen=True)
class GraphKnobs:
    """What a random graph may contain.

    Attributes:
        nodes: about how many nodes, subgraphs included.
        streams: 1 or more.
        writers: in-place stores into variables and activations, scribbling collectives.
        control_flow: calls, If, Case and While.
        joins: Concat, Pack and Split.
        guarded: a node that destroys its input gets a copy first, as GE's passes leave it.
        moves: how often (percent) a node is a copy.
        dtypes: element types in play.
        ops: further op types or recipes in play; about every third node is of one of them. Where
            there are writers, some of their nodes stand between a value that is read later and a
            store in place: whoever makes their input and output one memory changes what is read.
        decorate: changes the description of about every third output, as attributes of third
            parties do: `lambda pick, desc: desc.with_attr("acme.bank", pick.integer(0, 1))`.
    """

    nodes: int = 12
    streams: int = 1
    writers: bool = True
    control_flow: bool = True
    joins: bool = True
    guarded: bool = True
    moves: int = 25
    dtypes: Sequence[str] = ("float32", "float16", "int8")
    ops: Sequence[OpRecipe | str] = ()
    decorate: Describe | None = None


@dataclass
class _Memory:
    """One memory of the original: who accessed it, in listed order."""

    accesses: list[tuple[Node, bool]] = field(default_factory=list)
    constant: bool = False


def random_graph(choices: Choices | int, knobs: GraphKnobs | None = None) -> Graph:
    """A valid random graph; a number is a seed."""
    if isinstance(choices, int):
        choices = SeededChoices(choices)
    return _Generator(choices, knobs or GraphKnobs()).root()


class _Generator:
    def __init__(self, choices: Choices, knobs: GraphKnobs) -> None:
        self.pick = choices
        self.knobs = knobs
        self.recipes = [OpRecipe.of(op) for op in knobs.ops]
        self.count = 0
        self.memory: dict[OutputAnchor, _Memory] = {}
        self.read_late: list[OutputAnchor] = []

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    # ---- graphs --------------------------------------------------------------------------------

    def root(self) -> Graph:
        build = GraphBuilder("root")
        pool: list[OutputAnchor] = []
        for at in range(self.pick.integer(1, 3)):
            pool.append(self._fresh(build.data(f"in{at}", *self._type())))
        if self.knobs.writers:
            for at in range(self.pick.integer(0, 2)):
                shape, dtype = self._type()
                node = build.node("Variable", name=f"var{at}", shape=shape, dtype=dtype)
                pool.append(self._fresh(node.outputs[0]))
        for at in range(self.pick.integer(0, 1)):
            desc = TensorDesc.make("float32", (2, 8))
            anchor = self._fresh(build.const(f"const{at}", bytes(range(64)), desc.shape or ()))
            self.memory[anchor].constant = True
            pool.append(anchor)
        self._body(build, pool, self.knobs.nodes, depth=0)
        results = [recent(self.pick, pool) for _ in range(self.pick.integer(1, 3))]
        results += self.read_late
        out = build.net_output(*results)
        for result in results:
            self._access(out, result, write=False)
        return build.graph

    def _body(self, build: GraphBuilder, pool: list[OutputAnchor], count: int, depth: int) -> None:
        for _ in range(count):
            optionally(self.pick, lambda: self._step(build, pool, depth))

    def _step(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        if self.recipes and self.pick.chance(34):
            recipe = self.pick.pick(self.recipes)
            if depth == 0 and self._is_apart(recipe) and self.pick.chance(34):
                self._between(build, pool, recipe)
            else:
                self._recipe(build, pool, recipe)
            return
        if self.pick.chance(self.knobs.moves):
            self._plain(build, pool, self.pick.pick(("TensorMove", "TensorMove", "Identity")), 1)
            return
        kinds = ["Relu", "Add", "view", "two", "Foo"]
        if self.knobs.writers:
            kinds += ["store", "scribble"]
        if self.knobs.joins:
            kinds += ["join", "pack", "split"]
        if self.knobs.control_flow and depth < 2:
            kinds += ["call", "branch", "while"]
        kind = self.pick.pick(kinds)
        if kind in ("Relu", "Foo"):
            self._plain(build, pool, kind, 1)
        elif kind == "Add":
            self._plain(build, pool, kind, 2)
        elif kind == "two":
            source = recent(self.pick, pool)
            node = self._node(build, "TopK", [source], [source.desc, source.desc])
            pool.extend(self._fresh(output) for output in node.outputs)
        else:
            getattr(self, f"_{kind}")(build, pool, depth)

    # ---- ordinary nodes ------------------------------------------------------------------------

    def _plain(self, build: GraphBuilder, pool: list[OutputAnchor], op: str, inputs: int) -> None:
        sources = [recent(self.pick, pool)]
        if inputs == 2:
            sources.append(recent(self.pick, [p for p in pool if _same(p, sources[0])]))
        node = self._node(build, op, sources, [sources[0].desc])
        pool.append(self._fresh(node.outputs[0]))

    def _recipe(
        self,
        build: GraphBuilder,
        pool: list[OutputAnchor],
        recipe: OpRecipe,
        first: OutputAnchor | None = None,
    ) -> Node:
        if recipe.inputs:
            first = first or recent(self.pick, pool)
            alike = [p for p in pool if _same(p, first)]
            sources = [first] + [recent(self.pick, alike) for _ in range(recipe.inputs - 1)]
            desc = _bare(first.desc)
        else:
            sources = []
            shape, dtype = self._type()
            desc = TensorDesc.make(dtype, shape)
        if recipe.describe is not None:
            desc = recipe.describe(self.pick, desc)
        attrs = {name: self.pick.pick(values) for name, values in recipe.attrs.items()}
        kind = "view" if recipe.views else ""
        node = self._node(
            build, recipe.op, sources, [desc] * recipe.outputs, attrs=attrs, kind=kind
        )
        for output in node.outputs:
            if recipe.views and output.index == 0:
                self.memory[output] = self.memory[sources[0]]
            else:
                self._fresh(output)
            pool.append(output)
        return node

    def _is_apart(self, recipe: OpRecipe) -> bool:
        """Whether its output is memory of its own, which a store can't take for its input's."""
        return self.knobs.writers and bool(recipe.inputs and recipe.outputs) and not recipe.views

    def _between(self, build: GraphBuilder, pool: list[OutputAnchor], recipe: OpRecipe) -> None:
        """A value, one or two nodes of the recipe, and a store on one side; read on the other."""
        source = recent(self.pick, pool)
        behind = self.memory[source].constant or source.node.op == "Data" or self.pick.chance(67)
        made = self._recipe(build, pool, recipe, source).outputs[0]
        if self.pick.chance(50):
            made = self._recipe(build, pool, recipe, made).outputs[0]
        written, read = (made, source) if behind else (source, made)
        if self.pick.chance(50):
            written = self._flat(build, pool, written)
        value = self._node(build, "Foo", [written], [written.desc]).outputs[0]
        pool.append(self._fresh(value))
        self._store_into(build, pool, written, value)
        late = self._node(build, "Foo", [read], [read.desc])
        # After the store, as in the listed order, whatever is one memory then.
        build.graph.add_control(pool[-1].node, late)
        pool.append(self._fresh(late.outputs[0]))
        self.read_late.append(late.outputs[0])

    def _view(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        self._flat(build, pool, recent(self.pick, pool))

    def _flat(
        self, build: GraphBuilder, pool: list[OutputAnchor], source: OutputAnchor
    ) -> OutputAnchor:
        desc = source.desc
        assert desc.elements is not None
        flat = desc.replace(shape=(desc.elements,), attrs={}, reuse_input=0)
        node = self._node(build, "Reshape", [source], [flat], kind="view")
        self.memory[node.outputs[0]] = self.memory[source]
        pool.append(node.outputs[0])
        return node.outputs[0]

    def _store(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        targets = [p for p in pool if not self.memory[p].constant and p.node.op != "Data"]
        if not targets:
            return
        target = recent(self.pick, targets)
        value = recent(self.pick, [p for p in pool if _same(p, target)])
        self._store_into(build, pool, target, value)

    def _store_into(
        self,
        build: GraphBuilder,
        pool: list[OutputAnchor],
        target: OutputAnchor,
        value: OutputAnchor,
    ) -> None:
        op = self.pick.pick(("Assign", "ScatterUpdate"))
        attrs = {"reference": True} if op == "ScatterUpdate" else {}
        desc = target.desc.replace(attrs={}, reuse_input=0)
        node = self._node(
            build, op, [target, value], [desc], attrs=attrs, writes=(0,), kind="store"
        )
        self.memory[node.outputs[0]] = self.memory[target]
        pool.append(node.outputs[0])

    def _scribble(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        source = self._guarded(build, pool)
        node = self._node(
            build,
            "HcomAllReduce",
            [source],
            [source.desc],
            attrs={"_input_mutable": True},
            writes=(0,),
        )
        pool.append(self._fresh(node.outputs[0]))

    def _guarded(self, build: GraphBuilder, pool: list[OutputAnchor]) -> OutputAnchor:
        """What a node may destroy: a copy of its own, of which the original has need."""
        source = recent(self.pick, pool)
        if not self.knobs.guarded:
            return source
        node = self._node(build, "TensorMove", [source], [source.desc])
        return self._fresh(node.outputs[0])

    # ---- joins and splits ----------------------------------------------------------------------

    def _join(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        first = recent(self.pick, [p for p in pool if p.desc.shape])
        alike = [p for p in pool if _same(p, first)]
        parts = [first] + [recent(self.pick, alike) for _ in range(self.pick.integer(1, 2))]
        shape = first.desc.shape
        assert shape is not None
        axis = self.pick.integer(0, len(shape) - 1)
        joined = (*shape[:axis], sum((p.desc.shape or ())[axis] for p in parts), *shape[axis + 1 :])
        desc = TensorDesc.make(first.desc.dtype, joined)
        node = self._node(build, "ConcatD", parts, [desc], attrs={"concat_dim": axis})
        pool.append(self._fresh(node.outputs[0]))

    def _pack(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        first = recent(self.pick, pool)
        alike = [p for p in pool if _same(p, first)]
        parts = [first] + [recent(self.pick, alike) for _ in range(self.pick.integer(1, 2))]
        desc = TensorDesc.make(first.desc.dtype, (len(parts), *(first.desc.shape or ())))
        node = self._node(build, "Pack", parts, [desc], attrs={"axis": 0, "N": len(parts)})
        pool.append(self._fresh(node.outputs[0]))

    def _split(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        able = [p for p in pool if any(dim % 2 == 0 and dim > 0 for dim in p.desc.shape or ())]
        if not able:
            return
        source = recent(self.pick, able)
        shape = source.desc.shape or ()
        axis = self.pick.pick([at for at, dim in enumerate(shape) if dim % 2 == 0 and dim > 0])
        piece = (*shape[:axis], shape[axis] // 2, *shape[axis + 1 :])
        desc = TensorDesc.make(source.desc.dtype, piece)
        attrs = {"split_dim": axis, "num_split": 2}
        node = self._node(build, "SplitD", [source], [desc, desc], attrs=attrs)
        pool.extend(self._fresh(output) for output in node.outputs)

    # ---- control flow --------------------------------------------------------------------------

    def _arm(
        self,
        build: GraphBuilder,
        sources: list[OutputAnchor],
        first: int,
        want: TensorDesc,
        depth: int,
    ) -> GraphBuilder:
        """A subgraph over the parent inputs from `first`, with one result like `want`."""
        sub = build.subgraph(self.name("g"))
        inner = [
            self._fresh(sub.data(self.name("d"), index=first + at, desc=_bare(source.desc)))
            for at, source in enumerate(sources)
        ]
        # What comes in is the caller's: its memory is handed on, and only read inside.
        for anchor in inner:
            self.memory[anchor].constant = True
        pool = list(inner)
        self._body(sub, pool, self.pick.integer(1, 3), depth + 1)
        fitting = [p for p in pool if p.desc.shape == want.shape and p.desc.dtype == want.dtype]
        sub.net_output(recent(self.pick, fitting))
        return sub

    def _call(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        source = recent(self.pick, pool)
        sub = self._arm(build, [source], 0, source.desc, depth)
        self._calling(build, pool, "PartitionedCall", [source], {"f": sub}, source.desc)
        # What a call hands straight through is the caller's memory still, constant or not.
        passed, out = sub.graph.data_nodes[0].outputs[0], sub.graph.net_output
        result = None if out is None else out.inputs[0].source
        if result is not None and self.memory[result] is self.memory[passed]:
            self.memory[pool[-1]] = self.memory[source]

    def _branch(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        source, switch = recent(self.pick, pool), recent(self.pick, pool)
        op = self.pick.pick(("If", "Case"))
        count = 2 if op == "If" else self.pick.integer(2, 3)
        labels = ("then_branch", "else_branch") if op == "If" else ("b0", "b1", "b2")
        subs = {
            label: self._arm(build, [source], 1, source.desc, depth) for label in labels[:count]
        }
        self._calling(build, pool, op, [switch, source], subs, source.desc)

    def _while(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        source = self._guarded(build, pool)
        cond = build.subgraph(self.name("c"))
        seen = cond.data(self.name("d"), index=0, desc=_bare(source.desc))
        cond.net_output(
            cond.op("Less", seen, name=self.name("less"), outputs=[TensorDesc.make("bool", ())])
        )
        body = self._arm(build, [source], 0, source.desc, depth)
        subs = {"cond": cond, "body": body}
        self._calling(build, pool, "While", [source], subs, source.desc, writes=(0,))

    def _calling(
        self,
        build: GraphBuilder,
        pool: list[OutputAnchor],
        op: str,
        sources: list[OutputAnchor],
        subs: dict[str, GraphBuilder],
        desc: TensorDesc,
        writes: tuple[int, ...] = (),
    ) -> None:
        node = self._node(build, op, sources, [desc], subgraphs=subs, writes=writes)
        pool.append(self._fresh(node.outputs[0]))

    # ---- memory --------------------------------------------------------------------------------

    def _node(
        self,
        build: GraphBuilder,
        op: str,
        sources: list[OutputAnchor],
        outputs: list[TensorDesc],
        *,
        attrs: Mapping[str, object] | None = None,
        subgraphs: dict[str, GraphBuilder] | None = None,
        writes: tuple[int, ...] = (),
        kind: str = "",
    ) -> Node:
        facts = dict(attrs or {})
        if self.knobs.streams > 1:
            facts["stream_id"] = self.pick.integer(0, self.knobs.streams - 1)
        if kind == "" and self.knobs.decorate is not None and self.pick.chance(34):
            decorate = self.knobs.decorate
            outputs = [decorate(self.pick, _bare(desc)) for desc in outputs]
        elif kind not in ("view", "store"):
            # Described like a source, which may be a view: that alone makes this node none.
            outputs = [_bare(desc) for desc in outputs]
        node = build.node(
            op,
            *sources,
            name=self.name(op.lower()),
            outputs=outputs,
            attrs=facts,
            subgraphs=subgraphs,
        )
        if kind != "view":
            for at, source in enumerate(sources):
                self._access(node, source, write=at in writes)
        return node

    def _access(self, node: Node, source: OutputAnchor, *, write: bool) -> None:
        """Order this access after those it must not overtake, by an edge where streams need one."""
        memory = self.memory[source]
        graph = node.graph
        assert graph is not None
        if self.knobs.streams > 1 or self.pick.chance(30):
            for earlier, wrote in memory.accesses:
                if (wrote or write) and earlier is not node and earlier.graph is graph:
                    graph.add_control(earlier, node)
        memory.accesses.append((node, write))

    def _fresh(self, anchor: OutputAnchor) -> OutputAnchor:
        memory = _Memory()
        # The producer writes it: a later access in another stream follows by the data edge, but one
        # through the memory's other names needs the producer among the accesses.
        memory.accesses.append((anchor.node, True))
        self.memory[anchor] = memory
        return anchor

    def _type(self) -> tuple[tuple[int, ...], str]:
        shape = self.pick.pick(((2, 8), (1, 16), (4, 4), (8,), (1, 32)))
        return shape, self.pick.pick(tuple(self.knobs.dtypes))


def _same(a: OutputAnchor, b: OutputAnchor) -> bool:
    return a.desc.shape == b.desc.shape and a.desc.dtype == b.desc.dtype


def _bare(desc: TensorDesc) -> TensorDesc:
    return desc.replace(attrs={}, reuse_input=None)
