"""Whose process it is: other threads may change it at any time, and nobody undoes that."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ge_core.errors import PassError
from ge_core.ir import Graph, GraphBuilder
from ge_core.passes import GraphPass, PassContext
from ge_core.process_state import command_runs

NAME = "GE_TEST_OF_OTHER_THREADS"
Run = Callable[..., Any]


class SetsVariable(GraphPass):
    """Changes the environment while it runs, as another thread could."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Change it."""
        os.environ[NAME] = "1"


@pytest.fixture(autouse=True)
def another_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A thread that lives on, and a variable that nobody has set."""
    monkeypatch.delenv(NAME, raising=False)
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    yield
    end.set()
    thread.join()
    os.environ.pop(NAME, None)


def test_what_other_threads_change_is_left_alone(run: Run) -> None:
    """In a program with threads the change may be anybody's: it stays, and is no error."""
    builder = GraphBuilder("root")
    builder.data("x")
    run(builder.graph, {"SetsVariable": {"cls": SetsVariable}})
    assert "1" == os.environ[NAME]


def test_the_command_knows_that_its_process_is_its_own(run: Run) -> None:
    """There the pass is named, and the change is put back."""
    builder = GraphBuilder("root")
    builder.data("x")
    with command_runs(), pytest.raises(PassError, match=f"environment variables .{NAME}"):
        run(builder.graph, {"SetsVariable": {"cls": SetsVariable}})
    assert NAME not in os.environ
