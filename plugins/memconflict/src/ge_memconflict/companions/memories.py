"""Whether anybody could tell if a reader had a copy, or if a copy were not there.

GE's rules look at direct readers and at edges. A graph means what it computes in its listed order,
so a store may be seen behind views, in calls, by readers that only the listing puts behind it, or
in the next turn of a loop. Where it is, a copy in front of the store would hide it; the passes ask
here first and leave such a place alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ge_core.api import (
    AliasClasses,
    Anchor,
    Effects,
    Graph,
    InputAnchor,
    InputKind,
    Interfaces,
    Node,
    OpRegistry,
    Order,
    OutputAnchor,
    Scheme,
    lifted,
)
from ge_memconflict.companions.marks import is_constant, is_variable
from ge_memconflict.companions.nearby import Near, Nearby
from ge_memconflict.companions.places import Places
from ge_memconflict.companions.turns import Turns
from ge_memconflict.companions.ways import makers, up

_WRITES: Final = "writes"
_SCRIBBLES: Final = "scribbles"
_LASTING: Final = "lasting"
_CONSTANT: Final = "constant"
_OWNED: Final = "owned"
_RESULTS: Final = "results"
_NAMES: Final = ("ref_var_src_var_name",)
_LOOPS: Final = frozenset({"while", "loop", "scan"})
_ARMS: Final = frozenset({"if", "case"})


@dataclass(frozen=True, slots=True)
class Seen:
    """Why a copy makes a difference.

    Attributes:
        writer: what changes the memory.
        other: who could tell, or whose memory must stay as it is.
    """

    writer: Anchor
    other: Anchor


class TooLong(Exception):
    """The search for a difference has used up what it may cost."""


class Memories:
    """What is one memory below a root, who changes it, and in which order.

    Made once per run of a pass. Copies that are put in since leave memories together that are two
    by now (`joined`), so that an answer may be "yes, it makes a difference" where it makes none;
    never the other way round.

    Args:
        most_steps: how many accesses may be compared, in all questions together.

    Attributes:
        places: where nodes stand in their listings.
        steps: accesses compared so far.
    """

    def __init__(self, root: Graph, ops: OpRegistry, order: Order, most_steps: int) -> None:
        self._root = root
        self._ops = ops
        self._order = order
        self._ends = Interfaces(lasting=True)
        self._effects = Effects(ops, self._ends)
        self._nearby = Nearby(ops, self._ends)
        self._classes = AliasClasses(root, ops, Scheme.MEMORY, self._types)
        self._most = most_steps
        self._turns = Turns(self._classes, ops, _LASTING)
        self._streams = len({node.stream_id for node in root.all_nodes()})
        self.places = Places()
        self.steps = 0

    # ---- keeping up ----------------------------------------------------------------------------

    def joined(self, copy: Node) -> None:
        """A copy has been put in; it and what it copies stay together here."""
        for anchor, output in zip(copy.inputs, copy.outputs, strict=True):
            if anchor.source is not None:
                self._classes.join(anchor.source, anchor)
                self._classes.join(anchor.source, output)

    def stored(self, store: Node, behind: Node) -> None:
        """A store into the memory of its input 0 has been put in behind a node."""
        self.places.added_behind(store, behind)
        for target, anchor in ((0, store.inputs[0]), (0, store.outputs[0]), (1, store.inputs[1])):
            source = store.inputs[target].source
            assert source is not None
            self._classes.join(source, anchor)

    def removed(self, source: OutputAnchor, copy: Node) -> None:
        """A copy of a value has been taken out."""
        if not self._classes.same(source, copy.outputs[0]):
            self._classes.join(source, copy.outputs[0])
        self.forget(copy)

    def forget(self, node: Node) -> None:
        """A node has been taken out."""
        for anchors in (node.inputs, node.outputs):
            for anchor in anchors:
                self._classes.discard(anchor)

    # ---- asking --------------------------------------------------------------------------------

    def foreign_writers(self, copy: Node) -> Iterator[Node]:
        """What, in the copy's graph, changes what it copies and runs on another stream."""
        if self._streams < 2 or copy.graph is None:
            return
        own = self._nearby.of(reader for output in copy.outputs for reader in output.readers)
        for anchor in copy.inputs:
            assert anchor.source is not None
            for writer in self._writers(anchor.source, (_WRITES, _SCRIBBLES)):
                if writer not in own and isinstance(writer, InputAnchor):
                    around = lifted(writer.node, copy.graph)
                    yield from (n for n in around if n.stream_id != copy.stream_id)

    def is_owned(self, output: OutputAnchor) -> bool:
        """Whether a value is a graph input's own memory, which the caller may look at."""
        return output in self._classes and self._classes.count(output, _OWNED) > 0

    def is_of_constants(self, output: OutputAnchor) -> bool:
        """Whether a value can only be a constant's memory, through views and calls."""
        *_, top = up(output, self._ops)
        return all(is_constant(made.node, self._ops) for made in makers(top, self._ops, self._ends))

    def is_updated_twice(self, target: InputAnchor) -> bool:
        """Whether a node updates the memory of an input by another one of its inputs too."""
        source = target.source
        return source is not None and any(
            other is not target
            and other.source is not None
            and _WRITES in self._types(other)
            and self._classes.same(source, other.source)
            for other in target.node.inputs
        )

    def storing(self, readers: Iterable[InputAnchor], graph: Graph) -> list[Node]:
        """The nodes of a graph that update what these inputs read, or in which that happens."""
        found: dict[Node, None] = {}
        for anchor in self._nearby.of(readers):
            if isinstance(anchor, InputAnchor) and _WRITES in self._types(anchor):
                found.update(dict.fromkeys(lifted(anchor.node, graph)))
        return sorted(found, key=self.places.of)

    def seen_apart(
        self,
        source: OutputAnchor,
        readers: Iterable[InputAnchor],
        place: Node,
        *,
        handed_back: bool = False,
    ) -> Seen | None:
        """Who could tell if these readers read a copy of a value, made just before `place` runs.

        None where nobody could. What a node destroys for its own use concerns nobody.

        Args:
            handed_back: what is stored in the copy is stored in the value right behind, so that
                only what others store may be missed.
        """
        readers = list(readers)
        if all(self._ops.kind(reader.node) == "while" for reader in readers):
            return None  # what a loop is given is its own: nobody sees what becomes of it
        if self.is_of_constants(source):
            return None  # a store into a constant is one into a private copy
        self._turns.look_at(source)
        try:
            writers = self._writers(source, (_WRITES,))
            if not writers:
                return None
            near = self._nearby.of(readers, source)
            if handed_back:
                return self._missed(source, writers, near, place)
            found = self._lasting(source, writers, near, place, (_LASTING, _OWNED))
            return found or self._out_of_order(source, writers, near, place)
        finally:
            self._turns.look_at(None)

    def seen_together(self, copy: Node, *, planted: bool) -> Seen | None:
        """Who could tell if a one-tensor copy were gone, and its readers read what it copies.

        Args:
            planted: a pass put it in, so that without it the graph is as it came.
        """
        source, given = copy.inputs[0].source, copy.outputs[0]
        assert source is not None
        kinds = (_WRITES, _SCRIBBLES)
        near = self._nearby.of(given.readers, source)
        writers = [*self._writers(source, kinds), *self._writers(given, kinds)]
        guarded = (_LASTING, _CONSTANT) if planted else (_LASTING, _CONSTANT, _OWNED)
        found = self._lasting(source, writers, near, copy, guarded)
        if found is None and not planted:
            found = self._handed_out(source, given) or self._at_once(source, writers, near)
        return found or self._out_of_order(source, writers, near, copy, joining=True)

    def _lasting(
        self,
        source: OutputAnchor,
        writers: list[Anchor],
        near: Near,
        place: Node,
        kinds: tuple[str, ...],
    ) -> Seen | None:
        """Memory that somebody looks at later, whoever reads it meanwhile."""
        writer = next((each for each in writers if each in near), None)
        if writer is None:
            return None
        for kind in kinds:
            for other in self._classes.of_type(source, kind):
                if near.is_far(other) and self._turns.has(other):
                    return Seen(writer, other)
        if self._comes_back(source, near, place):
            return Seen(writer, source)
        return None

    def _handed_out(self, source: OutputAnchor, given: OutputAnchor) -> Seen | None:
        """A result of the graph that would lie where an input, a constant or a result does."""
        results = self._classes.of_type(given, _RESULTS)
        for kind in (_OWNED, _CONSTANT, _LASTING, _RESULTS) if results else ():
            for other in self._classes.of_type(source, kind):
                if other is not given:
                    return Seen(results[0], other)
        return None

    def _at_once(self, source: OutputAnchor, writers: list[Anchor], near: Near) -> Seen | None:
        """A node that would change the memory of another of its inputs."""
        changed = {w.node: w for w in writers if isinstance(w, InputAnchor)}
        for of_near in (True, False) if changed else ():
            for other in self._accesses(source, near, of_near=of_near):
                writer = changed.get(other.node)
                if writer is not None and (near.is_far(writer) if of_near else writer in near):
                    return Seen(writer, other)
        return None

    def _out_of_order(
        self,
        source: OutputAnchor,
        writers: list[Anchor],
        near: Near,
        place: Node,
        *,
        joining: bool = False,
    ) -> Seen | None:
        """An access on the one side that comes behind a write on the other."""
        near_writers = [w for w in writers if w in near and isinstance(w, InputAnchor)]
        if near_writers:
            for other in self._accesses(source, near, of_near=False):
                for writer in near_writers:
                    if self._may_follow(other, writer) or (
                        joining and not self._surely_before(other, writer)
                    ):
                        return Seen(writer, other)
        return self._missed(source, writers, near, place, joining=joining)

    def _missed(
        self,
        source: OutputAnchor,
        writers: list[Anchor],
        near: Near,
        place: Node,
        *,
        joining: bool = False,
    ) -> Seen | None:
        """An access on the readers' side that comes behind a write on the other."""
        far_writers = [w for w in writers if near.is_far(w) and isinstance(w, InputAnchor)]
        later = [w for w in far_writers if self._runs_later(w.node, place)]
        # What ran before the copy runs again behind it where the whole graph does.
        again = far_writers if self._comes_back(source, near, place) else later
        for other in self._accesses(source, near, of_near=True) if again else ():
            for writer in later if other.node.graph is place.graph else again:
                if self._may_follow(other, writer) or (
                    joining and not self._surely_before(other, writer)
                ):
                    return Seen(writer, other)
        return None

    def _writers(self, output: OutputAnchor, kinds: tuple[str, ...]) -> list[Anchor]:
        if output not in self._classes:
            return []
        found = (self._classes.of_type(output, k) for k in kinds if self._classes.count(output, k))
        return [anchor for anchors in found for anchor in anchors if self._turns.has(anchor)]

    def _accesses(
        self, source: OutputAnchor, near: Near, *, of_near: bool
    ) -> Iterator[InputAnchor]:
        """Inputs that read or change the memory when their node runs, of one side."""
        members = near if of_near else self._classes.members(source)
        for anchor in members:
            is_mine = (of_near or near.is_far(anchor)) and self._turns.has(anchor)
            if is_mine and isinstance(anchor, InputAnchor) and self._is_access(anchor):
                yield anchor

    def _is_access(self, anchor: InputAnchor) -> bool:
        """Whether the node itself touches the memory: calls and their ends only hand it on."""
        node = anchor.node
        kind = self._ops.kind(node)
        if kind == "net_output" and node.graph is not None and not node.graph.is_root:
            return any(self._ops.kind(caller) != "call" for caller, _ in node.graph.callers)
        if not node.subgraphs or kind not in ("call", *_ARMS):
            return True
        return kind != "call" and anchor.index == 0  # which arm runs

    # ---- order ---------------------------------------------------------------------------------

    def _may_follow(self, one: InputAnchor, other: InputAnchor) -> bool:
        """Whether the one may be accessed after the other; a node reads before it writes."""
        return one.node is not other.node and self._runs_later(one.node, other.node)

    def _runs_later(self, one: Node, other: Node) -> bool:
        """Whether the one may run after the other, or while it does."""
        self.steps += 1
        if self.steps > self._most:
            raise TooLong
        if one is other:
            return False
        return not self._order.exclusive(one, other) and not self.places.before(one, other)

    def _surely_before(self, one: InputAnchor, other: InputAnchor) -> bool:
        """Whether edges or a common stream keep two accesses in the order that they are listed in.

        Listed in the other order they have been looked at already.
        """
        first, second = one.node, other.node
        if first is second or self._streams < 2:
            return True
        if first.graph is second.graph and first.stream_id == second.stream_id:
            return True
        return self._order.depends(first, second) or self._order.exclusive(first, second)

    def _comes_back(self, source: OutputAnchor, near: Near, place: Node) -> bool:
        """Whether a copy would be made again and again of memory from outside its graph."""
        graph = place.graph
        if graph is None or graph.is_root or not self._runs_again(graph):
            return False
        return any(
            isinstance(anchor, OutputAnchor)
            and anchor not in near
            and anchor.node.graph is not graph
            and self._turns.has(anchor)
            for anchor in self._classes.members(source)
        )

    def _runs_again(self, graph: Graph) -> bool:
        seen = {graph}
        waiting = [graph]
        while waiting:
            callers = list(dict.fromkeys(waiting.pop().callers))
            if len(callers) > 1 or any(self._ops.kind(c) in _LOOPS for c, _ in callers):
                return True
            for caller, _ in callers:
                if caller.graph is not None and caller.graph not in seen:
                    seen.add(caller.graph)
                    waiting.append(caller.graph)
        return False

    # ---- types ---------------------------------------------------------------------------------

    def _types(self, anchor: Anchor) -> tuple[str, ...]:
        node = anchor.node
        if isinstance(anchor, InputAnchor):
            kind = self._effects.plain_kind(anchor)
            if kind is InputKind.WRITEABLE:
                return (_WRITES,)
            if kind is InputKind.SCOPE_WRITEABLE:
                return (_SCRIBBLES,)
            return (
                (_RESULTS,) if self._ops.kind(node) == "net_output" and self._at_top(node) else ()
            )
        if is_variable(node, self._ops) or any(
            name in anchor.desc.attrs or name in node.attrs for name in _NAMES
        ):
            return (_LASTING,)
        if is_constant(node, self._ops):
            return (_CONSTANT,)
        return (_OWNED,) if self._ops.kind(node) == "data" and self._at_top(node) else ()

    def _at_top(self, node: Node) -> bool:
        return node.graph is self._root
