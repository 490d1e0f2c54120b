"""Puts copies in: guarded, in their place and order, each with the remark that says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ge_core.api import (
    Graph,
    InputAnchor,
    Node,
    OutputAnchor,
    PassContext,
    listed_order,
)
from ge_memconflict.companions.memories import Memories, TooLong
from ge_memconflict.identities import NO_FOLDING, RESERVED, insert_identity

KEPT: Final[Mapping[str, Any]] = {RESERVED: True, NO_FOLDING: False}
"""Marks of a copy that nobody may remove as a useless one."""
_STEPS_PER_NODE: Final = 100
_CLEARS: Final = frozenset({"AtomicAddrClean", "MemSet"})
"""What clears memory for a node goes on doing so for it, and not for the copy."""


class Copier:
    """Puts copies into the graphs below one root, during one run of a pass.

    Attributes:
        memories: what a copy must not change; made when the first one is wanted.
    """

    def __init__(self, ctx: PassContext) -> None:
        self.ctx = ctx
        self._memories: Memories | None = None
        self._waited: dict[Node, tuple[Node, ...]] = {}
        self._sorted: set[Graph] = set()
        self._numbers: dict[str, int] = {}

    @property
    def memories(self) -> Memories:
        """What is one memory, and who changes it."""
        if self._memories is None:
            root = self.ctx.environment.root
            most = _STEPS_PER_NODE * sum(len(graph) for graph in root.all_graphs())
            self._memories = Memories(root, self.ctx.ops, self.ctx.order, most)
        return self._memories

    def numbered(self, stem: str) -> str:
        """`<stem>_<n>`, counted through one run of the pass."""
        root = self.ctx.environment.root
        number = self._numbers.get(stem, 0)
        while root.find(f"{stem}_{number}") is not None:
            number += 1
        self._numbers[stem] = number + 1
        return f"{stem}_{number}"

    def in_front(
        self,
        reader: InputAnchor,
        name: str,
        code: str,
        *,
        attrs: Mapping[str, Any] | None = None,
        also: Sequence[InputAnchor] = (),
        handed_back: bool = False,
        **about: Any,
    ) -> Node | None:
        """A copy for one input, which waits for all that the input's node waited for.

        Args:
            reader: the input; connected.
            code: why, with the fields of its text in `about`.
            also: further readers of the same value, listed behind, that read the copy too.
            handed_back: the caller stores in the value whatever is stored in the copy.

        Returns:
            the copy; None, and nothing done but a remark, where it would change what is computed.
        """
        source = reader.source
        assert source is not None
        groups = [[reader, *also]]
        copy = self.shared(
            [source], groups, name, code, attrs=attrs, handed_back=handed_back, **about
        )
        if copy is not None:
            self._take_waits(copy, reader.node)
        return copy

    def shared(
        self,
        feeds: Sequence[OutputAnchor],
        readers: Sequence[Sequence[InputAnchor]],
        name: str,
        code: str,
        *,
        attrs: Mapping[str, Any] | None = None,
        blame: Sequence[Any] | None = None,
        hint: Any = None,
        handed_back: bool = False,
        **fields: Any,
    ) -> Node | None:
        """One copy of several values, listed before the first of their readers.

        Values whose copy would change what is computed are left out; see `in_front`.
        """
        graph = feeds[0].node.graph
        assert graph is not None
        self._sort(graph)
        first = min((r.node for group in readers for r in group), key=self.memories.places.of)
        chosen = [
            (feed, group)
            for feed, group in zip(feeds, readers, strict=True)
            if not self._is_seen(feed, group, first, handed_back)
        ]
        if not chosen:
            return None
        copy = insert_identity(
            [feed for feed, _ in chosen],
            [group for _, group in chosen],
            name,
            attrs,
            at=first,
        )
        self.memories.places.added(copy, before=first)
        self.memories.joined(copy)
        self._keep_streams(copy)
        feed, group = chosen[0]
        sizes = [output.desc.nbytes for output in copy.outputs]
        known = [size for size in sizes if size is not None]
        self.ctx.missed(
            copy,
            code,
            blame=[feed, group[0]] if blame is None else blame,
            bytes=sum(known) if len(known) == len(sizes) else None,
            hint=hint,
            **fields,
        )
        return copy

    def _is_seen(
        self, feed: OutputAnchor, group: Sequence[InputAnchor], first: Node, handed_back: bool
    ) -> bool:
        """Whether somebody could tell the copy from the value; then that is said."""
        reader = group[0]
        try:
            seen = self.memories.seen_apart(feed, group, first, handed_back=handed_back)
        except TooLong:
            self.ctx.analysis(reader.node, "SEARCH_LIMIT", blame=[feed, reader], reader=reader)
            return True
        if seen is None:
            return False
        self.ctx.analysis(
            reader.node,
            "COPY_WOULD_HIDE_A_STORE",
            blame=[seen.writer, seen.other],
            writer=seen.writer,
            other=seen.other,
            reader=reader,
        )
        return True

    def _sort(self, graph: Graph) -> None:
        """List a graph as it runs, so that "before" a node means before it runs."""
        if graph in self._sorted:
            return
        self._sorted.add(graph)
        order = listed_order(graph)
        if any(one is not other for one, other in zip(order, graph.nodes, strict=True)):
            graph.reorder(order)

    def _take_waits(self, copy: Node, reader: Node) -> None:
        """Move what a node waits for to a copy in front of it; copies before and after share it."""
        graph = copy.graph
        assert graph is not None
        waits = self._waited.setdefault(reader, tuple(reader.control_inputs))
        for other in waits:
            if other.graph is not graph or other.op in _CLEARS:
                continue
            graph.add_control(other, copy)
            graph.remove_control(other, reader)

    def _keep_streams(self, copy: Node) -> None:
        """Order the copy and what writes its memory on other streams as they are listed.

        Of each stream the last before it and the first behind it: the stream orders the others.
        """
        graph = copy.graph
        assert graph is not None
        place, before = self.memories.places.of, self.memories.places.before
        last: dict[int, Node] = {}
        first: dict[int, Node] = {}
        for writer in self.memories.foreign_writers(copy):
            stream = writer.stream_id
            if before(writer, copy):
                last[stream] = max(last.get(stream, writer), writer, key=place)
            else:
                first[stream] = min(first.get(stream, writer), writer, key=place)
        for writer in last.values():
            graph.add_control(writer, copy)
        for writer in first.values():
            graph.add_control(copy, writer)
