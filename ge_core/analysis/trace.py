"""The source trace: from an input back to where its value was really made.

The engine only walks; how to step over an op is said by *trace rules*, which plugins contribute.
A rule for an op type comes before one for every op ("*"), and among those for the same op the order
is that of registration, owners sorted. A rule answers one of the cursor's steps, or None where the
next rule is to be asked; where no rule steps, the trace has found its source.

`Sources` answers where traces end and what is on their way for many anchors, in nearly constant
time each, while copies between traces are removed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, TypeGuard

from ge_core.analysis.interface import Interfaces
from ge_core.errors import PassError, PluginError
from ge_core.foreign import in_words, located
from ge_core.ir import Graph, InputAnchor, Node, OutputAnchor
from ge_core.ops import OpRegistry
from ge_core.registry import NOBODY, Entry, Owner, Registry

ANY_OP: Final = "*"


@dataclass(frozen=True, slots=True)
class Waypoint:
    """A node on a trace, with the output the trace came to; None for a caller stepped out to."""

    node: Node
    output: OutputAnchor | None


@dataclass(frozen=True, slots=True)
class Step:
    """Where a trace goes on from one output.

    Attributes:
        through: the input to go on from; None ends the trace.
        via: waypoints between the output and that input.
        stopped: why the trace ends here though this may not be the source; None where it is.
    """

    through: InputAnchor | None
    via: tuple[Waypoint, ...] = ()
    stopped: str | None = None


_SOURCE: Final = Step(None)


class TraceCursor:
    """What a trace rule sees and answers with.

    Attributes:
        ops: op traits.
        root: the outermost graph.
    """

    __slots__ = ("_ends", "ops", "root")

    def __init__(self, root: Graph, ops: OpRegistry, ends: Interfaces) -> None:
        self.root = root
        self.ops = ops
        self._ends = ends

    def through(self, anchor: InputAnchor, *via: Waypoint) -> Step:
        """Go on with what feeds this input; it may be in another graph than the output."""
        return Step(anchor, via)

    def stop(self, reason: str) -> Step:
        """End here: what lies further back can't be told, or must not be looked at."""
        return Step(None, (), reason)

    def source(self) -> Step:
        """End here: this output is the source."""
        return _SOURCE

    def leave(self, data: Node) -> Step:
        """Step from an input of a subgraph out to what feeds its caller."""
        graph = data.graph
        index = data.attrs.get("_parent_node_index")
        if graph is None or not isinstance(index, int):
            return self.stop("an inner input without a parent index")
        if len(graph.callers) != 1:
            return self.stop(f"a subgraph with {len(graph.callers)} callers")
        caller = graph.callers[0][0]
        if not 0 <= index < len(caller.inputs):
            return self.stop("an inner input whose parent has no such input")
        return Step(caller.inputs[index], (Waypoint(caller, None),))

    def enter(self, output: OutputAnchor) -> Step:
        """Step from an output of a call to what its first subgraph delivers."""
        graph = next(iter(output.node.subgraphs.values()), None)
        if graph is None:
            return self.stop("a call without a subgraph")
        ends = self._ends.of(graph)
        result = ends.results.get(output.index)
        blind = ends.blind_from
        if result is None or (blind is not None and blind.index < result.index):
            return self.stop("a call whose result can't be told")
        if result.source is None:
            return self.stop("a call whose result is not connected")
        return Step(result, (Waypoint(result.node, result.source),))


TraceStep: TypeAlias = Callable[[OutputAnchor, TraceCursor], Step | None]


