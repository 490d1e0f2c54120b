"""The ordinary steps of a random graph: what it consists of unless rare things are asked for."""

from __future__ import annotations

from ge_core.ir import Graph, GraphBuilder, Node, OutputAnchor, TensorDesc
from ge_core.testing.choices import Choices, optionally, recent
from ge_core.testing.random_calls import Calls
from ge_core.testing.random_knobs import GraphKnobs, OpRecipe
from ge_core.testing.random_memory import bare, same


class Steps(Calls):
    """Builds a graph step by step."""

    def __init__(self, choices: Choices, knobs: GraphKnobs) -> None:
        super().__init__(choices, knobs)
        self.recipes = [OpRecipe.of(op) for op in knobs.ops]
        self.read_late: list[OutputAnchor] = []

    # ---- graphs --------------------------------------------------------------------------------

    def root(self) -> Graph:
        """The whole graph."""
        build = GraphBuilder("root")
        pool: list[OutputAnchor] = []
        for at in range(self.pick.integer(1, 3)):
            pool.append(self.fresh(build.data(f"in{at}", *self._type())))
        if self.knobs.writers:
            for at in range(self.pick.integer(0, 2)):
                shape, dtype = self._type()
                node = build.node("Variable", name=f"var{at}", shape=shape, dtype=dtype)
                pool.append(self.fresh(node.outputs[0]))
        for at in range(self.pick.integer(0, 1)):
            desc = TensorDesc.make("float32", (2, 8))
            anchor = self.fresh(build.const(f"const{at}", bytes(range(64)), desc.shape or ()))
            self.memory[anchor].constant = True
            pool.append(anchor)
        self.body(build, pool, self.knobs.nodes, depth=0)
        results = [recent(self.pick, pool) for _ in range(self.pick.integer(1, 3))]
        results += self.read_late
        out = build.net_output(*results)
        for result in results:
            self.access(out, result, write=False)
        return build.graph

    def body(self, build: GraphBuilder, pool: list[OutputAnchor], count: int, depth: int) -> None:
        """Fill a graph with about so many steps."""
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
        if self.knobs.slices:
            kinds += ["slice", "slice"]
        if self.knobs.control_flow and depth < 2:
            kinds += ["call", "branch", "while"]
        kind = self.pick.pick(kinds)
        if kind in ("Relu", "Foo"):
            self._plain(build, pool, kind, 1)
        elif kind == "Add":
            self._plain(build, pool, kind, 2)
        elif kind == "two":
            source = recent(self.pick, pool)
            node = self.node(build, "TopK", [source], [source.desc, source.desc])
            pool.extend(self.fresh(output) for output in node.outputs)
        else:
            getattr(self, f"_{kind}")(build, pool, depth)

    # ---- ordinary nodes ------------------------------------------------------------------------

    def _plain(self, build: GraphBuilder, pool: list[OutputAnchor], op: str, inputs: int) -> None:
        sources = [recent(self.pick, pool)]
        if inputs == 2:
            sources.append(recent(self.pick, [p for p in pool if same(p, sources[0])]))
        node = self.node(build, op, sources, [sources[0].desc])
        pool.append(self.fresh(node.outputs[0]))

    def _recipe(
        self,
        build: GraphBuilder,
        pool: list[OutputAnchor],
        recipe: OpRecipe,
        first: OutputAnchor | None = None,
    ) -> Node:
        if recipe.inputs:
            first = first or recent(self.pick, pool)
            alike = [p for p in pool if same(p, first)]
            sources = [first] + [recent(self.pick, alike) for _ in range(recipe.inputs - 1)]
            desc = bare(first.desc)
        else:
            sources = []
            shape, dtype = self._type()
            desc = TensorDesc.make(dtype, shape)
        if recipe.describe is not None:
            desc = recipe.describe(self.pick, desc)
        attrs = {name: self.pick.pick(values) for name, values in recipe.attrs.items()}
        kind = "view" if recipe.views else ""
        node = self.node(build, recipe.op, sources, [desc] * recipe.outputs, attrs=attrs, kind=kind)
        for output in node.outputs:
            if recipe.views and output.index == 0:
                self.memory[output] = self.memory[sources[0]]
            else:
                self.fresh(output)
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
        value = self.node(build, "Foo", [written], [written.desc]).outputs[0]
        pool.append(self.fresh(value))
        self._store_into(build, pool, written, value)
        late = self.node(build, "Foo", [read], [read.desc])
        # After the store, as in the listed order, whatever is one memory then.
        build.graph.add_control(pool[-1].node, late)
        pool.append(self.fresh(late.outputs[0]))
        self.read_late.append(late.outputs[0])

    def _view(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        able = [p for p in pool if p.desc.elements is not None]
        if able:
            self._flat(build, pool, recent(self.pick, able))

    def _flat(
        self, build: GraphBuilder, pool: list[OutputAnchor], source: OutputAnchor
    ) -> OutputAnchor:
        desc = source.desc
        assert desc.elements is not None
        flat = desc.replace(shape=(desc.elements,), attrs={}, reuse_input=0)
        node = self.node(build, "Reshape", [source], [flat], kind="view")
        self.memory[node.outputs[0]] = self.memory[source]
        pool.append(node.outputs[0])
        return node.outputs[0]

    def _store(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        targets = [p for p in pool if not self.memory[p].constant and p.node.op != "Data"]
        if not targets:
            return
        target = recent(self.pick, targets)
        value = recent(self.pick, [p for p in pool if same(p, target)])
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
        node = self.node(build, op, [target, value], [desc], attrs=attrs, writes=(0,), kind="store")
        self.memory[node.outputs[0]] = self.memory[target]
        pool.append(node.outputs[0])

    def _scribble(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        source = self.guarded(build, pool)
        node = self.node(
            build,
            "HcomAllReduce",
            [source],
            [source.desc],
            attrs={"_input_mutable": True},
            writes=(0,),
        )
        pool.append(self.fresh(node.outputs[0]))

    def guarded(self, build: GraphBuilder, pool: list[OutputAnchor]) -> OutputAnchor:
        """What a node may destroy: a copy of its own, of which the original has need."""
        source = recent(self.pick, pool)
        if not self.knobs.guarded:
            return source
        node = self.node(build, "TensorMove", [source], [source.desc])
        return self.fresh(node.outputs[0])

    # ---- joins and splits ----------------------------------------------------------------------

    def _join(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        able = [p for p in pool if any(dim >= 0 for dim in p.desc.shape or ())]
        if not able:
            return
        first = recent(self.pick, able)
        alike = [p for p in pool if same(p, first)]
        parts = [first] + [recent(self.pick, alike) for _ in range(self.pick.integer(1, 2))]
        shape = first.desc.shape
        assert shape is not None
        axis = self.pick.pick([at for at, dim in enumerate(shape) if dim >= 0])
        joined = (*shape[:axis], sum((p.desc.shape or ())[axis] for p in parts), *shape[axis + 1 :])
        desc = TensorDesc.make(first.desc.dtype, joined)
        node = self.node(build, "ConcatD", parts, [desc], attrs={"concat_dim": axis})
        pool.append(self.fresh(node.outputs[0]))

    def _pack(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        first = recent(self.pick, pool)
        alike = [p for p in pool if same(p, first)]
        parts = [first] + [recent(self.pick, alike) for _ in range(self.pick.integer(1, 2))]
        desc = TensorDesc.make(first.desc.dtype, (len(parts), *(first.desc.shape or ())))
        node = self.node(build, "Pack", parts, [desc], attrs={"axis": 0, "N": len(parts)})
        pool.append(self.fresh(node.outputs[0]))

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
        node = self.node(build, "SplitD", [source], [desc, desc], attrs=attrs)
        pool.extend(self.fresh(output) for output in node.outputs)

    def _slice(self, build: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        able = [p for p in pool if p.desc.shape and min(p.desc.shape) > 0]
        if not able:
            return
        source = recent(self.pick, able)
        offsets, size = [], list(source.desc.shape or ())
        cut = self.pick.integer(0, len(size) - 1)
        for at, dim in enumerate(size):
            low = self.pick.integer(0, dim - 1) if at == cut else 0
            offsets.append(low)
            size[at] = self.pick.integer(1, dim - low) if at == cut else dim
        desc = TensorDesc.make(source.desc.dtype, tuple(size))
        attrs = {"offsets": offsets, "size": size}
        pool.append(
            self.fresh(self.node(build, "SliceD", [source], [desc], attrs=attrs).outputs[0])
        )

    # ---- types ---------------------------------------------------------------------------------

    def _type(self) -> tuple[tuple[int, ...], str]:
        shape = self.pick.pick(((2, 8), (1, 16), (4, 4), (8,), (1, 32)))
        return shape, self.pick.pick(tuple(self.knobs.dtypes))
