"""The removal of copies told once more, plainly: an oracle for `TensorMoveDeletePass`.

Written from the description of GE's pass and of where this project's answers differ from GE's, not
from the package's code: no analysis of the kernel is asked, every question walks the graph anew.
`judge` says what becomes of one copy on the graph as it stands, `Deletion.run` walks a whole graph
as GE does and edits it. Section numbers and D numbers are those of that description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ge_core.api import InputAnchor, Node, OutputAnchor

from .facts import (
    DATA,
    MULTI_BRANCH,
    SPECIAL,
    Anchor,
    Edge,
    Untraceable,
    aliased,
    conflict,
    input_kind,
    lifted,
    number,
    output_kind,
    parent_of,
    reaches,
    ref,
    wraps,
    writes,
)
from .memory import memory_of, named, plain_writer, symbol_of
from .options import listed, pairs_of
from .trace import Path, trace

Clash = Callable[[Anchor, Anchor, list[Anchor]], bool]
"""Whether two anchors of one memory-to-be clash, given all of its anchors."""
Between = Callable[[Node], Clash]
"""How anchors on the two sides of a copy are judged."""


@dataclass
class Verdict:
    """What becomes of a copy.

    Attributes:
        rule: the rule that keeps it, None where it goes.
        why: a word on it.
        data, control: the edges that the graph has gained and lost afterwards, where it goes.
    """

    rule: str | None
    why: str = ""
    planned: list[Edge] = field(default_factory=list)


def judge(copy: Node, options: Mapping[str, str], between: Between) -> Verdict:
    """2.1: what becomes of a copy, on the graph as it stands."""
    if copy.attrs.get("_cannot_be_deleted") or "no_need_constant_folding" in copy.attrs:
        return Verdict("R0")
    try:
        path = trace(copy)
    except Untraceable:
        return Verdict("R1", "untraceable")
    if not path.points:
        return Verdict("R1", "unconnected")
    feed = copy.inputs[0].source
    assert feed is not None
    return (
        path_valid(copy, path)
        or user_memory(copy, path, options)
        or single_path(copy, path)
        or read_write(copy, feed, path)
        or layout(copy, between)
        or behind_views(copy, feed)
        or waiting(copy)
        or Verdict(None, "", planned_edges(copy, feed))
    )


def readers_of(copy: Node) -> list[InputAnchor]:
    """The copy's direct readers."""
    return [reader for output in copy.outputs for reader in output.readers]


def path_valid(copy: Node, path: Path) -> Verdict | None:
    """2.4."""
    source, output = path.source, path.last_output
    if source.op in MULTI_BRANCH and path.points[-1][1] is not None:
        return Verdict("R1", "control flow")
    if path.points[-1][1] is None:
        return Verdict("R1", "unconnected outside")  # D11
    if output.node is not source:
        return Verdict("R1", "a result without a source")
    if source.op not in SPECIAL and named(output) is None:
        return None
    if not copy.outputs:
        return Verdict("R1", "special, no output")
    for reader in readers_of(copy):
        if aliased(reader) or reader.node.op == "NetOutput" or wraps(reader.node):
            return Verdict("R1", f"special to {reader}")
        if input_kind(reader) in ("Writeable", "ScopeWriteable", "Invalid"):
            return Verdict("R1", f"special written by {reader}")
    return None


def user_memory(copy: Node, path: Path, options: Mapping[str, str]) -> Verdict | None:
    """2.5."""
    if path.source.op not in DATA:
        return None
    index = number(path.source.attrs.get("index"))
    if index is None:
        return Verdict("R2", "no index")
    pairs = pairs_of(options.get("ge.exec.outputReuseInputMemIndexes"))
    if listed(options.get("ge.exec.inputReuseMemIndexes"), index):
        return None
    if all(first != index for first, _ in pairs):
        return Verdict("R2", f"input {index} is not declared")
    root = copy.graph.root if copy.graph is not None else None
    for anchor in memory_of(copy.outputs[0]) if copy.outputs else ():
        result = anchor.node.op == "NetOutput" and anchor.node.graph is root
        if result and (index, anchor.index) not in pairs:  # D23
            return Verdict("R2", f"not with output {anchor.index}")
    return None


def single_path(copy: Node, path: Path) -> Verdict | None:
    """2.6."""
    for node, port in path.points:
        if node.op in MULTI_BRANCH:
            return Verdict("R3", f"control flow {node}")
        if port is None:
            continue
        if hidden_fork(node, port):
            return Verdict("R3", f"hidden fork {port}")
        if len(port.readers) > 1:
            keep = several(copy, port)
            if keep is not None:
                return keep
    return None


def hidden_fork(node: Node, port: OutputAnchor) -> bool:
    """Whether another output of the node is the same input's memory and has a reader."""
    if port.node is not node:
        return False
    at = ref(port)
    others = [output for output in node.outputs if output is not port and output.readers]
    return at is not None and any(ref(output) == at for output in others)


