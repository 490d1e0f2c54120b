"""May bytes of one memory be given to another? Asked by passes before they set marks.

The rule of reuse: bytes of A may be given to B only if every access to A's bytes, under any name,
reaches every writer of B's bytes. It is decided by the same lives that the planner goes by, so that
what is allowed here is what the planner accepts once the marks are set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ge_core.ir import Graph, Node, OutputAnchor, collector_paused
from ge_core.memory.access import RUN_END, RUN_START, Access, Accesses
from ge_core.memory.clocks import Worlds, stream_table
from ge_core.memory.constraints import Constraints
from ge_core.memory.expand import EXPANSION_LIMIT, Expansion, Region
from ge_core.memory.intervals import Ranges
from ge_core.memory.lives import Lives
from ge_core.memory.options import PlanOptions
from ge_core.memory.overlaps import Overlaps, Uses, offered
from ge_core.memory.precedence import Precedence
from ge_core.memory.sizes import UNKNOWN
from ge_core.ops import OpRegistry

_MOST_OBSTACLES: Final = 8


class Bytes(NamedTuple):
    """Some bytes of an output.

    Attributes:
        output: of any graph.
        low, high: the first byte, and the one behind the last, counted from the output's own first;
            `high` is None for all that it holds.
    """

    output: OutputAnchor
    low: int = 0
    high: int | None = None


class Obstacle(NamedTuple):
    """An access to the old bytes that does not come before a writer of the new ones.

    Attributes:
        node: who accesses the old bytes; None for the graph's caller.
        writes: whether it writes them.
        writer: who writes the new bytes; None for the graph's caller, or where it isn't one writer
            that is in the way.
        why: in words.
    """

    node: Node | None
    writes: bool
    writer: Node | None
    why: str


class _Name(NamedTuple):
    """Bytes of one tensor number."""

    tensor: int
    low: int
    high: int


class ReuseRule:
    """The rule of reuse on one graph as it stands.

    Making it costs about as much as building the planning problem, a question no more than the
    accesses of the memories asked about. It stays right while nothing but marks of nodes without a
    task is set, where nodes that lose their task between streams keep their places (`KEEPS_PLACE`).

    Args:
        graph: its root is looked at; all subgraphs are.
        ops: op traits.
        options: texts by name, as for the planner (`ge.exec.disableReuseMemory`, ...).
        limit: node instances that calls may expand to.

    Raises:
        LayoutConflict: marks that the graph bears already contradict each other.
        GraphError: a mark is malformed, or the graph has a cycle.
        LimitExceeded: nested calls expand to more than `limit`.
    """

    def __init__(
        self,
        graph: Graph,
        ops: OpRegistry,
        options: Mapping[str, object] | PlanOptions | None = None,
        *,
        limit: int = EXPANSION_LIMIT,
    ) -> None:
        with collector_paused():
            if not isinstance(options, PlanOptions):
                options = PlanOptions.read(options or {})
            self._options = options
            self._work = Expansion(graph, ops, limit)
            # Distances in padded runs are all that the alignment decides here.
            self._demands = Constraints(self._work, 1)
            self._accesses = Accesses(self._work, self._demands, options)
            streams = stream_table(self._work, self._accesses)
            worlds = Worlds(self._work, self._accesses, streams)
            self._precedence = Precedence(self._work, self._accesses, worlds)
            self._uses = Uses(
                self._work,
                self._demands,
                self._accesses,
                Lives(self._work, self._accesses, worlds),
                self._precedence,
            )
            self._apart = frozenset(self._accesses.whole_run)
            self._classes = {
                root: _Index(self._demands, members)
                for root, members in self._demands.layout.classes().items()
            }
            self._unfits: dict[int, str | None] = {}
            self._instances: dict[Node, list[int]] = {}
            for instance, node in enumerate(self._work.nodes):
                self._instances.setdefault(node, []).append(instance)

    # ---- asking --------------------------------------------------------------------------------

    def may_reuse(
        self,
        old: Sequence[Bytes],
        new: Sequence[Bytes],
        *,
        without: Collection[Node] = (),
    ) -> bool:
        """Whether the bytes of one memory may be those of another, which is written later.

        All of `old` and all of `new` are names of the same bytes, so each is as long as the others;
        other names that the graph gives them already (views, pieces, what calls take and return)
        are known. To put `y`, made by an op from piece `p` of `x`, on the bytes of `p`, and into
        the result `out` of a join: `may_reuse([Bytes(x, n, m), Bytes(p)], [Bytes(y),
        Bytes(out, n, m)], without=(split, join))`.

        True where every access to the old bytes reaches every writer of the new ones: over data
        and control edges, streams, into and out of subgraphs, in all turns of a loop. Also where
        the new ones are done with before the old ones are written. The writer may be the last to
        read the old bytes itself, where it declares that this output may lie on that input
        (`OpTraits.inplace`, or GE's mark `_output_inplace_ability`), both are all of the bytes, and
        no other input of it has any of them.

        Never true for weights, for what has no planned size or is to share with nobody, where
        reuse is switched off, and for what the caller still needs: inputs and outputs, unless lent.

        Args:
            without: nodes that will have no task: what they read and write does not count.

        Raises:
            ValueError: a node is not in the graph, or bytes lie outside of an output.
        """
        return self._decide(old, new, frozenset(without)) is None

    def against(
        self,
        old: Sequence[Bytes],
        new: Sequence[Bytes],
        *,
        without: Collection[Node] = (),
    ) -> list[Obstacle]:
        """What stands against it, in running order, the first few; empty where it may be.

        Takes and raises what `may_reuse` does.
        """
        found = self._decide(old, new, frozenset(without))
        return [] if found is None else self._told(found)

    def overlapping(self) -> list[tuple[OutputAnchor, OutputAnchor]]:
        """Outputs with memories of their own that marks have put on common bytes already.

        For each buffer in which some lie so, the first two, by the buffer's first tensor. Whether
        the rule of reuse holds for them is not asked.
        """
        overlaps = Overlaps(self._uses)
        found = []
        for members in sorted(self._demands.layout.classes().values()):
            pair = overlaps.first(members)
            if pair is not None:
                found.append((self._work.output(pair[0]), self._work.output(pair[1])))
        return found

    # ---- deciding ------------------------------------------------------------------------------

    def _decide(
        self, old: Sequence[Bytes], new: Sequence[Bytes], without: frozenset[Node]
    ) -> _Refusal | None:
        if self._options.disable_reuse:
            return _Refusal("reuse of memory is switched off")
        for olds, news in self._runs(old, new):
            refused = self._refused(olds, news, without)
            if refused is not None:
                return refused
        return None

    def _refused(
        self, olds: list[_Name], news: list[_Name], without: frozenset[Node]
    ) -> _Refusal | None:
        if not olds or not news:
            return None
        for name in (*olds, *news):
            why = self._unfit(name)
            if why is not None:
                return _Refusal(why)
        touched, late = self._touched(olds, without), self._touched(news, without)
        writers = sorted({access.site for access in late if access.write})
        early = self._without_in_place(touched, olds, news, writers)
        if not self._uses.meet(early, late):
            return None
        return _Refusal("they are needed at the same time", early, writers)

    def _unfit(self, name: _Name) -> str | None:
        """Why a memory shares with nobody, whoever asks."""
        root = self._demands.layout.find(name.tensor)[0]
        if root not in self._unfits:
            whys = (self._unfit_tensor(tensor) for tensor in self._index(root).members)
            self._unfits[root] = next((why for why in whys if why is not None), None)
        return self._unfits[root]

    def _unfit_tensor(self, tensor: int) -> str | None:
        demands, work = self._demands, self._work
        if demands.data[tensor] == UNKNOWN:
            return f"{work.name(tensor)} has no planned size"
        if work.kind(work.owner[tensor]) in ("constant", "variable"):
            return f"{work.name(tensor)} is a weight"
        if tensor in self._apart:
            return f"{work.name(tensor)} is to share with nobody"
        return None

    def _touched(self, names: list[_Name], without: frozenset[Node]) -> list[Access]:
        """All accesses to some bytes, under any name, but those of nodes without a task."""
        found: dict[Access, None] = {}
        for name in names:
            root, low, high = self._range(name)
            for tensor in self._index(root).over(low, high):
                found.update(dict.fromkeys(self._uses.real(tensor)))
        nodes = self._work.nodes
        return [a for a in found if not (0 <= a.site < len(nodes) and nodes[a.site] in without)]

    def _without_in_place(
        self, early: list[Access], olds: list[_Name], news: list[_Name], writers: list[int]
    ) -> Sequence[Access]:
        """The accesses to the old bytes but the read of who puts the new ones in their place."""
        for site in writers:
            if self._works_in_place(site, olds, news):
                rest = self._uses.without_read(early, site, writers)
                if rest is not None:
                    return rest
        return early

    def _works_in_place(self, site: int, olds: list[_Name], news: list[_Name]) -> bool:
        """Whether a node may put an output exactly where an input lies that nothing else is."""
        work = self._work
        if not 0 <= site < len(work.nodes):
            return False
        node = work.nodes[site]
        for output, at in dict.fromkeys((*offered(node), *work.traits(node).inplace)):
            if not self._uses.replaces(site, output, at):
                continue
            target, source = work.tensor(site, output), work.source(site, at)
            assert source is not None
            if not any(self._is_all(name, target) for name in news):
                continue
            if not any(self._is_all(name, source) for name in olds):
                continue
            others = [work.source(site, other) for other in range(len(node.inputs)) if other != at]
            if not any(self._covers(olds, tensor) for tensor in others if tensor is not None):
                return True
        return False

    def _is_all(self, name: _Name, tensor: int) -> bool:
        """Whether bytes of a name are exactly a tensor's."""
        find, size = self._demands.layout.find, self._demands.data[tensor]
        if name.tensor in self._demands.strided:
            return name.tensor == tensor and name.high - name.low == size
        (root, at), (other, start) = find(name.tensor), find(tensor)
        return root == other and at + name.low == start and name.high - name.low == size

    def _covers(self, names: list[_Name], tensor: int) -> bool:
        """Whether a tensor has any of some bytes."""
        find = self._demands.layout.find
        root, start = find(tensor)
        end = start + self._demands.extent(tensor)
        for name in names:
            other, low, high = self._range(name)
            if other == root and low < end and start < high:
                return True
        return False

    def _range(self, name: _Name) -> tuple[int, int, int]:
        """The class of some bytes and where they lie in it; of rows with gaps: of all of them."""
        root, at = self._demands.layout.find(name.tensor)
        if name.tensor in self._demands.strided:
            return root, at, at + self._demands.extent(name.tensor)
        return root, at + name.low, at + name.high

    # ---- names ---------------------------------------------------------------------------------

    def _index(self, root: int) -> _Index:
        found = self._classes.get(root)
        if found is None:
            found = self._classes[root] = _Index(self._demands, [root])
        return found

    def _runs(
        self, old: Sequence[Bytes], new: Sequence[Bytes]
    ) -> Iterable[tuple[list[_Name], list[_Name]]]:
        """The question once per run: where a subgraph has several callers, each is one.

        Each instance of the first new name goes with those instances of the others that lie
        closest to it.
        """
        known = [(piece, self._of(piece.output.node)) for piece in (*old, *new)]
        if not new or not old:
            return
        if all(len(instances) == 1 for _, instances in known):
            names = [self._name(piece, instances[0]) for piece, instances in known]
            yield names[: len(old)], names[len(old) :]
            return
        for home in known[len(old)][1]:
            sides: tuple[list[_Name], list[_Name]] = [], []
            for number, (piece, instances) in enumerate(known):
                for instance in self._closest(home, instances):
                    sides[number >= len(old)].append(self._name(piece, instance))
            yield sides

    def _of(self, node: Node) -> list[int]:
        found = self._instances.get(node)
        if found is None:
            raise ValueError(f"node {node.name!r} is not in the graph, or nothing calls its graph")
        return found

    def _name(self, piece: Bytes, instance: int) -> _Name:
        tensor = self._work.tensor(instance, piece.output.index)
        size = self._demands.data[tensor]
        high = size if piece.high is None else piece.high
        if size != UNKNOWN and not 0 <= piece.low <= high <= size:
            raise ValueError(f"{piece.output!r} has no bytes {piece.low} to {high}: it has {size}")
        return _Name(tensor, piece.low, high)

    def _closest(self, home: int, instances: list[int]) -> list[int]:
        """The instances that share most of the way from the root with another one."""
        around = self._way(self._work.regions[home])
        depths = [
            sum(1 for region in self._way(self._work.regions[one]) if region in around)
            for one in instances
        ]
        most = max(depths)
        return [one for one, depth in zip(instances, depths, strict=True) if depth == most]

    @staticmethod
    def _way(region: Region) -> dict[Region, None]:
        found: dict[Region, None] = {}
        at: Region | None = region
        while at is not None:
            found[at] = None
            at = at.outer
        return found

    # ---- saying it -----------------------------------------------------------------------------

    def _told(self, refused: _Refusal) -> list[Obstacle]:
        """The pairs of an access and a writer that are in no order, the first few."""
        early, writers = refused.early, refused.writers
        scope = self._uses.home([*(access.site for access in early), *writers])
        position = self._accesses.position
        found: list[Obstacle] = []
        for access in sorted(early, key=lambda a: (position(a.site), a.write)):
            for writer in writers:
                if self._precedence.before(access.site, writer, scope):
                    continue
                verb = "writes" if access.write else "reads"
                said = (
                    f"{self._said(access.site)} {verb} the old bytes, and not always before "
                    f"{self._said(writer)} writes the new ones"
                )
                found.append(
                    Obstacle(self._node(access.site), access.write, self._node(writer), said)
                )
                break
            if len(found) == _MOST_OBSTACLES:
                break
        return found or [Obstacle(None, False, None, refused.why)]

    def _node(self, site: int) -> Node | None:
        if 0 <= site < len(self._work.nodes):
            return self._work.nodes[site]
        region = self._accesses.region(site)
        return None if region.outer is None else self._work.nodes[region.caller]

    def _said(self, site: int) -> str:
        if site in (RUN_START, RUN_END):
            return "the caller"
        node = self._node(site)
        return "the caller" if node is None else f"{node.op} {node.name}"


class _Refusal(NamedTuple):
    """Why not."""

    why: str
    early: Sequence[Access] = ()
    writers: Sequence[int] = ()


class _Index:
    """The members of a class, and which of them have any of some bytes."""

    def __init__(self, demands: Constraints, members: list[int]) -> None:
        self.members = members
        place = ((demands.layout.find(tensor)[1], tensor) for tensor in members)
        self._ranges = Ranges((low, low + demands.extent(tensor), tensor) for low, tensor in place)
        self.over = self._ranges.over
