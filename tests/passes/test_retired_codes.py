"""Reason codes that nobody gives any more: still declared, and never given again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.errors import PassError
from ge_core.ir import Graph, GraphBuilder
from ge_core.owners import Owner
from ge_core.passes import Code, GraphPass, PassContext, PassRegistry, Stage
from ge_core.passes.environment import Environment

CODES = {"NEW": Code("NEW", "now"), "OLD": Code("OLD", "once", retired="1.1")}


class Giver(GraphPass, codes=CODES.values()):
    """Gives a code that it has retired."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Say something of the move."""
        ctx.missed(graph.node("m"), "OLD")


def test_a_retired_code_is_still_declared() -> None:
    """Who reads an old remark can look it up, and sees since when it isn't given."""
    staged, registry = PassRegistry(), PassRegistry()
    staged.add(Giver, levels=("O1",), stage=Stage.PREPARE)
    registry.absorb(staged, Owner("acme", "acme-ge", "1.1"))
    found = registry.get("acme.Giver").code("OLD")
    assert found is not None
    assert ("acme.OLD", "once", "1.1") == (found.name, found.text, found.retired)


def test_giving_a_retired_code_is_an_error(run: Callable[..., tuple[Environment, Any]]) -> None:
    """It names code, pass and package."""
    build = GraphBuilder()
    build.net_output(build.op("TensorMove", build.data("x"), name="m"))
    with pytest.raises(PassError) as caught:
        run(build.graph, {}, acme={"P": {"cls": Giver}})
    assert "gives code 'acme.OLD', which is retired since 1.1" in caught.value.message
    assert "acme-casts 1.0" == caught.value.owner
