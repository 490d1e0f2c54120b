"""The graphs that a suite judges with: given ones, random ones, and odd ones."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, Final

from ge_core.errors import UsageError
from ge_core.ir import Graph, clone
from ge_core.ops import OpRegistry
from ge_core.ops.builtin import ASSIGN_LIKE
from ge_core.testing.odd_graphs import ODD_GRAPHS, odd_graph
from ge_core.testing.random_graphs import GraphKnobs, OpRecipe, random_graph

Graphs = Callable[[int], Graph] | Iterable[Graph] | Any
"""Graphs to judge with: a function of a seed, a list of them, or a hypothesis strategy."""

_OP_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")


@dataclass(frozen=True)
class Sample:
    """One graph to judge with.

    Attributes:
        name: what it is called in messages.
        again: how a reader makes it again; empty where the name says it.
        odd: the name of the odd graph that it is, if it is one.
    """

    name: str
    graph: Graph
    again: str = ""
    odd: str | None = None

    def fresh(self) -> Graph:
        """A copy to compile."""
        return clone(self.graph)


def random_samples(knobs: GraphKnobs, count: int) -> list[Sample]:
    """Random graphs, every third on two streams, every fourth in narrow types."""
    found = []
    for seed in range(count):
        changes: dict[str, Any] = {"nodes": max(2, knobs.nodes - 4 + seed % 9)}
        if seed % 3 == 2:
            changes["streams"] = max(2, knobs.streams)
        if seed % 4 == 3:
            changes["dtypes"] = ("float32", "int4", "bfloat16")
        turned = dataclasses.replace(knobs, **changes)
        again = _told(turned).replace("SEED", str(seed))
        found.append(Sample(f"random graph {seed}", random_graph(seed, turned), again))
    return found


def _told(knobs: GraphKnobs) -> str:
    """The call that makes the graph again, its seed left open."""
    usual = GraphKnobs()
    told = [
        f"{f.name}={_shown(getattr(knobs, f.name))}"
        for f in dataclasses.fields(knobs)
        if getattr(knobs, f.name) != getattr(usual, f.name)
    ]
    return f"random_graph(SEED, GraphKnobs({', '.join(told)}))"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_shown(part) for part in value) + "]"
    if isinstance(value, OpRecipe) and value == OpRecipe.of(value.op):
        return repr(value.op)
    return getattr(value, "__name__", None) or repr(value)


def odd_samples(ops: Sequence[OpRecipe]) -> list[Sample]:
    """Every odd graph, with these ops in it."""
    return [
        Sample(f"odd graph {name!r}", odd_graph(name, ops), f"odd_graph({name!r})", odd=name)
        for name in ODD_GRAPHS
    ]


def given_samples(graphs: Graphs, count: int) -> list[Sample]:
    """Samples from what an author gave.

    Raises:
        UsageError: it is none of the forms that are understood.
    """
    if hasattr(graphs, "example") and hasattr(graphs, "map"):
        return [Sample(f"example {at}", g) for at, g in enumerate(_drawn(graphs, count))]
    if callable(graphs):
        name = getattr(graphs, "__name__", "graphs")
        return [Sample(f"{name}({seed})", graphs(seed), f"{name}({seed})") for seed in range(count)]
    if isinstance(graphs, Graph):
        graphs = [graphs]
    if isinstance(graphs, Iterable):
        return [Sample(f"given graph {at} ({g.name})", g) for at, g in enumerate(graphs)]
    raise UsageError(f"graphs={graphs!r} is no function, list or strategy")


def _drawn(strategy: Any, count: int) -> list[Graph]:
    """Examples of a strategy, the same on every run."""
    from hypothesis import HealthCheck, Phase, given, settings

    found: list[Graph] = []

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(graph: Graph) -> None:
        found.append(graph)

    collect()
    return found


# ---- what a piece of code is about ---------------------------------------------------------------


def recipes(ops: Sequence[OpRecipe | str], registry: OpRegistry) -> list[OpRecipe]:
    """Recipes for op types, as their traits describe them."""
    found = []
    for op in ops:
        recipe = OpRecipe.of(op)
        if isinstance(op, str) and (0, 0) in registry.of(op, "ge").aliases:
            recipe = dataclasses.replace(recipe, views=True)
        found.append(recipe)
    return found


def ops_named_by(subject: object, registry: OpRegistry) -> list[str]:
    """Op types that a class's or function's code names, the functions that it calls included.

    A guess that spares authors of simple passes an argument: ops that compute, and such as nobody
    has declared.
    """
    words: set[str] = set()
    seen: set[object] = set()
    for function in _functions_of(subject):
        _read(function, words, seen)
    return sorted(word for word in words if _is_business(word, registry))


def _is_business(word: str, registry: OpRegistry) -> bool:
    if not _OP_NAME.fullmatch(word) or word in ASSIGN_LIKE:
        return False
    traits = registry.of(word, "ge")
    usual = traits.kind == "compute" and not (traits.collective or traits.side_effect)
    return usual and not traits.writes


def _functions_of(subject: object) -> list[FunctionType]:
    if isinstance(subject, FunctionType):
        return [subject]
    classes = (
        inspect.getmro(subject) if isinstance(subject, type) else inspect.getmro(type(subject))
    )
    return [
        value
        for cls in classes
        if cls is not object and not cls.__module__.startswith("ge_core.")
        for value in vars(cls).values()
        if isinstance(value, FunctionType)
    ]


def _read(function: FunctionType, words: set[str], seen: set[object]) -> None:
    if function in seen:
        return
    seen.add(function)
    home = function.__module__.partition(".")[0]
    for code in _codes(function.__code__):
        # The first constant may be the docstring: words in it are prose.
        constants = (
            code.co_consts[1:] if code.co_consts[:1] == (function.__doc__,) else code.co_consts
        )
        for constant in constants:
            _take(constant, words)
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, FunctionType) and value.__module__.partition(".")[0] == home:
                _read(value, words, seen)
            else:
                _take(value, words)


def _codes(code: CodeType) -> Iterable[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _take(value: object, words: set[str]) -> None:
    if isinstance(value, str):
        words.add(value)
    elif isinstance(value, (frozenset, set, tuple, list)):
        words.update(part for part in value if isinstance(part, str))
