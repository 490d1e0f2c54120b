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
    Interfaces,
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
    ref_of,
)
from ge_tensormove.listing import Listing, sort_listing
from ge_tensormove.readers import ReaderTable
from ge_tensormove.reuse_options import INPUTS_OPTION, PAIRS_OPTION, Declarations
from ge_tensormove.trace_rules import is_control_flow

NAME_MARK: Final = "ref_var_src_var_name"
_HANDLES: Final = frozenset({"VarHandleOp", "VarIsInitializedOp", "TemporaryVariable"})


class Run:
    """The tables behind all answers.

    Attributes:
        memory: alias classes of what is one memory, with the types "writes" (an input that is
            overwritten, an output that names a variable), "results" (inputs of the root's
            NetOutput), "pieces" (parts of task-free joins and splits), "rows" (inputs that must
            lie side by side), "named" (outputs that name a variable) and "fixed" (outputs of
            constants, variables and graph inputs).
        symbols: GE's alias classes, with anchor types.
        listing: the listed order and what rests on it.
        verdicts: the code last given for each copy.
    """

    def __init__(self, ctx: PassContext, search_limit: int) -> None:
        env = ctx.environment
        self.ops = env.ops
        self.root = env.root
        sort_listing(self.root)
        ends = Interfaces(lasting=True)
        self.effects = Effects(self.ops, ends)
        self.order = Order(self.root, self.ops)
        self.tracer = SourceTracer(self.root, self.ops, env.trace_rules, ends)
        self.sources = Sources(self.tracer, self.is_clear)
        self.readers = ReaderTable(self.ops, self.effects)
        self.memory = AliasClasses(self.root, self.ops, Scheme.MEMORY, self._types)
        self.symbols = ctx.symbols
        self.declared = Declarations(ctx.option(PAIRS_OPTION), ctx.option(INPUTS_OPTION))
        self.layout = (
            None
            if not ctx.layout_checkers
            else LayoutChecks(
                ctx.layout_checkers, self.root, self.ops, ctx.option, target=ctx.target
            )
        )
        self.listing = Listing(self)
        self.verdicts: dict[Node, str] = {}
        self._most_steps = search_limit * sum(len(graph) for graph in self.root.all_graphs())

    # ---- nodes ---------------------------------------------------------------------------------

    def is_data(self, node: Node) -> bool:
        """Whether the node brings in a value from outside its graph."""
        return node.op in DATA_LIKE

    def is_special(self, output: OutputAnchor) -> bool:
        """Whether a source keeps its value for other runs, or for others who know its name.

        Variables and constants of all kinds, and what names a variable on the node or the output.
        (GE looks at fewer: a FileConstant's copy would let a store overwrite the weights.)
        """
        node = output.node
        if self.ops.kind(node) in ("constant", "variable") or node.op in VAR_LIKE | _HANDLES:
            return True
        return _names_memory(output)

    def is_control_flow(self, node: Node) -> bool:
        """Whether which value the node delivers is known only when it has run."""
        return is_control_flow(node, self.ops)

    def may_search(self) -> bool:
        """Whether another search for an order is within the bound on work."""
        return self.order.steps + self.listing.steps <= self._most_steps

    # ---- the way to the source -----------------------------------------------------------------

    def is_clear(self, via: tuple[Waypoint, ...], following: OutputAnchor) -> bool:
        """Whether a stretch of a trace is passed by nobody else."""
        return self.blocked(via, following) is None

    def blocked(
        self, via: tuple[Waypoint, ...], following: OutputAnchor
    ) -> tuple[str, Waypoint] | None:
        """Why a stretch of a trace is not for this copy alone: the code and where; or None."""
        for point in (*via, Waypoint(following.node, following)):
            if self.is_control_flow(point.node):
                return "R3_CONTROL_FLOW", point
            if point.output is None:
                continue
            if self.has_hidden_fork(point.output):
                return "R3_HIDDEN_FORK", point
            if len(point.output.readers) > 1:
                return "R3_SHARED_ABOVE", point
        return None

    def has_hidden_fork(self, output: OutputAnchor) -> bool:
        """Whether another output of the node is the same input's memory, and is read."""
        node = output.node
        if len(node.outputs) < 2:
            return False
        at = ref_of(output, self.ops)
        return at is not None and any(
            other is not output and other.readers and ref_of(other, self.ops) == at
            for other in node.outputs
        )

    # ---- types ---------------------------------------------------------------------------------

    def _types(self, anchor: Anchor) -> list[str]:
        node = anchor.node
        found: list[str] = []
        if is_free_join(node) or is_free_split(node):
            found.append("pieces")
        if isinstance(anchor, InputAnchor):
            if self.effects.plain_kind(anchor).writes:
                found.append("writes")
            if node.op == "NetOutput" and node.graph is self.root:
                found.append("results")
            if node.attrs.get("continuous_input") and len(node.inputs) > 1:
                found.append("rows")
            return found
        if _names_memory(anchor):
            found += ("writes", "named")
        if self.ops.kind(node) in ("constant", "variable") or (
            node.op in DATA_LIKE and node.graph is self.root
        ):
            found.append("fixed")
        return found

    def neighbours(self, one: Anchor, other: Anchor) -> tuple[Anchor, Anchor] | None:
        """Two inputs of one node, one in either memory, that must lie side by side."""
        known = {anchor.node: anchor for anchor in self.memory.of_type(one, "rows")}
        for anchor in self.memory.of_type(other, "rows") if known else ():
            if anchor.node in known:
                return known[anchor.node], anchor
        return None

    # ---- keeping up ----------------------------------------------------------------------------

    def removed(
        self, copy_input: InputAnchor, source: OutputAnchor, gone: OutputAnchor | None
    ) -> None:
        """A copy has been removed from the graph; its readers are fed by its source now.

        Args:
            gone: what they read, None for a copy without an output.
        """
        self.order.vouch()
        self.readers.bypassed(copy_input, source, gone)
        if gone is not None:
            self.sources.replaced(gone, source)
        for classes in (self.memory, self.symbols):
            if gone is not None and copy_input in classes and gone in classes:
                classes.join(copy_input, gone)
            classes.discard(copy_input)
            if gone is not None:
                classes.discard(gone)


def _names_memory(output: OutputAnchor) -> bool:
    """Whether an output, or its node, says which variable's memory it is."""
    names = (output.node.attrs.get(NAME_MARK), output.desc.attrs.get(NAME_MARK))
    return any(isinstance(name, str) and name for name in names)
