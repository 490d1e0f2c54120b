"""A plan as text: one line per place, by pool and offset."""

from __future__ import annotations

from ge_core.memory.plan import Plan, PlanTensor, PlanWorkspace

_COLUMNS = ("offset", "bytes", "life", "kind", "name", "alias of")


def render(plan: Plan) -> str:
    """The table behind `Plan.table`; deterministic, one section per pool."""
    places: list[PlanTensor | PlanWorkspace] = [*plan.tensors, *plan.workspace]
    lines: list[str] = []
    for pool, totals in plan.pools.items():
        lines.append(
            f"{pool}: {totals.bytes} bytes, lower bound {totals.lower_bound}, "
            f"without reuse {totals.no_reuse}{', optimal' if totals.optimal else ''}"
        )
        rows = sorted(
            (place for place in places if place.pool == pool),
            key=lambda place: (place.offset, place.end, place.name),
        )
        lines.extend(_aligned([_COLUMNS, *(_row(place) for place in rows)]))
    lines.extend(f"unplanned: {name}" for name in plan.unplanned)
    return "\n".join(lines)


def _row(place: PlanTensor | PlanWorkspace) -> tuple[str, ...]:
    if isinstance(place, PlanWorkspace):
        return str(place.offset), str(place.bytes), "", "scratch", place.name, ""
    first, last = place.life
    kind = place.io or ("piece" if place.run is not None else "tensor")
    life = f"{first}-{last}"
    return str(place.offset), str(place.bytes), life, kind, place.name, place.alias_of or ""


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if at < 2 else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
