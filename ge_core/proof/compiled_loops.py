"""Loops of the compiled run: one turn over symbols, which must restore the state it began with.

At the head the slots hold their symbols, memory from outside that the loop updates holds its own,
and every other byte that condition or body write is unknown: an earlier turn may have left anything
there. The bytes of collected outputs must survive a whole turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ge_core.ir import Graph, OutputAnchor
from ge_core.ops import parent_index
from ge_core.proof.contents import Content
from ge_core.proof.footprint import written_by
from ge_core.proof.frames import Frame, Steps
from ge_core.proof.loops import CarriedMemory, LoopRecord, loop_shape
from ge_core.proof.program import Group, Step
from ge_core.proof.regions import Region

if TYPE_CHECKING:
    from ge_core.proof.compiled import CompiledRun


class LoopExecution:
    """Evaluates one loop step of a compiled run."""

    def __init__(self, run: CompiledRun, step: Step) -> None:
        self.run_of = run
        self.step = step
        self.shape = loop_shape(step.node, step.facts)
        self.slots = [
            run.regions.slot(step.frame, step.node, self.shape, at)
            for at in range(len(self.shape.slots))
        ]
        self.record = self._record()
        self._collecting: dict[int, Content] = {}

    def run(self) -> Steps[None]:
        """Run the loop: enter, one turn in general, leave."""
        run, record, pools = self.run_of, self.record, self.run_of.pools
        self._enter()
        if record is None:
            # The shadow has run every loop; without a record there is nothing to compare with.
            return
        self._head(record)
        if self.shape.condition is not None:
            group = self._group(self.shape.condition)
            yield run.run_group(group)
            run.results(group)
        self._hold("after its condition", record.tested)
        pools.fork()
        body = self._group(self.shape.body)
        self._make(record)
        yield run.run_group(body)
        self._turn_end(record, run.results(body))
        pools.rollback()
        self._leave(record)

    def _record(self) -> LoopRecord | None:
        run, step = self.run_of, self.step
        instance = (step.frame.call, step.node.name)
        call = run.names.call(step.frame)
        found: LoopRecord | None = None
        for name in run.names.alike(step.node):
            if call is not None and found is None:
                found = run.reference.loops.get((call, name))
        if found is None or len(found.heads) != len(self.slots):
            found = run.shadow.loops.get(instance)
        return found

    def _group(self, graph: Graph) -> Group:
        group = self.step.group(graph)
        assert group is not None
        return group

    # ---- outside of the turns ------------------------------------------------------------------

    def _enter(self) -> None:
        """Read the initial values; copy them into slots that lie elsewhere."""
        run, step = self.run_of, self.step
        initial = [slot.input for slot in self.shape.slots]
        inputs = run.read_inputs(step, only=(*initial, *self.shape.entry))
        held: list[Content] = []
        for at, region in zip(initial, self.slots, strict=True):
            content = inputs[at]
            if content is None:
                content = run.store.unknown(f"nothing, given to {step.path}", region.size)
            held.append(run.store.part(content, 0, region.size))
        for at, region, content in zip(initial, self.slots, held, strict=True):
            source = step.node.inputs[at].source
            if source is not None and run.regions.of(step.frame, source).same_place(region):
                continue
            run.pools.write(region, content, step.path)
        self._hold("before its first turn", held)

    def _hold(self, when: str, contents: list[Content]) -> None:
        """Check that every slot holds what it should."""
        for number, (region, content) in enumerate(zip(self.slots, contents, strict=True)):
            path = f"{self.step.path}'s slot {number} {when}"
            self.run_of.compare(path, None, region, [content])

    def _leave(self, record: LoopRecord) -> None:
        """Behind the loop: its values; whatever else it may have written is unknown."""
        run, path = self.run_of, self.step.path
        self._wipe("what a turn has left")
        for region, content in zip(self.slots, record.finals, strict=True):
            run.pools.write(region, content, path)
        for at, content in record.collected.items():
            run.pools.write(self._output(at), content, path)
        for region, memory in self._carried():
            run.pools.write(region, memory.final, path)
        for slot, content in zip(self.shape.slots, record.finals, strict=True):
            if slot.output is not None:
                output = self.step.node.outputs[slot.output]
                taken = run.taken(self.step.frame, output, content)
                if taken is not content:
                    run.pools.write(run.regions.of(self.step.frame, output), taken, path)

    # ---- one turn ------------------------------------------------------------------------------

    def _head(self, record: LoopRecord) -> None:
        """The state that every turn begins with."""
        run, path = self.run_of, self.step.path
        self._wipe("what an earlier turn has left")
        self._collecting = {
            at: run.store.unknown(f"what {path} has collected so far", self._output(at).size)
            for at in record.collected
        }
        for at, content in self._collecting.items():
            run.pools.write(self._output(at), content, path)
        for region, memory in self._carried():
            run.pools.write(region, memory.symbol, path)
        for region, head in zip(self.slots, record.heads, strict=True):
            run.pools.write(region, head, path)

    def _wipe(self, label: str) -> None:
        run, path = self.run_of, self.step.path
        for group in self.step.groups:
            for region in written_by(group, run.regions):
                run.pools.destroy(region, f"{label}, in {path}", path)
        for region in self._made_regions().values():
            run.pools.destroy(region, f"{label}, in {path}", path)

    def _make(self, record: LoopRecord) -> None:
        """What the executor writes at the head of each turn, and reads for it."""
        run = self.run_of
        run.read_inputs(self.step, only=self.shape.turn_reads)
        for at, region in self._made_regions().items():
            content = record.made.get(at)
            if content is not None:
                run.pools.write(region, content, self.step.path)

    def _made_regions(self) -> dict[int, Region]:
        frame = self._group(self.shape.body).frame
        found: dict[int, Region] = {}
        for node in frame.graph.nodes_of("Data"):
            at = parent_index(node)
            if at is not None and at in self.shape.made:
                found[at] = self.run_of.regions.of(frame, node.outputs[0])
        return found

    def _turn_end(self, record: LoopRecord, results: dict[int, tuple[Region, Content]]) -> None:
        """All results are read, then the slots are written; nothing else may have been lost."""
        run, path = self.run_of, self.step.path
        for slot, region in zip(self.shape.slots, self.slots, strict=True):
            found = results.get(slot.result)
            if found is not None and not found[0].same_place(region):
                run.pools.write(region, found[1], path)
        self._hold("at the end of a turn", record.nexts)
        for at, content in self._collecting.items():
            where = f"{path}:{at} while it is collected"
            run.compare(where, None, self._output(at), [content])
        for region, memory in self._carried():
            where = f"memory that {path} updates, at the end of a turn"
            run.compare(where, None, region, [memory.after])

    def _output(self, at: int) -> Region:
        return self.run_of.regions.of(self.step.frame, self.step.node.outputs[at])

    def _carried(self) -> list[tuple[Region, CarriedMemory]]:
        """The places of memory from outside that the loop updates."""
        run, step = self.run_of, self.step
        steps = (inner for group in step.groups for inner in group.everything())
        if not any(inner.facts.writes for inner in steps):
            return []
        record = run.shadow.loops.get((step.frame.call, step.node.name))
        found: list[tuple[Region, CarriedMemory]] = []
        for memory in [] if record is None else record.carried:
            frame, output = cast("tuple[Frame, OutputAnchor]", memory.home)
            region = run.regions.of(frame, output)
            found.append((region, self._twin(memory)))
        return found

    def _twin(self, memory: CarriedMemory) -> CarriedMemory:
        """The reference's own word on the memory, where it knows it."""
        for other in [] if self.record is None else self.record.carried:
            if other.symbol is memory.symbol:
                return other
        return memory
