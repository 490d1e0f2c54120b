"""Random graphs from GE: compiled graphs are proved, and really compute what the original does."""

from __future__ import annotations

import pytest

import ge_core as ge
from ge_core.session.execution import execute
from ge_core.testing import GraphKnobs, random_graph

LEVELS = ("O3", "O4")
SAMPLE = 120
CAMPAIGN = 20_000
CHUNK = 20


def knobs(seed: int) -> GraphKnobs:
    """Small and large graphs, on one to three streams, with narrow and wide types."""
    dtypes = ("float32", "float16", "int8") if seed % 5 else ("float32", "int4", "bfloat16")
    return GraphKnobs(nodes=8 + seed % 17, streams=1 + seed % 3, dtypes=dtypes)


def check(seed: int) -> None:
    """One graph at all levels."""
    graph = random_graph(seed, knobs(seed))
    for level in LEVELS:
        result = ge.compile(graph, level=level, verify_each=True, audit=True)
        assert result.proof is not None
        assert result.proof.ok, f"seed {seed} at {level}: {result.proof.violations[0]}"
        outcome = execute(result, seed=seed, check=True)
        wrong = [output.name for output in outcome.outputs if not output.bit_exact]
        assert [] == wrong, f"seed {seed} at {level}"


@pytest.mark.parametrize("first", range(0, SAMPLE, CHUNK))
def test_a_sample_is_proved_and_bit_exact(first: int) -> None:
    """No violation, no output that differs in a bit."""
    for seed in range(first, first + CHUNK):
        check(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(SAMPLE, CAMPAIGN, 100))
def test_the_campaign_is_proved_and_bit_exact(first: int) -> None:
    """The same for many more."""
    for seed in range(first, min(first + 100, CAMPAIGN)):
        check(seed)
