"""Outputs that take the place of an input, where the op can work in place.

GE's own offers (`_output_inplace_ability`: a list of [output, input]) are always looked at, those
of op traits when asked for. An offer is taken where the node is the last that needs the input's
bytes, under any name and on any stream, no other input of it is the same bytes, and no plugin's
layout rule is against it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ge_core.memory.access import RUN_START
from ge_core.memory.coalesce import Coalescer

OFFERS_MARK = "_output_inplace_ability"


class InPlace:
    """Takes offers one by one; the first that fits an output wins."""

    def __init__(self, coalescer: Coalescer) -> None:
        self.coalescer = coalescer
        self.work = coalescer.work
        self.accesses = coalescer.accesses
        self.demands = coalescer.demands
        self.precedence = coalescer.precedence

    def run(self) -> None:
        """Look at every node that something runs at."""
        by_traits = self.coalescer.options.inplace
        for instance, node in enumerate(self.work.nodes):
            if not self.demands.tasks[instance] or node.subgraphs:
                continue
            if not by_traits and OFFERS_MARK not in node.attrs:
                continue
            taken: set[int] = set()
            for output, index in self._offers(instance):
                if output not in taken and self._take(instance, output, index):
                    taken.add(output)

    def _offers(self, instance: int) -> Iterator[tuple[int, int]]:
        node = self.work.nodes[instance]
        listed = node.attrs.get(OFFERS_MARK)
        for pair in listed if isinstance(listed, (list, tuple)) else ():
            if isinstance(pair, (list, tuple)) and len(pair) == 2:
                yield int(pair[0]), int(pair[1])
        if self.coalescer.options.inplace:
            yield from self.work.traits(node).inplace

    def _take(self, instance: int, output: int, index: int) -> bool:
        node = self.work.nodes[instance]
        source = self.work.source(instance, index)
        if source is None or not 0 <= output < len(node.outputs):
            return False
        target = self.work.tensor(instance, output)
        if node.attrs.get("continuous_output") or target in self.demands.alias_of:
            return False
        if not self.coalescer.fits(source, target) or self.coalescer.is_callers(source):
            return False
        if not self._is_last(instance, index, source) or not self._is_first(instance, target):
            return False
        if self.coalescer.clash(source, target):
            return False
        self.coalescer.unite(source, target, f"{node.op} {node.name} works in place")
        return True

    def _is_last(self, instance: int, index: int, source: int) -> bool:
        """Whether all else that touches the input comes before the node, also in other turns."""
        scope = self.work.regions[instance].scope
        for at in range(len(self.work.nodes[instance].inputs)):
            other = self.work.source(instance, at)
            if at != index and other is not None and self.demands.layout.same(other, source):
                return False
        seen = 0
        for access in self.coalescer.overlapping(source):
            if access.site == RUN_START:
                continue
            if access.site == instance:
                seen += 1
                continue
            if not self.precedence.inside(self.precedence.scope(access.site), scope):
                return False
            if not self.precedence.before(access.site, instance, scope):
                return False
        # The node touches the bytes once: reads them as this input, and writes nothing there yet.
        return seen <= 1

    def _is_first(self, instance: int, target: int) -> bool:
        """Whether nothing touches the output's bytes before the node writes them."""
        scope = self.work.regions[instance].scope
        for access in self.coalescer.overlapping(target):
            if access.site in (RUN_START, instance):
                continue
            if not self.precedence.inside(self.precedence.scope(access.site), scope):
                return False
            if not self.precedence.before(instance, access.site, scope):
                return False
        return not self.coalescer.is_callers(target)
