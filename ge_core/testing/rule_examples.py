"""Examples of rules: case files that trip one reason code each, shown by docs and run by tests.

An example lies in `examples/` of its plugin, is named after its code, and expects the remark in
full. What its hint says must be true: the change is made, and the copy must go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ge_core.cases import Case, find_cases, run_case
from ge_core.cases.runner import run_outcome
from ge_core.ir import write_graph
from ge_core.passes.remarks import Hint
from ge_core.session.hints import follow, options_of
from ge_core.session.kernel import Kernel

FACTS = ("kind", "code", "reason", "blame", "bytes", "hint")
"""What an example says of its remark."""


def examples_in(folder: Path) -> list[Case]:
    """The examples of a folder, sorted by name."""
    return list(find_cases([folder])) if folder.is_dir() else []


def remark_of(example: Case) -> tuple[str, Mapping[str, Any]]:
    """The node that an example is about, and the remark that it expects.

    Raises:
        AssertionError: it expects no remark, several, or not all that a remark tells.
    """
    remarks = example.expect.get("remarks", {})
    assert len(remarks) == 1, f"{example.path}: an example expects one remark"
    ((node, facts),) = remarks.items()
    assert set(FACTS) == set(facts), f"{example.path}: a remark has {', '.join(FACTS)}"
    return node, facts


def failures_of(example: Case, kernel: Kernel) -> list[str]:
    """What is not as an example says; empty where all is."""
    node, facts = remark_of(example)
    found = [f"{f.expected}; got {f.got}" for f in run_case(example, kernel).failures]
    blamed = {
        blame.rpartition(":" if ":" in blame else "@")[0] or blame for blame in facts["blame"]
    }
    if facts["kind"] == "missed" and len(blamed) < min(2, _neighbours(example, node)):
        found.append(f"{node}: a copy that stays has two nodes to blame, not {sorted(blamed)}")
    return found


def _neighbours(example: Case, name: str) -> int:
    """How many nodes stand beside a node; one that a pass inserts always stands between two."""
    node = example.build().find(name)
    return 2 if node is None else len(node.in_nodes) + len(node.out_nodes)


def hint_failures(example: Case, kernel: Kernel) -> list[str] | None:
    """What remains although an example's hint was followed; None where it can't be made.

    A copy must be gone, and what was only noted must not be noted again.
    """
    node, facts = remark_of(example)
    hint = Hint.of(facts["hint"])
    if hint is None:
        return None
    options, graph = options_of(hint), example.build()
    if not options and not follow(hint, graph):
        return None
    changed = replace(
        example, options={**example.options, **options}, graph=write_graph(graph), expect={}
    )
    outcome = run_outcome(changed, kernel)
    said = [remark.code for remark in outcome.remarks.of(node)]
    if facts["kind"] == "analysis":
        return [f"{node}: {facts['code']} is noted again"] if facts["code"] in said else []
    return [] if outcome.graph.find(node) is None else [f"{node} is still there: {said}"]
