"""What a node makes of contents: the one meaning of ops that both evaluators share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

from ge_core.ir import Node
from ge_core.ir.desc import freeze
from ge_core.proof.contents import Content, Store
from ge_core.proof.expansion import expand
from ge_core.proof.facts import Facts, FactTable
from ge_core.proof.frames import Frame, Instance
from ge_core.proof.names import Names
from ge_core.proof.pieces import join_parts, pack_parts, split_parts
from ge_core.proof.sizes import extent, meaning
from ge_core.proof.slices import slice_windows

NOT_MEANING: Final = frozenset(
    {
        "N",
        "atomic_input_index",
        "atomic_output_index",
        "captured",
        "continuous_input",
        "continuous_output",
        "is_atomic_node",
        "is_first_node",
        "is_last_node",
        "need_gentask_atomic",
        "no_need_constant_folding",
        "no_reuse_mem_flag",
        "num_split",
        "op_kernel_lib",
        "ref_var_src_var_name",
        "reference",
        "rw",
        "stream_id",
        "workspace_bytes",
        "workspace_reuse_flag",
    }
)
"""Attributes that say where and how a node runs, not what it computes. So does every attribute
whose name begins with an underscore: GE's marks do, and a plugin's marks must."""

Inputs = Sequence[Content | None]
Claims = dict[Hashable, Node]
"""Which node of one run has taken which identity."""


class Base(NamedTuple):
    """What a node computes, but for which of its results is meant.

    Attributes:
        attributes: name and frozen value of those that take part.
        described: per input what matters of its description.
        contents: per input the id of its content.
        identity: tells it from the same op elsewhere, where it may differ between runs.
    """

    op: str
    attributes: Hashable
    described: tuple[Hashable, ...]
    contents: tuple[int | None, ...]
    identity: Hashable


class Outcome:
    """What a node leaves.

    Attributes:
        outputs: a content per output; None where the output is the memory of an input that the
            node does not change.
        updates: (input, content) of memory that it updates in place.
    """

    __slots__ = ("outputs", "updates")

    def __init__(
        self, outputs: list[Content | None], updates: list[tuple[int, Content]] | None = None
    ) -> None:
        self.outputs = outputs
        self.updates: list[tuple[int, Content]] = [] if updates is None else updates


class Algebra:
    """Evaluates nodes over contents."""

    def __init__(self, store: Store, facts: FactTable, names: Names) -> None:
        self.store = store
        self.facts = facts
        self.names = names
        self._attrs: dict[Node, Hashable] = {}

    def attributes(self, node: Node) -> Hashable:
        """The attributes that take part in what a node computes."""
        attrs = node.attrs
        if not attrs:
            return ()
        found = self._attrs.get(node)
        if found is None:
            found = self._attrs[node] = tuple(
                [
                    (name, freeze(attrs[name]))
                    for name in sorted(attrs)
                    if name[0] != "_" and name not in NOT_MEANING
                ]
            )
        return found

    def identity(self, node: Node, frame: Frame, claims: Claims) -> Hashable:
        """What tells a node that may differ between runs from every other one."""
        names = self.names.alike(node) or self.names.originals(node) or (node.name,)
        call = self.names.call(frame)
        key: Hashable = (names, frame.call if call is None else call)
        owner = claims.setdefault(key, node)
        # A copy of a node that must run once: it is another run, with another result.
        return key if owner is node else (key, node.name)

    def base(self, node: Node, frame: Frame, inputs: Inputs, claims: Claims) -> Base:
        """The key of what a node computes, but for which of its results is meant."""
        who = self.identity(node, frame, claims) if self.facts.of(node).has_identity else None
        return Base(
            node.op,
            self.attributes(node),
            tuple([meaning(anchor.desc) for anchor in node.inputs]),
            tuple([None if content is None else content.id for content in inputs]),
            who,
        )

    def result(self, base: Hashable, node: Node, frame: Frame, at: int) -> Content:
        """A fresh content for output `at`."""
        desc = node.outputs[at].desc
        source = self.store.source((base, at, meaning(desc)), f"{frame.path(node)}:{at}")
        return self.store.whole(source, extent(desc))

    def run(self, node: Node, frame: Frame, inputs: Inputs, claims: Claims) -> Outcome:
        """Evaluate a node that is no source and no call."""
        facts = self.facts.of(node)
        if facts.kind in _MOVES:
            moved = _MOVES[facts.kind](self.store, node, inputs) if node.outputs else None
            # A node with more results than such an op has is like any other.
            if moved is not None and len(moved) == len(node.outputs):
                return Outcome(moved)
        if facts.traits.expansion is not None:
            return Outcome(list(expand(self, facts.traits, node, frame, inputs)))
        if facts.kind == "merge":
            return self._merge(node, frame, inputs)
        base = self.base(node, frame, inputs, claims)
        outputs: list[Content | None] = []
        updates: dict[int, Content] = {}
        for output in node.outputs:
            source = facts.aliases.get(output.index)
            if source is not None and not facts.writable(source):
                outputs.append(None)
                continue
            content = self.result(base, node, frame, output.index)
            if source is not None and facts.is_updated(source):
                content = updates[source] = self._updated(facts, inputs, content)
            outputs.append(content)
        for at in facts.writes:
            if at not in updates and at not in facts.scribbles:
                updates[at] = self._updated(facts, inputs, self._touched(base, node, frame, at))
        return Outcome(outputs, sorted(updates.items(), key=lambda item: item[0]))

    def _updated(self, facts: Facts, inputs: Inputs, content: Content) -> Content:
        """What an update leaves: a store leaves the value that it stores."""
        value = inputs[1] if facts.is_store else None
        if value is None:
            return content
        return self.store.part(value, 0, content.length)

    def _touched(self, base: Hashable, node: Node, frame: Frame, at: int) -> Content:
        desc = node.inputs[at].desc
        label = f"{frame.path(node)}@{at}"
        source = self.store.source((base, "input", at, meaning(desc)), label)
        return self.store.whole(source, None if desc is None else extent(desc))

    def _merge(self, node: Node, frame: Frame, inputs: Inputs) -> Outcome:
        ids = tuple([None if content is None else content.id for content in inputs])
        return Outcome(
            [self.result(("merge", ids), node, frame, at) for at in range(len(node.outputs))]
        )


def _move(store: Store, node: Node, inputs: Inputs) -> list[Content | None]:
    """Output k is a copy of input k; GE's Identity may have several."""
    found: list[Content | None] = []
    for output in node.outputs:
        content = inputs[output.index] if output.index < len(inputs) else None
        size = extent(output.desc)
        if content is None:
            content = store.unknown(f"nothing, copied by {node.name}", size)
        found.append(store.part(content, 0, size))
    return found


