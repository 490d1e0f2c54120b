"""Who touches which tensor, and where in the run.

A *site* is a place in the run: a node instance, the head or the end of a region, the start or the
end of the whole run. Reads and writes are recorded per tensor; what they mean for tensors that
share its memory is worked out by who asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from ge_core.errors import GraphError, PlanError
from ge_core.memory.boundaries import carried, results
from ge_core.memory.constraints import Constraints
from ge_core.memory.expand import START, Expansion, Region
from ge_core.memory.options import INPUT_REUSE, OUTPUT_REUSE, PlanOptions
from ge_core.ops import scribbled_inputs, written_inputs

RUN_START: Final = -1
RUN_END: Final = -2
CLEARING_OPS: Final = frozenset({"MemSet", "AtomicAddrClean"})


class Access(NamedTuple):
    """One access: where, and whether it writes. A tensor's producer is its first writer."""

    site: int
    write: bool


@dataclass(frozen=True, slots=True)
class Scratch:
    """One scratch area of a node instance."""

    instance: int
    index: int
    size: int
    kept: bool
    session: bool


class Accesses:
    """All accesses of an expanded graph.

    Args:
        work: the instances.
        demands: what lies where.
        options: which graph inputs and outputs are offered.

    Attributes:
        of: by tensor.
        scratch: the scratch areas, by instance.
        inputs, outputs: tensors that are the caller's, with their indexes.
        updated: those of the inputs that hold a result at the end, as the graph updates them or
            they are meant to be updated.
        whole_run: tensors that share with nobody.
        warnings: what was wrong with options.
    """

    def __init__(self, work: Expansion, demands: Constraints, options: PlanOptions) -> None:
        self.work = work
        self.demands = demands
        self.options = options
        self.of: list[list[Access]] = [[] for _ in work.owner]
        self.scratch: list[Scratch] = []
        self.inputs: dict[int, int] = {}
        self.outputs: dict[int, list[int]] = {}
        self.updated: set[int] = set()
        self.whole_run: list[int] = []
        self.warnings: list[str] = []
        self._count = len(work.nodes)
        for instance in range(self._count):
            self._visit(instance)
        self._keep_updates()
        self._check_offers()

    # ---- sites ---------------------------------------------------------------------------------

    def head(self, region: Region) -> int:
        """The site before the first node of a region."""
        return self._count + 2 * region.index

    def tail(self, region: Region) -> int:
        """The site behind the last node of a region."""
        return self._count + 2 * region.index + 1

    def region(self, site: int) -> Region:
        """The region that a site lies in."""
        if site < 0:
            return self.work.all_regions[0]
        if site < self._count:
            return self.work.regions[site]
        return self.work.all_regions[(site - self._count) // 2]

    def position(self, site: int) -> int:
        """Where in the run a site lies."""
        if 0 <= site < self._count:
            return site + 1
        if site < 0:
            return START if site == RUN_START else self.work.end
        region = self.region(site)
        return region.end if (site - self._count) % 2 else region.start

    # ---- recording -----------------------------------------------------------------------------

    def _read(self, tensor: int | None, site: int) -> None:
        if tensor is not None:
            self.of[tensor].append(Access(site, False))

    def _write(self, tensor: int | None, site: int) -> None:
        if tensor is not None:
            self.of[tensor].append(Access(site, True))

    def _visit(self, instance: int) -> None:
        work = self.work
        node = work.nodes[instance]
        kind = work.traits(node).kind
        region = work.regions[instance]
        if kind == "data":
            self._data(instance, region)
        elif kind == "net_output":
            self._net_output(instance, region)
        elif node.subgraphs:
            self._caller(instance, kind)
        elif self.demands.tasks[instance]:
            self._task(instance)
        if node.attrs:
            self._scratch(instance)
            self._cleared(instance)
            if node.attrs.get("no_reuse_mem_flag"):
                self._keep(instance)
        if self.options.keeps_apart(node.name, node.op):
            self._keep(instance)

    def _keep(self, instance: int) -> None:
        base = self.work.base[instance]
        self.whole_run.extend(range(base, base + len(self.work.nodes[instance].outputs)))

    def _data(self, instance: int, region: Region) -> None:
        node = self.work.nodes[instance]
        if region.outer is not None:
            for output in range(len(node.outputs)):
                tensor = self.work.tensor(instance, output)
                if tensor not in self.demands.alias_of:
                    self._write(tensor, self.head(region))
            return
        index = node.attrs.get("index")
        number = index if isinstance(index, int) else len(self.inputs)
        for output in range(len(node.outputs)):
            tensor = self.work.tensor(instance, output)
            self.inputs[tensor] = number
            self._write(tensor, RUN_START)
            if node.op == "RefData":
                self.updated.add(tensor)
            if node.op == "RefData" or number not in self.options.offered_inputs:
                self._read(tensor, RUN_END)

    def _net_output(self, instance: int, region: Region) -> None:
        if region.outer is None:
            for at in range(len(self.work.nodes[instance].inputs)):
                tensor = self.work.source(instance, at)
                if tensor is not None:
                    self.outputs.setdefault(tensor, []).append(at)
                    self._read(tensor, RUN_END)
                    if at not in self.options.offered_outputs:
                        self._write(tensor, RUN_START)
            return
        if region.role == "call":
            return
        # Results are copied when everything inside has run, whatever is listed behind NetOutput.
        site = self.tail(region)
        for result in results(self.work, region, instance):
            self._read(result.tensor, site)
            self._write(result.target, site)

    def _caller(self, instance: int, kind: str) -> None:
        node = self.work.nodes[instance]
        inner = self.work.inner[instance]
        if kind == "call":
            return
        if kind in ("if", "case"):
            self._read(self.work.source(instance, 0), instance)
            return
        deal = carried(self.work, instance)
        taken = (
            range(deal.captured) if kind in ("while", "loop", "scan") else range(len(node.inputs))
        )
        for at in taken:
            self._read(self.work.source(instance, at), instance)
        for at in range(deal.slots, deal.slots + deal.elements):
            for region in inner:
                self._read(self.work.source(instance, at), self.head(region))
        for output in range(len(node.outputs)):
            self._write(self.work.tensor(instance, output), instance)

    def _task(self, instance: int) -> None:
        work = self.work
        node = work.nodes[instance]
        traits = work.traits(node)
        base = work.base[instance]
        at = work.regions[instance].at
        for anchor in node.inputs:
            feed = anchor.source
            if feed is not None and anchor.index not in traits.shape_only:
                self.of[work.base[at[feed.node]] + feed.index].append(Access(instance, False))
        for output in range(len(node.outputs)):
            self.of[base + output].append(Access(instance, True))
        if traits.writes or traits.scribbles or node.attrs or node.input_names:
            changed = {*written_inputs(node, work.ops), *scribbled_inputs(node, work.ops)}
            for index in sorted(changed):
                self._write(work.source(instance, index), instance)

    def _scratch(self, instance: int) -> None:
        node = self.work.nodes[instance]
        sizes = node.attrs.get("workspace_bytes")
        if not isinstance(sizes, (list, tuple)) or not self.demands.tasks[instance]:
            return
        scopes = node.attrs.get("_workspace_memory_no_reuse_scope", ())
        flags = node.attrs.get("workspace_reuse_flag", ())
        apart = bool(node.attrs.get("no_reuse_mem_flag")) or self.options.keeps_apart(
            node.name, node.op
        )
        for index, size in enumerate(sizes):
            if not isinstance(size, int) or size < -1:
                raise GraphError(f"scratch size {size!r}", node=node.name, field="workspace_bytes")
            if size > 0:
                kept = apart or (index < len(flags) and not flags[index])
                session = index < len(scopes) and scopes[index] == 1
                self.scratch.append(Scratch(instance, index, size, kept, session))

    def _cleared(self, instance: int) -> None:
        """Outputs that a clearing node sets to zero are in use from there on."""
        node = self.work.nodes[instance]
        listed = node.attrs.get("atomic_output_index")
        if not node.attrs.get("is_atomic_node") or not isinstance(listed, (list, tuple)):
            return
        every = range(len(node.outputs))
        outputs = [at for at in every if at in listed or -1 in listed]
        region = self.work.regions[instance]
        for output in outputs:
            tensor = self.work.tensor(instance, output)
            if tensor in self.demands.alias_of:
                raise PlanError(
                    f"{self.work.name(tensor)} can't be cleared beforehand: it is the memory of "
                    f"{self.work.name(self.demands.alias_of[tensor])}"
                )
            for before in node.control_inputs:
                if before.op in CLEARING_OPS:
                    self._write(tensor, region.at[before])

    def _keep_updates(self) -> None:
        """A graph input that the graph itself updates is a result, offered or not."""
        given = {self.demands.alias.find(tensor)[0]: tensor for tensor in self.inputs}
        for tensor, accesses in enumerate(self.of):
            group = given.get(self.demands.alias.find(tensor)[0])
            if group is None or not any(a.write and a.site != RUN_START for a in accesses):
                continue
            self.updated.add(group)
            if self.inputs[group] in self.options.offered_inputs:
                self._read(group, RUN_END)

    def _check_offers(self) -> None:
        """Indexes that nothing has are left out, with a warning."""
        known = set(self.inputs.values())
        for index in sorted(self.options.offered_inputs - known):
            self.warnings.append(f"option {INPUT_REUSE}: there is no graph input {index}")
        ends = {at for indexes in self.outputs.values() for at in indexes}
        for index in sorted(self.options.offered_outputs - ends):
            self.warnings.append(f"option {OUTPUT_REUSE}: there is no graph output {index}")
