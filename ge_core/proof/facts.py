"""What the proof takes from the op traits about one node, looked up once.

Aliases are read without the layout marks of no-task joins and splits: in the reference meaning
joins and splits copy, and in the compiled run what a no-task node leaves is judged by its bytes.
"""

from __future__ import annotations

from typing import Final

from ge_core.ir import Node
from ge_core.ops import OpRegistry, OpTraits, is_no_task, named_pairs, scribbled_inputs
from ge_core.ops import written_inputs as updated_inputs

MOVERS: Final = frozenset({"move", "join", "pack", "split", "slice"})
"""Kinds whose outputs are bytes of their inputs, in fresh memory."""
CALLS: Final = frozenset({"if", "case", "while", "loop", "scan", "call"})
SOURCES: Final = frozenset({"data", "constant", "variable"})
SILENT: Final = SOURCES | {"net_output", "noop"}
"""Kinds that never run anything."""
PERSISTENT: Final = frozenset({"RefData"})
"""Inputs of a graph that are updated like variables."""

_STORES: Final = frozenset({"Assign", "AssignVariableOp"})
_NOTHING: Final[dict[int, int]] = {}


class Facts:
    """Facts on one node.

    Attributes:
        traits: its op's traits.
        kind: `traits.kind`; a control-flow kind without subgraphs is an ordinary op.
        aliases: output -> input whose memory it is.
        writes: inputs that it updates in place; scribbles: inputs that it destroys.
        ignored: inputs whose bytes it does not read.
        is_store: it writes the value of input 1 to the memory of input 0 (Assign).
        has_identity: two runs are never equal.
        no_task: its operands lie where its result is.
    """

    __slots__ = (
        "aliases",
        "has_identity",
        "ignored",
        "is_store",
        "kind",
        "no_task",
        "scribbles",
        "traits",
        "writes",
    )

    def __init__(self, node: Node, ops: OpRegistry) -> None:
        traits = ops.traits(node)
        self.traits: OpTraits = traits
        self.kind = traits.kind
        if self.kind in CALLS and not node.subgraphs:
            self.kind = "compute"
        self.no_task = is_no_task(node)
        self.writes: tuple[int, ...] = ()
        self.scribbles: tuple[int, ...] = ()
        if self.kind not in SILENT:
            self.writes = updated_inputs(node, ops)
            self.scribbles = scribbled_inputs(node, ops)
        self.aliases = _aliases(node, traits, self.kind)
        self.is_store = (
            node.op in _STORES
            and self.writes == (0,)
            and len(node.inputs) >= 2
            and node.inputs[1].source is not None
        )
        self.ignored: tuple[int, ...] = traits.shape_only
        if self.is_store:
            self.ignored = (*self.ignored, 0)
        self.has_identity = self.kind == "compute" and (
            not traits.known
            or traits.nondeterministic
            or traits.side_effect
            or traits.collective
            or bool(node.subgraphs)
        )

    @property
    def has_effect(self) -> bool:
        """Whether it must run exactly once, in its place among others."""
        return self.traits.side_effect or self.traits.collective

    def is_updated(self, at: int | None) -> bool:
        """Whether an output that aliases this input is the memory that the node updates there.

        Such an output lies nowhere else: what the node writes, it writes to the input.
        """
        return at in self.writes and at not in self.scribbles

    def writable(self, at: int) -> bool:
        """Whether the node changes the memory of an input."""
        return at in self.writes or at in self.scribbles


def _aliases(node: Node, traits: OpTraits, kind: str) -> dict[int, int]:
    if kind == "while":
        return {at: at for at in range(min(len(node.outputs), len(node.inputs)))}
    if kind in MOVERS or kind in SILENT or kind in CALLS or kind == "merge":
        return _NOTHING
    found: dict[int, int] = {}
    for output in node.outputs:
        reuse = output.desc.reuse_input
        if reuse is not None:
            found[output.index] = reuse
    if node.attrs.get("reference"):
        found.update(named_pairs(node))
    found.update(traits.aliases)
    if not found:
        return _NOTHING
    # A description may name an input that is left out: then nothing is shared.
    return {
        out: inp
        for out, inp in found.items()
        if out < len(node.outputs)
        and inp < len(node.inputs)
        and node.inputs[inp].source is not None
    }


class FactTable:
    """Facts by node; nodes of which only the op matters share theirs."""

    def __init__(self, ops: OpRegistry) -> None:
        self.ops = ops
        self._known: dict[Node, Facts] = {}
        self._by_op: dict[tuple[str, str, int], Facts] = {}

    def of(self, node: Node) -> Facts:
        """The facts on a node."""
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self._find(node)
        return found

    def _find(self, node: Node) -> Facts:
        if not _is_ordinary(node):
            return Facts(node, self.ops)
        assert node.graph is not None
        key = (node.op, node.graph.source, len(node.inputs))
        found = self._by_op.get(key)
        if found is None:
            found = Facts(node, self.ops)
            if not found.aliases and not found.writes:
                self._by_op[key] = found
        return found


_TELLING: Final = frozenset({"reference", "rw", "_input_mutable", "original_type", "_no_task"})


def _is_ordinary(node: Node) -> bool:
    """Whether nothing but the op says what a node does with memory."""
    attrs = node.attrs
    if node.subgraphs or (attrs and not _TELLING.isdisjoint(attrs)):
        return False
    if node.input_names and node.output_names:
        return False
    for output in node.outputs:
        if output.desc.reuse_input is not None:
            return False
    return all(anchor.own_desc is None for anchor in node.inputs)