def _join(store: Store, node: Node, inputs: Inputs) -> list[Content | None] | None:
    parts = join_parts(node)
    if parts is None:
        return None
    operands, cutting = parts
    return _interleaved(store, [inputs[at] for at in operands], cutting.rows, cutting.widths)


def _pack(store: Store, node: Node, inputs: Inputs) -> list[Content | None] | None:
    cutting = pack_parts(node)
    return None if cutting is None else _interleaved(store, inputs, cutting.rows, cutting.widths)


def _interleaved(
    store: Store, operands: Inputs, rows: int, widths: Sequence[int]
) -> list[Content | None] | None:
    pieces: list[Content] = []
    for operand, width in zip(operands, widths, strict=True):
        if operand is None or operand.length != rows * width:
            return None
        pieces.append(operand)
    return [store.interleave(rows, pieces)]


def _split(store: Store, node: Node, inputs: Inputs) -> list[Content | None] | None:
    parts = split_parts(node)
    if parts is None:
        return None
    source, cutting = parts
    content = inputs[source]
    pitch = sum(cutting.widths)
    if content is None or content.length != cutting.rows * pitch:
        return None
    found: list[Content | None] = []
    start = 0
    for width in cutting.widths:
        found.append(store.gather(content, start, width, pitch, cutting.rows))
        start += width
    return found


def _slice(store: Store, node: Node, inputs: Inputs) -> list[Content | None] | None:
    windows = slice_windows(node)
    content = inputs[0] if inputs else None
    if windows is None or content is None or content.length is None:
        return None
    for window in windows:
        content = store.gather(content, window.start, window.row, window.pitch, window.rows)
    return [content]


_MOVES: Final = {"move": _move, "join": _join, "pack": _pack, "split": _split, "slice": _slice}


def instances_of(names: Names, frame: Frame, node: Node) -> list[Instance]:
    """The reference's instances of the same op that a node instance stands for."""
    path = names.call(frame)
    return [] if path is None else [(path, name) for name in names.alike(node)]
