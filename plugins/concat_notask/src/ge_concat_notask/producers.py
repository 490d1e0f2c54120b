"""Checks on the producers of a tensor that is to lie at a given place in a buffer.

GE looks through views for the first three and stops at the direct producer for the others, so that
a view hides a claim, a memory rule or a memory kind. Here every check looks at the whole chain of
views back to the owner of the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from ge_concat_notask.kinds import ORDINARY, output_kinds
from ge_concat_notask.marks import (
    CUT,
    JOINED,
    NO_TASK,
    PACKED_IN,
    PACKED_OUT,
    SHARES_INPUT,
    is_claimed,
    is_marked,
)
from ge_concat_notask.memory import Chain, Memory
from ge_concat_notask.refusal import Refusal, refuse
from ge_core.api import InputAnchor, Node, OpRegistry, OutputAnchor

VARIABLE_NAME: Final = "ref_var_src_var_name"
ATOMIC: Final = "atomic_output_index"
_RULES: Final = (PACKED_IN, PACKED_OUT, "reference", NO_TASK, SHARES_INPUT, JOINED, CUT)
_READERS_SHOWN: Final = 32
_FIXED_KINDS: Final = ("data", "constant", "variable")


def fixed_memory(chain: Chain, ops: OpRegistry, edge: InputAnchor) -> Iterator[Refusal]:
    """The owner is a graph input, a constant or a variable, or was not found."""
    if not chain.complete:
        yield refuse("UNTRACED_SOURCE", chain.root, edge=edge)
        return
    root = chain.root
    if ops.kind(root.node) in _FIXED_KINDS:
        yield refuse(
            "FIXED_MEMORY", (root, edge), edge=edge, producer=root.node.name, op=root.node.op
        )
    for output in chain.outputs:
        variable = output.desc.attrs.get(VARIABLE_NAME)
        if variable:
            yield refuse("VARIABLE_MEMORY", output, edge=edge, producer=output, variable=variable)


def from_subgraph(chain: Chain, ops: OpRegistry, edge: InputAnchor) -> Iterator[Refusal]:
    """A call, branch, loop or merge delivers it: its place is decided elsewhere, or in each arm."""
    for output in chain.outputs:
        node = output.node
        if node.subgraphs or ops.traits(node).has_subgraphs or ops.kind(node) == "merge":
            yield refuse("SUBGRAPH_PRODUCER", (output, edge), edge=edge, producer=node.name)


def claimed(chain: Chain, edge: InputAnchor) -> Iterator[Refusal]:
    """Another join has it as an operand already."""
    for output in chain.outputs:
        if is_claimed(output):
            # Readers may be many; the blame is a help, not the rule.
            some = islice(output.readers, _READERS_SHOWN)
            holders = [reader.node for reader in some if is_marked(reader.node)]
            yield refuse("CLAIMED", (output, *holders[:1]), edge=edge, producer=output)


def also_result(chain: Chain, memory: Memory, edge: InputAnchor) -> Iterator[Refusal]:
    """The tensor, or another view of its bytes, is a result of the graph or of a subgraph."""
    for result in memory.uses(chain.root).results[:1]:
        yield refuse("ALSO_GRAPH_OUTPUT", (chain.root, result), edge=edge, producer=chain.root)


def laid_out(chain: Chain, ops: OpRegistry, edge: InputAnchor) -> Iterator[Refusal]:
    """A producer has a memory rule of its own, or clears its outputs beforehand."""
    for output in chain.outputs:
        attribute = _memory_rule(output.node, ops)
        if attribute is not None:
            yield refuse(
                "LAID_OUT_PRODUCER",
                (output.node, edge),
                edge=edge,
                producer=output.node.name,
                attribute=attribute,
            )


def _memory_rule(node: Node, ops: OpRegistry) -> str | None:
    for name in _RULES:
        if node.attrs.get(name):
            return name
    if node.attrs.get(ATOMIC) or ops.traits(node).atomic:
        return ATOMIC
    return None


def asked_kind(chain: Chain) -> tuple[str, OutputAnchor]:
    """The special memory kind that producers ask for, and who asks; else the ordinary one."""
    for output in chain.outputs:
        for kind in output_kinds(output):
            return kind, output
    return ORDINARY, chain.outputs[0]


def wanted_elsewhere(
    chain: Chain, memory: Memory, join: Node, edge: InputAnchor
) -> Iterator[Refusal]:
    """Another reader of the bytes wants them in a layout of its own."""
    for reader in memory.uses(chain.root).placing:
        if reader.node is not join:
            yield refuse(
                "LAID_OUT_READER",
                (reader, chain.root),
                edge=edge,
                producer=chain.root,
                reader=reader.node.name,
            )
            return


def overwritten(chain: Chain, memory: Memory, join: Node, edge: InputAnchor) -> Iterator[Refusal]:
    """Somebody updates or destroys the bytes: the joined tensor would change with them."""
    for writer in memory.uses(chain.root).writers:
        if writer.node is not join:
            yield refuse("OVERWRITTEN", (writer, chain.root), edge=edge, writer=writer.node.name)
            return
