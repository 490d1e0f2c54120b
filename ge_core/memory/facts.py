"""What is known of the tensors behind a problem: enough to write a plan with."""

from __future__ import annotations

from dataclasses import dataclass, field

from ge_core.memory.access import Scratch
from ge_core.memory.conflict_query import Clash
from ge_core.memory.expand import Expansion
from ge_core.memory.plan import Io, Strided, scratch_name


@dataclass(slots=True)
class Site:
    """Where a tensor or scratch area lies, before offsets are chosen.

    Attributes:
        pool: name of its pool.
        cluster: index in the problem; None for weights, which have fixed places, and for nothing.
        delta: distance from the start of the cluster, or from the pool's start.
        size: bytes from its first byte behind its last.
        life: positions of the first and the last access to its bytes.
        rows: how its rows lie where they have gaps.
    """

    pool: str
    cluster: int | None
    delta: int
    size: int
    life: tuple[int, int]
    rows: Strided | None = None


@dataclass(slots=True)
class PlanFacts:
    """The tensors of one problem.

    Attributes:
        work: the instances behind the numbers.
        target, options: what the problem was built for.
        sites: by tensor; tensors that are missing are not planned.
        data: by tensor, bytes held.
        strided: how the rows of a tensor lie where they have gaps.
        alias_of: by tensor, the one whose memory it is.
        runs: by tensor, name of its run; its distance is that of its site.
        io: by tensor, what it is to the caller.
        scratch: scratch areas with their sites.
        unplanned: tensors that get buffers at run time.
        fixed_bytes: bytes of the pools that have fixed places (constants, variables).
        clashes: by the tensors that could be one but for a plugin's layout rule, what it said.
        warnings: what should be said to whoever compiles.
    """

    work: Expansion
    target: str
    options: dict[str, str]
    sites: dict[int, Site] = field(default_factory=dict)
    data: list[int] = field(default_factory=list)
    strided: dict[int, Strided] = field(default_factory=dict)
    alias_of: dict[int, int] = field(default_factory=dict)
    runs: dict[int, str] = field(default_factory=dict)
    io: dict[int, Io] = field(default_factory=dict)
    scratch: list[tuple[Scratch, Site]] = field(default_factory=list)
    unplanned: list[int] = field(default_factory=list)
    fixed_bytes: dict[str, int] = field(default_factory=dict)
    clashes: dict[tuple[int, int], Clash] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _names: dict[str, Site] | None = None

    def scratch_name(self, area: Scratch) -> str:
        """`call/.../node:ws<index>`."""
        region = self.work.regions[area.instance]
        return scratch_name(region.call, self.work.nodes[area.instance].name, area.index)

    def named(self) -> dict[str, Site]:
        """Sites by name, as plans spell them."""
        if self._names is None:
            self._names = {self.work.name(tensor): site for tensor, site in self.sites.items()}
            for area, site in self.scratch:
                self._names[self.scratch_name(area)] = site
        return self._names

    def ultimate(self, tensor: int) -> int | None:
        """The tensor that an alias is in the end; None for one that is its own memory."""
        seen = {tensor}
        at = self.alias_of.get(tensor)
        while at is not None and at not in seen:
            seen.add(at)
            following = self.alias_of.get(at)
            if following is None or following in seen:
                return at
            at = following
        return at
