"""Whether source and copy may lie at one place."""

from __future__ import annotations

from typing import Final

from ge_core.api import Keep, TensorDesc
from ge_tensormove.coalesce.knowledge import Knowledge
from ge_tensormove.coalesce.move import Move

_SCOPE: Final = "_tensor_memory_scope"


def not_one_place(move: Move, known: Knowledge) -> Keep | None:
    """Why the two can't be one place; None where they can.

    Only clashes between an anchor of either side count: what clashes on one side alone is there
    with the copy too.
    """
    if known.layout is None:
        return Keep("O4_NO_CHECKERS", blame=move.feed)
    kinds = [_kind(anchor.desc) for anchor in (move.feed, move.output)]
    if kinds[0] != kinds[1]:
        fields = {"source_kind": kinds[0], "target_kind": kinds[1]}
        return Keep("O4_MEMORY_KIND", blame=[move.feed, move.output], fields=fields)
    memory, symbols = known.memory, known.symbols
    if memory.same(move.input, move.output):
        apart = memory.distance(move.input, move.output)
        code = "O4_TWO_PLACES" if apart else "O4_ONE_MEMORY"
        return Keep(code, blame=[move.input, move.output])
    if any(memory.count(end, "pieces") for end in (move.input, move.output)) and any(
        memory.piece(member) is not None
        for end in (move.input, move.output)
        for member in memory.members(end)
    ):
        return Keep("O4_GAPS", blame=[move.input, move.output])
    row = _in_one_row(move, known)
    if row is not None:
        return row
    if symbols.same(move.input, move.output):
        return None
    clash = known.layout.first_clash(symbols, move.input, move.output)
    if clash is None:
        return None
    fields = {"first": str(clash.first), "second": str(clash.second), "clash": clash.code}
    return Keep("O4_CLASH", blame=[clash.first, clash.second], fields=fields)


def _in_one_row(move: Move, known: Knowledge) -> Keep | None:
    """Whether the two are neighbours: ends of one node that must lie side by side."""
    rows = {anchor.node: anchor for anchor in known.memory.of_type(move.input, "rows")}
    for anchor in known.memory.of_type(move.output, "rows") if rows else ():
        if anchor.node in rows:
            other = rows[anchor.node]
            fields = {"row": anchor.node.name, "one": str(other), "other": str(anchor)}
            return Keep("O4_IN_ONE_ROW", blame=[other, anchor], fields=fields)
    return None


def _kind(desc: TensorDesc) -> str:
    # Two names for the device's own memory.
    kind = "HBM" if desc.mem_type == "DDR" else desc.mem_type
    scope = desc.attrs.get(_SCOPE)
    return kind if scope is None else f"{kind} (scope {scope})"
