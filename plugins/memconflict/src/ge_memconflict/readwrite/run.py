"""What one run of HandleMemoryRWConflict knows of the graph, and how it says what it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ge_core.api import (
    AliasClasses,
    Effects,
    Graph,
    InputAnchor,
    InputKind,
    Interfaces,
    LayoutChecks,
    Node,
    OutputAnchor,
    OutputKind,
    PassContext,
    Scheme,
    blame_two,
    is_subgraph_data,
)
from ge_memconflict.identities import RESERVED
from ge_memconflict.readwrite.memory import Memories
from ge_memconflict.readwrite.times import Times

SKIP: Final = "_skip_rw_conflict"
_LOOPS: Final = ("while", "loop", "scan")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an Identity stays: a code, who is to blame, and what its text says."""

    code: str
    blame: tuple[Any, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    hint: Any = None


class Run:
    """The tables behind all decisions.

    Attributes:
        nodes: the nodes there were at the start; what is put in on the way is not visited.
        effects: kinds of anchors.
        ends: the ends of subgraphs, which stay what they are.
        insertions, removals: how many Identity nodes were put in and taken out.
    """

    def __init__(self, ctx: PassContext, search_limit: int) -> None:
        env = ctx.environment
        self.ctx = ctx
        self.ops = env.ops
        self.root = env.root
        self.nodes = list(env.root.all_nodes())
        self.ends = Interfaces(lasting=True)
        self.effects = Effects(self.ops, self.ends, lasting=True)
        self._limit = search_limit * len(self.nodes)
        self.insertions = self.removals = 0
        self._inner_kinds: dict[tuple[Any, ...], InputKind] = {}
        self._verdicts: dict[tuple[OutputKind, InputKind], bool] = {}
        self._memories: Memories | None = None
        self._times: Times | None = None
        self._layout: tuple[LayoutChecks, AliasClasses] | None = None
        self._in_loop: dict[Graph | None, bool] = {}

    # ---- kinds ---------------------------------------------------------------------------------

    def input_kind(self, anchor: InputAnchor) -> InputKind:
        """The kind of an input; that of a node with subgraphs is told once per subgraph and place.

        No edit of this pass changes it: what it puts behind an inner input reads only, in front of
        nodes that are looked at themselves.
        """
        node = anchor.node
        if not node.subgraphs:
            return self.effects.input_kind(anchor)
        desc = anchor.own_desc
        key = (
            node.op,
            anchor.index,
            len(node.inputs),
            node.attrs.get("captured"),
            None if desc is None else desc.attrs.get("_special_input_size"),
            *node.subgraphs.values(),
        )
        found = self._inner_kinds.get(key)
        if found is None:
            found = self._inner_kinds[key] = self.effects.input_kind(anchor)
        return found

    def conflict(self, output: OutputKind, reader: InputKind) -> bool:
        """The checker's verdict."""
        found = self._verdicts.get((output, reader))
        if found is None:
            found = bool(self.ctx.read_write.conflict(output, reader))
            self._verdicts[output, reader] = found
        return found

    def may_conflict(self, readers: Iterable[InputKind]) -> bool:
        """Whether readers of these kinds could need a copy of any output."""
        return any(self.wants_copy(kind, how) for how in readers for kind in OutputKind)

    def wants_copy(self, output: OutputKind, reader: InputKind) -> bool:
        """Whether a copy would help: kinds that can't be told stay as they are."""
        if output is OutputKind.INVALID or reader is InputKind.INVALID:
            return False
        return self.conflict(output, reader)

    # ---- nodes ---------------------------------------------------------------------------------

    def in_loop(self, node: Node) -> bool:
        """Whether a node stands directly in a subgraph of a loop."""
        graph = node.graph
        found = self._in_loop.get(graph)
        if found is None:
            callers = [] if graph is None else graph.callers
            found = any(self.ops.kind(caller) in _LOOPS for caller, _ in callers)
            self._in_loop[graph] = found
        return found

    def is_border(self, node: Node) -> bool:
        """Whether a node is an input or the end of a subgraph."""
        graph = node.graph
        if graph is None or graph.is_root:
            return False
        return is_subgraph_data(node) or self.ops.kind(node) in ("data", "net_output")

    def is_skipped(self, node: Node) -> bool:
        """Whether GE passes a node over."""
        return self.in_loop(node) or self.is_border(node) or bool(node.attrs.get(RESERVED))

    def fresh_name(self, feed: OutputAnchor) -> str:
        """The name of the next Identity: its producer's, and a running number."""
        self.insertions += 1
        return f"{feed.node.name}_Identity{self.insertions - 1}"

    # ---- what is made when it is needed --------------------------------------------------------

    @property
    def memories(self) -> Memories:
        """What each memory is used for; asked once nothing but Identities is edited any more."""
        if self._memories is None:
            self._memories = Memories(self.root, self.ops, self.effects, self.ends)
        return self._memories

    @property
    def times(self) -> Times:
        """What runs before what."""
        if self._times is None:
            self._times = Times(self.root, self.ops)
        return self._times

    @property
    def layout(self) -> tuple[LayoutChecks, AliasClasses] | None:
        """The layout rules and the classes that they are asked about; None without rules."""
        checkers = self.ctx.layout_checkers
        types = self.ctx.environment.anchor_types
        if not checkers or types is None:
            return None
        if self._layout is None:
            checks = LayoutChecks(
                checkers, self.root, self.ops, self.ctx.option, target=self.ctx.target
            )
            classes = AliasClasses(self.root, self.ops, Scheme.SYMBOLS, types.of)
            self._layout = checks, classes
        return self._layout

    def take_out(self, identity: Node) -> None:
        """Remove an Identity; whoever still reads it reads what it copied."""
        assert identity.graph is not None
        if self._layout is not None:
            classes = self._layout[1]
            if identity.outputs[0].readers:
                classes.join(identity.inputs[0], identity.outputs[0])
            for anchor in (identity.inputs[0], identity.outputs[0]):
                classes.discard(anchor)
        identity.graph.bypass(identity)

    def may_search(self) -> bool:
        """Whether comparing more accesses is within the bound on work."""
        return self.steps <= self._limit

    @property
    def steps(self) -> int:
        """Anchors and edges walked over, and nodes compared, so far."""
        memories, times = self._memories, self._times
        walked = 0 if memories is None else memories.steps
        return walked if times is None else walked + times.steps + times.order.steps

    # ---- saying --------------------------------------------------------------------------------

    def kept(self, node: Node, why: Refusal) -> None:
        """Say why an Identity stays; what the pass that put it in said of it stands."""
        said = self.ctx.environment.remarks.final(node.name)
        if node.origin == () and said is not None:
            return
        self.ctx.missed(
            node,
            why.code,
            blame=blame_two(node, list(why.blame)),
            bytes=copied(node),
            hint=why.hint,
            **why.fields,
        )

    def removed(self, node: Node, code: str, **fields: Any) -> None:
        """Say that an Identity goes; called before it does."""
        self.removals += 1
        self.ctx.applied(node, code, bytes=copied(node), **fields)


def copied(node: Node) -> int | None:
    """Bytes that an Identity copies; None where a size is not known."""
    sizes = [output.desc.nbytes for output in node.outputs]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
