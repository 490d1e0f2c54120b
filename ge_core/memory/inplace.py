"""Outputs that take the place of an input, where the op can work in place.

GE's own offers (`_output_inplace_ability`: a list of [output, input]) are always looked at, those
of op traits when asked for. An offer is taken where the node is the last that needs the input's
bytes, under any name and on any stream, no other input of it is the same bytes, and no plugin's
layout rule is against it.

A graph input that the caller gets back as an output, at one address by declaration, is updated in
place by one op or several: their offers, traits' among them, are looked at without being asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ge_core.memory.access import RUN_END, RUN_START
from ge_core.memory.coalesce import Coalescer
from ge_core.memory.overlaps import OFFERS_MARK, offered


class _Link(NamedTuple):
    """An output of a node instance that may lie on one of its inputs."""

    instance: int
    output: int
    at: int


class InPlace:
    """Takes offers one by one; the first that fits an output wins."""

    def __init__(self, coalescer: Coalescer) -> None:
        self.coalescer = coalescer
        self.work = coalescer.work
        self.accesses = coalescer.accesses
        self.demands = coalescer.demands
        self.precedence = coalescer.precedence

    def run_declared(self) -> None:
        """Look at the pairs of a graph input and an output that have one address."""
        for index, output in self.coalescer.options.shared_io:
            self._declared(index, output)

    def run(self) -> None:
        """Look at every node that something runs at."""
        by_traits = self.coalescer.options.inplace
        for instance, node in enumerate(self.work.nodes):
            if not self.demands.tasks[instance] or node.subgraphs:
                continue
            if not by_traits and not node.attrs.get(OFFERS_MARK):
                continue
            taken: set[int] = set()
            for output, index in self._offers(instance, by_traits):
                if output not in taken and self._take(_Link(instance, output, index)):
                    taken.add(output)

    def _declared(self, index: int, output: int) -> None:
        """Have all updates that lead from a graph input to an output done in the input's memory.

        All of them or none: memory of the caller's that isn't the output's may not be written.
        """
        for tensor in [t for t, ends in self.accesses.outputs.items() if output in ends]:
            links = self._links(tensor, index)
            if not links or not self._is_returned(index, links):
                continue
            if all(self._may_take(link, returned=True) for link in links):
                # From the output backwards: the caller's memory is joined last.
                for link in links:
                    if not self._unite(link):
                        break

    def _links(self, tensor: int, index: int) -> list[_Link]:
        """The updates on the way back from an output to a graph input; none if it isn't reached."""
        links: list[_Link] = []
        while True:
            tensor = self._named_first(tensor)
            if tensor in self.accesses.inputs:
                return links if self.accesses.inputs[tensor] == index else []
            instance = self.work.owner[tensor]
            if not self.demands.tasks[instance] or self.work.nodes[instance].subgraphs:
                return []
            number = tensor - self.work.base[instance]
            for output, at in self._offers(instance, True):
                source = self.work.source(instance, at)
                if output == number and source is not None:
                    links.append(_Link(instance, output, at))
                    tensor = source
                    break
            else:
                return []

    def _is_returned(self, index: int, links: list[_Link]) -> bool:
        """Whether the old value is no result, and every result that overwrites it is declared."""
        *_, first = links
        source = self.work.source(first.instance, first.at)
        assert source is not None
        old = self.coalescer.members(source)
        if any(member in self.accesses.outputs for member in old):
            return False
        if any(member in self.accesses.updated for member in old):
            return False
        return all(
            self.coalescer.is_declared(index, self.work.tensor(link.instance, link.output))
            for link in links
        )

    def _named_first(self, tensor: int) -> int:
        """The tensor whose memory a view or the result of a call is."""
        while tensor in self.demands.alias_of:
            tensor = self.demands.alias_of[tensor]
        return tensor

    def _offers(self, instance: int, by_traits: bool) -> Iterator[tuple[int, int]]:
        node = self.work.nodes[instance]
        yield from offered(node)
        if by_traits:
            yield from self.work.traits(node).inplace

    def _take(self, link: _Link) -> bool:
        return self._may_take(link) and self._unite(link)

    def _may_take(self, link: _Link, returned: bool = False) -> bool:
        """Whether nobody is in the way; the caller's memory is taken only where it is returned."""
        instance, output, index = link
        node = self.work.nodes[instance]
        source = self.work.source(instance, index)
        if source is None or not 0 <= output < len(node.outputs):
            return False
        target = self.work.tensor(instance, output)
        if node.attrs.get("continuous_output") or target in self.demands.alias_of:
            return False
        if not self.coalescer.fits(source, target):
            return False
        if self.coalescer.is_callers(source) and not returned:
            return False
        if not self._is_last(instance, index, source, returned):
            return False
        return self._is_first(instance, target)

    def _unite(self, link: _Link) -> bool:
        instance, output, index = link
        source, target = self.work.source(instance, index), self.work.tensor(instance, output)
        if source is None or self.coalescer.clash(source, target):
            return False
        node = self.work.nodes[instance]
        self.coalescer.unite(source, target, f"{node.op} {node.name} works in place")
        return True

    def _is_last(self, instance: int, index: int, source: int, returned: bool) -> bool:
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
            if access.site == RUN_END and returned:
                # By declaration nobody looks at the old value.
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
