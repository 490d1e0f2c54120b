"""Calls of random graphs: PartitionedCall, If, Case and While over one value."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ge_core.ir import GraphBuilder, OutputAnchor, TensorDesc
from ge_core.testing.choices import recent
from ge_core.testing.random_memory import Memories, bare


class Calls(Memories, ABC):
    """Steps that make subgraphs."""

    @abstractmethod
    def body(self, build: GraphBuilder, pool: list[OutputAnchor], count: int, depth: int) -> None:
        """Fill a graph with about so many steps."""

    @abstractmethod
    def guarded(self, build: GraphBuilder, pool: list[OutputAnchor]) -> OutputAnchor:
        """What a node may destroy."""

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
            self.fresh(sub.data(self.name("d"), index=first + at, desc=bare(source.desc)))
            for at, source in enumerate(sources)
        ]
        # What comes in is the caller's: its memory is handed on, and only read inside.
        for anchor in inner:
            self.memory[anchor].constant = True
        pool = list(inner)
        self.body(sub, pool, self.pick.integer(1, 3), depth + 1)
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
        source = self.guarded(build, pool)
        cond = build.subgraph(self.name("c"))
        seen = cond.data(self.name("d"), index=0, desc=bare(source.desc))
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
        node = self.node(build, op, sources, [desc], subgraphs=subs, writes=writes)
        pool.append(self.fresh(node.outputs[0]))
