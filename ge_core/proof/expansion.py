"""Ops that stand for several others: the proof evaluates what they expand to.

The trait names a function that takes the node and returns a graph: its Data nodes, by `index`, are
the node's inputs, and what its NetOutput reads are the node's outputs. It may use no control flow
and no op with effects. It is trusted like the other traits.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from ge_core.errors import PassError
from ge_core.ir import Graph, Node, OutputAnchor
from ge_core.ops import OpTraits
from ge_core.proof.facts import CALLS
from ge_core.proof.frames import Frame, running_order

if TYPE_CHECKING:
    from ge_core.proof.algebra import Algebra, Inputs
    from ge_core.proof.contents import Content


def expand(
    algebra: Algebra, traits: OpTraits, node: Node, frame: Frame, inputs: Inputs
) -> Iterator[Content]:
    """The contents of a node's outputs, by its expansion.

    Raises:
        PassError: the function can't be imported, or what it returns is not such a graph.
    """
    graph = _graph(traits, node)
    inner = Frame(graph, frame.call, running_order(graph))
    held: dict[OutputAnchor, Content | None] = {}
    for step in inner.order:
        facts = algebra.facts.of(step)
        if facts.kind == "data":
            at = int(step.attrs.get("index", 0))
            held[step.outputs[0]] = inputs[at] if at < len(inputs) else None
            continue
        if facts.kind == "net_output":
            continue
        if facts.kind in CALLS or facts.writes or facts.scribbles or facts.has_effect:
            raise _error(traits, f"node {step.name!r} ({step.op}) has effects or control flow")
        given = [None if a.source is None else held[a.source] for a in step.inputs]
        outcome = algebra.run(step, inner, given, {})
        for output, content in zip(step.outputs, outcome.outputs, strict=True):
            source = facts.aliases.get(output.index)
            held[output] = given[source] if content is None and source is not None else content
    out = graph.net_output
    if out is None or len(out.inputs) != len(node.outputs):
        raise _error(traits, f"it delivers not the {len(node.outputs)} outputs of {node.name!r}")
    for anchor in out.inputs:
        content = None if anchor.source is None else held[anchor.source]
        if content is None:
            raise _error(traits, f"output {anchor.index} of {node.name!r} has no value")
        yield content


def _graph(traits: OpTraits, node: Node) -> Graph:
    module, _, name = str(traits.expansion).partition(":")
    try:
        graph = getattr(import_module(module), name)(node)
    except Exception as error:  # a plugin's function may raise anything
        raise _error(traits, f"it failed on node {node.name!r}: {error}") from error
    if not isinstance(graph, Graph):
        raise _error(traits, f"it returned {type(graph).__name__}, not a graph")
    return graph


def _error(traits: OpTraits, what: str) -> PassError:
    return PassError(
        f"expansion {traits.expansion!r} of op {traits.op!r}: {what}", owner=traits.owner or None
    )
