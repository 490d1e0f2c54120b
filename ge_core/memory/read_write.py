"""The conflict query: may this input stand at that output, as the graph is now?"""

from __future__ import annotations

from ge_core.analysis import Effects
from ge_core.ir import InputAnchor, OutputAnchor
from ge_core.memory.conflict_query import ReadWriteChecker


def read_write_conflict(
    checker: ReadWriteChecker,
    effects: Effects,
    output: OutputAnchor | None,
    reader: InputAnchor | None,
) -> bool:
    """Whether a reader can't simply stand at an output; kinds that can't be told are a conflict.

    The two need not be connected. A port that does not exist (None) is a conflict too.
    """
    if output is None or reader is None:
        return True
    return checker.conflict(effects.output_kind(output), effects.input_kind(reader))
