"""The base classes of passes.

A pass is a class; its options are the fields of the frozen dataclass that it is, each with a
default and a docstring below it. One instance runs over many graphs: a pass keeps no state of its
own, what it learns lives in the `run` call.

    @dataclass(frozen=True)
    class DropNoOpCast(GraphPass, codes=("CHANGES_DTYPE", "NOOP")):
        '''What the pass does, in one line.'''

        limit: int | None = None
        '''At most this many removals.'''
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ge_core.passes.codes import Code, CodeSpec, read_codes
from ge_core.passes.counters import CounterSpec, read_counters

if TYPE_CHECKING:
    from ge_core.ir import Graph, Node
    from ge_core.passes.context import PassContext


class Pass(ABC):  # noqa: B024  (the three kinds below say what is abstract)
    """What all kinds share. Derive from `GraphPass`, `NodePass` or `AnalysisPass`."""

    kind: ClassVar[str] = ""
    codes: ClassVar[tuple[Code, ...]] = ()
    """The reason codes that the pass gives, declared with the class keyword `codes=`."""

    counters: ClassVar[Mapping[str, str]] = {}
    """What the pass counts with `ctx.count`, declared with the class keyword `counters=`."""

    def __init_subclass__(
        cls, *, codes: CodeSpec = (), counters: CounterSpec = (), **keywords: Any
    ) -> None:
        super().__init_subclass__(**keywords)
        cls.counters = {**cls.counters, **read_counters(counters)}
        cls.codes = (*cls.codes, *read_codes(codes))
        if len({code.name for code in cls.codes}) != len(cls.codes):
            raise TypeError(f"{cls.__name__}: a code of the base class is declared again")


class GraphPass(Pass):
    """Looks at a whole graph: the root first, then each subgraph, in one `run` each."""

    kind = "graph"

    @abstractmethod
    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Edit the graph, giving remarks through `ctx`. Raise to give up: all edits are undone."""


class NodePass(Pass):
    """Looks at one node at a time, producers before consumers, as GE's walker does.

    `ctx.revisit(node)` asks for another visit; the neighbours of a removed node are asked for by
    `ctx.revisit_neighbours(node)` before it goes. A node with subgraphs is visited, then its
    subgraphs completely, then the node again with `ctx.after_subgraphs` true.
    """

    kind = "node"
    only: ClassVar[tuple[str, ...]] = ()
    """The op types that the pass looks at; the walk passes over others, and over subgraphs with
    none of them left. Without any it looks at all."""

    @abstractmethod
    def visit(self, node: Node, ctx: PassContext) -> None:
        """Edit around the node, giving remarks through `ctx`."""


class AnalysisPass(Pass):
    """Looks and remarks; an edit is an error that names the pass."""

    kind = "analysis"

    @abstractmethod
    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Give remarks through `ctx`; the graph must stay as it is."""
