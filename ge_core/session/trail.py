"""The way of a value from where it is made to the node that copies it, hop by hop.

The trace rules of all plugins say the way, asked about the graph as it stands; so what is told of a
copy does not depend on which pass judged it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ge_core.analysis import NAME_MARK, SourceTracer, Step, TraceRule
from ge_core.ir import InputAnchor, OutputAnchor
from ge_core.ops import OpRegistry
from ge_core.ops.builtin import DATA_LIKE


@dataclass(frozen=True, slots=True)
class Hop:
    """One name of the value on its way.

    Attributes:
        anchor, op: the output that it is called here, and its node's type.
        how: `source`, `view` (the same memory by another name), `enters` and `leaves` a subgraph,
            or `rule` where a plugin's trace rule alone takes the two for the same.
        words: the hop in words; of a source, what it is.
        rule: owner of the trace rule, where it is a third party's.
    """

    anchor: str
    op: str
    how: str
    words: str
    rule: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As in `ge-explain/1`."""
        return {
            "anchor": self.anchor,
            "op": self.op,
            "how": self.how,
            "words": self.words,
            "rule": self.rule,
        }


@dataclass(frozen=True, slots=True)
class Trail:
    """The hops from the source on, and what they lead through.

    Attributes:
        outputs: the anchors of the hops, source first.
        through: inputs on the way, the traced one last.
        stopped: why the trace ended short of a source.
        special: why the source's value must stay as it is; None for a value of this run.
    """

    hops: tuple[Hop, ...]
    outputs: tuple[OutputAnchor, ...]
    through: tuple[InputAnchor, ...]
    stopped: str | None
    special: str | None


def trail_to(start: InputAnchor, tracer: SourceTracer, ops: OpRegistry) -> Trail:
    """The way to an input; without hops where it is not connected."""
    outputs: dict[OutputAnchor, None] = {}
    through: list[InputAnchor] = [start]
    hops: list[Hop] = []
    stopped: str | None = "an input that is not connected" if start.source is None else None
    at = start.source
    while at is not None:
        if at in outputs:
            stopped = "trace rules that lead in a circle"
            break
        outputs[at] = None
        step, rule = tracer.answer(at)
        following = None if step.through is None else step.through.source
        if step.through is None or following is None:
            stopped = step.stopped if step.through is None else "a caller without that input"
            break
        hops.append(_hop(at, step, rule))
        through.append(step.through)
        at = following
    special = None
    names = tuple(reversed(outputs))
    if names:
        special = _special(names[0], ops)
        made = "what another copy makes" if ops.kind(names[0].node) == "move" else "made here"
        words = made if stopped is None else f"the trace ends here: {stopped}"
        last = Hop(str(names[0]), names[0].node.op, "source", special or words)
        hops = [*hops[: len(names) - 1], last]
    return Trail(tuple(reversed(hops)), names, tuple(reversed(through)), stopped, special)


def _hop(output: OutputAnchor, step: Step, rule: TraceRule | None) -> Hop:
    """How an output comes to be the value that the step goes on to."""
    through = step.through
    assert through is not None
    node, graph = output.node, output.node.graph
    home = "" if graph is None else graph.name
    party = None if rule is None or rule.owner.builtin else str(rule.owner)
    if any(way.output is None for way in step.via):
        how, words = "enters", f"goes into subgraph {home}, handed in at {through!r}"
    elif step.via:
        inner = through.node.graph
        how, words = "leaves", f"comes out of subgraph {'' if inner is None else inner.name}"
    elif party is not None:
        how, words = "rule", f"taken for what {through!r} reads"
    elif through.node is node:
        how, words = "view", f"the same memory as {through!r}"
    else:
        how, words = "rule", f"taken for what {through!r} reads"
    return Hop(str(output), node.op, how, words, party)


def _special(source: OutputAnchor, ops: OpRegistry) -> str | None:
    """Why others rely on a source's value beyond this run, in words."""
    node = source.node
    kind = ops.kind(node)
    if kind == "constant":
        return "a constant, the same in every run"
    if kind == "variable":
        return "a variable, which keeps its value for other runs"
    name = source.desc.attrs.get(NAME_MARK) or node.attrs.get(NAME_MARK)
    if name:
        return f"the memory of variable {name}, by its name"
    if node.op in DATA_LIKE and node.graph is not None and node.graph.is_root:
        index = node.attrs.get("index")
        return f"the caller's input{'' if index is None else f' {index}'}"
    return None
