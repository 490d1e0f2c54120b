"""Random graphs with rare things in them: what is asked for by `GraphKnobs.rare`."""

from __future__ import annotations

from ge_core.ir import Graph, GraphBuilder, Node, OutputAnchor, TensorDesc
from ge_core.testing.choices import recent
from ge_core.testing.random_bodies import DEEPEST, RareCalls
from ge_core.testing.random_stores import Pool

_SHAPES = ((2, 8), (1, 16), (4, 4), (8,), (1, 32))
_ODD_SHAPES = ((), (0, 8), (3, 3), (1,), (5, 7), (2, 3, 4))
_OPEN_SHAPE = (-1, 8)


class RareSteps(RareCalls):
    """Builds a graph step by step, of ordinary and rare steps."""

    def root(self) -> Graph:
        """The whole graph."""
        build = GraphBuilder("root")
        pool: Pool = []
        for at in range(self.pick.integer(1, 3)):
            pool.append(self._input(build, at))
        if self.knobs.writers:
            for _ in range(self.pick.integer(0, 2)):
                pool.append(self._variable(build))
        for _ in range(self.pick.integer(0, 2 if self.is_rare("sources") else 1)):
            pool.append(self._constant(build))
        given = list(pool)
        self.body(build, pool, self.knobs.nodes, depth=0)
        results = [self._delivered(given, pool) for _ in range(self.pick.integer(1, 3))]
        results += self.read_late
        out = build.net_output(*results)
        for result in results:
            self.access(out, result, write=False)
        return build.graph

    def _delivered(self, given: Pool, pool: Pool) -> OutputAnchor:
        """A result; an input as it is only where that is asked for."""
        if self.is_rare("results"):
            return self.pick.pick(given) if self.pick.chance(15) else recent(self.pick, pool)
        return recent(self.pick, pool[len(given) :] or pool)

    # ---- sources -------------------------------------------------------------------------------

    def _input(self, build: GraphBuilder, at: int) -> OutputAnchor:
        shape, dtype = self._type()
        if self.is_rare("shapes") and self.pick.chance(20):
            shape = _OPEN_SHAPE
        if not self.is_rare("sources") or not self.knobs.writers or self.pick.chance(75):
            return self.fresh(build.data(f"in{at}", shape, dtype))
        # Held like a variable, and given like an input.
        desc = TensorDesc.make(dtype, tuple(abs(dim) for dim in shape))
        node = build.graph.add_node("RefData", f"in{at}", outputs=[desc], attrs={"index": at})
        return self._lasting(node)

    def _variable(self, build: GraphBuilder) -> OutputAnchor:
        shape, dtype = self._type()
        op = self.pick.pick(("Variable", "VariableV2")) if self.is_rare("sources") else "Variable"
        node = build.node(op, name=self.name("var"), shape=shape, dtype=dtype)
        return self._lasting(node)

    def _lasting(self, node: Node) -> OutputAnchor:
        memory = self.memory[self.fresh(node.outputs[0])]
        memory.variable, memory.shared = node.name, True
        return node.outputs[0]

    def _constant(self, build: GraphBuilder) -> OutputAnchor:
        shape, dtype = self._type() if self.is_rare("sources") else ((2, 8), "float32")
        desc = TensorDesc.make(dtype, shape)
        assert desc.nbytes is not None
        name = self.name("const")
        if self.is_rare("sources") and self.pick.chance(30):
            anchor = build.node("FileConstant", name=name, outputs=[desc]).outputs[0]
        else:
            anchor = build.const(name, bytes(at % 64 for at in range(desc.nbytes)), shape, dtype)
        self.fresh(anchor)
        self.memory[anchor].constant = True
        return anchor

    # ---- steps ---------------------------------------------------------------------------------

    def _step(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        kinds = self._rare_kinds(depth)
        if not kinds or self.pick.chance(60):
            super()._step(build, pool, depth)
        else:
            getattr(self, f"_{self.pick.pick(kinds)}")(build, pool, depth)

    def _rare_kinds(self, depth: int) -> list[str]:
        knobs = self.knobs
        kinds: list[str] = []
        if self.is_rare("order"):
            kinds.append("order")
        if self.is_rare("copies"):
            kinds += ["copies", "beside"] if knobs.writers else ["copies"]
        if knobs.writers and self.is_rare("stores"):
            kinds.append("momentum")
        if knobs.writers and self.is_rare("copies"):
            kinds.append("written_back")
        if knobs.writers and self.is_rare("collectives"):
            kinds.append("collective")
        if knobs.control_flow and self.is_rare("calls") and 0 < depth < DEEPEST:
            kinds.append("call")
        if depth and self.is_rare("sources"):
            kinds.append("local")
        return kinds

    def _local(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        """A variable or constant of a subgraph's own; the same in all its runs."""
        pool.append(self._variable(build) if self.knobs.writers else self._constant(build))

    def _order(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        """An edge between two nodes, for no reason."""
        nodes = [node for node in build.graph.nodes if node.op != "Data"]
        if len(nodes) < 2:
            return
        first = self.pick.integer(0, len(nodes) - 2)
        second = self.pick.integer(first + 1, len(nodes) - 1)
        build.graph.add_control(nodes[first], nodes[second])

    def _type(self) -> tuple[tuple[int, ...], str]:
        shapes = _SHAPES
        if self.is_rare("shapes") and self.pick.chance(25):
            return self.pick.pick(_ODD_SHAPES), self.pick.pick(tuple(self.knobs.dtypes))
        return self.pick.pick(shapes), self.pick.pick(tuple(self.knobs.dtypes))

    def guarded(self, build: GraphBuilder, pool: Pool) -> OutputAnchor:
        """What a node may destroy: a copy of its own, of which the original has need."""
        source = recent(self.pick, pool)
        return self.copy(build, source) if self.knobs.guarded else source