def several(copy: Node, port: OutputAnchor) -> Verdict | None:
    """The rule for an output with several readers."""
    siblings = [reader for reader in port.readers if reader.node is not copy]
    if len(siblings) == len(port.readers) or not siblings:
        return Verdict("R3", f"shared above: {port}")
    for b in siblings:
        if b.node.op == "NetOutput" or wraps(b.node) or aliased(b):
            return Verdict("R3", f"sibling {b}")
        for s in readers_of(copy):
            keep = pair_of(b, s)
            if keep is not None:
                return keep
    return None


def pair_of(b: InputAnchor, s: InputAnchor) -> Verdict | None:
    """A sibling and a successor."""
    if writes(b):
        if aliased(s) or writes(s):
            return Verdict("R3", f"{b} writes; {s} writes or hands on")
        if b.node not in s.node.control_outputs:
            return Verdict("R3", f"{b} writes, {s} is not held before it")
        return None
    if writes(s) and (s.node is b.node or reaches(s.node, b.node)):
        return Verdict("R3", f"{s} writes before {b}")
    return None


def planned_edges(copy: Node, feed: OutputAnchor) -> list[Edge]:
    """2.6: sibling before successor, where only the successor writes; and D14."""
    edges: dict[Edge, None] = {}
    if len(feed.readers) > 1:
        for b in feed.readers:
            for s in readers_of(copy):
                if b.node is not copy and not writes(b) and writes(s):
                    edges[b.node, s.node] = None
    direct = {reader.node for reader in readers_of(copy)}
    for x in copy.control_outputs:
        for s in readers_of(copy):
            # Who reads the copy comes after it anyway: the edge says nothing of its own.
            if x not in direct:
                edges[s.node, x] = None
    return list(edges)


def waiting(copy: Node) -> Verdict | None:
    """D14: who waited for the copy has to wait for its readers."""
    direct = {reader.node for reader in readers_of(copy)}
    for x in copy.control_outputs:
        if x in direct:
            continue
        for s in direct:
            if s.op == "NetOutput" or reaches(x, s):
                return Verdict("R3", f"{x} can't wait for {s}")
    return None


def behind_views(copy: Node, feed: OutputAnchor) -> Verdict | None:
    """D5: who uses the copy's memory without reading the copy must be in order with the siblings.

    A writer behind a view has to come after every sibling, by edges that there are or that will be
    planned; where a sibling writes, nobody may read behind a direct reader.
    """
    siblings = [reader for reader in feed.readers if reader.node is not copy]
    if not siblings or not copy.outputs:
        return None
    graph = copy.graph
    assert graph is not None
    direct = readers_of(copy)
    behind = [a for a in memory_of(copy.outputs[0]) if a not in direct and a is not copy.outputs[0]]
    writing = [b.node for b in siblings if writes(b)]
    if writing:
        for anchor in behind:
            if isinstance(anchor, OutputAnchor) or anchor.node.graph is not graph:
                continue
            # What is read inside a direct reader is done when that is.
            if not all(reaches(anchor.node, b) for b in writing) and anchor.source in behind:
                return Verdict("R3", f"{anchor} reads behind a reader")
        return None
    for anchor in behind:
        if not is_writer(anchor):
            continue
        w = lifted(anchor.node, graph)
        held = [s.node for s in direct if writes(s)]
        if w is not None and any(s is w or reaches(s, w) for s in held):
            continue
        for b in siblings:
            if w is None:
                # It runs outside: after what calls this graph, or not.
                caller = parent_of(copy)
                outer = None if caller is None else lifted_pair(caller, anchor.node)
                if outer is None or not reaches(*outer):
                    return Verdict("R3", f"{anchor} writes outside, {b} may be later")
            elif w is b.node or not reaches(b.node, w):
                return Verdict("R3", f"{anchor} writes behind a view, {b} may be later")
    return None


def lifted_pair(a: Node, b: Node) -> Edge | None:
    """Two nodes of one graph that contain these."""
    at: Node | None = a
    while at is not None:
        assert at.graph is not None
        other = lifted(b, at.graph)
        if other is not None:
            return (at, other) if other is not at else None
        at = parent_of(at)
    return None


def is_writer(anchor: Anchor) -> bool:
    """Whether a node changes the memory at this anchor, or gives it to a variable's users."""
    if isinstance(anchor, InputAnchor):
        return plain_writer(anchor)
    return named(anchor) is not None


def read_write(copy: Node, feed: OutputAnchor, path: Path) -> Verdict | None:
    """2.7, for the direct producer and for the source (D12)."""
    for output in (feed, path.last_output):
        for s in readers_of(copy):
            if conflict(output_kind(output), input_kind(s)):
                return Verdict("R4", f"{output} ({output_kind(output)}) to {s} ({input_kind(s)})")
    return None


def layout(copy: Node, between: Between) -> Verdict | None:
    """2.9, counting clashes between the two sides only (D13)."""
    if not copy.outputs:
        return None
    before, after = symbol_of(copy.inputs[0]), symbol_of(copy.outputs[0])
    clash = between(copy)
    if copy.outputs[0] in before:
        return None
    for a in before:
        for b in after:
            if a.node is not b.node and clash(a, b, [*before, *after]):
                return Verdict("R5", f"{a} and {b}")
    return None
