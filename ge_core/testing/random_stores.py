"""Rare steps of random graphs that write memory: further in-place ops, copies, collectives."""

from __future__ import annotations

from ge_core.ir import GraphBuilder, OutputAnchor, TensorDesc
from ge_core.testing.choices import recent
from ge_core.testing.random_memory import Memory, bare, same
from ge_core.testing.random_steps import Steps

_NAME_MARK = "ref_var_src_var_name"
Pool = list[OutputAnchor]


class RareStores(Steps):
    """Steps that make stores, and copies around them."""

    def is_rare(self, name: str) -> bool:
        """Whether a rare thing is asked for."""
        return name in self.knobs.rare

    def named(self, desc: TensorDesc, memory: Memory) -> TensorDesc:
        """A description that may say which variable it is."""
        if memory.variable and self.is_rare("names") and self.pick.chance(40):
            return desc.with_attr(_NAME_MARK, memory.variable)
        return desc

    def _writable(self, pool: Pool) -> Pool:
        """What may be stored into; graph inputs seldom, as callers hardly expect it."""
        inputs = self.is_rare("stores") and self.pick.chance(20)
        return [p for p in pool if not self.memory[p].constant and (inputs or p.node.op != "Data")]

    # ---- stores --------------------------------------------------------------------------------

    def _store(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        targets = self._writable(pool)
        if not targets:
            return
        target = recent(self.pick, targets)
        value = recent(self.pick, [p for p in pool if same(p, target)])
        self._store_into(build, pool, target, value)

    def _store_into(
        self, build: GraphBuilder, pool: Pool, target: OutputAnchor, value: OutputAnchor
    ) -> None:
        kinds = ["assign", "scatter"]
        if self.is_rare("stores"):
            kinds += ["add", "marked", "apart"]
        if self.is_rare("names"):
            kinds.append("ports")
        kind = self.pick.pick(kinds)
        memory = self.memory[target]
        desc = self.named(target.desc.replace(attrs={}, reuse_input=0), memory)
        if kind == "ports":
            self._by_ports(build, pool, target, value)
            return
        forms: dict[str, tuple[str, dict[str, object], list[TensorDesc]]] = {
            "assign": ("Assign", {}, [desc]),
            "add": ("AssignAdd", {}, [desc]),
            "scatter": ("ScatterUpdate", {"reference": True}, [desc]),
            # Written as its attribute says; its output is the input, or what it was before.
            "marked": ("CacheUpdate", {"rw": {"inputs": {"0": "write"}}}, [desc, bare(desc)]),
            "apart": ("CacheExchange", {"rw": {"inputs": {"0": "write"}}}, [bare(desc)]),
        }
        op, attrs, outputs = forms[kind]
        node = self.node(
            build, op, [target, value], outputs, attrs=attrs, writes=(0,), kind="store"
        )
        for output in node.outputs:
            if output.desc.reuse_input == 0:
                self.memory[output] = memory
            else:
                self.fresh(output)
            pool.append(output)

    def _by_ports(
        self, build: GraphBuilder, pool: Pool, target: OutputAnchor, value: OutputAnchor
    ) -> None:
        """A store that only the names of its ports give away."""
        memory = self.memory[target]
        node = self.node(
            build,
            "ScatterAdd",
            [target, value],
            [self.named(bare(target.desc), memory)],
            attrs={"reference": True},
            writes=(0,),
            ports=(("ref", "value"), ("ref",)),
            kind="store",
        )
        self.memory[node.outputs[0]] = memory
        pool.append(node.outputs[0])

    def _momentum(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        """An op that updates two memories at once."""
        targets = self._writable(pool)
        if not targets:
            return
        first = recent(self.pick, targets)
        memory = self.memory[first]
        second = [p for p in targets if same(p, first) and self.memory[p] is not memory]
        if not second:
            return
        both = [first, recent(self.pick, second)]
        value = recent(self.pick, [p for p in pool if same(p, first)])
        outputs = [
            self.named(bare(target.desc).replace(reuse_input=at), self.memory[target])
            for at, target in enumerate(both)
        ]
        node = self.node(
            build,
            "ApplyMomentum",
            [*both, value],
            outputs,
            attrs={"reference": True},
            writes=(0, 1),
            kind="store",
        )
        for output, target in zip(node.outputs, both, strict=True):
            self.memory[output] = self.memory[target]
            pool.append(output)

    # ---- copies --------------------------------------------------------------------------------

    def copy(self, build: GraphBuilder, source: OutputAnchor) -> OutputAnchor:
        """A copy, which may be reserved."""
        attrs: dict[str, object] = {}
        if self.is_rare("copies") and self.pick.chance(10):
            attrs = self.pick.pick(
                ({"_cannot_be_deleted": True}, {"no_need_constant_folding": False})
            )
        op = self.pick.pick(("TensorMove", "TensorMove", "TensorMove", "Identity"))
        node = self.node(build, op, [source], [source.desc], attrs=attrs)
        return self.fresh(node.outputs[0])

    def _copies(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        """Several copies of one value, or copies of copies."""
        source = recent(self.pick, pool)
        stacked = self.pick.chance(40)
        for _ in range(self.pick.integer(2, 3)):
            made = self.copy(build, source)
            pool.append(made)
            if stacked:
                source = made

    def _beside(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        """A copy, a store on one side of it and a reader on the other, before or after the store.

        Views may stand between any two of them.
        """
        source = recent(self.pick, pool)
        if self.pick.chance(30):
            source = self._seen(build, pool, source)
        made = self.copy(build, source)
        pool.append(made)
        behind = self.memory[source].constant or source.node.op == "Data" or self.pick.chance(60)
        written, read = (made, source) if behind else (source, made)
        if self.pick.chance(40):
            written = self._seen(build, pool, written)
        if self.pick.chance(40):
            read = self._seen(build, pool, read)
        early = self.pick.chance(50)
        if early:
            self._plainly(build, pool, "Relu", read)
        if self.pick.chance(30) and self.knobs.guarded is False:
            self._destroy(build, pool, [written])
        else:
            value = recent(self.pick, [p for p in pool if same(p, written)])
            self._store_into(build, pool, written, value)
        if not early or self.pick.chance(30):
            self._plainly(build, pool, "Exp", read)

    def _seen(self, build: GraphBuilder, pool: Pool, source: OutputAnchor) -> OutputAnchor:
        """A view of a value, through one or two nodes."""
        for _ in range(self.pick.integer(1, 2)):
            if source.desc.elements is not None:
                source = self._flat(build, pool, source)
        return source

    def _plainly(
        self, build: GraphBuilder, pool: Pool, op: str, source: OutputAnchor
    ) -> OutputAnchor:
        """A node that reads this very value."""
        node = self.node(build, op, [source], [source.desc])
        pool.append(self.fresh(node.outputs[0]))
        return pool[-1]

    def _written_back(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        """An update made functional: a copy of a variable, a store into it, and a write-back."""
        able = [p for p in pool if self.memory[p].variable]
        if not able:
            return
        variable = recent(self.pick, able)
        made = self.copy(build, variable)
        value = recent(self.pick, [p for p in pool if same(p, made)])
        before = len(pool)
        self._store_into(build, pool, made, value)
        updated = pool[before]
        if self.pick.chance(40):
            self._plainly(build, pool, "Relu", variable)
        if self.pick.chance(60):
            self._plainly(build, pool, "Exp", updated)
        desc = self.named(bare(variable.desc).replace(reuse_input=0), self.memory[variable])
        node = self.node(build, "Assign", [variable, updated], [desc], writes=(0,), kind="store")
        self.memory[node.outputs[0]] = self.memory[variable]
        pool.append(node.outputs[0])

    # ---- collectives ---------------------------------------------------------------------------

    def _scribble(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        before = len(pool)
        super()._scribble(build, pool, depth)
        self.affect(pool[before].node)

    def _collective(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        """One of several inputs: they are destroyed, or lie side by side, or both."""
        able = [p for p in pool if p.desc.nbytes is not None]
        if not able:
            return
        first = recent(self.pick, able)
        alike = [p for p in pool if same(p, first)]
        wanted = [first] + [recent(self.pick, alike) for _ in range(self.pick.integer(0, 2))]
        if self.knobs.guarded:
            wanted = [self.copy(build, source) for source in wanted]
        self._destroy(build, pool, wanted)

    def _destroy(self, build: GraphBuilder, pool: Pool, sources: Pool) -> None:
        op = self.pick.pick(("HcomAllReduce", "HcomBroadcast", "HcomAllGather"))
        attrs: dict[str, object] = {}
        if op != "HcomAllGather":
            attrs["_input_mutable"] = True
        if len(sources) > 1 and self.pick.chance(60):
            attrs["continuous_input"] = True
            if self.pick.chance(50):
                attrs["continuous_output"] = True
        outputs = [bare(source.desc) for source in sources]
        writes = tuple(range(len(sources))) if "_input_mutable" in attrs else ()
        node = self.node(build, op, sources, outputs, attrs=attrs, writes=writes)
        self.affect(node)
        pool.extend(self.fresh(output) for output in node.outputs)