@dataclass(frozen=True, slots=True)
class TraceRule:
    """One registered rule.

    Attributes:
        op: the op type it speaks for, "*" for all.
        step: asked with an output and a cursor; None passes the question on.
        name: tells apart the rules that one owner has for one op.
    """

    op: str
    step: TraceStep
    name: str = ""
    owner: Owner = NOBODY

    def __call__(self, output: OutputAnchor, cursor: TraceCursor) -> Step | None:
        """Ask it.

        Raises:
            PassError: it raised, or answered something else; names its package.
        """
        try:
            step: Any = self.step(output, cursor)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failure = PassError(
                f"trace rule for {self.op!r} {in_words(error)} (asked about {output!r})",
                owner=str(self.owner),
            )
            raise located(failure, error) from error
        if step is not None and not _is_step(step, output):
            raise PassError(
                f"trace rule for {self.op!r} answered {step!r} at {output!r}",
                owner=str(self.owner),
                hint="answer trace.through(an input of the graph), trace.stop(...), "
                "trace.source() or None",
            )
        return step


def _is_step(step: object, output: OutputAnchor) -> TypeGuard[Step]:
    """Whether a step leads on inside the graph that the output is in."""
    if not isinstance(step, Step) or not all(isinstance(way, Waypoint) for way in step.via):
        return False
    through: object = step.through
    if through is None:
        return True
    if not isinstance(through, InputAnchor):
        return False
    here, there = output.node.graph, through.node.graph
    return here is not None and there is not None and here.root is there.root


class TraceRules(Registry[TraceRule]):
    """The registered trace rules."""

    kind = "trace rule"

    def add(self, op: str, step: TraceStep, *, name: str = "") -> None:
        """Declare how a trace steps over an op.

        Args:
            op: the op type; "*" for a rule that is asked about every op.
            name: needed where one plugin has several rules for one op; they are asked by name.
        """
        if not callable(step):
            raise PluginError(f"trace rule for {op!r}: {step!r} is no function")
        self._put(Entry(f"{op}/{name}", TraceRule(op, step, name)))

    def _full(self, name: str, owner: Owner) -> str:
        # Op types are everybody's, so it is the owner that tells two plugins' rules apart.
        return f"{owner.name}:{name}"

    def _stamped(self, entry: Entry[TraceRule], owner: Owner) -> Entry[TraceRule]:
        return Entry(self._full(entry.name, owner), replace(entry.value, owner=owner), owner)

    def _check_name(self, name: object) -> None:
        """Op types are the graph's words: whatever graphs may call an op."""

    def for_op(self, op: str) -> list[TraceRule]:
        """The rules to ask about an op, in order: its own first, then those for all."""
        return [rule for wanted in (op, ANY_OP) for rule in self if rule.op == wanted]


@dataclass(frozen=True, slots=True)
class Trace:
    """A finished trace.

    Attributes:
        start: the input it began at.
        path: from the nearest producer to the source.
        stopped: why it ended short of a source; None where it found one.
    """

    start: InputAnchor
    path: tuple[Waypoint, ...]
    stopped: str | None = None

    @property
    def source(self) -> Node | None:
        """The last node on the path; None for an empty one."""
        return self.path[-1].node if self.path else None

    @property
    def output(self) -> OutputAnchor | None:
        """The output that the trace ended at; None for an empty path or an unconnected caller."""
        return self.path[-1].output if self.path else None


