"""O4 copies no more than an independent search over all choices says must be copied."""

from __future__ import annotations

from random import Random

import pytest

import ge_core as ge
from ge_core.api import Graph, GraphBuilder, OutputAnchor, TensorDesc
from tests.end_to_end.placement_oracle import fewest_bytes

SAMPLE = 120


def _rows(count: int) -> TensorDesc:
    return TensorDesc.make("int8", (count, 64))


def tangle(seed: int) -> Graph:
    """Joins and splits over few tensors of whole rows."""
    pick = Random(seed)
    build = GraphBuilder(f"tangle{seed}")
    x = build.data("x", desc=_rows(pick.randint(1, 3)))
    tensors: list[OutputAnchor] = [x]

    def rows(one: OutputAnchor) -> int:
        return (one.desc.shape or (0,))[0]

    for at in range(pick.randint(3, 8)):
        kind = pick.choice(["join", "join", "cut", "op", "op"])
        one = pick.choice(tensors)
        if kind == "join" and rows(one) <= 8:
            parts = [one, *(pick.choice(tensors) for _ in range(pick.randint(1, 2)))]
            pick.shuffle(parts)
            out = _rows(sum(map(rows, parts)))
            attrs = {"concat_dim": 0, "N": len(parts)}
            made = build.op("ConcatD", *parts, name=f"n{at}", outputs=[out], attrs=attrs)
            tensors.append(made)
        elif kind == "cut" and rows(one) > 1:
            first = pick.randint(1, rows(one) - 1)
            outputs = [_rows(first), _rows(rows(one) - first)]
            node = build.node("SplitD", one, name=f"n{at}", outputs=outputs, attrs={"split_dim": 0})
            tensors += node.outputs
        else:
            tensors.append(build.op("Foo", one, name=f"n{at}", outputs=[_rows(pick.randint(1, 2))]))
    ends = [one for one in tensors if not one.readers and pick.random() < 0.3]
    others = [one for one in tensors if not one.readers and one not in ends]
    kept = [
        build.op("Foo", one, name=f"end{at}", outputs=[_rows(1)]) for at, one in enumerate(others)
    ]
    build.net_output(*ends, *kept)
    return build.graph


def check(seed: int) -> None:
    """No more bytes than the search, which is not asked for large graphs."""
    graph = tangle(seed)
    wanted = fewest_bytes(graph)
    if wanted is None:
        return
    result = ge.compile(graph, level="O4", objective="copies")
    assert result.proof is not None
    assert result.proof.ok, f"seed {seed}: {result.proof.violations[0]}"
    assert result.after.total.bytes <= wanted, f"seed {seed}"


@pytest.mark.parametrize("first", range(0, SAMPLE, 20))
def test_a_sample_is_as_good_as_trying_everything(first: int) -> None:
    """On components of up to eleven ties."""
    for seed in range(first, first + 20):
        check(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(SAMPLE, 4000, 50))
def test_the_campaign_is_as_good_as_trying_everything(first: int) -> None:
    """The same for many more."""
    for seed in range(first, min(first + 50, 4000)):
        check(seed)
