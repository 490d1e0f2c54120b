"""The read/write matrix, entry by entry."""

from __future__ import annotations

import pytest

from ge_core.api import InputKind, OutputKind
from ge_memconflict.matrix import ReadWriteMatrix, Verdict

FINE, COPY, WRONG = Verdict.FINE, Verdict.IDENTITY, Verdict.WRONG_GRAPH
COLUMNS = (
    InputKind.READ_ONLY,
    InputKind.WRITEABLE,
    InputKind.SCOPE_WRITEABLE,
    InputKind.INVALID,
)
ROWS = {
    OutputKind.READ_ONLY_CONST: (FINE, COPY, COPY, WRONG),
    OutputKind.READ_ONLY: (FINE, FINE, COPY, WRONG),
    OutputKind.SOFT_READ: (FINE, FINE, FINE, WRONG),
    OutputKind.WRITEABLE: (FINE, FINE, COPY, WRONG),
    OutputKind.INVALID: (WRONG, WRONG, WRONG, WRONG),
}


@pytest.mark.parametrize("output", list(OutputKind))
def test_a_row_of_the_matrix(output: OutputKind) -> None:
    """Everything but "nothing to do" is a conflict; what can't be told is a wrong graph."""
    matrix = ReadWriteMatrix()
    row = tuple(matrix.verdict(output, reader) for reader in COLUMNS)
    assert ROWS[output] == row
    assert [v is not FINE for v in row] == [matrix.conflict(output, r) for r in COLUMNS]
