"""The kit for plugin authors: random graphs, and what tests of passes and planners need."""

from typing import TYPE_CHECKING

from ge_core.deprecation import old_names
from ge_core.testing.choices import Choices, DrawnChoices, SeededChoices
from ge_core.testing.disjoint import disjoint_plan
from ge_core.testing.random_graphs import GraphKnobs, random_graph

__all__ = [
    "Choices",
    "DrawnChoices",
    "GraphKnobs",
    "SeededChoices",
    "disjoint_plan",
    "random_graph",
]

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)
