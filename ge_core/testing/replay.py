"""Compiles in another process, with another hash seed: what comes out must be the same bytes."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from typing import Any

from ge_core.ir import read_graph, write_graph
from ge_core.session.compiler import Compiler
from ge_core.testing.elsewhere import ask_elsewhere
from ge_core.testing.examining import document
from ge_core.testing.pass_subject import PassSubject, subject_from_json
from ge_core.testing.samples import Sample

MOST = 10
"""Graphs that are compiled again."""


def another_process(subject: PassSubject, samples: Sequence[Sample]) -> tuple[Sample, str] | None:
    """The first sample that another process compiles to something else, and the difference.

    Raises:
        UsageError: the pass can't be found from another process; says why.
        PluginError: the other process failed; says with what.
    """
    some = samples[:MOST]
    graphs = [write_graph(sample.graph) for sample in some]
    record = {"subject": subject.to_json(), "graphs": graphs}
    here = _documents(subject, graphs)
    there = ask_elsewhere("ge_core.testing.replay", record, str(subject))
    for sample, one, other in zip(some, here, there, strict=True):
        if _digest(one) != other["digest"]:
            return sample, _difference(one, other["text"])
    return None


def _documents(subject: PassSubject, graphs: Sequence[Any]) -> list[str]:
    found = []
    for at, graph in enumerate(graphs):
        result = Compiler(subject.kernel).compile(read_graph(graph), subject.request(at))
        found.append(document(result))
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _difference(one: str, other: str) -> str:
    for mine, theirs in zip(one.splitlines(), other.splitlines(), strict=False):
        if mine != theirs:
            return f"here:  {mine.strip()}\nthere: {theirs.strip()}"
    return "one document is longer than the other"


def main() -> None:
    """Read a request, compile, and answer with digests; the process that `another_process` runs."""
    record = json.load(sys.stdin)
    subject = subject_from_json(record["subject"])
    answers = [
        {"digest": _digest(text), "text": text} for text in _documents(subject, record["graphs"])
    ]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
