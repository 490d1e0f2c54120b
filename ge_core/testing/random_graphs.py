"""Random graphs from GE for tests: every memory effect there is, and always a meaning.

A graph is run in its listed order. With several streams every two accesses to one memory, one of
them a write, are ordered by an edge, so that the original has no race of its own.
"""

from __future__ import annotations

from ge_core.ir import Graph
from ge_core.testing.choices import Choices, SeededChoices
from ge_core.testing.random_knobs import RARE, Describe, GraphKnobs, OpRecipe
from ge_core.testing.random_rare import RareSteps
from ge_core.testing.random_steps import Steps

__all__ = ["RARE", "Describe", "GraphKnobs", "OpRecipe", "random_graph"]


def random_graph(choices: Choices | int, knobs: GraphKnobs | None = None) -> Graph:
    """A valid random graph; a number is a seed."""
    if isinstance(choices, int):
        choices = SeededChoices(choices)
    knobs = knobs or GraphKnobs()
    return (RareSteps if knobs.rare else Steps)(choices, knobs).root()
