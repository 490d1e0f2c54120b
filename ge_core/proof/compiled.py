"""The compiled run: the same ops over addresses, each read compared with the reference.

It runs a program in one order that its streams and events allow. That all other such orders give
the same contents is what the order check shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ge_core.ir import Node, OutputAnchor
from ge_core.proof.algebra import Algebra, Claims, instances_of
from ge_core.proof.compiled_loops import LoopExecution
from ge_core.proof.constants import Sources
from ge_core.proof.contents import Content, difference
from ge_core.proof.differs import differs
from ge_core.proof.facts import PERSISTENT, SOURCES
from ge_core.proof.frames import Frame, Frames, Instance, Steps, run_steps
from ge_core.proof.options import NOTHING_LENT, Lent
from ge_core.proof.phi import phi
from ge_core.proof.pools import Changes, Pools
from ge_core.proof.program import Group, Step
from ge_core.proof.reference import Reads, Reference, branch_arms, branch_key
from ge_core.proof.regions import Region, Regions
from ge_core.proof.result import Findings
from ge_core.proof.sizes import extent


class CompiledRun:
    """Evaluates a compiled graph inside its plan.

    Args:
        reference: the finished run of the original.
        shadow: makes the reference run of the compiled graph, which says what nodes read that the
            original does not have.
        equal: outputs that are taken to be what others of the original were.
        lent: inputs that callers lend; nobody looks at what they hold at the end.
    """

    def __init__(
        self,
        reference: Reference,
        shadow: Callable[[], Reference],
        algebra: Algebra,
        sources: Sources,
        frames: Frames,
        regions: Regions,
        findings: Findings,
        equal: dict[tuple[str, int], tuple[str, int]],
        lent: Lent = NOTHING_LENT,
    ) -> None:
        self.reference = reference
        self.algebra = algebra
        self.store = algebra.store
        self.names = algebra.names
        self.frames = frames
        self.regions = regions
        self.findings = findings
        self.pools = Pools(self.store)
        self.effects: list[tuple[Frame, Node]] = []
        self._shadow = shadow
        self._known_shadow: Reference | None = None
        self._sources = sources
        self._equal = equal
        self._given_up = frozenset(
            node.name
            for at, node in enumerate(reference.graph.data_nodes)
            if node.op not in PERSISTENT and lent.ends_as_nobodys(int(node.attrs.get("index", at)))
        )
        self._claims: Claims = {}
        self._by_name: dict[str, list[Instance]] | None = None
        self._has_merges = any(
            algebra.facts.of(node).kind == "merge" for node in frames.root.graph.all_nodes()
        )
        self._merged: set[tuple[Frame, Node]] = set()

    @property
    def shadow(self) -> Reference:
        """The reference run of the compiled graph; made when somebody asks."""
        if self._known_shadow is None:
            self._known_shadow = self._shadow()
        return self._known_shadow

    def run(self, program: Group) -> None:
        """Run everything and check what is read; then what outputs and variables hold."""
        self._start()
        run_steps(self.run_group(program))
        self._finish()

    # ---- start and end -------------------------------------------------------------------------

    def _start(self) -> None:
        """Put inputs, variables and constants where they lie."""
        root = self.frames.root.graph
        for node in root.all_nodes():
            if self.algebra.facts.of(node).kind in SOURCES and node.graph is root:
                self._put_source(self.regions.of(self.frames.root, node.outputs[0]), node)
        for place in self.regions.places.values():
            found = root.find(place.node)
            if found is None or not place.call or place.output:
                continue
            if self.algebra.facts.of(found).kind in ("constant", "variable"):
                size = extent(found.outputs[0].desc)
                self._put_source(Region(place.pool, place.offset, size or place.bytes), found)
        for node in root.all_nodes():
            kind = self.algebra.facts.of(node).kind
            if kind in ("constant", "variable") and node.graph is not root:
                name = f"@{node.name}:0"
                self._put_source(Region(name, 0, extent(node.outputs[0].desc)), node)

    def _put_source(self, region: Region, node: Node) -> None:
        self.pools.write(region, self._sources.initial(node), node.name)

    def _finish(self) -> None:
        """Outputs, variables, and inputs that the original updates for its caller."""
        root = self.frames.root
        out, original = root.graph.net_output, self.reference.graph.net_output
        if out is not None and original is not None:
            reads = self.reference.reads[(), original.name]
            for anchor, expected in zip(out.inputs, reads, strict=False):
                if anchor.source is not None:
                    self._settle(root, anchor.source)
                    region = self.regions.of(root, anchor.source)
                    self.compare(root.path(out), anchor.index, region, [expected])
        for name, expected in self.reference.persistent.items():
            if name not in self._given_up:
                self._check_persistent(name, expected)

    def _check_persistent(self, name: str, expected: Content) -> None:
        original = self.reference.graph.node(name)
        is_input = self.algebra.facts.of(original).kind == "data" and original.op not in PERSISTENT
        if is_input and expected is self._sources.initial(original):
            return
        node = self.frames.root.graph.find(name)
        if node is None or node.graph is None or name not in self.names.originals(node):
            if expected is not self._sources.initial(original):
                expected_text = self.store.describe(expected)
                self.findings.add("reads", name, expected=expected_text, found="no such node")
            return
        region = self._anywhere(node)
        if region is not None:
            self.compare(f"{name} at the end", None, region, [expected])

    def _anywhere(self, node: Node) -> Region | None:
        """Where a variable or input lies; inside a subgraph, on whichever call path is planned."""
        if node.graph is self.frames.root.graph:
            return self.regions.of(self.frames.root, node.outputs[0])
        size = extent(node.outputs[0].desc)
        for place in self.regions.places.values():
            if place.node == node.name and place.output == 0:
                return Region(place.pool, place.offset, size or place.bytes)
        return Region(f"@{node.name}:0", 0, size)

    # ---- reads ---------------------------------------------------------------------------------

    def expected(self, frame: Frame, node: Node) -> list[Reads]:
        """What the node instance should read: one answer per original that it stands for."""
        found = [
            self.reference.reads[instance]
            for instance in instances_of(self.names, frame, node)
            if instance in self.reference.reads
        ]
        if not found:
            found = [self.reference.reads[only] for only in self._only_instances(node)]
        if not found:
            reads = self.shadow.reads.get((frame.call, node.name))
            found = [] if reads is None else [reads]
        return found

    def _only_instances(self, node: Node) -> list[Instance]:
        """For a node that moved to another call path: its original, where it has one instance."""
        if self._by_name is None:
            self._by_name = {}
            for instance in self.reference.reads:
                self._by_name.setdefault(instance[1], []).append(instance)
        every = [self._by_name.get(name, []) for name in self.names.alike(node)]
        return [instances[0] for instances in every if len(instances) == 1]

    def compare(
        self, path: str, at: int | None, region: Region, expected: list[Content | None]
    ) -> Content:
        """Check that a region holds what it should; the answer is what it should hold.

        Going on with the expected content keeps one fault from being reported by all that follow.
        """
        found = self.pools.read(region)
        wanted = next((content for content in expected if content is not found), found)
        if wanted is None or wanted is found:
            return found
        low, high = difference(wanted, found)
        bad = self._bad_range(region, low, high)
        writers = self.pools.writers(bad)
        size = None if found.length is None else high - low
        before = self.findings.from_pass
        self.findings.add(
            "reads",
            path,
            input=at,
            range=(bad.pool, bad.start, bad.end),
            expected=self.store.describe(self.store.part(wanted, low, size)),
            found=self.store.describe(self.store.part(found, low, size)),
            written_by=writers[0] if writers else None,
            differs=differs(
                self.store,
                wanted,
                found,
                "in the original" if before is None else f"as {before} left it",
            ),
            about=writers,
        )
        return wanted

    def _bad_range(self, region: Region, low: int, high: int) -> Region:
        if region.is_strided or region.size is None:
            return region
        low, high = min(low, region.size), min(high, region.size)
        if low >= high:
            return region
        return Region(region.pool, region.start + low, high - low)

    def read_inputs(self, step: Step, only: tuple[int, ...] | None = None) -> list[Content | None]:
        """Read and check a step's inputs, all of them or only some."""
        expected = self.expected(step.frame, step.node)
        path = step.path
        found: list[Content | None] = []
        for anchor in step.node.inputs:
            at, source = anchor.index, anchor.source
            if source is None or at in step.facts.ignored or (only is not None and at not in only):
                found.append(None)
                continue
            self._settle(step.frame, source)
            region = self.regions.of(step.frame, source)
            wanted = [reads[at] for reads in expected]
            found.append(self.compare(path, at, region, wanted))
        return found

    # ---- running -------------------------------------------------------------------------------

    def run_group(self, group: Group) -> Steps[None]:
        """Run the steps of one graph on one call path."""
        for step in group.steps():
            kind = step.facts.kind
            if step.facts.has_effect:
                self.effects.append((step.frame, step.node))
            if kind == "call":
                for inner in step.groups:
                    yield self.run_group(inner)
            elif kind in ("if", "case"):
                yield from self._branch(step)
            elif kind in ("while", "loop", "scan"):
                yield from LoopExecution(self, step).run()
            else:
                self._plain(step)

    def _plain(self, step: Step) -> None:
        frame, node, facts = step.frame, step.node, step.facts
        if facts.kind == "merge":
            self._merge(frame, node)
            return
        inputs = self.read_inputs(step)
        outcome = self.algebra.run(node, frame, inputs, self._claims)
        path = step.path
        for area in self.regions.scratch(frame, node.name):
            self.pools.destroy(area, f"scratch of {path}", path)
        for at in facts.scribbles:
            source = node.inputs[at].source
            if source is not None:
                region = self.regions.of(frame, source)
                self.pools.destroy(region, f"what {path} leaves of its input {at}", path)
        for at, content in outcome.updates:
            source = node.inputs[at].source
            if source is not None:
                self.pools.write(self.regions.of(frame, source), content, path)
        for output, made in zip(node.outputs, outcome.outputs, strict=True):
            self._deliver(step, output, made, inputs)

    def _deliver(
        self, step: Step, output: OutputAnchor, made: Content | None, inputs: list[Content | None]
    ) -> None:
        frame, path = step.frame, step.path
        region = self.regions.of(frame, output)
        at = step.facts.aliases.get(output.index)
        source = None if at is None else step.node.inputs[at].source
        if step.facts.is_updated(at):
            return
        if made is None:
            # A view: nothing moves where it lies on its input, else it is copied.
            if source is None or at is None or self.regions.of(frame, source).same_place(region):
                return
            made = inputs[at] or self.store.unknown(f"nothing, seen as {output!r}", region.size)
        self.pools.write(region, self.taken(frame, output, made), path)

    def taken(self, frame: Frame, output: OutputAnchor, made: Content) -> Content:
        """The content that an equivalence gives an output, else what was made."""
        twin = self._equal.get((output.node.name, output.index))
        call = self.names.call(frame)
        if twin is None or call is None:
            return made
        return self.reference.produced.get(((call, twin[0]), twin[1]), made)

    # ---- merges --------------------------------------------------------------------------------

    def _settle(self, frame: Frame, output: OutputAnchor) -> None:
        """Run a merge that nothing launches before what it hands on is read."""
        if not self._has_merges:
            return
        node = output.node
        facts = self.algebra.facts.of(node)
        while facts.kind != "merge":
            at = facts.aliases.get(output.index)
            source = None if at is None else node.inputs[at].source
            if source is None:
                return
            output, node = source, source.node
            facts = self.algebra.facts.of(node)
        self._merge(frame, node)

    def _merge(self, frame: Frame, node: Node) -> None:
        """Whichever arm has run delivers the value: one input holding what it should is enough."""
        if (frame, node) in self._merged:
            return
        self._merged.add((frame, node))
        expected = self.expected(frame, node)
        wanted = [content for reads in expected for content in reads if content is not None]
        path = frame.path(node)
        for anchor in node.inputs:
            if anchor.source is None:
                continue
            self._settle(frame, anchor.source)
            region = self.regions.of(frame, anchor.source)
            if all(self.pools.read(region) is not content for content in wanted):
                self.compare(
                    path, anchor.index, region, [reads[anchor.index] for reads in expected]
                )
        given = expected[0] if expected else tuple([None] * len(node.inputs))
        outcome = self.algebra.run(node, frame, given, self._claims)
        for output, made in zip(node.outputs, outcome.outputs, strict=True):
            if made is not None:
                self.pools.write(self.regions.of(frame, output), made, path)

    # ---- branches ------------------------------------------------------------------------------

    def results(self, group: Group, *, of_arm: bool = False) -> dict[int, tuple[Region, Content]]:
        """Read and check what a subgraph delivers, by parent output.

        A pass may move work across an arm's end, so that the arm delivers something else than the
        original's. Then what the compiled graph itself means is enough: readers behind it judge.
        """
        frame = group.frame
        out = frame.graph.net_output
        if out is None:
            return {}
        expected = self.expected(frame, out)
        found: dict[int, tuple[Region, Content]] = {}
        for at, position, source in frame.results():
            self._settle(frame, source)
            region = self.regions.of(frame, source)
            wanted = [reads[position] for reads in expected]
            if of_arm and any(content is not self.pools.read(region) for content in wanted):
                own = self.shadow.reads[frame.call, out.name][position]
                if own is self.pools.read(region):
                    wanted = [own]
            content = self.compare(frame.path(out), position, region, wanted)
            if region.size is None:
                # What is handed over is the memory, not what the subgraph's own view of it sees.
                content = self.pools.read(replace(region, seen=None))
            found[at] = region, content
        return found

    def _branch(self, step: Step) -> Steps[None]:
        node, path = step.node, step.path
        predicate = self.read_inputs(step, only=(0,))[0]
        arms: dict[object, Changes] = {}
        for graph in dict.fromkeys(node.subgraphs.values()):
            group = step.group(graph)
            assert group is not None
            self.pools.fork()
            yield self.run_group(group)
            self.hand_over(step, self.results(group, of_arm=True))
            arms[graph] = self.pools.rollback()
        key = branch_key(node, step.facts, predicate)
        label = f"either arm of {path}"
        self.pools.merge(
            [arms[graph] for graph in branch_arms(node, step.facts)],
            lambda parts: phi(self.store, key, label, parts),
            path,
        )

    def hand_over(self, step: Step, results: dict[int, tuple[Region, Content]]) -> None:
        """Copy an arm's results into the node's outputs: all are read before any is written."""
        outputs = step.node.outputs
        for at, (region, content) in sorted(results.items()):
            if at < len(outputs):
                target = self.regions.of(step.frame, outputs[at])
                if not target.same_place(region):
                    self.pools.write(target, content, step.path)
