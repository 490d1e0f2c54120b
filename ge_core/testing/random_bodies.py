"""Rare calls of random graphs: several values in and out, stores inside, bodies called twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ge_core.ir import GraphBuilder, OutputAnchor, TensorDesc
from ge_core.testing.choices import recent
from ge_core.testing.random_memory import Memory, bare
from ge_core.testing.random_stores import Pool, RareStores

DEEPEST = 4


@dataclass(eq=False)
class Body:
    """A subgraph, and what it does with memory from outside.

    Attributes:
        given: the memory of each value that it is given.
        used: memories that are there after it has run, and whether it writes them.
        results: the memory of each result.
    """

    build: GraphBuilder
    given: list[Memory]
    used: dict[Memory, bool]
    results: list[Memory]


class RareCalls(RareStores):
    """Steps that make calls, branches and loops."""

    def make_body(
        self,
        build: GraphBuilder,
        sources: Sequence[OutputAnchor],
        first: int,
        wanted: Sequence[TensorDesc],
        depth: int,
        *,
        slots: bool = False,
    ) -> Body:
        """A subgraph over the parent's inputs from `first`, with a result like each description.

        Args:
            slots: what it is given is its own, as what a loop carries is.
        """
        sub = build.subgraph(self.name("g"))
        inside: dict[Memory, Memory] = {}
        pool: Pool = []
        self.touched.append({})
        for at, source in enumerate(sources):
            data = sub.data(self.name("d"), index=first + at, desc=bare(source.desc))
            outer = self.memory[source]
            memory = Memory(constant=outer.constant and not slots)
            # Two values that are one memory outside are one inside.
            self.memory[data] = memory if slots else inside.setdefault(outer, memory)
            pool.append(data)
        given = [self.memory[data] for data in pool]
        self.body(sub, pool, self.pick.integer(1, 4), depth + 1)
        results = [self._result(sub, pool, desc) for desc in wanted]
        sub.net_output(*results)
        used = self.touched.pop()
        for result in results:
            used.setdefault(self.memory[result], False)
        kept = {memory: wrote for memory, wrote in used.items() if memory in given or memory.shared}
        return Body(sub, given, kept, [self.memory[result] for result in results])

    def _result(self, sub: GraphBuilder, pool: Pool, desc: TensorDesc) -> OutputAnchor:
        fitting = [p for p in pool if p.desc.shape == desc.shape and p.desc.dtype == desc.dtype]
        result = recent(self.pick, fitting)
        if self.is_rare("copies") and self.pick.chance(40):
            result = self.copy(sub, result)
        return result

    # ---- calls ---------------------------------------------------------------------------------

    def _call(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        if not self.is_rare("calls"):
            super()._call(build, pool, depth)
            return
        sources = self._some(pool)
        wanted = [self.pick.pick(sources).desc for _ in range(self.pick.integer(1, 2))]
        body = self.make_body(build, sources, 0, wanted, depth)
        outputs = self._run_call(build, pool, sources, wanted, body)
        if self.pick.chance(30):
            again = sources
            if self.pick.chance(50):
                again = self._like(sources, [*pool, *outputs])
            self._run_call(build, pool, again, wanted, body)

    def _like(self, sources: Pool, pool: Pool) -> Pool:
        """Other values that a body can be called with as well as with these."""
        found = [
            recent(
                self.pick,
                [
                    p
                    for p in pool
                    if bare(p.desc) is bare(source.desc)
                    and self.memory[p].constant == self.memory[source].constant
                ],
            )
            for source in sources
        ]
        return found if self._pattern(found) == self._pattern(sources) else sources

    def _pattern(self, sources: Pool) -> list[int]:
        """Which of them are one memory."""
        memories = [self.memory[source] for source in sources]
        return [memories.index(memory) for memory in memories]

    def _run_call(
        self,
        build: GraphBuilder,
        pool: Pool,
        sources: Pool,
        wanted: Sequence[TensorDesc],
        body: Body,
    ) -> Pool:
        op = self.pick.pick(("PartitionedCall", "PartitionedCall", "StatefulPartitionedCall"))
        node = self._calling_body(build, op, sources, 0, wanted, {"f": body})
        outer = dict(zip(body.given, [self.memory[source] for source in sources], strict=True))
        made: dict[Memory, Memory] = {}
        for output, memory in zip(node, body.results, strict=True):
            if memory in outer or memory.shared:
                self.memory[output] = outer.get(memory, memory)
            else:
                # Two results may be one memory.
                self.memory[output] = made.setdefault(memory, self.memory[self.fresh(output)])
        pool.extend(node)
        return node

    def _calling_body(
        self,
        build: GraphBuilder,
        op: str,
        sources: Pool,
        first: int,
        wanted: Sequence[TensorDesc],
        bodies: dict[str, Body],
        writes: Sequence[int] = (),
    ) -> Pool:
        """The node, and what its bodies do with memory from outside."""
        written = set(writes)
        for body in bodies.values():
            written.update(
                first + at for at, memory in enumerate(body.given) if body.used.get(memory)
            )
        subs = {label: body.build for label, body in bodies.items()}
        node = self.node(build, op, sources, wanted, subgraphs=subs, writes=sorted(written))
        for body in bodies.values():
            for memory, wrote in body.used.items():
                if memory.shared:
                    self.use(node, memory, write=wrote)
        return list(node.outputs)

    def _some(self, pool: Pool) -> Pool:
        return [recent(self.pick, pool) for _ in range(self.pick.integer(1, 3))]

    # ---- branches and loops --------------------------------------------------------------------

    def _branch(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        if not self.is_rare("calls"):
            super()._branch(build, pool, depth)
            return
        sources, switch = self._some(pool), recent(self.pick, pool)
        wanted = [self.pick.pick(sources).desc for _ in range(self.pick.integer(1, 2))]
        op = self.pick.pick(("If", "Case"))
        count = 2 if op == "If" else self.pick.integer(2, 3)
        labels = ("then_branch", "else_branch") if op == "If" else ("b0", "b1", "b2")
        bodies = {
            label: self.make_body(build, sources, 1, wanted, depth) for label in labels[:count]
        }
        outputs = self._calling_body(build, op, [switch, *sources], 1, wanted, bodies)
        pool.extend(self.fresh(output) for output in outputs)

    def _while(self, build: GraphBuilder, pool: Pool, depth: int) -> None:
        if not self.is_rare("calls"):
            super()._while(build, pool, depth)
            return
        sources = self._some(pool)
        if self.knobs.guarded:
            sources = [self.copy(build, source) for source in sources]
        wanted = [source.desc for source in sources]
        cond = self._condition(build, sources, depth)
        body = self.make_body(build, sources, 0, wanted, depth, slots=True)
        bodies = {"cond": cond, "body": body}
        every = range(len(sources))
        outputs = self._calling_body(build, "While", sources, 0, wanted, bodies, every)
        pool.extend(self.fresh(output) for output in outputs)

    def _condition(self, build: GraphBuilder, sources: Pool, depth: int) -> Body:
        sub = build.subgraph(self.name("c"))
        self.touched.append({})
        pool: Pool = []
        for at, source in enumerate(sources):
            # A condition only reads what the loop carries.
            data = self.fresh(sub.data(self.name("d"), index=at, desc=bare(source.desc)))
            self.memory[data].constant = True
            pool.append(data)
        given = [self.memory[data] for data in pool]
        if self.pick.chance(30):
            self.body(sub, pool, 1, DEEPEST)
        less = self.node(sub, "Less", [recent(self.pick, pool)], [TensorDesc.make("bool", ())])
        sub.net_output(self.fresh(less.outputs[0]))
        used = {memory: wrote for memory, wrote in self.touched.pop().items() if memory.shared}
        return Body(sub, given, used, [])
