"""R3 continued: the source's memory is part of a larger block, or known by a variable's name."""

from __future__ import annotations

from typing import Final

from ge_core.api import Anchor, InputAnchor, Keep
from ge_tensormove.candidate import Candidate

MOST_WRITERS: Final = 64
"""More writers of one memory than this aren't looked at one by one; the copy stays."""


class OtherNames:
    """Keeps copies whose memory somebody else may overwrite without being a reader of the source.

    That takes a task-free join or split on the same block, or a node that names the variable.
    Everybody else is on the copy's own way, or a sibling. GE does not look for them.
    """

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        writers = foreign_writers(copy)
        if writers is None:
            return _keep([*copy.writing_successors(), *copy.hidden_writers()][0])
        for writer in writers:
            if len(writers) > MOST_WRITERS or not is_in_order(copy, writer):
                return _keep(writer)
        return None


def foreign_writers(copy: Candidate) -> list[Anchor] | None:
    """What overwrites the source's memory by another name; None where the copy's readers do."""
    memory, feed = copy.run.memory, copy.feed
    in_block = memory.count(feed, "pieces") > 0
    if not copy.copy.outputs or not (in_block or memory.count(feed, "named")):
        return []
    if in_block and (copy.writing_successors() or copy.hidden_writers()):
        return None
    return [
        writer
        for writer in memory.of_type(feed, "writes")
        if not isinstance(writer, InputAnchor) or writer.source is not feed
    ]


def is_in_order(copy: Candidate, writer: Anchor) -> bool:
    """Whether a writer comes before the copy, or after everybody who reads it."""
    order, node = copy.run.order, writer.node
    if order.depends(node, copy.copy):
        return True
    # Who waits for the copy will wait for its readers.
    if any(x is node or order.depends(x, node) for x in copy.copy.control_outputs):
        return True
    return all(order.depends(reader.node, node) for reader in copy.output.readers)


def _keep(writer: Anchor) -> Keep:
    return Keep("R3_OTHER_NAME", blame=writer, fields={"writer": writer.node.name})
