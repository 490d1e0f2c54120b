"""The trace rule for `AcmeWindow`: where a move behind a window is told to come from."""

from __future__ import annotations

from graphs import windowed

REUSABLE = {"ge.exec.inputReuseMemIndexes": "0"}


def test_a_move_behind_an_open_window_is_traced_to_the_input(last_word):
    """The source is graph input 0, which is the caller's: the move stays because of it."""
    final = last_word(windowed(closed=False), "move")
    assert str(final.kind) == "missed"
    assert final.rule == "R2"
    assert final.data["index"] == 0


def test_it_goes_once_the_caller_lends_the_input(last_word):
    """What was found at the end of the trace is what decides."""
    final = last_word(windowed(closed=False), "move", options=REUSABLE)
    assert str(final.kind) == "applied"


def test_a_closed_window_ends_the_trace(last_word):
    """The rule's own words say why, whatever the caller lends."""
    final = last_word(windowed(closed=True), "move", options=REUSABLE)
    assert str(final.kind) == "missed"
    assert "window window is closed" in final.reason