class SourceTracer:
    """Traces below one root, with the rules of all plugins.

    Args:
        ends: how the ends of subgraphs are read; by default again after every edit.

    Attributes:
        steps: rules' answers so far, for tests of the cost.
    """

    def __init__(
        self,
        root: Graph,
        ops: OpRegistry,
        rules: TraceRules | None = None,
        ends: Interfaces | None = None,
    ) -> None:
        self._rules = TraceRules() if rules is None else rules
        self._cursor = TraceCursor(root.root, ops, Interfaces() if ends is None else ends)
        self._by_op: dict[str, list[TraceRule]] = {}
        self.steps = 0

    def step(self, output: OutputAnchor) -> Step:
        """Where a trace goes on from an output."""
        return self.answer(output)[0]

    def answer(self, output: OutputAnchor) -> tuple[Step, TraceRule | None]:
        """Where a trace goes on from an output, and the rule that says so; None for a source."""
        self.steps += 1
        op = output.node.op
        rules = self._by_op.get(op)
        if rules is None:
            rules = self._by_op[op] = self._rules.for_op(op)
        with self._cursor.root.read_only():
            for rule in rules:
                step = rule(output, self._cursor)
                if step is not None:
                    return step, rule
        return _SOURCE, None

    def trace(self, start: InputAnchor) -> Trace:
        """The whole way back; ends, with a reason, where rules lead in a circle."""
        path: list[Waypoint] = []
        seen: set[OutputAnchor] = set()
        at: InputAnchor | None = start
        while True:
            assert at is not None
            output = at.source
            if output is None:
                return Trace(start, tuple(path), "an input that is not connected")
            if output in seen:
                return Trace(start, tuple(path), "trace rules that lead in a circle")
            seen.add(output)
            path.append(Waypoint(output.node, output))
            step = self.step(output)
            path += step.via
            at = step.through
            if at is None:
                return Trace(start, tuple(path), step.stopped)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a trace ends.

    Attributes:
        output: the last output on the way.
        node: the source: its node, or the caller whose input is not connected.
        stopped: why the trace ended short of a source; None where it found one.
    """

    output: OutputAnchor
    node: Node
    stopped: str | None


class Sources:
    """Ends of traces and what blocks them, for many anchors of one graph.

    Traces from neighbouring anchors share their ends, so the way is remembered in shortcuts. They
    stay right while the outputs that traces end at are replaced (`replaced`: a copy is removed and
    its readers get its source), and while an output that `clear` has accepted stays acceptable.

    Args:
        clear: whether a trace may pass the waypoints that lie beyond one output, up to and with
            the next output: `clear(via, next output)`.
    """

    def __init__(
        self,
        tracer: SourceTracer,
        clear: Callable[[tuple[Waypoint, ...], OutputAnchor], bool],
    ) -> None:
        self._tracer = tracer
        self._clear = clear
        self._ends: dict[OutputAnchor, OutputAnchor] = {}
        self._open: dict[OutputAnchor, OutputAnchor] = {}
        self._moved: dict[OutputAnchor, OutputAnchor] = {}

    def replaced(self, old: OutputAnchor, new: OutputAnchor) -> None:
        """The readers of `old`, at which traces ended, are fed by `new` now."""
        self._moved[old] = new

    def origin(self, start: OutputAnchor) -> Origin:
        """Where a trace that comes to `start` ends."""
        walked: list[OutputAnchor] = []
        seen: set[OutputAnchor] = set()
        at = start
        while True:
            at = self._now(self._ends.get(at, at))
            if at in seen:
                return Origin(at, at.node, "trace rules that lead in a circle")
            seen.add(at)
            step = self._tracer.step(at)
            following = None if step.through is None else step.through.source
            if following is None:
                break
            walked.append(at)
            at = following
        for output in walked:
            self._ends[output] = at
        if step.through is not None:
            return Origin(at, step.via[-1].node if step.via else at.node, "an unconnected input")
        return Origin(at, at.node, step.stopped)

    def obstacle(self, start: OutputAnchor) -> tuple[tuple[Waypoint, ...], OutputAnchor] | None:
        """The first stretch beyond `start` that `clear` refuses; None where the way is clear."""
        walked: list[OutputAnchor] = []
        seen: set[OutputAnchor] = set()
        at = self._open.get(start, start)
        found: tuple[tuple[Waypoint, ...], OutputAnchor] | None = None
        while at not in seen:
            seen.add(at)
            step = self._tracer.step(at)
            following = None if step.through is None else step.through.source
            if following is None:
                # The end may be replaced, so the stretch to it is looked at every time.
                at = walked.pop() if walked else at
                break
            if not self._clear(step.via, following):
                found = step.via, following
                break
            walked.append(at)
            at = self._open.get(following, following)
        for output in (start, *walked):
            if output is not at:
                self._open[output] = at
        return found

    def _now(self, output: OutputAnchor) -> OutputAnchor:
        """What feeds the readers of an output that may have been replaced."""
        if output not in self._moved:
            return output
        chain: list[OutputAnchor] = []
        while output in self._moved:
            chain.append(output)
            output = self._moved[output]
        for old in chain:
            self._moved[old] = output
        return output
