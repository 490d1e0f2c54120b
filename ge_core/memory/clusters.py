"""From classes of tensors to clusters, weights with fixed places, and what can't be planned."""

from __future__ import annotations

from collections.abc import Sequence

from ge_core.errors import PlanError
from ge_core.memory.access import Access, Accesses, Scratch
from ge_core.memory.constraints import Constraints
from ge_core.memory.expand import Expansion
from ge_core.memory.facts import PlanFacts, Site
from ge_core.memory.lives import Lives, Span
from ge_core.memory.options import PlanOptions
from ge_core.memory.overlaps import Overlaps, Uses
from ge_core.memory.plan import ARENA, CONSTANTS, VARIABLES
from ge_core.memory.precedence import Precedence
from ge_core.memory.problem import Buffer, Cluster, round_up
from ge_core.memory.segments import Member, Segment, segments
from ge_core.memory.sizes import UNKNOWN, input_wishes, output_wishes, pool_rank

SESSION_SUFFIX = "_SESSION"
"""Scratch that is kept between runs lies in a pool of its own, named after the arena."""


class ClusterBuilder:
    """Sorts all tensors and scratch areas of an expanded graph.

    Args:
        work, demands, accesses, lives, precedence: the expanded graph, its layout final.
        options: what may be shared.
        align: of separate buffers.
        facts: filled with the tensors' sites.

    Attributes:
        clusters: to place, by birth.
    """

    def __init__(
        self,
        work: Expansion,
        demands: Constraints,
        accesses: Accesses,
        lives: Lives,
        precedence: Precedence,
        options: PlanOptions,
        align: int,
        facts: PlanFacts,
    ) -> None:
        self.work = work
        self.demands = demands
        self.accesses = accesses
        self.lives = lives
        self.options = options
        self.align = align
        self.facts = facts
        self.clusters: list[Cluster] = []
        self._keys: list[tuple[int, int, int]] = []
        self._sites: list[list[Site]] = []
        self._length = work.end + 1
        self._uses = Uses(work, demands, accesses, lives, precedence)
        self._overlaps = Overlaps(self._uses)
        self._wishes = self._gather_wishes()
        self._whole = set(accesses.whole_run)

    def run(self) -> None:
        """Make all clusters and sites. Raises `LayoutConflict` and `PlanError`."""
        classes = self.demands.layout.classes()
        member_of_many = {tensor for members in classes.values() for tensor in members}
        for tensor in range(len(self.work.owner)):
            if tensor not in member_of_many:
                self._one(tensor)
        for members in sorted(classes.values()):
            self._many(members)
        for area in self.accesses.scratch:
            self._area(area)
        self._number()

    # ---- pools ---------------------------------------------------------------------------------

    def _gather_wishes(self) -> dict[int, str]:
        """By alias group, the strongest wish for a pool."""
        found: dict[int, str] = {}

        def wish(tensor: int, pools: Sequence[str]) -> None:
            root = self.demands.alias.find(tensor)[0]
            for pool in pools:
                if root not in found or pool_rank(found[root]) < pool_rank(pool):
                    found[root] = pool

        for instance, node in enumerate(self.work.nodes):
            for output in node.outputs:
                pools = output_wishes(node, output.index)
                if pools:
                    wish(self.work.tensor(instance, output.index), pools)
            if node.attrs:
                for anchor in node.inputs:
                    source = self.work.source(instance, anchor.index)
                    pools = input_wishes(node, anchor.index)
                    if source is not None and pools:
                        wish(source, pools)
        return found

    def _pool(self, members: Sequence[int]) -> str:
        """The pool of a class: where its producers write. Views and joins go where they must.

        Raises:
            PlanError: two producers write to different pools.
        """
        if not self._wishes:
            return ARENA
        chosen: tuple[str, int] | None = None
        for tensor in members:
            wish = self._wishes.get(self.demands.alias.find(tensor)[0])
            if wish is None and not any(access.write for access in self._uses.real(tensor)):
                continue
            pool = wish or ARENA
            if chosen is not None and chosen[0] != pool:
                raise PlanError(
                    f"{self.work.name(chosen[1])} lies in {chosen[0]} and "
                    f"{self.work.name(tensor)} in {pool}, but they must lie together",
                    hint="; ".join(self.demands.layout.chain(chosen[1], tensor)) or None,
                )
            chosen = pool, tensor
        return ARENA if chosen is None else chosen[0]

    # ---- classes -------------------------------------------------------------------------------

    def _one(self, tensor: int) -> None:
        """A tensor with a place of its own: by far the most common case."""
        size = self.demands.room[tensor]
        accesses = self.accesses.of[tensor]
        weight = self.work.kind(self.work.owner[tensor]) in ("constant", "variable")
        if size <= 0 or weight or tensor in self.demands.strided:
            self._many([tensor])
            return
        if self.options.disable_reuse or tensor in self._whole or not accesses:
            spans = self.lives.whole_run() if accesses else self._unused(tensor)
        else:
            spans = self.lives.spans(accesses)
        name = self.work.name(tensor)
        pieces = tuple((0, Buffer(name, size, span.first, span.last, span.clock)) for span in spans)
        pool = self._pool([tensor])
        site = Site(pool, None, 0, size, self._life(spans))
        self.facts.sites[tensor] = site
        owned = self._is_offered([tensor])
        self._add(Cluster(name, pieces, self.align, pool, owned=owned), 0, tensor, [site])

    def _unused(self, tensor: int) -> list[Span]:
        """Nobody writes or reads it: it is kept apart where its node stands."""
        return self.lives.spans([Access(self.work.owner[tensor], True)])

    def _many(self, members: list[int]) -> None:
        demands = self.demands
        if any(demands.data[tensor] == UNKNOWN for tensor in members):
            self._unplanned(members)
            return
        find = demands.layout.find
        low = min(find(tensor)[1] for tensor in members)
        spans = {tensor: demands.span(tensor) for tensor in members}
        size = max(find(tensor)[1] - low + spans[tensor] for tensor in members)
        if self._weight(members, low, size):
            return
        pool = self._pool(members)
        parts = [
            Member(find(t)[1] - low, find(t)[1] - low + spans[t], self.accesses.of[t])
            for t in members
            if spans[t] > 0
        ]
        found = self._segments(members, parts, size) if size else []
        sites = []
        for tensor in members:
            at = find(tensor)[1] - low
            life = self._life_of(found, at, at + spans[tensor])
            site = Site(pool, None, at, spans[tensor], life, demands.strided.get(tensor))
            self.facts.sites[tensor] = site
            sites.append(site)
        head = min(members, key=lambda t: (find(t)[1], t))
        self._mark_run(members, head, size)
        if size:
            self._overlaps.check(members, low)
            name = self.work.name(head)
            cluster = Cluster(
                name, self._pieces(name, found), self.align, pool, owned=self._is_offered(members)
            )
            self._add(cluster, 0, min(members), sites)

    def _segments(self, members: list[int], parts: list[Member], size: int) -> list[Segment]:
        apart = self.options.disable_reuse or any(tensor in self._whole for tensor in members)
        if apart:
            return [Segment(0, size, span) for span in self.lives.whole_run()]
        found = segments(parts, self.lives)
        if not found or found[0].low > 0:
            # The start belongs to the class even where nobody touches it.
            spans = self._unused(members[0])
            end = found[0].low if found else size
            found = [*(Segment(0, end, span) for span in spans), *found]
        return found

    @staticmethod
    def _pieces(name: str, found: list[Segment]) -> tuple[tuple[int, Buffer], ...]:
        several = len({(segment.low, segment.high) for segment in found}) > 1
        return tuple(
            (
                segment.low,
                Buffer(
                    f"{name}[{segment.low}:{segment.high}]" if several else name,
                    segment.high - segment.low,
                    segment.span.first,
                    segment.span.last,
                    segment.span.clock,
                ),
            )
            for segment in found
        )

    def _life(self, spans: Sequence[Span]) -> tuple[int, int]:
        length = self._length
        firsts = [span.first % length for span in spans]
        lasts = [(span.last if span.seen < 0 else span.seen) % length for span in spans]
        return min(firsts), max(lasts)

    def _life_of(self, found: list[Segment], low: int, high: int) -> tuple[int, int]:
        spans = [s.span for s in found if s.low < high and low < s.high]
        return self._life(spans) if spans else (0, 0)

    def _mark_run(self, members: list[int], head: int, size: int) -> None:
        """Members that do not all cover the whole class form a run."""
        sites = self.facts.sites
        if any(sites[t].delta or sites[t].size != size for t in members if self.demands.data[t]):
            name = self.work.name(head)
            for tensor in members:
                self.facts.runs[tensor] = name

    def _is_offered(self, members: Sequence[int]) -> bool:
        """Whether it is memory of the caller's that temporaries may borrow."""
        inputs, outputs = self.accesses.inputs, self.accesses.outputs
        return any(
            (tensor in inputs and inputs[tensor] in self.options.offered_inputs)
            or any(at in self.options.offered_outputs for at in outputs.get(tensor, ()))
            for tensor in members
        )

    # ---- weights -------------------------------------------------------------------------------

    def _weight(self, members: list[int], low: int, size: int) -> bool:
        """Give a constant or variable its fixed place; False where the class has none."""
        weights: dict[int, int] = {}
        for tensor in members:
            instance = self.work.owner[tensor]
            if self.work.kind(instance) in ("constant", "variable"):
                weights.setdefault(id(self.work.nodes[instance]), tensor)
        if not weights:
            return False
        first, *others = weights.values()
        alias = self.demands.alias
        for tensor in (*others, *members):
            apart = not alias.same(tensor, first) and not self._is_window(tensor, first)
            if tensor in others or apart:
                raise PlanError(
                    f"{self.work.name(tensor)} and the weight {self.work.name(first)} "
                    "can't lie together: weights have places of their own",
                    hint="; ".join(self.demands.layout.chain(first, tensor)) or None,
                )
        kind = self.work.kind(self.work.owner[first])
        pool = CONSTANTS if kind == "constant" else VARIABLES
        offset = round_up(self.facts.fixed_bytes.get(pool, 0), self.align)
        self.facts.fixed_bytes[pool] = offset + size
        for tensor in members:
            at = offset + self.demands.layout.find(tensor)[1] - low
            self.facts.sites[tensor] = Site(
                pool, None, at, self.demands.span(tensor), (0, self.work.end)
            )
            if self.work.kind(self.work.owner[tensor]) == kind:
                self.facts.io[tensor] = "constant" if kind == "constant" else "variable"
        return True

    def _is_window(self, tensor: int, weight: int) -> bool:
        """Whether a tensor is a part of a weight that is only read by this name.

        Stores into a variable go by its own name: their order to what reads parts of it is settled
        where the part is made one, as it is for names of the whole.
        """
        start, at = (self.demands.layout.find(one)[1] for one in (weight, tensor))
        inside = start <= at and at + self.demands.span(tensor) <= start + self.demands.span(weight)
        return inside and not any(access.write for access in self.accesses.of[tensor])

    def _unplanned(self, members: list[int]) -> None:
        """A tensor without a size takes all tensors that share its memory out of the plan."""
        for tensor in members:
            output = self.work.output(tensor)
            if output.desc.dtype == "undefined" and not output.readers and len(members) == 1:
                continue
            self.facts.unplanned.append(tensor)

    # ---- scratch -------------------------------------------------------------------------------

    def _area(self, area: Scratch) -> None:
        name = self.facts.scratch_name(area)
        kept = area.kept or area.session or self.options.disable_reuse
        spans = self.lives.whole_run() if kept else self.lives.spans([Access(area.instance, True)])
        pool = ARENA + SESSION_SUFFIX if area.session else ARENA
        pieces = tuple(
            (0, Buffer(name, area.size, span.first, span.last, span.clock)) for span in spans
        )
        site = Site(pool, None, 0, area.size, self._life(spans))
        self.facts.scratch.append((area, site))
        base = self.work.base[area.instance]
        self._add(Cluster(name, pieces, self.align, pool), 1 + area.index, base, [site])

    # ---- order ---------------------------------------------------------------------------------

    def _add(self, cluster: Cluster, rank: int, number: int, sites: list[Site]) -> None:
        self.clusters.append(cluster)
        self._keys.append((cluster.birth, number, rank))
        self._sites.append(sites)

    def _number(self) -> None:
        """Sort the clusters by birth and tell the sites their places in that order."""
        order = sorted(range(len(self.clusters)), key=self._keys.__getitem__)
        for index, at in enumerate(order):
            for site in self._sites[at]:
                site.cluster = index
        self.clusters = [self.clusters[at] for at in order]
