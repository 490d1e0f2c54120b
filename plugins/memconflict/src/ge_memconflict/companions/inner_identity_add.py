"""`InnerIdentityAddPass`: a copy in front of every store into a value that is no variable.

Early on nobody knows which later pass will share or move what. So each store target gets a copy,
and readers that run after the store read the copy, which is what they are meant to see; what turns
out to be unneeded, `InnerIdentityDeletePass` takes away.

Where we differ from GE: readers behind the store are those that run later in the listed order, not
only those that a path leads to, as the listing is what a graph means. A copy that would hide a
store from anybody else (behind a view, in a call, in a loop's next turn) is not put in. Out of a
subgraph the way leads to the very output that feeds the caller, whoever calls. One copy serves all
stores that read it, and a copy from an earlier run is enough. A constant stays what it is: there
nobody else reads the copy. The caller may look at a graph input:
where the copy is one's, whatever is stored in the copy is stored in the input right behind, until
`InnerIdentityDeletePass` takes both out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ge_core.api import Graph, GraphError, GraphPass, InputAnchor, Node, PassContext
from ge_memconflict.companions.codes import INNER_ADD
from ge_memconflict.companions.copying import Copier
from ge_memconflict.companions.handing_back import can_hand_back, hand_back, is_handing_back
from ge_memconflict.companions.marks import INNER_IDENTITY, is_reference, is_variable
from ge_memconflict.companions.ways import shared_input, up_and_out
from ge_memconflict.identities import NO_FOLDING, RESERVED

_MEANT_TO_CHANGE: Final = frozenset({"RefSwitch", "RefMerge", "ReadVariableOp"})
_MARKS: Final = {INNER_IDENTITY: True, RESERVED: True, NO_FOLDING: True}


@dataclass(frozen=True)
class InnerIdentityAddPass(GraphPass, codes=INNER_ADD):
    """Gives every store into a computed value a copy to store into."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at all graphs at once: the root's run does the work."""
        if not graph.is_root:
            return
        copier = Copier(ctx)
        for each in graph.all_graphs():
            for node in list(each.nodes):
                for target in _targets(node, ctx):
                    _isolate(target, copier)


def _targets(node: Node, ctx: PassContext) -> Iterator[InputAnchor]:
    """The inputs that a node updates in place and hands on as outputs, once each."""
    if not is_reference(node) or is_handing_back(node):
        return
    found = (shared_input(output, ctx.ops) for output in node.outputs)
    for at in dict.fromkeys(index for index in found if index is not None):
        target = node.inputs[at]
        if target.source is None:
            raise GraphError(
                f"input {at}, which it updates in place, is not connected",
                node=node.name,
                field="inputs",
                hint="connect the memory that is updated, or drop the mark 'reference'",
            )
        yield target


def _isolate(target: InputAnchor, copier: Copier) -> None:
    value = target.source
    assert value is not None
    ops = copier.ctx.ops
    if value.node.attrs.get(INNER_IDENTITY):
        return
    if value.node.op == "TensorMove" and len(value.readers) == 1:
        return
    for end in up_and_out(value, ops):
        if is_variable(end.node, ops) or end.node.op in _MEANT_TO_CHANGE:
            return
    store = target.node
    before = copier.memories.places.before
    later = [
        reader
        for reader in value.readers
        if reader.node is not store and before(store, reader.node)
    ]
    if copier.memories.is_of_constants(value):
        later = []  # a constant stays what it is for all others
    handed_back = can_hand_back(target, copier)
    copy = copier.in_front(
        target,
        copier.numbered("inner_identity"),
        "INNER_IDENTITY",
        attrs=_MARKS,
        also=later,
        handed_back=handed_back,
        store=store.name,
        value=value,
        hint="InnerIdentityDeletePass removes it where all readers are ordered",
    )
    if copy is not None and handed_back:
        hand_back(copy, value, copier)
