"""What the pass knows of a graph, kept right while copies and write-backs go."""

from __future__ import annotations

from ge_core.api import Anchor, Interference, Node, PassContext
from ge_tensormove.coalesce.knowledge import Knowledge
from ge_tensormove.writeback.chain import Chains
from ge_tensormove.writeback.origin import Origins


class Scene:
    """The tables behind all answers.

    Attributes:
        known: who accesses what, what is one memory, and what comes before what.
        chains: finds the way from a write-back to what it writes.
    """

    def __init__(self, ctx: PassContext, search_limit: int) -> None:
        self.ctx = ctx
        self.known = Knowledge(ctx, search_limit, branches=False)
        self.chains = Chains(self.known.ops, Origins(self.known.ops))

    def look_again(self) -> None:
        """Forget who accesses what: an op has begun to work in place, or that was taken back."""
        known = self.known
        known.interference = Interference(
            known.root,
            known.ops,
            known.memory,
            timeline=known.timeline,
            lent=known.declared.indexes,
        )

    def join(self, first: Anchor, second: Anchor) -> None:
        """Take note that two memories are one now."""
        for classes in (self.known.memory, self.known.symbols):
            if first in classes and second in classes:
                classes.join(first, second)

    def replaced(self, old: Node, new: Node) -> None:
        """Take note that a copy has become a store of the same value, into its first input."""
        self.known.timeline.replace(old, new)
        self.known.order.vouch()
        for classes in (self.known.memory, self.known.symbols):
            for anchor in new.inputs:
                if anchor.source is not None and anchor.source in classes:
                    classes.join(anchor.source, anchor)
            if new.inputs[0] in classes:
                classes.join(new.inputs[0], new.outputs[0])
            for gone in (old.inputs[0], old.outputs[0]):
                classes.discard(gone)

    def bypassed(self, node: Node, at: int) -> None:
        """Take note that a node is gone, and its readers read what fed one of its inputs."""
        self.join(node.inputs[at], node.outputs[0])
        self.known.order.vouch()
        gone: list[Anchor] = [*node.inputs, *node.outputs]
        for anchor in gone:
            for classes in (self.known.memory, self.known.symbols):
                classes.discard(anchor)
