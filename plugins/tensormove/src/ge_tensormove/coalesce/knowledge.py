"""What one run of the pass knows of the graph, kept right while copies go."""

from __future__ import annotations

from typing import Final

from ge_core.api import (
    DATA_LIKE,
    VAR_LIKE,
    AliasClasses,
    Anchor,
    Effects,
    InputAnchor,
    InputKind,
    Interfaces,
    Interference,
    LayoutChecks,
    Node,
    Order,
    OutputAnchor,
    PassContext,
    Scheme,
    Sources,
    SourceTracer,
    Waypoint,
    is_free_join,
    is_free_split,
    listed_order,
)
from ge_tensormove.coalesce.before import Before
from ge_tensormove.reuse_options import INPUTS_OPTION, PAIRS_OPTION, Declarations
from ge_tensormove.trace_rules import is_control_flow

NAME_MARK: Final = "ref_var_src_var_name"
HANDLES: Final = frozenset({"VarHandleOp", "VarIsInitializedOp", "TemporaryVariable"})
_ROWS: Final = (
    ("continuous_input", "_no_padding_continuous_input"),
    ("continuous_output", "_no_padding_continuous_output"),
)
"""Marks on nodes whose inputs, or outputs, lie side by side."""
_FEW: Final = 256
_MOST_PLAYED: Final = 40
"""Accesses that are played through, all together, per node of the graph."""
_EXCLUSIVE: Final = frozenset({"if", "case"})


class Knowledge:
    """The tables behind all answers.

    Attributes:
        memory: alias classes of what is one memory, with the types "writes" (inputs that are
            overwritten), "scratch" (those for nobody's good), "results" (of the root), "constant",
            "lasting" (variables and the like), "input" (of the root), "pieces", and "rows" (inputs
            or outputs that lie beside others of their node).
        symbols: GE's alias classes, with anchor types.
        interference: who would see another value.
        order: what edges order.
        before: what was one memory when the compile began.
    """

    def __init__(self, ctx: PassContext, search_limit: int, branches: bool) -> None:
        env = ctx.environment
        self.ops = env.ops
        self.root = env.root
        for graph in self.root.all_graphs():
            listed = listed_order(graph)
            if any(one is not other for one, other in zip(listed, graph.nodes, strict=True)):
                graph.reorder(listed)
        ends = Interfaces(lasting=True)
        self.effects = Effects(self.ops, ends)
        self.order = Order(self.root, self.ops)
        self.memory = AliasClasses(self.root, self.ops, Scheme.MEMORY, self._types)
        self.symbols = ctx.symbols
        self.declared = Declarations(ctx.option(PAIRS_OPTION), ctx.option(INPUTS_OPTION))
        self.interference = Interference(
            self.root, self.ops, self.memory, lent=self.declared.indexes
        )
        self.timeline = self.interference.timeline
        self.layout = (
            LayoutChecks(ctx.layout_checkers, self.root, self.ops, ctx.option, target=ctx.target)
            if ctx.layout_checkers
            else None
        )
        self.before = Before(env.extras.get("original"), self.ops)
        self.kept = env.kept
        self._branches = branches
        self._tracer = SourceTracer(self.root, self.ops, env.trace_rules, ends)
        self._sources = Sources(self._tracer, self._is_clear)
        self._nodes = sum(len(graph) for graph in self.root.all_graphs())
        self._most_steps = search_limit * self._nodes
        self._relisted = 0

    @property
    def steps(self) -> int:
        """What all questions together have cost, for tests."""
        return self.interference.steps + self.order.steps + self._tracer.steps

    def may_search(self) -> bool:
        """Whether another search for an order is within the bound on work."""
        return self.order.steps <= self._most_steps

    def may_play(self, one: Anchor, other: Anchor) -> bool:
        """Whether the accesses of two memories may be played through, within the bound on work.

        Those of a few always may: only thousands of copies of one memory add up to too much.
        """
        few = self.memory.size(one) + self.memory.size(other) <= _FEW
        return few or self.interference.steps <= _MOST_PLAYED * self._nodes

    def may_relist(self, count: int) -> bool:
        """Whether so many nodes may be put into another order, within the bound on work."""
        self._relisted += count
        return self._relisted <= self._most_steps

    # ---- the way to the source -----------------------------------------------------------------

    def control_flow(self, feed: OutputAnchor) -> Node | None:
        """Control flow between an output and where its value was made, or that makes it."""
        obstacle = self._sources.obstacle(feed)
        if obstacle is not None:
            via, following = obstacle
            return next(
                point.node
                for point in (*via, Waypoint(following.node, following))
                if self._blocks(point.node)
            )
        source = self._sources.origin(feed).node
        return source if self._blocks(source) else None

    def _is_clear(self, via: tuple[Waypoint, ...], following: OutputAnchor) -> bool:
        return not any(self._blocks(node) for node in (*(p.node for p in via), following.node))

    def _blocks(self, node: Node) -> bool:
        if not is_control_flow(node, self.ops):
            return False
        # The arms of an If or Case are told apart exactly; it is GE's rule not to.
        return not (self._branches and node.subgraphs and self.ops.kind(node) in _EXCLUSIVE)

    # ---- types ---------------------------------------------------------------------------------

    def _types(self, anchor: Anchor) -> list[str]:
        node = anchor.node
        found: list[str] = []
        if is_free_join(node) or is_free_split(node):
            found.append("pieces")
        if any(node.attrs.get(mark) for mark in _ROWS[isinstance(anchor, OutputAnchor)]):
            found.append("rows")
        if isinstance(anchor, InputAnchor):
            kind = self.effects.plain_kind(anchor)
            if kind.writes:
                found.append("writes")
            if kind is InputKind.SCOPE_WRITEABLE:
                found.append("scratch")
            if node.op == "NetOutput" and node.graph is self.root:
                found.append("results")
            return found
        kind_of_op = self.ops.kind(node)
        if kind_of_op == "constant":
            found.append("constant")
        elif kind_of_op == "variable" or node.op in VAR_LIKE | HANDLES or names_memory(anchor):
            found.append("lasting")
        if names_memory(anchor):
            found.append("writes")
        if node.op in DATA_LIKE and node.graph is self.root:
            found.append("input")
        return found

    # ---- keeping up ----------------------------------------------------------------------------

    def removed(self, copy_input: InputAnchor, gone: OutputAnchor) -> None:
        """A copy has been removed from the graph; its readers are fed by its source now."""
        self.order.vouch()
        for classes in (self.memory, self.symbols):
            if copy_input in classes and gone in classes:
                classes.join(copy_input, gone)
            classes.discard(copy_input)
            classes.discard(gone)

    def relist(self) -> None:
        """List the nodes of every graph in the order that has come out."""
        for graph in self.root.all_graphs():
            order = [node for node in self.timeline.order(graph) if node.graph is graph]
            known = iter(order)
            listed = [next(known) if self.timeline.knows(n) else n for n in list(graph.nodes)]
            if any(one is not other for one, other in zip(listed, graph.nodes, strict=True)):
                graph.reorder(listed)
            sorted_ = listed_order(graph)
            if any(one is not other for one, other in zip(sorted_, graph.nodes, strict=True)):
                graph.reorder(sorted_)


def names_memory(output: OutputAnchor) -> str | None:
    """The variable whose memory an output says it is, by name."""
    name = output.desc.attrs.get(NAME_MARK) or output.node.attrs.get(NAME_MARK)
    return name if isinstance(name, str) and name else None
