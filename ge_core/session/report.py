"""The report of a compile: one JSON document, and the same in ten lines."""

from __future__ import annotations

from typing import Any, Final

from ge_core.passes.manager import PassRun
from ge_core.passes.remarks import RemarkKind
from ge_core.session.copies import Copies
from ge_core.session.result import Result

SCHEMA: Final = "ge-compile/1"
NONE: Final = Copies()


def report(result: Result, *, timing: bool = False) -> dict[str, Any]:
    """The `ge-compile/1` document. Everything but seconds is the same on every run.

    Args:
        timing: with the tree of times.
    """
    document = summary(result)
    seconds = result.seconds
    document["seconds"] = {
        "load": seconds.load,
        "passes": seconds.passes,
        "plan": seconds.plan,
        "proof": seconds.proof,
        "total": seconds.total,
    }
    document["passes"] = [
        {
            "name": run.name,
            "owner": run.owner,
            "stage": run.stage,
            "changed": run.changed,
            "seconds": run.seconds,
            "counters": dict(run.counters),
            "ops": dict(run.ops),
        }
        for run in result.passes
    ]
    if timing:
        document["timing"] = result.timing.to_json()
    return {key: document[key] for key in _ORDER if key in document}


_ORDER: Final = (
    "schema",
    "model",
    "level",
    "target",
    "pipeline",
    "nodes",
    "copies",
    "memory",
    "proof",
    "seconds",
    "passes",
    "timing",
    "remarks",
    "warnings",
)


def summary(result: Result) -> dict[str, Any]:
    """The document without what differs from run to run."""
    before, after = result.before, result.after
    ops = sorted({*before.by_op, *after.by_op})
    return {
        "schema": SCHEMA,
        "model": result.model,
        "level": result.level,
        "target": result.target,
        "pipeline": result.pipeline,
        "nodes": {
            "before": sum(1 for _ in result.original.all_nodes()),
            "after": sum(1 for _ in result.graph.all_nodes()),
        },
        "copies": {
            "before": before.total.to_json(),
            "after": after.total.to_json(),
            "by_op": {
                op: {
                    "before": before.by_op.get(op, NONE).to_json(),
                    "after": after.by_op.get(op, NONE).to_json(),
                }
                for op in ops
            },
        },
        "memory": memory(result),
        "proof": proof(result),
        "remarks": {
            "applied": result.remarks.count(RemarkKind.APPLIED),
            "missed": result.remarks.count(RemarkKind.MISSED),
        },
        "warnings": list(result.warnings),
    }


def memory(result: Result) -> dict[str, Any]:
    """The arena in bytes, and what has no place in it."""
    arena = result.arena
    return {
        "peak_bytes": arena.bytes,
        "lower_bound_bytes": arena.lower_bound,
        "no_reuse_bytes": arena.no_reuse,
        "assigner": result.assigner,
        "optimal": arena.optimal,
        "unplanned": {
            "count": len(result.plan.unplanned),
            "bytes": None if result.plan.unplanned else 0,
            "tensors": list(result.plan.unplanned),
        },
    }


def proof(result: Result) -> dict[str, Any]:
    """Whether the proof holds, what it found, and what it had to assume."""
    if result.proof is None:
        return {"ok": None, "violations": [], "assumptions": []}
    return {
        "ok": result.proof.ok,
        "violations": [violation.to_json() for violation in result.proof.violations],
        "assumptions": list(result.proof.assumptions),
    }


def render(result: Result) -> str:
    """The report in about ten lines."""
    before, after, arena = result.before.total, result.after.total, result.arena
    pipeline = "" if result.pipeline is None else f", pipeline {result.pipeline}"
    lines = [
        f"{result.model}  {result.level} on {result.target}{pipeline}",
        f"  copies   {before.count} -> {after.count}"
        f"  ({size(before.bytes)} -> {size(after.bytes)})",
    ]
    for op in sorted({*result.before.by_op, *result.after.by_op}):
        one, two = result.before.by_op.get(op, NONE), result.after.by_op.get(op, NONE)
        lines.append(
            f"    {op:<12} {one.count} -> {two.count}  ({size(one.bytes)} -> {size(two.bytes)})"
        )
    least = "the least possible" if arena.optimal else f"lower bound {size(arena.lower_bound)}"
    lines.append(
        f"  arena    {size(arena.bytes)}, {least}; {size(arena.no_reuse)} without reuse"
        f"  ({result.assigner})"
    )
    if result.plan.unplanned:
        lines.append(f"  unplanned {len(result.plan.unplanned)} tensors without a static size")
    lines.append(f"  proof    {_proof_line(result)}")
    applied = result.remarks.count(RemarkKind.APPLIED)
    missed = result.remarks.count(RemarkKind.MISSED)
    lines.append(f"  reasons  {applied} went, {missed} stayed; `ge explain` tells why")
    lines += [f"  counted  {run.name}: {text}" for run in result.passes if (text := _counts(run))]
    lines.extend(f"  warning: {warning}" for warning in result.warnings)
    return "\n".join(lines)


def _counts(run: PassRun) -> str:
    """What a pass counted, without what it met nothing of."""
    return ", ".join(f"{name} {count}" for name, count in run.counters.items() if count)


def _proof_line(result: Result) -> str:
    if result.proof is None:
        return "not run"
    if not result.proof.ok:
        return f"FAILED, {len(result.proof.violations)} violations"
    assumed = len(result.proof.assumptions)
    plural = "" if assumed == 1 else "s"
    return "ok" if assumed == 0 else f"ok under {assumed} assumption{plural}"


def size(count: int) -> str:
    """Bytes for people: exact below 10,000, else with a binary unit."""
    if count < 10_000:
        return f"{count:,} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024 or unit == "GiB":
            break
    return f"{value:,.1f} {unit}"
