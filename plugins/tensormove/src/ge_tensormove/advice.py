"""What a remark on a kept copy says besides its code: whom it stands between, and the way on.

A hint is one change. Whether the copy would then go is asked of the rules that come later, so a
hint here only has to satisfy the rule that spoke.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeAlias

from ge_core.api import Blame, InputAnchor, Keep, Node, OutputAnchor
from ge_tensormove.candidate import Candidate
from ge_tensormove.rules.after_copy import waiting_nodes
from ge_tensormove.rules.other_names import MOST_WRITERS, foreign_writers, is_in_order

HintParts: TypeAlias = "dict[str, str] | None"

_MOST_HOPS: Final = 100
"""Further up nobody is looked for: every copy behind a long row of views would walk all of it."""

CHECKERS_PACKAGE: Final = "graph-engine-memconflict"


def advised(copy: Candidate, keep: Keep) -> Keep:
    """The same no, with the change that would satisfy the rule, where there is one."""
    advise = _ADVICE.get(keep.code)
    if keep.hint is not None or advise is None:
        return keep
    return replace(keep, hint=advise(copy))


def blaming_two(copy: Candidate, keep: Keep) -> Keep:
    """The same no, blaming two nodes where there are two: what the rule names comes first.

    A copy stands between where its value is made and who reads it; whatever a rule says, these are
    the two that would share one memory.
    """
    given: Any = () if keep.blame is None else keep.blame
    blames = [Blame.of(one) for one in (given if isinstance(given, (list, tuple)) else [given])]
    nodes = {blame.node for blame in blames}
    more = _OTHERS.get(keep.code)
    for anchor in (*(more(copy, blames[0]) if more else ()), *_ends(copy)):
        if len(nodes) >= 2:
            break
        if anchor.node.name not in nodes and anchor.node is not copy.copy:
            nodes.add(anchor.node.name)
            blames.append(Blame.of(anchor))
    return replace(keep, blame=blames)


def _ends(copy: Candidate) -> Iterator[InputAnchor | OutputAnchor]:
    """The source, the first reader, and the direct producer."""
    if copy.fed_by is not None:
        yield copy.origin.output
    if copy.copy.outputs:
        yield from copy.output.readers[:1]
    if copy.fed_by is not None:
        yield copy.fed_by


# ---- who else -----------------------------------------------------------------------------------


def _beside(copy: Candidate, blame: Blame) -> Iterator[InputAnchor]:
    """A reader of an output on the way that is not on the way itself."""
    at: OutputAnchor | None = copy.feed
    for _ in range(_MOST_HOPS):
        through = None if at is None else copy.run.tracer.step(at).through
        at = None if through is None else through.source
        if at is None:
            return
        if str(at) == blame.anchor:
            yield from [reader for reader in at.readers[:2] if reader is not through][:1]
            return


def _forking(copy: Candidate, blame: Blame) -> Iterator[InputAnchor]:
    """A reader of another output of the node that is blamed."""
    node = copy.run.root.find(blame.node)
    for output in () if node is None else node.outputs:
        if str(output) != blame.anchor and output.readers:
            yield output.readers[0]


_OTHERS: Final[dict[str, Callable[[Candidate, Blame], Iterator[InputAnchor]]]] = {
    "R3_HIDDEN_FORK": _forking,
    "R3_SHARED_ABOVE": _beside,
}


# ---- one change per reason -----------------------------------------------------------------------


def _unmark(mark: str, other: str) -> Callable[[Candidate], HintParts]:
    """Take the mark off, where it is the only one that reserves the copy."""

    def advise(copy: Candidate) -> HintParts:
        attrs = copy.copy.attrs
        return None if attrs.get(other) else {"unmark": f"{copy.copy.name} {mark}"}

    return advise


def _cut_waiting(copy: Candidate) -> HintParts:
    """Let the one node that waits for the copy no longer wait."""
    waiting = waiting_nodes(copy)
    return {"cut": f"{copy.copy.name} -> {waiting[0].name}"} if len(waiting) == 1 else None


def _cut_writer(copy: Candidate) -> HintParts:
    """Let the sibling no longer wait for what overwrites the copy, where one edge says so."""
    writing = list(dict.fromkeys(anchor.node for anchor in copy.writing_successors()))
    if len(writing) != 1:
        return None
    writer = writing[0]
    read = any(output.readers for output in writer.outputs)
    if read or len(writer.control_outputs) != 1 or copy.hidden_writers():
        return None
    sibling = writer.control_outputs[0]
    among = any(anchor.node is sibling for anchor in copy.siblings.plain)
    return {"cut": f"{writer.name} -> {sibling.name}"} if among else None


def _order_other_name(copy: Candidate) -> HintParts:
    """Have the one writer by another name wait for the one reader that nothing orders before it."""
    writers = foreign_writers(copy)
    if writers is None or len(writers) > MOST_WRITERS:
        return None
    late = list(dict.fromkeys(a.node for a in writers if not is_in_order(copy, a)))
    if len(late) != 1:
        return None
    order, writer = copy.run.order, late[0]
    readers = dict.fromkeys(reader.node for reader in copy.output.readers)
    early = [node for node in readers if not order.depends(node, writer)]
    if len(early) != 1 or not _can_wait(copy, writer, early[0]):
        return None
    return {"edge": f"{early[0].name} -> {writer.name}"}


def _can_wait(copy: Candidate, writer: Node, reader: Node) -> bool:
    inside = writer.graph is reader.graph and writer.op != "NetOutput"
    return inside and writer is not reader and not copy.run.order.depends(writer, reader)


def _install(copy: Candidate) -> HintParts:
    """Bring the checkers that are asked."""
    return {"text": f"install {CHECKERS_PACKAGE}"}


_ADVICE: Final[dict[str, Callable[[Candidate], HintParts]]] = {
    "R0_CANNOT_BE_DELETED": _unmark("_cannot_be_deleted", "no_need_constant_folding"),
    "R0_NO_CONSTANT_FOLDING": _unmark("no_need_constant_folding", "_cannot_be_deleted"),
    "R3_WRITER_FIRST": _cut_writer,
    "R3_OTHER_NAME": _order_other_name,
    "R3_AFTER_COPY_OUTPUT": _cut_waiting,
    "R3_AFTER_COPY_CYCLE": _cut_waiting,
    "R3_EDGE_REFUSED": _cut_waiting,
    "R4_NO_CHECKER": _install,
    "R5_NO_CHECKERS": _install,
}
