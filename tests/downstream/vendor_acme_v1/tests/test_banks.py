"""`acme.PINNED_BANK`: the built-in removal of moves heeds a third party's anchor type."""

from __future__ import annotations

import pytest
from graphs import MOVE_BYTES, pinned, pinned_result


def test_a_move_between_two_banks_stays(last_word):
    """Source and copy would become one memory, and that can't lie in two banks."""
    final = last_word(pinned(1, 2), "move")
    assert str(final.kind) == "missed"
    assert final.data["clash"] == "acme.TWO_BANKS"
    assert "acme.TWO_BANKS" in final.reason
    assert [blame.anchor for blame in final.blame] == ["make:0", "move:0"]
    assert final.bytes == MOVE_BYTES


def test_a_move_inside_one_bank_goes(compiled):
    """Equal banks are no conflict."""
    result = compiled(pinned(1, 1))
    assert str(result.remarks.final("move").kind) == "applied"
    assert None is result.graph.find("move")


@pytest.mark.parametrize("level", ["O3", "O4"])
def test_the_move_is_all_that_tells_them_apart(compiled, level):
    """One copy is left between two banks, none inside one, at every level that removes copies."""
    assert [compiled(pinned(1, second), level=level).after.total.count for second in (2, 1)] == [
        1,
        0,
    ]


def test_a_pinned_tensor_is_not_the_callers(last_word):
    """A graph's result lies where the caller says, so a copy brings it there."""
    final = last_word(pinned_result(1), "move")
    assert str(final.kind) == "missed"
    assert final.data["clash"] == "acme.BANK_IS_NOT_THE_CALLERS"


def test_without_a_bank_nothing_is_held_back(last_word):
    """The same graphs, and no tensor is pinned."""
    kinds = [
        str(last_word(graph, "move").kind) for graph in (pinned(None, None), pinned_result(None))
    ]
    assert kinds == ["applied", "applied"]
