"""`WriteBackRemovePass`: ops that update a variable work on it, instead of on a copy of it.

Functionalisation turns an update in place into three steps: the variable is copied (or the update
makes a new tensor), the copy is updated, and the result is assigned to the variable. Where nobody
needs the old value once the update begins, and the variable ends with what the update made, all of
it can be done on the variable's own memory: two copies of the whole less in every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ge_core.api import (
    PAIRS_OPTION,
    Graph,
    GraphError,
    GraphPass,
    InputAnchor,
    Keep,
    Node,
    PassContext,
    blame_two,
    is_write_back,
)
from ge_tensormove.writeback.chain import Chain
from ge_tensormove.writeback.codes import CODES
from ge_tensormove.writeback.edits import apply, place_ahead
from ge_tensormove.writeback.halves import saved_for, why_saved
from ge_tensormove.writeback.merge import Clash, merge_all
from ge_tensormove.writeback.returned import has_pairs, returned
from ge_tensormove.writeback.scene import Scene

_MOST_ROUNDS = 4
"""So often it is tried for which write-backs one copy would be enough."""
_MARKS = "_cannot_be_deleted", "no_need_constant_folding"


@dataclass(frozen=True)
class WriteBackRemovePass(GraphPass, codes=CODES):
    """Has ops that update a copy of a variable, or beside it, work on the variable itself."""

    search_limit: int = 100
    """Searches for the order of nodes look at no more edges, all together, than this many per node
    of the graph; then edges are added unasked, and no reader is brought forward."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at the write-backs of all graphs at once, until none of those left can go."""
        if not graph.is_root:
            return
        stores = [node for node in graph.all_nodes() if _is_candidate(node, ctx)]
        if stores or has_pairs(ctx.option(PAIRS_OPTION)):
            _Run(ctx, self.search_limit).run(stores)


def _is_candidate(node: Node, ctx: PassContext) -> bool:
    """Whether a node stores a whole value, and both are there."""
    if not is_write_back(node, ctx.ops) or len(node.outputs) != 1:
        return False
    return all(anchor.source is not None for anchor in node.inputs[:2])


