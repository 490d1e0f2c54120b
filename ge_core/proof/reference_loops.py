"""Loops of the reference run: one turn over symbols, and what that says about all of them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from ge_core.ir import Node
from ge_core.ops import parent_index
from ge_core.proof.cells import ActiveLoop, Cell, Writer
from ge_core.proof.contents import Content
from ge_core.proof.facts import Facts
from ge_core.proof.frames import Frame, Steps
from ge_core.proof.loops import CarriedMemory, LoopRecord, loop_shape
from ge_core.proof.sizes import extent, meaning

if TYPE_CHECKING:
    from ge_core.proof.reference import Bound, Env, Reads, Reference, Results


class _Turn:
    """What one turn left."""

    __slots__ = ("after", "condition", "results", "tested")

    def __init__(self) -> None:
        self.condition: Content | None = None
        self.tested: list[Content] = []
        self.results: dict[int, Content] = {}
        self.after: dict[Cell, Content] = {}


class LoopRun:
    """Evaluates one loop node of a reference run."""

    def __init__(
        self,
        run: Reference,
        frame: Frame,
        node: Node,
        facts: Facts,
        inputs: Reads,
        cells: list[Cell | None],
    ) -> None:
        self.reference = run
        self.store = run.algebra.store
        self.frame = frame
        self.node = node
        self.inputs = inputs
        self.cells = cells
        self.shape = loop_shape(node, facts)
        self.body = run.frames.child(frame, node, self.shape.body)
        self.condition = (
            None
            if self.shape.condition is None
            else run.frames.child(frame, node, self.shape.condition)
        )
        self.sizes = [self._slot_size(at) for at in range(len(self.shape.slots))]
        label = f"{frame.path(node)}'s slot"
        self.heads = [
            self._symbol(("slot", self.body.loops, at, size), f"{label} {at}", size)
            for at, size in enumerate(self.sizes)
        ]
        self.made = self._made()

    def run(self, env: Env) -> Steps[None]:
        """Evaluate the loop and bind its outputs."""
        run, memory = self.reference, self.reference.memory
        carried: dict[Cell, Writer] = {}
        kept: dict[Cell, None] = {}
        effects = len(run.effects)
        while True:
            del run.effects[effects:]
            active = memory.enter_loop()
            memory.fork()
            turn: _Turn = yield self._turn(carried)
            memory.rollback()
            memory.loops.remove(active)
            written = self._written(active)
            found = {cell: key for cell, key in written.items() if cell not in kept}
            if found.keys() != carried.keys():
                # Memory from outside that a turn writes is one more carried value: again with it.
                carried = found
                continue
            same = [
                c for c, key in carried.items() if turn.after[c] is self._carried_symbol(c, key)
            ]
            if not same:
                break
            # What a turn leaves as it found it is what it was before the loop: again with that.
            kept.update(dict.fromkeys(same))
            carried = {cell: key for cell, key in carried.items() if cell not in kept}
        self._finish(env, turn, carried, kept)

    def _slot_size(self, at: int) -> int | None:
        slot = self.shape.slots[at]
        if slot.output is not None:
            return extent(self.node.outputs[slot.output].desc)
        source = self.node.inputs[slot.input].source
        return None if source is None else extent(source.desc)

    def _symbol(self, key: Hashable, label: str, size: int | None) -> Content:
        return self.store.whole(self.store.source(key, label), size)

    def _made(self) -> dict[int, Content]:
        """The values that the executor makes for each turn, by parent index."""
        found: dict[int, Content] = {}
        for node in self.body.graph.nodes_of("Data"):
            at = parent_index(node)
            if at in self.shape.made:
                label = f"what each turn gives {self.frame.path(self.node)}/{node.name}"
                size = extent(node.outputs[0].desc)
                found[at] = self._symbol(("turn", self.body.loops, at, size), label, size)
        return found

    def _turn(self, carried: dict[Cell, Writer]) -> Steps[_Turn]:
        memory = self.reference.memory
        bound: Bound = {at: self.cells[at] for at in self.shape.passed}
        slots = [memory.cell(head) for head in self.heads]
        bound.update({s.data: cell for s, cell in zip(self.shape.slots, slots, strict=True)})
        bound.update({at: memory.cell(content) for at, content in self.made.items()})
        for cell, key in carried.items():
            memory.set(cell, self._carried_symbol(cell, key))
        turn = _Turn()
        if self.condition is not None:
            tests: Results = yield self.reference.run_frame(self.condition, bound)
            if tests and tests[0][2] is not None:
                turn.condition = tests[0][2].content
        turn.tested = [cell.content for cell in slots]
        results: Results = yield self.reference.run_frame(self.body, bound)
        for at, _, found in results:
            if found is not None:
                turn.results[at] = found.content
        turn.after = {cell: cell.content for cell in carried}
        return turn

    def _carried_symbol(self, cell: Cell, key: Writer) -> Content:
        label = f"memory that {self.frame.path(self.node)} updates"
        return self._symbol(("carried", self.body.loops, key), label, cell.content.length)

    def _written(self, active: ActiveLoop) -> dict[Cell, Writer]:
        """The outside memory that a turn writes, each with what names it in both runs.

        That is a writer. A variable has a name of its own: the compiled graph may have another node
        write it, which in the original writes a copy that is stored in the variable then.
        """
        run = self.reference
        call = run.algebra.names.call(self.frame)
        names = run.algebra.names.originals(self.node) or (self.node.name,)
        loop = (self.frame.call if call is None else call, names[0])
        found: dict[Cell, Writer] = {}
        for cell, writers in active.written.items():
            first = writers[0]
            name = first if cell.lasting is None else ("lasting", cell.lasting)
            if run.base is not None:
                name = run.base.representative.get((loop, first), name)
            for writer in writers:
                run.representative[loop, writer] = name
            found[cell] = name
        return found

    def _finish(
        self, env: Env, turn: _Turn, carried: dict[Cell, Writer], kept: dict[Cell, None]
    ) -> None:
        run, node = self.reference, self.node
        nothing = self.store.unknown(f"nothing, returned to {self.frame.path(node)}", None)
        firsts = [
            self.store.part(self.inputs[slot.input] or nothing, 0, size)
            for slot, size in zip(self.shape.slots, self.sizes, strict=True)
        ]
        nexts = [
            self.store.part(turn.results.get(slot.result, nothing), 0, size)
            for slot, size in zip(self.shape.slots, self.sizes, strict=True)
        ]
        base = self._key(turn, firsts, nexts, carried)
        finals: list[Content] = []
        for at, first in enumerate(firsts):
            stays = turn.tested[at] is self.heads[at] and nexts[at] is self.heads[at]
            label = f"{self.frame.path(node)}'s slot {at} at the end"
            finals.append(first if stays else self._symbol((base, "slot", at), label, first.length))
        memories = [CarriedMemory(c.home, c.content, c.content, c.content) for c in kept]
        for number, (cell, key) in enumerate(carried.items()):
            symbol, after = self._carried_symbol(cell, key), turn.after[cell]
            final = cell.content
            if after is not symbol:
                label = f"memory that {self.frame.path(node)} has updated"
                final = self._symbol((base, "carried", number), label, final.length)
                run.memory.set(cell, final)
            memories.append(CarriedMemory(cell.home, symbol, after, final))
        collected: dict[int, Content] = {}
        for _, at in self.shape.collected:
            label = f"{self.frame.path(node)}:{at}"
            size = extent(node.outputs[at].desc)
            collected[at] = self._symbol((base, "collected", at), label, size)
        made = {s.output: finals[n] for n, s in enumerate(self.shape.slots) if s.output is not None}
        for at, content in sorted({**collected, **made}.items()):
            output = node.outputs[at]
            whole = self.store.part(content, 0, extent(output.desc))
            env[output] = run.fresh(self.frame, output, run.taken(self.frame, output, whole))
        run.loops[self.frame.call, node.name] = LoopRecord(
            self.heads, turn.tested, nexts, finals, collected, self.made, memories
        )

    def _key(
        self,
        turn: _Turn,
        firsts: list[Content],
        nexts: list[Content],
        carried: dict[Cell, Writer],
    ) -> Hashable:
        """Everything that the values behind the loop depend on."""
        read = (*self.shape.entry, *self.shape.turn_reads)
        given = [self.inputs[at] if at < len(self.inputs) else None for at in read]
        rest = {at: content.id for at, content in turn.results.items()}
        memory = [(cell.content.id, turn.after[cell].id, key) for cell, key in carried.items()]
        return (
            "loop",
            self.node.op,
            self.reference.algebra.attributes(self.node),
            tuple([meaning(anchor.desc) for anchor in self.node.inputs]),
            tuple([None if content is None else content.id for content in given]),
            None if turn.condition is None else turn.condition.id,
            tuple([(a.id, b.id, c.id) for a, b, c in zip(firsts, turn.tested, nexts, strict=True)]),
            tuple(sorted(rest.items())),
            tuple(memory),
        )
