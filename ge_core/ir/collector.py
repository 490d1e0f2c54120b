"""Building a graph makes objects that all stay: the garbage collector only gets in the way."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_RARELY: Final = (50_000, 20, 100)
"""Objects made until the collector looks at the new ones, and how often it looks at older ones."""


@contextmanager
def collector_paused() -> Iterator[None]:
    """Suspend the cyclic garbage collector; it is switched on again as it was."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Rarely:
    """Who wants few collections at present, and the usual thresholds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._usual = gc.get_threshold()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Have the collector run rarely, not never: what it is given meanwhile may be anybody's.

        Several threads may ask at once; the last one to leave puts the usual thresholds back.
        """
        with self._lock:
            self._wanted += 1
            if self._wanted == 1:
                self._usual = gc.get_threshold()
                if self._usual[0]:  # 0 is another way of switching it off
                    gc.set_threshold(*map(max, self._usual, _RARELY))
        try:
            yield
        finally:
            with self._lock:
                self._wanted -= 1
                if self._wanted == 0:
                    gc.set_threshold(*self._usual)


collector_rare = _Rarely()
