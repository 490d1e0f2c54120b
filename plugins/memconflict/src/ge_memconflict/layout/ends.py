"""The stage for branches and loops: copies at the ends of their subgraphs."""

from __future__ import annotations

from collections.abc import Iterator

from ge_core.api import Graph, InputAnchor, Node, OpRegistry, PassContext, walk
from ge_memconflict.layout.arms import Reason, arm_copies
from ge_memconflict.layout.isolation import Isolation
from ge_memconflict.layout.loops import body_copies
from ge_memconflict.layout.saying import say_reason


def isolate_ends(top: Graph, ctx: PassContext, isolation: Isolation) -> None:
    """Copy what arms and bodies can't hand out as it is."""
    for node in _branching(top, ctx.ops):
        for graph in _arms(node, ctx.ops):
            needed = arm_copies(graph, ctx.ops)
            if needed:
                _copy(ctx, isolation, needed)
        body = _body(node, ctx.ops)
        if body is None:
            continue
        copies = body_copies(body, ctx.ops, ctx.order)
        if not copies.results:
            continue
        outer = _copy(ctx, isolation, copies.results)
        if copies.exchanged:
            _copy_before(ctx, isolation, copies.results, copies.exchanged, outer)


def control_flow_conflict(top: Graph, ctx: PassContext) -> Reason | None:
    """The first result of a branch or loop that needs a copy; nothing is edited."""
    for node in _branching(top, ctx.ops):
        for graph in _arms(node, ctx.ops):
            found = arm_copies(graph, ctx.ops)
            if found:
                return found[0]
        body = _body(node, ctx.ops)
        if body is not None and (found := body_copies(body, ctx.ops, ctx.order).results):
            return found[0]
    return None


def _branching(top: Graph, ops: OpRegistry) -> list[Node]:
    """Branches and loops of a graph and of all that is inside, outer ones first."""
    return [
        node for node in walk(top) if node.subgraphs and ops.kind(node) in ("if", "case", "while")
    ]


def _arms(node: Node, ops: OpRegistry) -> Iterator[Graph]:
    if ops.kind(node) in ("if", "case"):
        yield from dict.fromkeys(node.subgraphs.values())


def _body(node: Node, ops: OpRegistry) -> Graph | None:
    if ops.kind(node) != "while":
        return None
    # GE names them; what is not the condition is the body.
    return next((g for label, g in node.subgraphs.items() if label != "cond"), None)


def _copy(ctx: PassContext, isolation: Isolation, reasons: list[Reason]) -> Node:
    copy = isolation.together([reason.result for reason in reasons])
    say_reason(ctx, copy, reasons[0], len(reasons))
    return copy


def _copy_before(
    ctx: PassContext,
    isolation: Isolation,
    results: list[Reason],
    exchanged: list[InputAnchor],
    outer: Node,
) -> None:
    """Exchanged inputs are copied out before anything is copied into its place."""
    at = {reason.result: port for port, reason in enumerate(results)}
    copy = isolation.together([outer.inputs[at[result]] for result in exchanged])
    first = next(reason for reason in results if reason.result in exchanged)
    say_reason(ctx, copy, first, len(exchanged))