class _Run:
    def __init__(self, ctx: PassContext, search_limit: int) -> None:
        self._ctx = ctx
        self._limit = search_limit
        self._scene = Scene(ctx, search_limit)
        self._kept: dict[Node, tuple[Chain, Clash]] = {}

    def run(self, stores: Sequence[Node]) -> None:
        """Do without as many write-backs as can be; say of all others why they stay."""
        waiting = list(stores)
        while waiting:
            # What has gone may have changed the order, so those that stayed are asked again.
            stayed = [store for store in waiting if not self._remove(store)]
            waiting = stayed if len(stayed) < len(waiting) else []
        self._remove_halves()
        for chain, clash in self._kept.values():
            self._say_kept(chain.store, clash.keep, chain.nbytes)
        for chain in returned(self._scene):
            self._return(chain)
        self._scene.known.relist()

    def _return(self, chain: Chain) -> None:
        """Have those who need a graph input's old value come before it is updated in place."""
        with self._scene.known.root.transaction() as edits:
            clash = merge_all(self._scene, chain)
            if clash is not None:
                edits.rollback()
        for link in chain.links:
            if clash is not None:
                self._say_kept(link.node, clash.keep, chain.nbytes)
                continue
            fields = {"input": chain.target.node.name, "output": chain.value.index}
            ctx = self._in_graph(link.node)
            ctx.applied(link.node, "RETURNED_IN_PLACE", bytes=chain.nbytes, **fields)

    def _remove(self, store: Node) -> bool:
        """Do without a write-back and the copies before it; False where it stays, for now."""
        chain, clash = self._attempt(store)
        if clash is not None:
            self._kept[store] = chain, clash
            return False
        self._kept.pop(store, None)
        self._said_gone(chain)
        return True

    def _attempt(self, store: Node) -> tuple[Chain, Clash | None]:
        """Edit the graph, or leave it as it was and answer why."""
        chain = self._scene.chains.of(store)
        with self._scene.known.root.transaction() as edits:
            clash = self._tried(chain)
            if clash is not None:
                edits.rollback()
        if clash is None:
            self._scene.look_again()
        return chain, clash

    def _tried(self, chain: Chain) -> Clash | None:
        """Make the edits; why not, where they are to be taken back."""
        keep = _unfit(chain, self._scene) or _ruled(chain, self._scene)
        if keep is not None:
            if keep.code == "W_RESERVED" and merge_all(self._scene, chain) is not None:
                keep = replace(keep, hint=None)  # the mark is not all that is in the way
            return Clash(keep)
        try:
            clash = merge_all(self._scene, chain)
            if clash is None:
                apply(self._scene, chain)
        except GraphError as error:
            return Clash(_vague(chain, error.plain_message))
        return clash

    def _remove_halves(self) -> None:
        """Keep one copy, for those who are in the way, and do without the others.

        For all write-backs at once, as the graph has to be read anew. Where some can't go even so,
        all is taken back and done again without them: what one has saved others may rely on.
        """
        stores = list(self._kept)
        for _ in range(_MOST_ROUNDS):
            if not stores:
                return
            stores, done = self._try_halves(stores)
            if done:
                return
        self._scene = Scene(self._ctx, self._limit)

    def _try_halves(self, stores: Sequence[Node]) -> tuple[list[Node], bool]:
        """The write-backs that can go, and whether that is what the graph is now."""
        self._scene.known.relist()
        root, known = self._scene.known.root, self._scene.known
        gone: list[tuple[Node, Chain, Keep]] = []
        with root.transaction() as edits:
            saved: dict[Node, tuple[Node, Keep]] = {}
            taken: set[InputAnchor] = set()
            for store in stores:
                chain, clash = self._kept[store]
                if taken.isdisjoint(clash.in_the_way):
                    node = saved_for(chain, clash, known)
                    if node is not None:
                        taken.update(clash.in_the_way)
                        saved[store] = node, why_saved(chain, clash)
            if not saved:
                return [], True
            # Who reads the copies reads what it read before: only the graph is another one.
            self._scene = Scene(self._ctx, self._limit)
            for store, (node, keep) in saved.items():
                chain, left = self._attempt(store)
                if left is None:
                    gone.append((node, chain, keep))
            if len(gone) < len(saved):
                edits.rollback()
        if len(gone) < len(saved):
            self._scene = Scene(self._ctx, self._limit)
            return [chain.store for _, chain, _ in gone], False
        for node, chain, keep in gone:
            del self._kept[chain.store]
            self._said_gone(chain)
            self._say_kept(node, keep, chain.nbytes)
        return [], True

    # ---- remarks -------------------------------------------------------------------------------

    def _said_gone(self, chain: Chain) -> None:
        memory = chain.target.node.name
        for number, link in enumerate(chain.links):
            code = "COPY_GONE" if link.is_copy else "WORKS_IN_PLACE"
            if number == 0 and not chain.is_closed:
                code = "STORED_AHEAD"
            saved = chain.nbytes if code == "COPY_GONE" else 0
            self._in_graph(link.node).applied(link.node, code, bytes=saved, memory=memory)
        store = chain.store
        self._in_graph(store).applied(store, "WRITE_BACK_GONE", bytes=chain.nbytes, memory=memory)

    def _say_kept(self, node: Node, keep: Keep, size: int | None) -> None:
        self._in_graph(node).missed(
            node, keep.code, blame=keep.blame, bytes=size, hint=keep.hint, **keep.fields
        )

    def _in_graph(self, node: Node) -> PassContext:
        """Remarks name the graph that a node is in; the root for one that is gone."""
        ctx = self._ctx
        graph = node.graph or ctx.graph
        return PassContext(ctx.environment, ctx.declaration, graph, None, ctx.counters)


def _unfit(chain: Chain, scene: Scene) -> Keep | None:
    """Why a chain isn't even looked at."""
    if chain.nbytes is None or chain.target.desc.nbytes != chain.nbytes:
        return _vague(chain, "not all of it has one known size")
    if not chain.is_closed and not chain.links:
        fields = {"memory": chain.target.node.name, "source": chain.source.node.name}
        return Keep("W_MADE_APART", blame=[chain.source, chain.target], fields=fields)
    if not chain.is_closed and place_ahead(scene, chain) is None:
        node = chain.links[0].node
        fields = {"first": chain.target.node.name, "second": node.name}
        return Keep("W_ORDER", blame=[chain.target, node], fields=fields)
    for node in (*(link.node for link in chain.links if link.is_copy), chain.store):
        mark = _MARKS[0] if node.attrs.get(_MARKS[0]) else _MARKS[1]
        if node.origin and (node.attrs.get(_MARKS[0]) or _MARKS[1] in node.attrs):
            hint = {"unmark": f"{node.name} {mark}"}
            return Keep("W_RESERVED", blame=[node, chain.target], hint=hint)
        if node.name in scene.known.kept:
            return Keep("W_RAISES_PEAK", blame=[node, chain.target], hint="--objective copies")
    return None


def _ruled(chain: Chain, scene: Scene) -> Keep | None:
    """What a plugin's rule says against a copy's going, or its becoming a store.

    The hint is left out, as it isn't known whether everything else would do.
    """
    for link in chain.links:
        keep = scene.ctx.kept_by_rule(link.node) if link.is_copy else None
        if keep is not None:
            return replace(keep, blame=blame_two(link.node, keep.blame), hint=None)
    return None


def _vague(chain: Chain, why: str) -> Keep:
    return Keep("W_VAGUE", blame=[chain.target, chain.store], fields={"why": why})
