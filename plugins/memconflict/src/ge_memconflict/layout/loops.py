"""While: the body's results go where its inputs lay, and must not get there too early.

GE's rule, but for one thing: GE takes a body in which another node stands between input and result
for safe. Here it is safe only if whatever reads the input has finished when the result is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ge_core.api import (
    AliasClasses,
    Anchor,
    Graph,
    InputAnchor,
    Node,
    OpRegistry,
    Order,
    OutputAnchor,
    Scheme,
    output_parent_index,
    parent_index,
    ref_of,
    written_inputs,
)
from ge_memconflict.checkers.packed import PACKED
from ge_memconflict.layout.arms import Reason
from ge_memconflict.layout.isolation import serves_one

_ONE_STEP: Final = 2
"""Memories in a body of an input and one thing more: GE takes that for the result."""


@dataclass(frozen=True, slots=True)
class BodyCopies:
    """What a loop's body needs.

    Attributes:
        results: the results that are copied together.
        exchanged: results that are inputs of other slots: those are copied before, together.
    """

    results: list[Reason]
    exchanged: list[InputAnchor]


def body_copies(body: Graph, ops: OpRegistry, order: Order) -> BodyCopies:
    """The results of a loop's body that need a copy."""
    end = body.net_output
    if end is None:
        return BodyCopies([], [])
    slots = {result: _slot_of(result) for result in end.inputs}
    passed = {result: _passed_on(result, body) for result in end.inputs}
    exchanged = [r for r, slot in passed.items() if slot is not None and slot != slots[r]]
    straight = {r for r, slot in passed.items() if slot is not None and slot == slots[r]}
    why = _needed(body, end, ops, order)
    if why is None:
        return BodyCopies([], [])
    results = []
    for result in end.inputs:
        source = result.source
        if source is None or result in straight or serves_one(source) or not source.desc.is_static:
            continue
        code = "LOOP_SLOTS_EXCHANGED" if result in exchanged else why[0]
        results.append(Reason(code, result, source if result in exchanged else why[1]))
    copied = {reason.result for reason in results}
    return BodyCopies(results, [result for result in exchanged if result in copied])


def _slot_of(result: InputAnchor) -> int:
    index = output_parent_index(result.node, result.index)
    return result.index if index is None else index


def _passed_on(result: InputAnchor, body: Graph) -> int | None:
    """The slot of the input that a result is, if nobody else reads that."""
    source = result.source
    if source is None or source.node.op != "Data" or source.node.graph is not body:
        return None
    return parent_index(source.node) if len(source.readers) == 1 else None


def _needed(body: Graph, end: Node, ops: OpRegistry, order: Order) -> tuple[str, Anchor] | None:
    """Why the results have to be copied, if they have to: a code, and what stands against it."""
    inputs = body.data_nodes
    if not end.inputs or not inputs or not inputs[0].outputs:
        return None
    first = inputs[0].outputs[0]
    if len(end.inputs) != 1:
        return "LOOP_HAS_SEVERAL_SLOTS", first
    if len(inputs[0].outputs) != 1:
        return "LOOP_WRITES_WHAT_IT_READS", first
    result = end.inputs[0]
    classes = AliasClasses(body, ops, Scheme.SYMBOLS, below=True)
    if result.source is None or result not in classes:
        return None
    for member in classes.members(result):
        if isinstance(member, InputAnchor) and _is_packed(member.node):
            return "LOOP_RETURNS_PACKED", member
    if sum(1 for _ in classes.classes()) == _ONE_STEP:
        return "LOOP_WRITES_WHAT_IT_READS", first
    if first in classes and classes.same(first, result):
        return None
    for reader in _readers(classes, first):
        for writer in _writers(classes, result, ops):
            if reader.node is writer or not order.depends(reader.node, writer):
                return "LOOP_WRITES_WHAT_IT_READS", reader
    return None


def _is_packed(node: Node) -> bool:
    return len(node.inputs) > 1 and any(node.attrs.get(mark) for mark in PACKED)


def _readers(classes: AliasClasses, first: OutputAnchor) -> Iterator[InputAnchor]:
    if first not in classes:
        return
    yield from (member for member in classes.members(first) if isinstance(member, InputAnchor))


def _writers(classes: AliasClasses, result: InputAnchor, ops: OpRegistry) -> Iterator[Node]:
    """Who makes or updates the memory of the result."""
    for member in classes.members(result):
        if isinstance(member, OutputAnchor):
            if ref_of(member, ops) is None:
                yield member.node
        elif member.index in written_inputs(member.node, ops):
            yield member.node
