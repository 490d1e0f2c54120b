"""The same problem gets the same answer, whatever the hash seed and however often it is asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import hashlib, json, random
from ge_core.api import Budget
from ge_core.memory import build_problem, plan_from
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.targets import GENERIC
from ge_core.testing.random_graphs import GraphKnobs, random_graph
from ge_memassign.best import Best
ops = OpRegistry()
register_builtin_ops(ops)
texts = []
for seed in range(6):
    graph = random_graph(seed, GraphKnobs(nodes=40, streams=1 + seed % 3))
    problem, facts = build_problem(graph, ops, GENERIC)
    first = Best().assign(problem, Budget(steps=50_000))
    again = Best().assign(problem, Budget(steps=50_000))
    assert first == again
    texts.append(json.dumps(plan_from(problem, first, facts).to_json()))
print(hashlib.sha256("".join(texts).encode()).hexdigest())
"""


def answer(seed: str) -> str:
    """The digest of a few plans, made in a process with that hash seed."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_plans_do_not_depend_on_the_hash_seed() -> None:
    """Two processes with different hash seeds write the same bytes."""
    assert answer("1") == answer("2")
