"""Around a plugin's code while it is loaded: what it prints and changes is caught, put back, said.

Standard output belongs to the result of a command. What a plugin prints while it is imported goes
to standard error, whether it prints with Python or writes to the file descriptor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from time import perf_counter
from typing import TextIO

from ge_core.process_state import ProcessState, is_ours


class LoadWatch:
    """What one plugin does to the process, over all the times that its code is entered.

    Attributes:
        changes: in words, in the order in which they were noticed.
        seconds: spent in the plugin's code.
    """

    def __init__(self) -> None:
        self.changes: list[str] = []
        self.seconds = 0.0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Around one import or hook."""
        found: list[str] = []
        stream = _Noted(sys.stderr)
        start = perf_counter()
        try:
            if not is_ours():
                yield
                return
            with results_kept_apart(stream):
                # Taken inside: the redirection is not the plugin's.
                state = ProcessState()
                try:
                    yield
                finally:
                    found = state.put_back()
        finally:
            self.seconds += perf_counter() - start
            if stream.written:
                found.insert(0, "wrote to standard output, which went to standard error")
            self.changes += [words for words in found if words not in self.changes]


class _Noted:
    """Passes on to a stream and remembers whether anything came."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.written = False

    def write(self, text: str) -> int:
        self.written = self.written or bool(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


@contextmanager
def results_kept_apart(stream: object | None = None) -> Iterator[None]:
    """Send what is printed inside to standard error: the results of a command stay whole.

    Args:
        stream: what takes the place of sys.stdout; sys.stderr by default.
    """
    saved = _move_descriptor()
    try:
        with redirect_stdout(stream or sys.stderr):  # type: ignore[type-var]  # it has write
            yield
    finally:
        if saved is not None:
            os.dup2(saved, 1)
            os.close(saved)


def _move_descriptor() -> int | None:
    """Point descriptor 1 to standard error; a copy of it, None where it isn't ours to move."""
    with suppress(OSError, ValueError, AttributeError):
        if sys.stdout.fileno() == 1 and sys.stderr.fileno() == 2:
            sys.stdout.flush()
            saved = os.dup(1)
            os.dup2(2, 1)
            return saved
    return None
