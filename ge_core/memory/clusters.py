"""From classes of tensors to clusters, weights with fixed places, and what can't be planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ge_core.errors import LayoutConflict, PlanError
from ge_core.memory.access import RUN_START, Access, Accesses, Scratch
from ge_core.memory.constraints import Constraints
from ge_core.memory.expand import Expansion, Region
from ge_core.memory.facts import PlanFacts, Site
from ge_core.memory.lives import Lives, Span
from ge_core.memory.options import PlanOptions
from ge_core.memory.plan import ARENA, CONSTANTS, VARIABLES
from ge_core.memory.problem import Buffer, Cluster, round_up
from ge_core.memory.segments import Member, Segment, segments
from ge_core.memory.sizes import UNKNOWN, input_wishes, output_wishes, pool_rank

SESSION_SUFFIX = "_SESSION"
"""Scratch that is kept between runs lies in a pool of its own, named after the arena."""


class ClusterBuilder:
    """Sorts all tensors and scratch areas of an expanded graph.

    Args:
        work, demands, accesses, lives: the expanded graph, its layout final.
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
            if wish is None and not any(access.write for access in self._real(tensor)):
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
            site = Site(pool, None, at, spans[tensor], life)
            self.facts.sites[tensor] = site
            sites.append(site)
        head = min(members, key=lambda t: (find(t)[1], t))
        self._mark_run(members, head, size)
        if size:
            self._check_overlaps(members, low)
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
            if tensor in others or not alias.same(tensor, first):
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

    def _unplanned(self, members: list[int]) -> None:
        """A tensor without a size takes all tensors that share its memory out of the plan."""
        for tensor in members:
            output = self.work.output(tensor)
            if output.desc.dtype == "undefined" and not output.readers and len(members) == 1:
                continue
            self.facts.unplanned.append(tensor)

    # ---- members that cover one another --------------------------------------------------------

    def _check_overlaps(self, members: list[int], low: int) -> None:
        """Two producers may write to the same bytes of a class only one after the other is done.

        Raises:
            LayoutConflict: names both and the chain that puts them on one another.
        """
        alias, find = self.demands.alias, self.demands.layout.find
        producers = [
            tensor
            for tensor in members
            if self.demands.data[tensor] and any(access.write for access in self._real(tensor))
        ]
        if len({alias.find(tensor)[0] for tensor in producers}) < 2:
            return
        for a, b in self._touching(producers):
            if alias.same(a, b) or self._exclusive(a, b) or self._handed_on(a, b):
                continue
            if self._clash(a, b, members):
                place = max(find(a)[1], find(b)[1]) - low
                raise LayoutConflict(
                    f"{self.work.name(a)} and {self.work.name(b)} are needed at the same time and "
                    f"would both lie at byte {place} of one run: "
                    + "; ".join(self.demands.layout.chain(a, b))
                )

    def _exclusive(self, a: int, b: int) -> bool:
        """Whether two producers lie in different arms of one node: only one of them runs."""
        arms = {region.caller: region for region in self._arms(a)}
        return any(arms.get(region.caller, region) is not region for region in self._arms(b))

    def _arms(self, tensor: int) -> Iterator[Region]:
        region: Region | None = self.work.regions[self.work.owner[tensor]]
        while region is not None:
            if region.role == "arm":
                yield region
            region = region.outer

    def _handed_on(self, a: int, b: int) -> bool:
        """Whether a subgraph delivers one out of the other.

        Their order was looked at when they were put in one place.
        """
        find = self.demands.alias.find
        return find(b)[0] in self._targets(a) or find(a)[0] in self._targets(b)

    def _targets(self, tensor: int) -> set[int]:
        """What subgraphs make of a producer's bytes."""
        find, reached = self.demands.alias.find, self._flow(tensor)
        return {
            find(target)[0] for result, target in self.demands.handed if find(result)[0] in reached
        }

    def _touching(self, tensors: list[int]) -> Iterator[tuple[int, int]]:
        """Pairs with common bytes."""
        find = self.demands.layout.find
        ordered = sorted(tensors, key=lambda t: (find(t)[1], t))
        active: list[int] = []
        for tensor in ordered:
            at = find(tensor)[1]
            active = [t for t in active if find(t)[1] + self.demands.extent(t) > at]
            yield from ((other, tensor) for other in active if self._share_rows(other, tensor))
            active.append(tensor)

    def _share_rows(self, a: int, b: int) -> bool:
        one, other = self.demands.strided.get(a), self.demands.strided.get(b)
        if one is None or other is None or one.pitch != other.pitch:
            return True
        distance = (self.demands.layout.find(b)[1] - self.demands.layout.find(a)[1]) % one.pitch
        return distance < one.row or distance + other.row > one.pitch

    def _clash(self, a: int, b: int, members: list[int]) -> bool:
        """Whether one producer's bytes are still needed when the other one writes there.

        Where a join or split makes one of the other, what is read through the later name is the
        later one's own affair: in the original graph too it sees what was written by that name.
        """
        find = self.demands.alias.find
        for early, late in ((a, b), (b, a)):
            if find(late)[0] in self._flow(early):
                needed = self._needed(early, late, members, find(late)[0])
                return self._meet(needed, self._needed(late, early, members, from_write=True))
        return self._meet(self._needed(a, b, members), self._needed(b, a, members))

    def _needed(
        self,
        tensor: int,
        other: int,
        members: list[int],
        without: int | None = None,
        *,
        from_write: bool = False,
    ) -> list[Span]:
        """When the bytes that a producer wrote and another one would take are in use.

        Args:
            without: an alias group through which accesses don't count.
            from_write: count from the first write on.
        """
        find = self.demands.layout.find
        low = max(find(tensor)[1], find(other)[1])
        high = min(
            find(tensor)[1] + self.demands.extent(tensor),
            find(other)[1] + self.demands.extent(other),
        )
        reached = self._flow(tensor, without)
        accesses: list[Access] = []
        for member in members:
            at = find(member)[1]
            if (
                self.demands.alias.find(member)[0] in reached
                and at < high
                and (low < at + self.demands.extent(member))
            ):
                accesses.extend(self._real(member))
        if from_write:
            position = self.accesses.position
            begin = min(position(access.site) for access in accesses if access.write)
            accesses = [access for access in accesses if position(access.site) >= begin]
        return self.lives.spans(accesses)

    def _real(self, tensor: int) -> list[Access]:
        """Accesses without the mark that keeps temporaries off a graph output before it is made."""
        accesses = self.accesses.of[tensor]
        if tensor not in self.accesses.outputs or tensor in self.accesses.inputs:
            return accesses
        return [access for access in accesses if access.site != RUN_START]

    def _flow(self, tensor: int, without: int | None = None) -> set[int]:
        """The alias groups that a producer's bytes reach through joins and splits."""
        alias = self.demands.alias
        reached = {alias.find(tensor)[0]}
        grown = True
        while grown:
            grown = False
            for window in self.demands.windows:
                whole, part = alias.find(window.whole)[0], alias.find(window.part)[0]
                start, end = (part, whole) if window.join else (whole, part)
                if start in reached and end not in reached and end != without:
                    reached.add(end)
                    grown = True
            for result, target in self.demands.handed:
                start, end = alias.find(result)[0], alias.find(target)[0]
                if start in reached and end not in reached and end != without:
                    reached.add(end)
                    grown = True
        return reached

    def _meet(self, a: list[Span], b: list[Span]) -> bool:
        order = self.lives.worlds.order
        for one in a:
            for other in b:
                if one.last < other.first or other.last < one.first:
                    continue
                if order is None or one.clock is None or other.clock is None:
                    return True
                if order.interferes(one.clock, other.clock):
                    return True
        return False

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
