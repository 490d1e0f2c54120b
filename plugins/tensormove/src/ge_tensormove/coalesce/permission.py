"""Whose memory it is: constants, variables, the caller's inputs and results."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from ge_core.api import Anchor, InputAnchor, Keep
from ge_tensormove.coalesce.knowledge import Knowledge
from ge_tensormove.coalesce.move import Move

GRANTS: Final = {
    "O4_INPUT_TO_RESULT": frozenset({"O4_INPUT_TO_RESULT", "O4_INPUT_WRITTEN"}),
    "O4_INPUT_WRITTEN": frozenset({"O4_INPUT_WRITTEN"}),
}
"""By the code whose hint has the caller declare something: all that this permits."""


def not_permitted(move: Move, known: Knowledge, granted: Set[str] = frozenset()) -> Keep | None:
    """Why the copy's readers may not use the source's memory, whoever comes first; None for fine.

    The caller's input is asked about only where somebody would change it or hand it back: who only
    reads leaves it as it is.

    Args:
        granted: codes of what the caller is taken to have permitted.
    """
    return _fixed(move, known) or _given(move, known, granted) or _results(move, known)


def _fixed(move: Move, known: Knowledge) -> Keep | None:
    memory = known.memory
    constants = memory.of_type(move.input, "constant")
    writers = memory.of_type(move.output, "writes")
    if constants and writers:
        named = {"source": constants[0].node.name, "writer": writers[0].node.name}
        return Keep("O4_CONSTANT_WRITTEN", blame=[constants[0], writers[0]], fields=named)
    fixed = [*constants, *memory.of_type(move.input, "lasting")]
    for source in fixed:
        for result in _new_results(move, source, known):
            fields: dict[str, object] = {"source": source.node.name, "output": _index(result)}
            return Keep("O4_FIXED_TO_RESULT", blame=[source, result], fields=fields)
    return None


def misplaced_result(known: Knowledge, into: Anchor, output: Anchor) -> InputAnchor | None:
    """A result among those of `output` that may not lie where `into` does.

    Variables have no results, a graph input has those that the caller has declared for it or that
    lay there when the compile began, and two results are two memories.
    """
    memory = known.memory
    for result in memory.of_type(output, "results"):
        assert isinstance(result, InputAnchor)
        if memory.count(into, "lasting"):
            return result
        for source in memory.of_type(into, "input"):
            index = _input_index(source)
            declared = index is not None and not known.declared.undeclared_outputs(
                index, [result.index]
            )
            if not declared and not known.before.same(source, result):
                return result
        for other in memory.of_type(into, "results"):
            if other is not result and not known.before.same(other, result):
                return result
    return None


def _new_results(move: Move, source: Anchor, known: Knowledge) -> list[Anchor]:
    """The results that would lie in a source's memory, and did not when the compile began."""
    results = known.memory.of_type(move.output, "results")
    return [result for result in results if not known.before.same(source, result)]


def _given(move: Move, known: Knowledge, granted: Set[str]) -> Keep | None:
    for source in known.memory.of_type(move.input, "input"):
        for asked in (_handed_back, _overwritten):
            keep = asked(move, source, known)
            if keep is not None and keep.code not in granted:
                return keep
    return None


def _handed_back(move: Move, source: Anchor, known: Knowledge) -> Keep | None:
    """Whether the caller would find his input in a result that he has not declared for it."""
    results = _new_results(move, source, known)
    if not results:
        return None
    index = _input_index(source)
    undeclared = [_index(result) for result in results]
    if index is not None:
        undeclared = known.declared.undeclared_outputs(index, undeclared)
        if not undeclared:
            return None
    fields = {"index": source.node.name if index is None else index, "output": undeclared[0]}
    hint = None if index is None else {"set": known.declared.with_outputs(index, undeclared)}
    return Keep("O4_INPUT_TO_RESULT", [source, results[0]], hint, fields)


def _overwritten(move: Move, source: Anchor, known: Knowledge) -> Keep | None:
    """Whether the caller's input would be changed though nothing permits it."""
    memory = known.memory
    scratch = memory.of_type(move.output, "scratch")
    if scratch:
        named = {"source": source.node.name, "writer": scratch[0].node.name}
        return Keep("O4_INPUT_SCRIBBLED", blame=[source, scratch[0]], fields=named)
    writers = memory.of_type(move.output, "writes")
    if not writers or memory.count(source, "lasting") or memory.count(source, "writes"):
        # What the graph keeps up to date itself may be updated, if it ends as it would have.
        return None
    index = _input_index(source)
    if index is not None and known.declared.names(index):
        return None
    fields: dict[str, object] = {
        "index": source.node.name if index is None else index,
        "writer": writers[0].node.name,
    }
    hint = None if index is None else {"set": known.declared.with_input(index)}
    return Keep("O4_INPUT_WRITTEN", [source, writers[0]], hint, fields)


def _results(move: Move, known: Knowledge) -> Keep | None:
    """Two results are two memories, and stay that."""
    memory = known.memory
    for one in memory.of_type(move.input, "results"):
        for other in memory.of_type(move.output, "results"):
            if _overlap(move, one, other, known) and not known.before.same(one, other):
                fields = {"one": _index(one), "other": _index(other)}
                return Keep("O4_TWO_RESULTS", blame=[one, other], fields=fields)
    return None


def _overlap(move: Move, one: Anchor, other: Anchor, known: Knowledge) -> bool:
    low = known.memory.distance(move.input, one)
    start = known.memory.distance(move.output, other)
    sizes = [None if a.desc is None else a.desc.nbytes for a in (one, other)]
    if sizes[0] is None or sizes[1] is None:
        return True
    return low < start + sizes[1] and start < low + sizes[0]


def _index(result: Anchor) -> int:
    assert isinstance(result, InputAnchor)
    return result.index


def _input_index(source: Anchor) -> int | None:
    index = source.node.attrs.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else None
