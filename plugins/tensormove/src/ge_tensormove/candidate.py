"""One copy in question, and everything the rules ask about it.

A rule, built in or contributed through `ge_register_delete_rules`, gets a `Candidate` and answers
None where the copy may go, or `Keep(code, ...)`. Nothing has been edited when rules are asked. Of a
`Candidate` contributed rules know what `ge_core.api.DeleteCandidate` promises.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ge_core.api import (
    Graph,
    InputAnchor,
    Node,
    Origin,
    OutputAnchor,
    PassContext,
    Trace,
)
from ge_tensormove.readers import Readers

if TYPE_CHECKING:
    from ge_tensormove.run import Run


class Candidate:
    """A TensorMove that may be superfluous.

    Attributes:
        copy: the node.
        ctx: the pass's context: options, target, registered checkers.
        run: what is known for all copies of the graph.
    """

    def __init__(self, copy: Node, ctx: PassContext, run: Run) -> None:
        self.copy = copy
        self.ctx = ctx
        self.run = run

    @property
    def graph(self) -> Graph:
        """The graph or subgraph that the copy is in."""
        assert self.copy.graph is not None
        return self.copy.graph

    @property
    def input(self) -> InputAnchor:
        """What the copy reads."""
        return self.copy.inputs[0]

    @cached_property
    def fed_by(self) -> OutputAnchor | None:
        """The direct producer's output, None where the input is not connected."""
        return self.copy.inputs[0].source if self.copy.inputs else None

    @property
    def feed(self) -> OutputAnchor:
        """The direct producer's output, of a copy whose input is connected."""
        assert self.fed_by is not None
        return self.fed_by

    @property
    def output(self) -> OutputAnchor:
        """What the copy's readers are fed by."""
        return self.copy.outputs[0]

    @cached_property
    def origin(self) -> Origin:
        """Where the value was made."""
        return self.run.sources.origin(self.feed)

    @cached_property
    def trace(self) -> Trace:
        """The whole way back to the source; costs a step for each node on it."""
        return self.run.tracer.trace(self.input)

    @cached_property
    def siblings(self) -> Readers:
        """The direct producer's readers, the copy among them, sorted."""
        return self.run.readers.of(self.feed)

    @cached_property
    def successors(self) -> Readers:
        """The copy's readers, sorted."""
        return self.run.readers.of(self.output) if self.copy.outputs else Readers()

    def writing_successors(self) -> list[InputAnchor]:
        """The copy's direct readers that overwrite what they read, in groups."""
        direct = self.successors
        inside = (a for a in direct.wrappers if self.run.effects.writes(a))
        return [*direct.writers, *direct.writing_views, *inside]

    def hidden_writers(self) -> list[InputAnchor | OutputAnchor]:
        """What overwrites the copy's memory without reading the copy itself."""
        direct = self.output
        return [
            anchor
            for anchor in self.run.memory.of_type(self.output, "writes")
            if not isinstance(anchor, InputAnchor) or anchor.source is not direct
        ]
