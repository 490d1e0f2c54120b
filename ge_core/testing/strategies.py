"""Hypothesis strategies for graphs and memory problems; their examples shrink to a few nodes.

from hypothesis import given
from ge_core.testing import strategies as ge

@given(ge.graphs())
def test_something(graph): ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ge_core.ir import Graph, TensorDesc
from ge_core.memory import MemoryProblem
from ge_core.testing.choices import Choices, DrawnChoices
from ge_core.testing.odd_graphs import ODD_GRAPHS, odd_graph
from ge_core.testing.random_graphs import GraphKnobs, OpRecipe, random_graph
from ge_core.testing.random_problems import ProblemKnobs, random_problem

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")


def graphs(knobs: GraphKnobs | None = None) -> SearchStrategy[Graph]:
    """Random graphs of up to `knobs.nodes` nodes; fewer nodes and fewer copies are simpler."""
    wanted = knobs or GraphKnobs()

    def make(choices: Choices) -> Graph:
        count = choices.integer(0, wanted.nodes)
        return random_graph(choices, replace(wanted, nodes=count))

    return _drawn(make)


def odd_graphs(ops: Sequence[OpRecipe | str] = ()) -> SearchStrategy[Graph]:
    """One of the odd graphs (`ge_core.testing.ODD_GRAPHS`), the empty one being the simplest."""
    from hypothesis import strategies as st

    return st.sampled_from(list(ODD_GRAPHS)).map(lambda name: odd_graph(name, ops))


def memory_problems(knobs: ProblemKnobs | None = None) -> SearchStrategy[MemoryProblem]:
    """Random memory problems that can be met; fewer and smaller buffers are simpler."""
    wanted = knobs or ProblemKnobs()

    def make(choices: Choices) -> MemoryProblem:
        count = choices.integer(0, wanted.clusters)
        return random_problem(choices, replace(wanted, clusters=count))

    return _drawn(make)


def shapes(most: int = 4, *, unknown: bool = False) -> SearchStrategy[tuple[int, ...]]:
    """Shapes of up to `most` dimensions, zero among them; `unknown` lets dimensions be -1."""
    from hypothesis import strategies as st

    return st.lists(st.integers(-1 if unknown else 0, 8), max_size=most).map(tuple)


def descriptions(
    dtypes: Sequence[str] = ("float32", "float16", "int8", "int4"), *, unknown: bool = False
) -> SearchStrategy[TensorDesc]:
    """Tensor descriptions."""
    from hypothesis import strategies as st

    return st.builds(TensorDesc.make, st.sampled_from(list(dtypes)), shapes(unknown=unknown))


def _drawn(make: Callable[[Choices], T]) -> SearchStrategy[T]:
    from hypothesis import strategies as st

    @st.composite
    def build(draw: Any) -> T:
        return make(DrawnChoices(draw))

    return build()
