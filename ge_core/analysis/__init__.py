"""Analyses: pure questions about a graph. None of them edits it."""

from ge_core.analysis._alias_rules import NAME_MARK, named_memory, walk
from ge_core.analysis.accesses import Access, Accesses
from ge_core.analysis.aliases import AliasClasses, Anchor, Scheme
from ge_core.analysis.crossings import crossings
from ge_core.analysis.effects import Effects, InputKind, OutputKind, Recorded, combined
from ge_core.analysis.interface import Interface, Interfaces, interface_of
from ge_core.analysis.interference import Interference, Joined
from ge_core.analysis.liveness import Life, Liveness
from ge_core.analysis.makers import MakerSearch
from ge_core.analysis.nesting import containers, inner_graphs, lift_both, lifted
from ge_core.analysis.order import Order
from ge_core.analysis.pieces import (
    Piece,
    compose,
    is_free_join,
    is_free_split,
    join_pieces,
    pieces_overlap,
    split_pieces,
)
from ge_core.analysis.sharing import Sharing
from ge_core.analysis.timed import AccessConflict, TimedAccess
from ge_core.analysis.timeline import Timeline
from ge_core.analysis.toporder import TopoOrder, listed_order
from ge_core.analysis.trace import (
    ANY_OP,
    Origin,
    Sources,
    SourceTracer,
    Step,
    Trace,
    TraceCursor,
    TraceRule,
    TraceRules,
    Waypoint,
)
from ge_core.analysis.unionfind import PlacementUnionFind

__all__ = [
    # order
    "Order",
    "TopoOrder",
    "listed_order",
    # what is one memory
    "AliasClasses",
    "Anchor",
    "NAME_MARK",
    "PlacementUnionFind",
    "Scheme",
    # who touches a memory, and what if two were one
    "Access",
    "AccessConflict",
    "Accesses",
    "Interference",
    "Joined",
    "MakerSearch",
    "TimedAccess",
    "Timeline",
    "crossings",
    # when it is needed
    "Life",
    "Liveness",
    # where pieces lie
    "Piece",
    "compose",
    "is_free_join",
    "is_free_split",
    "join_pieces",
    "pieces_overlap",
    "split_pieces",
    # what is read and written
    "Effects",
    "InputKind",
    "OutputKind",
    "Recorded",
    "Sharing",
    "combined",
    # where a value comes from
    "ANY_OP",
    "Origin",
    "SourceTracer",
    "Sources",
    "Step",
    "Trace",
    "TraceCursor",
    "TraceRule",
    "TraceRules",
    "Waypoint",
    # subgraphs
    "Interface",
    "Interfaces",
    "containers",
    "inner_graphs",
    "interface_of",
    "lift_both",
    "lifted",
    "named_memory",
    "walk",
]
