"""Which of GE's demands hold in a compile.

Some of them come from GE's runtime, not from the device. There arms and turns make their results in
the caller's buffer, and the caller binds buffers of its own for what it hands in and gets back.
Here subgraphs end with copies that the planner makes anyway, where it can't do without, and what
the caller hands in and gets back lies in the arena, next to whatever it should lie next to; a
constant that is a result is handed out from where it lies. So graphs that don't come from GE, and
the level beyond GE's, do without the copies that this saves.

A join or split that a pass of this compile took the task of is not asked about either: that pass
knows the places of its operands and pieces, and has answered for them. For marks that came with the
graph nobody has; beyond GE's levels they stand only where they go together.

What marks in the graph, special memory, fixed addresses and plugins ask for holds everywhere.
"""

from __future__ import annotations

from typing import Final

from ge_core.api import AliasClasses, Anchor, Graph, Level, PassContext, RemarkKind, Scheme, walk
from ge_memconflict import anchor_types as types

_USERS: Final = (types.USER_MEMORY_INPUT, types.USER_MEMORY_OUTPUT)
_GROUPED: Final = (
    types.CONTINUOUS_INPUT,
    types.CONTINUOUS_OUTPUT,
    types.NOPADDING_CONTINUOUS_INPUT,
    types.NOPADDING_CONTINUOUS_OUTPUT,
)
_CAME_MARKED: Final = ("MARKED_BEFORE",)
"""Codes with which passes say that a node had its marks before they saw it."""
_PLACED: Final = (types.NOPADDING_CONTINUOUS_INPUT, types.NOPADDING_CONTINUOUS_OUTPUT)
BOUND_BUFFERS: Final = (
    (types.IMMUTABLE_ADDRESS_OUTPUT, types.USER_MEMORY_OUTPUT),
    *((user, grouped) for user in _USERS for grouped in _GROUPED),
)
"""Pairs of types that clash only where the caller binds buffers of its own."""


def of_ge(ctx: PassContext) -> bool:
    """Whether GE's runtime is to be met: for its own graphs, at its own levels."""
    return ctx.environment.root.source == "ge" and ctx.level.base != Level.O4


def answered(name: str, anchor: Anchor, ctx: PassContext) -> bool:
    """Whether a pass of this compile answers for an anchor of a type: a join or split of its own.

    What clashes with it is that pass's business.
    """
    if name not in _PLACED:
        return False
    final = ctx.environment.remarks.final(anchor.node.name)
    if final is None or final.kind is not RemarkKind.APPLIED:
        return False
    return final.code not in _CAME_MARKED or ctx.level.base == Level.O4


def left_out(ctx: PassContext) -> tuple[tuple[str, str], ...]:
    """Pairs of types whose rules aren't asked."""
    return () if of_ge(ctx) else BOUND_BUFFERS


def symbols(top: Graph, ctx: PassContext) -> AliasClasses:
    """The memories of a graph that is laid out as a whole."""
    copied_ends = not of_ge(ctx) and any(node.subgraphs for node in walk(top))
    if top.is_root and not copied_ends:
        return ctx.symbols
    kinds = ctx.environment.anchor_types.of
    return AliasClasses(top, ctx.ops, Scheme.SYMBOLS, kinds, below=True, copied_ends=copied_ends)
