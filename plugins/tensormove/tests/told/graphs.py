"""Random graphs full of what the removal of copies has to look at closely.

They need no meaning: what is compared on them is what two tellings of the rules say.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from ge_core.api import Graph, GraphBuilder, Node, OutputAnchor, TensorDesc

PAIRS = (
    "0,0",
    "0,0|1,1",
    "0,1|1,0",
    "0x,0",
    "0,0,2",
    "-0,0",
    "+0, 1",
    "0",
    ",",
    "",
    "1,0|junk|0,0",
)
PAIRS += ("18446744073709551616,0", " 0,\t1|2,2", "2,9|1,|,1")
LISTS = ("0", "1", "0,abc", "abc,0", "", ",,0", "1,0", " 0", "0 ", "0x,1", "2147483648,0", "-1,0,2")

STORE = {"reference": True}
SCRIBBLE = {"_input_mutable": True}


def random_options(random: Random) -> dict[str, str]:
    """What the caller declares, well-formed or not."""
    found: dict[str, str] = {}
    if random.random() < 0.5:
        found["ge.exec.outputReuseInputMemIndexes"] = random.choice(PAIRS)
    if random.random() < 0.5:
        found["ge.exec.inputReuseMemIndexes"] = random.choice(LISTS)
    return found


def random_removal_graph(seed: int, nodes: int = 14) -> Graph:
    """One graph; a number is a seed."""
    return _Maker(Random(seed), nodes).root()


class _Maker:
    def __init__(self, random: Random, nodes: int) -> None:
        self.random = random
        self.nodes = nodes
        self.count = 0

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def one(self, pool: Sequence[OutputAnchor]) -> OutputAnchor:
        """The latest are likelier."""
        at = int(self.random.triangular(0, len(pool), len(pool)))
        return pool[min(at, len(pool) - 1)]

    # ---- graphs --------------------------------------------------------------------------------

    def root(self) -> Graph:
        b = GraphBuilder()
        pool = [b.data(f"x{at}") for at in range(self.random.randint(1, 3))]
        if self.chance(0.15):
            attrs = {"index": len(pool)} if self.chance(0.6) else {}
            pool.append(b.op("RefData", name="ref", attrs=attrs))
        if self.chance(0.1):
            pool.append(b.op("Data", name="no_index"))
        for op, share in (("Variable", 0.4), ("Const", 0.2), ("FileConstant", 0.1)):
            if self.chance(share):
                pool.append(b.op(op, name=op.lower()))
        self.body(b, pool, self.nodes, 0)
        self.results(b, pool)
        self.order_some(b.graph)
        return b.graph

    def results(self, b: GraphBuilder, pool: list[OutputAnchor]) -> None:
        """Results, of which an inner graph's carry parent indexes in any order, or lack them."""
        count = self.random.randint(1, 3)
        out = b.net_output(*[self.one(pool) for _ in range(count)])
        if b.graph.is_root:
            return
        order = list(range(count))
        self.random.shuffle(order)
        if count > 1 and self.chance(0.15):
            order[0] = order[-1]
        missing = self.random.randrange(count) if self.chance(0.06) else None
        for at, port in enumerate(out.inputs):
            desc = TensorDesc.make()
            if at != missing:
                desc = desc.with_attr("_parent_node_index", order[at])
            b.graph.set_desc(port, desc)

    def body(self, b: GraphBuilder, pool: list[OutputAnchor], count: int, depth: int) -> None:
        steps = [self.copy] * 9 + [self.plain] * 5 + [self.view] * 4 + [self.store] * 3
        steps += [self.scribble, self.twin_views, self.join, self.merge, self.two, self.named]
        if depth < 3:
            steps += [self.call] * 3 + [self.branch, self.loop]
        for _ in range(count):
            self.random.choice(steps)(b, pool, depth)

    def order_some(self, graph: Graph) -> None:
        """Control edges along the listing, some of them in and out of copies."""
        for each in graph.all_graphs():
            nodes = list(each.nodes)
            for _ in range(len(nodes) // 3):
                i, j = sorted(self.random.randrange(len(nodes)) for _ in range(2))
                first, second = nodes[i], nodes[j]
                if first is not second and second.op not in ("Data", "RefData"):
                    each.add_control(first, second)

    # ---- nodes ---------------------------------------------------------------------------------

    def copy(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        attrs: dict[str, Any] = {}
        if self.chance(0.06):
            attrs["_cannot_be_deleted"] = self.chance(0.5)
        if self.chance(0.06):
            attrs["no_need_constant_folding"] = self.chance(0.5)
        source = None if self.chance(0.02) else self.one(pool)
        outputs = [] if self.chance(0.03) else None
        name = self.name("mv")
        node = b.node("TensorMove", source, name=name, attrs=attrs, outputs=outputs)
        pool += node.outputs
        if self.chance(0.25):
            # In front of the reader that it is for, as passes insert them.
            self.random.choice([self.store, self.scribble, self.view, self.plain])(
                b, node.outputs * 2 or pool, depth
            )

    def plain(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        sources = [self.one(pool) for _ in range(self.random.randint(1, 2))]
        pool.append(b.op("Add" if len(sources) > 1 else "Relu", *sources, name=self.name("op")))

    def two(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        outputs = [TensorDesc.make(), TensorDesc.make()]
        op = self.random.choice(["TopK", "TopK", "Switch"])
        pool += b.node(op, self.one(pool), name=self.name("two"), outputs=outputs).outputs

    def view(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        op = self.random.choice(["Reshape", "Squeeze", "Cast"])
        pool.append(b.op(op, self.one(pool), name=self.name("view"), reuse_input=0))

    def twin_views(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        outputs = [TensorDesc.make(reuse_input=0), TensorDesc.make(reuse_input=0)]
        node = b.node("Foo", self.one(pool), name=self.name("twin"), outputs=outputs)
        pool += node.outputs if self.chance(0.6) else node.outputs[:1]

    def store(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        target, value = self.one(pool), self.one(pool)
        name = self.name("store")
        how = self.random.randrange(4)
        if how == 0:
            node = b.node("Assign", target, value, name=name, reuse_input=0)
        elif how == 1:
            node = b.node("Scatter", target, value, name=name, reuse_input=0, attrs=STORE)
        elif how == 2:
            marks = {"rw": {"inputs": {"0": "write"}}}
            node = b.node("Foo", target, value, name=name, attrs=marks)
        else:
            node = b.node("Momentum", target, value, name=name, attrs=STORE)
            node.input_names, node.output_names = ("var", "grad"), ("var",)
        pool += node.outputs

    def scribble(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        if self.chance(0.7):
            sources = [self.one(pool) for _ in range(self.random.randint(1, 2))]
            pool.append(b.op("HcomAllReduce", *sources, name=self.name("scr"), attrs=SCRIBBLE))
            return
        node = b.node("Foo", self.one(pool), name=self.name("special"))
        desc = TensorDesc.make().with_attr("_special_input_size", self.random.choice([0, 64]))
        b.graph.set_desc(node.inputs[0], desc)
        pool += node.outputs

    def named(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        """What says that it is a variable, on the node or on the output."""
        name = self.random.choice(["variable", "elsewhere", ""])
        node = b.node("Foo", self.one(pool), name=self.name("named"))
        if self.chance(0.5):
            b.graph.set_attr(node, "ref_var_src_var_name", name)
        else:
            desc = node.outputs[0].desc.with_attr("ref_var_src_var_name", name)
            b.graph.set_desc(node.outputs[0], desc)
        pool += node.outputs

    def join(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        parts = [self.one(pool) for _ in range(2)]
        marks: dict[str, Any] = self.random.choice(
            [
                {"_no_padding_continuous_input": True, "_output_reuse_input": True},
                {"continuous_input": True},
                {"_no_padding_continuous_input": True},
                {},
            ]
        )
        op = self.random.choice(["ConcatD", "PhonyConcat"])
        attrs = {"concat_dim": 0, **marks}
        pool.append(b.op(op, *parts, name=self.name("join"), attrs=attrs, shape=(2, 16)))

    def merge(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        op = self.random.choice(["Merge", "StreamMerge"])
        pool.append(b.op(op, self.one(pool), self.one(pool), name=self.name("merge")))

    # ---- subgraphs -----------------------------------------------------------------------------

    def inner(
        self, b: GraphBuilder, sources: list[OutputAnchor], first: int, depth: int
    ) -> GraphBuilder:
        sub = b.subgraph(self.name("g"))
        pool = [
            sub.data(self.name("d"), index=first + at)
            for at in range(len(sources))
            if not self.chance(0.05)
        ]
        if self.chance(0.2) or not pool:
            op = self.random.choice(["Const", "Variable", "Foo"])
            pool.append(sub.op(op, name=self.name(op.lower())))
        self.body(sub, pool, self.random.randint(0, 5), depth + 1)
        self.results(sub, pool)
        return sub

    def called(
        self,
        b: GraphBuilder,
        pool: list[OutputAnchor],
        op: str,
        sources: list[OutputAnchor],
        subs: dict[str, GraphBuilder],
    ) -> Node:
        outputs = [TensorDesc.make() for _ in range(self.random.randint(1, 2))]
        feeds: list[OutputAnchor | None] = list(sources)
        if self.chance(0.03):
            feeds[-1] = None
        node = b.node(op, *feeds, name=self.name(op), outputs=outputs, subgraphs=subs)
        pool += node.outputs
        return node

    def call(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        sources = [self.one(pool) for _ in range(self.random.randint(1, 2))]
        op = "StatefulPartitionedCall" if self.chance(0.15) else "PartitionedCall"
        self.called(b, pool, op, sources, {"f": self.inner(b, sources, 0, depth)})

    def branch(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        sources = [self.one(pool)]
        op = self.random.choice(["If", "Case"])
        labels = ("then_branch", "else_branch") if op == "If" else ("b0", "b1", "b2")
        subs = {label: self.inner(b, sources, 1, depth) for label in labels}
        self.called(b, pool, op, [self.one(pool), *sources], subs)

    def loop(self, b: GraphBuilder, pool: list[OutputAnchor], depth: int) -> None:
        source = self.one(pool)
        cond = b.subgraph(self.name("c"))
        seen = cond.data(self.name("d"), index=0)
        cond.net_output(cond.op("Less", seen, name=self.name("less")))
        subs = {"cond": cond, "body": self.inner(b, [source], 0, depth)}
        node = b.node("While", source, name=self.name("While"), subgraphs=subs)
        pool += node.outputs
