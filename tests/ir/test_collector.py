"""The garbage collector while graphs are built and compiled: rarer, and then as it was."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

import ge_core as ge
from ge_core.api import GraphBuilder, Instrument
from ge_core.ir import collector_rare


@pytest.fixture(autouse=True)
def _usual_thresholds() -> Iterator[None]:
    """Python's own, whatever runs beside these tests prefers."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_the_thresholds_come_back_when_the_last_one_leaves() -> None:
    """Two threads overlap: neither puts back what the other one has set."""
    usual = gc.get_threshold()
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with collector_rare():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with collector_rare():
        thread.start()
        inside.wait(10)
        rare = gc.get_threshold()
        assert rare[0] > usual[0]
    assert rare == gc.get_threshold()
    leave.set()
    thread.join()
    assert usual == gc.get_threshold()


def test_a_collector_that_is_off_by_its_threshold_stays_off() -> None:
    """A first threshold of 0 means: never."""
    gc.set_threshold(0)
    with collector_rare():
        assert 0 == gc.get_threshold()[0]


def test_a_compile_leaves_the_collector_as_it_was() -> None:
    """Passes run with rarer collections, also where one raises."""
    seen: list[int] = []

    class Look(Instrument):
        def before_pass(self, ctx: object) -> None:
            seen.append(gc.get_threshold()[0])

    usual = gc.get_threshold()
    b = GraphBuilder()
    b.net_output(b.op("TensorMove", b.op("Relu", b.data("x"))))
    ge.compile(b.graph, instruments=[Look()])
    assert usual == gc.get_threshold()
    assert seen
    assert min(seen) > usual[0]
