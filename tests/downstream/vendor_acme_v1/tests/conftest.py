"""What the tests share: compiles that must be proved, and the last word on one node."""

from __future__ import annotations

import pytest

import ge_core as ge
from ge_core.api import Graph, Remark


@pytest.fixture
def compiled():
    """`compiled(graph, level="O3", ...)`: the result of a compile whose proof holds."""

    def run(graph: Graph, **arguments) -> ge.Result:
        result = ge.compile(graph, verify_each=True, audit=True, **arguments).check_proof()
        assert result.proof is not None and result.proof.ok
        return result

    return run


@pytest.fixture
def last_word(compiled):
    """`last_word(graph, node, ...)`: the final remark on a node."""

    def run(graph: Graph, node: str, **arguments) -> Remark:
        final = compiled(graph, **arguments).remarks.final(node)
        assert final is not None
        return final

    return run
