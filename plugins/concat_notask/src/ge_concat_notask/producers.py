"""Checks on the producers of a tensor that is to lie at a given place in a buffer.

GE looks through views for the first three and stops at the direct producer for the others, so that
a view hides a claim, a memory rule or a memory kind. Here every check looks at the whole chain of
views back to the owner of the bytes: what GE would find at the direct producer comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from ge_concat_notask.memory import Chain
from ge_concat_notask.refusal import Refusal, refuse
from ge_concat_notask.setting import Setting
from ge_core.api import InputAnchor, Node, OutputAnchor

VARIABLE_NAME: Final = "ref_var_src_var_name"
ATOMIC: Final = "atomic_output_index"
_RULES: Final = (PACKED_IN, PACKED_OUT, "reference", NO_TASK, SHARES_INPUT, JOINED, CUT)
_READERS_SHOWN: Final = 32
_FIXED_KINDS: Final = ("data", "constant", "variable")


def fixed_memory(chain: Chain, at: Setting, edge: InputAnchor) -> Iterator[Refusal]:
    """The owner is a graph input, a constant or a variable, or was not found."""
    if not chain.complete:
        yield refuse("UNTRACED_SOURCE", chain.root, edge=edge)
        return
    root = chain.root
    if at.ops.kind(root.node) in _FIXED_KINDS:
        yield refuse(
            "FIXED_MEMORY", (root, edge), edge=edge, producer=root.node.name, op=root.node.op
        )
    yield from variable_memory(chain, edge)


def variable_memory(chain: Chain, edge: InputAnchor) -> Iterator[Refusal]:
    """A producer names a variable whose memory its output is."""
    for output in chain.outputs:
        variable = output.desc.attrs.get(VARIABLE_NAME)
        if variable:
            yield refuse("VARIABLE_MEMORY", output, edge=edge, producer=output, variable=variable)


def from_subgraph(chain: Chain, at: Setting, edge: InputAnchor) -> Iterator[Refusal]:
    """A call, branch, loop or merge delivers it: its place is decided elsewhere, or in each arm."""
    for output in chain.outputs:
        node = output.node
        if node.subgraphs or at.ops.traits(node).has_subgraphs or at.ops.kind(node) == "merge":
            yield refuse("SUBGRAPH_PRODUCER", (output, edge), edge=edge, producer=node.name)


def claimed(outputs: Sequence[OutputAnchor], at: Setting, edge: InputAnchor) -> Iterator[Refusal]:
    """Another join has one of these as an operand already."""
    for output in outputs:
        if is_claimed(output) and not at.is_ours(output):
            # Readers may be many; the blame is a help, not the rule.
            some = islice(output.readers, _READERS_SHOWN)
            holders = [reader.node for reader in some if is_marked(reader.node)]
            yield refuse("CLAIMED", (output, *holders[:1]), edge=edge, producer=output)


def direct_result(chain: Chain, at: Setting, edge: InputAnchor) -> Iterator[Refusal]:
    """The tensor itself is a result of the graph, or of a subgraph, as well."""
    output = chain.outputs[0]
    result = at.memory.direct_result(output)
    if result is not None:
        yield refuse("ALSO_GRAPH_OUTPUT", (output, result), edge=edge, producer=output)


def also_result(chain: Chain, at: Setting, edge: InputAnchor) -> Iterator[Refusal]:
    """The tensor's bytes are a result of the graph, or of a subgraph, under any name."""
    for result in at.uses(chain).results[:1]:
        yield refuse("ALSO_GRAPH_OUTPUT", (chain.root, result), edge=edge, producer=chain.root)


def laid_out(outputs: Sequence[OutputAnchor], at: Setting, edge: InputAnchor) -> Iterator[Refusal]:
    """A producer has a memory rule of its own, or clears its outputs beforehand."""
    for output in outputs:
        attribute = None if at.is_placed(output.node) else _memory_rule(output.node, at)
        if attribute is not None:
            yield refuse(
                "LAID_OUT_PRODUCER",
                (output.node, edge),
                edge=edge,
                producer=output.node.name,
                attribute=attribute,
            )


def _memory_rule(node: Node, at: Setting) -> str | None:
    for name in _RULES:
        if node.attrs.get(name):
            return name
    if node.attrs.get(ATOMIC) or at.ops.traits(node).atomic:
        return ATOMIC
    return None


def asked_kind(chain: Chain, at: Setting) -> tuple[str, InputAnchor | OutputAnchor]:
    """The special memory kind that producers ask for, and who asks; else the ordinary one."""
    if at.places is not None and at.by_block:
        return at.places.kind(chain.outputs[0])
    for output in chain.outputs:
        for kind in output_kinds(output):
            return kind, output
    return ORDINARY, chain.outputs[0]


def wanted_elsewhere(chain: Chain, at: Setting, edge: InputAnchor) -> Iterator[Refusal]:
    """Another reader of the bytes wants them in a layout of its own."""
    for reader in at.uses(chain).placing[:1]:
        yield refuse(
            "LAID_OUT_READER",
            (reader, chain.root),
            edge=edge,
            producer=chain.root,
            reader=reader.node.name,
        )


def overwritten(chain: Chain, at: Setting, edge: InputAnchor) -> Iterator[Refusal]:
    """Somebody updates or destroys the bytes: the joined tensor would change with them."""
    for writer in at.uses(chain).writers[:1]:
        yield refuse("OVERWRITTEN", (writer, chain.root), edge=edge, writer=writer.node.name)
