"""What a pass leaves alone: the compile's environment, the kernel's transactions, the process.

A pass that breaks one of these is undone and named; what it changed is put back, so that a caller
who goes on without it gets what it would have got.
"""

from __future__ import annotations

from typing import Any, Final

from ge_core.errors import PassError
from ge_core.foreign import shortened
from ge_core.passes.base import Pass
from ge_core.passes.environment import Environment
from ge_core.process_state import ProcessState, is_ours

MOST_NEW_NODES: Final = 100_000
"""A pass may add so many nodes to a small graph..."""
GROWTH: Final = 20
"""...or make a large one so many times as large: more is taken for a loop without an end."""

_FIXED: Final = (
    "root",
    "level",
    "target",
    "ops",
    "options",
    "codes",
    "remarks",
    "delete_rules",
    "trace_rules",
    "read_write",
    "layout_checkers",
    "anchor_types",
    "kernel",
    "analyses",
)
"""What the environment holds from the start of the compile to its end."""


class Conduct:
    """Before and after one pass, or one check of a claim."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._fixed = {name: getattr(env, name) for name in _FIXED}
        self._values = dict(env.options.values)
        self._depth = env.root.journal.depth
        self._process = ProcessState(imports=False) if is_ours() else None
        count = sum(len(graph) for graph in env.root.all_graphs())
        env.root.limit_nodes(GROWTH * count + MOST_NEW_NODES)

    def check(self) -> None:
        """Raises `PassError` for the first thing that was not left alone; puts back all."""
        problems = [*self._put_environment(), *self._put_journal(), *self._put_process()]
        if problems:
            raise PassError("; ".join(problems), hint="a pass changes the graph and nothing else")

    def put_back(self) -> None:
        """For a pass that failed anyway: what it says comes first."""
        self._put_environment()
        self._put_journal()
        self._put_process()

    def _put_process(self) -> list[str]:
        return [] if self._process is None else self._process.put_back()

    def _put_environment(self) -> list[str]:
        env, found = self._env, []
        for name, before in self._fixed.items():
            if getattr(env, name) is not before:
                setattr(env, name, before)
                found.append(f"replaced {name!r} of the compile's environment")
        values: Any = env.options.values
        if dict(values) != self._values:
            values.clear()
            values.update(self._values)
            found.append("changed options of the compile")
        self._fixed["root"].limit_nodes(None)
        return found

    def _put_journal(self) -> list[str]:
        journal = self._fixed["root"].journal
        if journal.depth == self._depth:
            return []
        word = "left a transaction open" if journal.depth > self._depth else "closed a transaction"
        return [f"{word} that is not its own" if "closed" in word else word]


def check_answer(work: Pass, answer: object) -> None:
    """Raises `PassError` where a pass returned something: nobody would look at it."""
    if answer is None:
        return
    close = getattr(answer, "close", None)
    if close is not None and type(answer).__name__ in ("coroutine", "generator"):
        # It has not run at all; closed, it doesn't warn about that later.
        close()
    raise PassError(
        f"returned {shortened(answer)}, and nobody would look at it",
        hint="edit the graph that is given, in a plain def; return nothing",
    )
