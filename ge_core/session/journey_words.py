"""A journey as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ge_core.session.accesses import Access
from ge_core.session.journey import Journey, Value

MOST_HOPS: Final = 12
"""Names of a value that are told."""


def lines_of(journey: Journey) -> list[str]:
    """Where the values come from, who else uses their memory, who reads the node, what changed."""
    lines: list[str] = []
    if journey.inserted:
        lines.append("  a pass put it in; seen in the compiled graph")
    for value in journey.values:
        lines += _value(value, journey)
    lines += _readers(journey)
    if journey.waiting:
        lines.append(f"  waiting for it: {', '.join(journey.waiting)}")
    lines += _change(journey)
    return lines


def _value(value: Value, journey: Journey) -> Iterator[str]:
    trail = value.trail
    yield f"  {value.input} reads"
    left_out = len(trail.hops) - MOST_HOPS
    for at, hop in enumerate(trail.hops):
        # A story is short: of a long way its two ends.
        if left_out > 0 and MOST_HOPS // 2 <= at < MOST_HOPS // 2 + left_out:
            if at == MOST_HOPS // 2:
                yield f"     by  {left_out} more of its names"
            continue
        by = "" if hop.rule is None else f", says the trace rule of {hop.rule}"
        yield f"    {'from' if at == 0 else ' to '} {hop.anchor} ({hop.op}): {hop.words}{by}"
    if not journey.moves and not value.others:
        return
    if value.others:
        yield "    besides, on that memory:"
        yield from (f"      {_access(access)}" for access in value.others)
        yield from _more(value.more, "      ")
    elif trail.special is None and trail.stopped is None:
        yield "    nobody else uses that memory"


def _readers(journey: Journey) -> Iterator[str]:
    if not journey.readers:
        yield "  nobody reads what it makes"
        return
    yield "  what it makes is used by"
    yield from (f"    {_access(access)}" for access in journey.readers)
    yield from _more(journey.more_readers, "    ")


def _change(journey: Journey) -> Iterator[str]:
    if journey.gone and journey.moves:
        yield f"  why that is safe: {_safe(journey)}"
    if journey.edges:
        yield "  edges added: " + ", ".join(f"{one} -> {other}" for one, other in journey.edges)
    if journey.now:
        yield "  now " + ", ".join(f"{at} reads {out}" for at, out in journey.now.items())


def _safe(journey: Journey) -> str:
    others = [access for value in journey.values for access in value.others]
    more = sum(value.more for value in journey.values)
    writers = any(access.writes for access in (*others, *journey.readers))
    special = next((v.trail.special for v in journey.values if v.trail.special), None)
    whose = f" ({special})" if special else ""
    if not writers:
        return f"nobody overwrites that memory{whose} while it is read"
    if not others and not more:
        return f"nobody else uses that memory{whose}, and it may be overwritten"
    return "every write is ordered behind the reads that must not see it"


def _access(access: Access) -> str:
    when = "" if not access.when else f", {access.when}"
    return f"{access.anchor} ({access.op}) {access.does} {access.what}{when}"


def _more(count: int, indent: str) -> Iterator[str]:
    if count:
        yield f"{indent}and {count} more"
