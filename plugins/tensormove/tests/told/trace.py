"""The way from a copy back to where its value was made: plainly."""

from __future__ import annotations

from dataclasses import dataclass, field

from ge_core.api import InputAnchor, Node, OutputAnchor

from .facts import MULTI_BRANCH, Untraceable, inner_index, parent_of, ref, result_index


@dataclass
class Path:
    """The way to the source: nodes with the output that was come to, nearest first."""

    points: list[tuple[Node, OutputAnchor | None]] = field(default_factory=list)

    @property
    def source(self) -> Node:
        """The last node."""
        return self.points[-1][0]

    @property
    def last_output(self) -> OutputAnchor:
        """The last output on the way."""
        return next(output for _, output in reversed(self.points) if output is not None)


def trace(copy: Node) -> Path:
    """From the copy's input back."""
    path = Path()
    port: InputAnchor = copy.inputs[0]
    while True:
        output = port.source
        if output is None:
            return path
        node, k = output.node, output.index
        path.points.append((node, output))
        if node.op in MULTI_BRANCH:
            return path
        if node.op == "Data" and parent_of(node) is not None:
            index, parent = inner_index(node), parent_of(node)
            assert parent is not None
            if index is None or not 0 <= index < len(parent.inputs):
                raise Untraceable
            path.points.append((parent, None))
            port = parent.inputs[index]
        elif node.op == "PartitionedCall":
            port = result_of(node, k)
            path.points.append((port.node, port.source))
        elif ref(output) is not None:
            at = ref(output)
            assert at is not None
            if not 0 <= at < len(node.inputs):
                raise Untraceable
            port = node.inputs[at]
        else:
            return path


def result_of(call: Node, k: int) -> InputAnchor:
    """The input of the first subgraph's NetOutput that delivers a call's output."""
    graph = next(iter(call.subgraphs.values()), None)
    out = None if graph is None else graph.net_output
    for port in () if out is None else out.inputs:
        index = result_index(port)
        if index is None:
            break
        if index == k:
            return port
    raise Untraceable
