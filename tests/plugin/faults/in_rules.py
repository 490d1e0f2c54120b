"""Misbehaviour of what passes ask: anchor types, checkers, trace rules, delete rules, op traits."""

from __future__ import annotations

from typing import Final

from .table import Fault, hook


def marks(body: str) -> str:
    """An anchor type whose marker is `m(anchor)`."""
    return hook("anchor_types", "types.add('PINNED', marks=m)", f"def m(anchor):\n    {body}\n")


def checker(body: str, codes: str = "('CLASH',)") -> str:
    """A checker `c(a, b, query)` for what every input and output has."""
    return hook(
        "conflict_checkers",
        f"checkers.check('ONE', 'TWO', c, codes={codes})",
        f"def c(a, b, query):\n    {body}\n",
    ) + (
        "\n@hookimpl\ndef ge_register_anchor_types(types):\n"
        "    types.add('ONE', marks=lambda a: isinstance(a, OutputAnchor) "
        "and a.node.op == 'Relu')\n"
        "    types.add('TWO', marks=lambda a: isinstance(a, InputAnchor) and a.node.op in "
        "('Relu', 'ConcatD', 'Exp'))\n"
    )


def trace(body: str) -> str:
    """A trace rule `s(output, trace)` for every op."""
    return hook("trace_rules", "rules.add('*', step=s)", f"def s(output, trace):\n    {body}\n")


def delete(body: str) -> str:
    """A delete rule `r(query)`."""
    return hook(
        "delete_rules", "rules.add('mine', r, codes=('NO',))", f"def r(query):\n    {body}\n"
    )


EDIT = "a.node.graph.set_graph_attr('mine', 1)"

FAULTS: Final = (
    Fault("has a marker that raises", marks("1 / 0"), ("acme.PINNED", "ZeroDivisionError")),
    Fault("has a marker that ends the process", marks("raise SystemExit"), ("acme.PINNED",)),
    Fault(
        "has a marker that edits the graph",
        marks("anchor.node.graph.set_graph_attr('mine', 1)"),
        ("acme.PINNED", "edit"),
    ),
    Fault("has a checker that raises", checker("1 / 0"), ("ONE and acme.TWO", "ZeroDivision")),
    Fault(
        "has a checker that ends the process",
        checker("raise SystemExit"),
        ("ONE and acme.TWO", "SystemExit"),
    ),
    Fault("has a checker that recurses", checker("return c(a, b, query)"), ("RecursionError",)),
    Fault(
        "has a checker that answers True",
        checker("return True"),
        ("ONE and acme.TWO", "answered True"),
    ),
    Fault(
        "has a checker that answers nothing",
        checker("pass"),
        ("ONE and acme.TWO", "answered None"),
    ),
    Fault(
        "has a checker that gives a code which it did not declare",
        checker("return query.conflict(code='CLAHS', isolate=b)"),
        ("ONE and acme.TWO", "CLAHS"),
    ),
    Fault(
        "has a checker that wants a copy at something which is no anchor",
        checker("return query.conflict(code='CLASH', isolate=b.node)"),
        ("ONE and acme.TWO", "isolate"),
    ),
    Fault(
        "has a checker that edits the graph",
        checker(EDIT),
        ("ONE and acme.TWO", "edit"),
    ),
    Fault("has a trace rule that raises", trace("1 / 0"), ("trace rule", "ZeroDivisionError")),
    Fault("has a trace rule that ends the process", trace("raise SystemExit"), ("trace rule",)),
    Fault("has a trace rule that answers True", trace("return True"), ("trace rule", "True")),
    Fault(
        "has a trace rule that steps to an output",
        trace("return trace.through(output)"),
        ("trace rule", "through"),
    ),
    Fault(
        "has a trace rule that leads in a circle",
        trace(
            "return trace.through(output.readers[0] if output.readers else output.node.inputs[0])"
        ),
        (),
        "fine",
    ),
    Fault(
        "has a trace rule that leaves the graph",
        trace(
            "return trace.through(GraphBuilder('o').op('Relu', GraphBuilder('o').data('x'))"
            ".node.inputs[0])"
        ),
        ("trace rule",),
    ),
    Fault(
        "has a trace rule that edits the graph",
        trace("output.node.graph.set_graph_attr('mine', 1)"),
        ("trace rule", "edit"),
    ),
    Fault("has a delete rule that raises", delete("1 / 0"), ("acme.mine", "ZeroDivisionError")),
    Fault("has a delete rule that ends the process", delete("raise SystemExit"), ("acme.mine",)),
    Fault("has a delete rule that answers True", delete("return True"), ("acme.mine", "True")),
    Fault(
        "has a delete rule that keeps for a code which it did not declare",
        delete("return Keep('ON')"),
        ("acme.mine", "ON"),
    ),
)
