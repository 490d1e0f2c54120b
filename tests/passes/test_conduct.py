"""Whose process it is: other threads may change it at any time, and nobody undoes that."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ge_core.errors import PassError
from ge_core.ir import Graph, GraphBuilder
from ge_core.passes import GraphPass, PassContext
from ge_core.process_state import command_runs

Run = Callable[..., Any]


class Moves(GraphPass):
    """Changes the working directory while it runs, as another thread could."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Go up."""
        os.chdir("..")


@pytest.fixture(autouse=True)
def another_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A thread that lives on, in a folder of this test's own."""
    monkeypatch.chdir(tmp_path)
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    yield
    end.set()
    thread.join()


def model() -> Graph:
    """One input."""
    builder = GraphBuilder("root")
    builder.data("x")
    return builder.graph


def test_what_other_threads_change_is_left_alone(run: Run, tmp_path: Path) -> None:
    """In a program with threads the change may be anybody's: it stays, and is no error."""
    run(model(), {"Moves": {"cls": Moves}})
    assert tmp_path.parent == Path.cwd()


def test_the_command_knows_that_its_process_is_its_own(run: Run, tmp_path: Path) -> None:
    """There the pass is named, and the change is put back."""
    with command_runs(), pytest.raises(PassError, match="changed the working directory"):
        run(model(), {"Moves": {"cls": Moves}})
    assert tmp_path == Path.cwd()
