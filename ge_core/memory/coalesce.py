"""Memory that a copy's two ends may share without harm, so that the copy has nothing to do.

An arm ends with a copy of its results, a loop begins with a copy of its initial values and ends
each turn with a copy of the next ones. Where the value that is copied is no longer needed in its
old form (or not needed yet in its new one), both ends are put in one place.
"""

from __future__ import annotations

from ge_core.ir import OutputAnchor
from ge_core.memory.access import RUN_END, RUN_START, Access, Accesses
from ge_core.memory.boundaries import Result, carried, results
from ge_core.memory.conflict_query import Clash
from ge_core.memory.constraints import Constraints
from ge_core.memory.expand import Expansion, Region
from ge_core.memory.joining import JoinChecks
from ge_core.memory.options import PlanOptions
from ge_core.memory.precedence import Precedence
from ge_core.memory.sizes import UNKNOWN, input_wishes, output_wishes


class Coalescer:
    """Unites tensors in the layout, one decision after the other, inner nodes first.

    Args:
        work, demands, accesses: the expanded graph; the layout is extended.
        precedence: the order of accesses.
        options: whether graph inputs are offered, and which ops may work in place.
        layout: plugins' layout rules, None where there is none to ask.

    Attributes:
        clashes: by the tensors that could have been one but for a plugin's rule, what it said.
    """

    def __init__(
        self,
        work: Expansion,
        demands: Constraints,
        accesses: Accesses,
        precedence: Precedence,
        options: PlanOptions,
        layout: JoinChecks | None = None,
    ) -> None:
        self.work = work
        self.demands = demands
        self.accesses = accesses
        self.precedence = precedence
        self.options = options
        self.layout = layout
        self.clashes: dict[tuple[int, int], Clash] = {}
        self._members = demands.layout.classes()
        self._wished: set[int] | None = None

    def run(self) -> None:
        """Decide about every boundary."""
        if len(self.work.all_regions) > 1:
            for instance in range(len(self.work.nodes)):
                self._boundary(instance)

    def share_io(self) -> None:
        """Decide about pairs of graph inputs and outputs."""
        for index, output in self.options.shared_io:
            self._shared_io(index, output)

    def _boundary(self, instance: int) -> None:
        region = self.work.regions[instance]
        inner = self.work.inner.get(instance)
        if inner and inner[0].role == "loop":
            self._entries(instance)
        if self.work.kind(instance) != "net_output" or region.role not in ("arm", "loop"):
            return
        for result in results(self.work, region, instance):
            if result.target is None:
                continue
            arm = result.role == "arm" and self._arm_fits(region, result)
            turn = result.role == "slot" and self._turn_fits(region, result)
            if (arm or turn) and not self.clash(result.tensor, result.target):
                reason = "result of an arm" if arm else "next value of a loop"
                self.hand_on(result.tensor, result.target, reason)

    # ---- classes -------------------------------------------------------------------------------

    def members(self, tensor: int) -> list[int]:
        """The tensors at a fixed distance from one."""
        return self._members.get(self.demands.layout.find(tensor)[0], [tensor])

    def unite(self, tensor: int, other: int, reason: str) -> None:
        """Put two tensors in one place."""
        layout = self.demands.layout
        one, two = self.members(tensor), self.members(other)
        for root in (layout.find(tensor)[0], layout.find(other)[0]):
            self._members.pop(root, None)
        self.demands.same(other, tensor, reason)
        if self.layout is not None:
            self.layout.joined([self._anchor(tensor), self._anchor(other)])
        self._members[layout.find(tensor)[0]] = sorted([*one, *two])

    def clash(self, tensor: int, other: int) -> bool:
        """Whether a plugin's rule is against their being one; asked last, and remembered."""
        if self.layout is None:
            return False
        found = self.layout.first_clash([self._anchor(tensor), self._anchor(other)])
        if found is not None:
            self.clashes[tensor, other] = found
        return found is not None

    def _anchor(self, tensor: int) -> OutputAnchor:
        return self.work.output(tensor)

    def hand_on(self, result: int, target: int, reason: str) -> None:
        """Put what a subgraph delivers where its caller wants it."""
        self.unite(target, result, reason)
        self.demands.handed.append((result, target))

    def overlapping(self, tensor: int) -> list[Access]:
        """Accesses to the bytes of a tensor, by any name."""
        find, span = self.demands.layout.find, self.demands.span
        low = find(tensor)[1]
        high = low + span(tensor)
        found: list[Access] = []
        for member in self.members(tensor):
            at = find(member)[1]
            if at < high and low < at + span(member):
                found.extend(self.accesses.of[member])
        return found

    def fits(self, part: int, place: int) -> bool:
        """Whether a tensor that makes up its class alone may lie where another one does."""
        demands = self.demands
        if demands.data[part] in (0, UNKNOWN) or demands.data[part] != demands.data[place]:
            return False
        if demands.room[part] != demands.room[place] or demands.layout.same(part, place):
            return False
        if part in demands.strided or place in demands.strided:
            return False
        members = self.members(part)
        low = demands.layout.find(part)[1]
        high = low + demands.room[part]
        for member in members:
            at = demands.layout.find(member)[1]
            if at < low or at + demands.span(member) > high:
                return False
        return not any(self._bound(member) for member in (*members, *self.members(place)))

    def _bound(self, tensor: int) -> bool:
        """Whether a tensor has a place that is not the arena's, or none."""
        if self.demands.room[tensor] == UNKNOWN or tensor in self.wished:
            return True
        return self.work.kind(self.work.owner[tensor]) in ("constant", "variable")

    @property
    def wished(self) -> set[int]:
        """Tensors for which somebody asks for a memory type."""
        if self._wished is None:
            self._wished = set()
            for instance, node in enumerate(self.work.nodes):
                for output in node.outputs:
                    if output_wishes(node, output.index):
                        self._wished.add(self.work.tensor(instance, output.index))
                for anchor in node.inputs if node.attrs else ():
                    source = self.work.source(instance, anchor.index)
                    if source is not None and input_wishes(node, anchor.index):
                        self._wished.add(source)
        return self._wished

    def is_callers(self, tensor: int) -> bool:
        """Whether the memory is a graph input's."""
        return any(member in self.accesses.inputs for member in self.members(tensor))

    # ---- arms ----------------------------------------------------------------------------------

    def _arm_fits(self, region: Region, result: Result) -> bool:
        """Made in the arm, by nobody else's memory; the outer tensor is not needed in the arm."""
        target = result.target
        if target is None or not self.fits(result.tensor, target):
            return False
        if not self._made_inside(result.tensor, region) or self.is_callers(target):
            return False
        caller = region.caller
        tail = self.accesses.tail(region)
        scope = self.work.regions[caller].scope
        for access in self.overlapping(target):
            if access.site == RUN_START or access == Access(tail, True):
                continue
            if self.precedence.within(access.site, caller):
                if self.precedence.inside(self.precedence.scope(access.site), region.scope):
                    return False
                continue
            if access.site == caller or not self.precedence.inside(
                self.precedence.scope(access.site), scope
            ):
                return False
            if not self.precedence.before(tail, access.site, scope):
                return False
        return True

    def _made_inside(self, tensor: int, region: Region) -> bool:
        return all(
            region.first <= self.work.owner[member] <= region.last
            for member in self.members(tensor)
        )

    # ---- loops ---------------------------------------------------------------------------------

    def _turn_fits(self, region: Region, result: Result) -> bool:
        """Made in the turn, when nothing in the turn needs the slot's old value any more."""
        slot = result.target
        if slot is None or not self.fits(result.tensor, slot):
            return False
        if not self._made_inside(result.tensor, region):
            return False
        tail = self.accesses.tail(region)
        writers = [
            a.site for m in self.members(result.tensor) for a in self.accesses.of[m] if a.write
        ]
        old = [
            access.site
            for access in self.overlapping(slot)
            if access != Access(tail, True)
            and self.precedence.within(access.site, region.caller)
            and self.precedence.inside(self.precedence.scope(access.site), region.scope)
        ]
        return self.precedence.all_before(old, writers, region.scope)

    def _entries(self, loop: int) -> None:
        """Initial values that nobody needs any more when the loop begins are its slots."""
        deal = carried(self.work, loop)
        for at in range(deal.slots):
            source = self.work.source(loop, deal.first + at)
            slot = self.work.tensor(loop, at)
            if source is None or not self._entry_fits(loop, source, slot):
                continue
            if not self.clash(source, slot):
                self.unite(source, slot, "initial value of a loop")

    def _entry_fits(self, loop: int, source: int, slot: int) -> bool:
        if not self.fits(source, slot) or self.is_callers(source):
            return False
        scope = self.work.regions[loop].scope
        for member in self.members(source):
            if not self.precedence.inside(self.work.regions[self.work.owner[member]].scope, scope):
                return False
        for access in self.overlapping(source):
            if access.site in (loop, RUN_START):
                continue
            if not self.precedence.inside(
                self.precedence.scope(access.site), scope
            ) or not self.precedence.before(access.site, loop, scope):
                return False
        return all(
            access.site == RUN_START
            or access.site == loop
            or self.precedence.within(access.site, loop)
            or (
                self.precedence.inside(self.precedence.scope(access.site), scope)
                and self.precedence.before(loop, access.site, scope)
            )
            for access in self.overlapping(slot)
        )

    # ---- graph inputs and outputs --------------------------------------------------------------

    def _shared_io(self, index: int, output: int) -> None:
        """The caller gives one address for both, so the output may be written over the input."""
        inputs = [t for t, number in self.accesses.inputs.items() if number == index]
        outputs = [t for t, ends in self.accesses.outputs.items() if output in ends]
        if not inputs or not outputs or not self.fits_io(inputs[0], outputs[0]):
            return
        if inputs[0] in self.accesses.updated or not self.is_declared(index, outputs[0]):
            return
        if not self.clash(inputs[0], outputs[0]):
            self.unite(inputs[0], outputs[0], "graph input and output at one address")

    def is_declared(self, index: int, tensor: int) -> bool:
        """Whether each graph output that the memory is has one address with the graph input."""
        ends = [
            at for member in self.members(tensor) for at in self.accesses.outputs.get(member, ())
        ]
        return all((index, at) in self.options.shared_io for at in ends)

    def fits_io(self, source: int, target: int) -> bool:
        """Whether everything that needs the input comes before the output is written."""
        if not self.fits(target, source) or self.is_callers(target):
            return False
        if any(member in self.accesses.outputs for member in self.members(source)):
            return False
        reads = [a.site for a in self.overlapping(source) if a.site not in (RUN_START, RUN_END)]
        writes = [a.site for a in self.overlapping(target) if a.write and a.site != RUN_START]
        return self.precedence.all_before(reads, writes, 0)
