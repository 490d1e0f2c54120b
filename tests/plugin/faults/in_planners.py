"""Misbehaviour of memory assigners."""

from __future__ import annotations

from typing import Final

from .table import ASSIGN, Fault, an_assigner


def wrong(what: str, body: str, *says: str, exit: int = 1, before: str = "") -> Fault:
    """An assigner that does something wrong."""
    return Fault(
        f"has an assigner that {what}", an_assigner(body, before), says, run=ASSIGN, exit=exit
    )


def mutates(what: str, line: str) -> Fault:
    """An assigner that changes the problem before it places."""
    return wrong(
        f"changes {what} of the problem", f"{line}\nreturn good(problem)", "changed", "problem"
    )


PLACES = "n = len(problem.clusters)\n"

FAULTS: Final = (
    wrong("raises", "1 / 0", "acme.low", "ZeroDivisionError"),
    wrong("ends the process", "raise SystemExit(0)", "acme.low", "SystemExit"),
    wrong("recurses", "return self.assign(problem, budget)", "acme.low", "RecursionError"),
    wrong("returns nothing", "good(problem)", "acme.low", "None"),
    wrong("returns a list", "return list(good(problem).offsets)", "acme.low", "Placement"),
    wrong("puts everything at 0", PLACES + "return Placement((0,) * n)", "share bytes"),
    wrong("returns too few places", "return Placement(good(problem).offsets[1:])", "offsets for"),
    wrong(
        "returns too many places", "return Placement((*good(problem).offsets, 0))", "offsets for"
    ),
    wrong("places at a negative offset", PLACES + "return Placement((-64,) * n)", "-64"),
    wrong(
        "places between alignments",
        "return Placement(tuple(o + 1 for o in good(problem).offsets))",
        "no multiple of 64",
    ),
    wrong(
        "places at fractions",
        "return Placement(tuple(float(o) for o in good(problem).offsets))",
        "offset 0.0",
    ),
    wrong(
        "places at texts",
        "return Placement(tuple(str(o) for o in good(problem).offsets))",
        "offset '0'",
    ),
    wrong(
        "places at a truth value",
        "return Placement(tuple(o or False for o in good(problem).offsets))",
        "offset False",
    ),
    wrong(
        "calls its answer optimal and takes twice the memory",
        "p = good(problem)\n"
        "high = 64 * sum(c.size for c in problem.clusters)\n"
        "pairs = zip(p.offsets, problem.clusters)\n"
        "offsets = tuple(o + high * (c.fixed is None) for o, c in pairs)\n"
        "return Placement(offsets, frozenset(problem.pools))",
        "optimal",
    ),
    wrong(
        "names a pool that there is not",
        "return Placement(good(problem).offsets, frozenset({'L7'}))",
        "L7",
    ),
    mutates("sizes", "for c in problem.clusters: c.size = 1"),
    mutates("buffers", "for b in problem.buffers: b.size = 1"),
    mutates("lives", "for b in problem.buffers: b.first = b.last = 0"),
    mutates("alignments", "for c in problem.clusters: c.align = 1"),
    mutates("capacities", "problem.capacities['arena'] = 1 << 60"),
    mutates("the clusters", "problem.clusters = problem.clusters[::-1]"),
)
