"""What every pass promises, held against the companion passes, each alone and among all others."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.api import Graph, GraphBuilder, OutputAnchor
from ge_core.testing import GraphKnobs, OpRecipe, SeededChoices, pass_conformance

STORES = GraphKnobs(nodes=16, moves=15)
TWO_STREAMS = GraphKnobs(nodes=16, streams=2)
PLANTED = OpRecipe("Identity", attrs={"_inner_identity": (True,)})
AS_IN_GE = "no fixed point is sought: a copy that goes late may free one that was looked at before"

_SHAPE = (4, 8)


def packed_graph(seed: int) -> Graph:
    """Collectives that want their inputs side by side or in peer memory, on one or two streams.

    One value feeds several of them, and values of all origins do: inputs, constants, variables,
    results, values of calls.
    """
    pick = SeededChoices(seed)
    build = GraphBuilder("root")
    streams = 1 + seed % 2
    pool: list[OutputAnchor] = [build.data(f"in{at}", _SHAPE) for at in range(2)]
    pool.append(build.const("k", bytes(range(128)), _SHAPE))
    pool.append(build.op("Variable", name="w", shape=_SHAPE, dtype="float32"))
    for at in range(8):
        on = {"stream_id": pick.integer(0, streams - 1)}
        kind = pick.pick(("Relu", "Add", "gather", "gather", "peer", "call"))
        some = _different(pick, pool, 2)
        if kind == "gather":
            attrs = {"continuous_input": True, **on}
            pool.append(build.op("HcomAllGather", *some, name=f"gather{at}", attrs=attrs))
        elif kind == "peer":
            home = pick.pick(pool[:4])
            peer = {"_input_memory_type": [17], **on}
            pool.append(build.op("HcomReduce", home, name=f"peer{at}", attrs=peer))
        elif kind == "call":
            inner = build.subgraph(f"g{at}")
            given = [inner.data(f"g{at}/d{n}", _SHAPE) for n in range(2)]
            attrs = {"continuous_input": True, **on}
            inner.net_output(inner.op("HcomAllGather", *given, name=f"g{at}/gather", attrs=attrs))
            pool.append(build.op("PartitionedCall", *some, subgraphs={"f": inner}, attrs=on))
        else:
            operands = some if kind == "Add" else some[:1]
            pool.append(build.op(kind, *operands, name=f"{kind.lower()}{at}", attrs=on))
    build.net_output(*_different(pick, pool[4:], 3))
    return build.graph


def _different(pick: SeededChoices, pool: list[OutputAnchor], count: int) -> list[OutputAnchor]:
    """So many values, no two of them the same, the later ones more likely."""
    left, found = list(pool), []
    for _ in range(min(count, len(left))):
        found.append(left.pop(max(pick.integer(0, len(left) - 1), pick.integer(0, len(left) - 1))))
    return found


test_inner_identity_add = pass_conformance("InnerIdentityAddPass", ops=(), knobs=STORES)
test_inner_identity_add_on_two_streams = pass_conformance(
    "InnerIdentityAddPass", ops=(), knobs=TWO_STREAMS, samples=10
)
test_inner_identity_delete = pass_conformance(
    "InnerIdentityDeletePass", ops=[PLANTED], knobs=STORES, idempotent=AS_IN_GE
)
test_inner_identity_delete_on_two_streams = pass_conformance(
    "InnerIdentityDeletePass", ops=[PLANTED], knobs=TWO_STREAMS, idempotent=AS_IN_GE, samples=4
)
test_subgraph = pass_conformance("SubgraphPass", ops=())
test_subgraph_on_two_streams = pass_conformance(
    "SubgraphPass", ops=(), knobs=TWO_STREAMS, samples=4
)
test_hccl_memcpy = pass_conformance("HcclMemcpyPass", ops=(), knobs=STORES)
test_hccl_memcpy_on_two_streams = pass_conformance(
    "HcclMemcpyPass", ops=(), knobs=TWO_STREAMS, samples=4
)
test_hccl_continuous_memcpy = pass_conformance("HcclContinuousMemcpyPass", graphs=packed_graph)
test_inplace_support = pass_conformance("InplaceSupportCheckPass", ops=())
test_graph_lint = pass_conformance("GraphLint", ops=(), knobs=STORES)


def _campaign(name: str, streams: int) -> Any:
    knobs = GraphKnobs(nodes=24, streams=streams)
    planted = name == "InnerIdentityDeletePass"
    return pytest.mark.soak(
        pass_conformance(
            name,
            ops=[PLANTED] if planted else (),
            knobs=knobs,
            idempotent=AS_IN_GE if planted else True,
            samples=1000,
        )
    )


test_add_campaign = _campaign("InnerIdentityAddPass", 1)
test_add_campaign_on_two_streams = _campaign("InnerIdentityAddPass", 2)
test_delete_campaign = _campaign("InnerIdentityDeletePass", 1)
test_delete_campaign_on_two_streams = _campaign("InnerIdentityDeletePass", 2)
test_subgraph_campaign = _campaign("SubgraphPass", 1)
test_subgraph_campaign_on_two_streams = _campaign("SubgraphPass", 2)
test_hccl_campaign = _campaign("HcclMemcpyPass", 1)
test_hccl_campaign_on_two_streams = _campaign("HcclMemcpyPass", 2)
test_packing_campaign = pytest.mark.soak(
    pass_conformance("HcclContinuousMemcpyPass", graphs=packed_graph, samples=1000)
)
