"""Remarks as sentences for people."""

from __future__ import annotations

from ge_core.passes.remarks import Remark, RemarkKind

_VERBS = {
    RemarkKind.APPLIED: "gone",
    RemarkKind.MISSED: "stays",
    RemarkKind.ANALYSIS: "note",
    RemarkKind.FAILED: "failed",
}


def tell(remark: Remark) -> str:
    """One remark as a short story: what happened, why, because of whom, and what would help."""
    size = "unknown size" if remark.bytes is None else f"{remark.bytes:,} bytes"
    lines = [f"{remark.node} ({remark.op}) {_VERBS[remark.kind]}: {remark.reason}"]
    lines.append(f"  {remark.code}, {size}, said by {remark.pass_name} ({remark.owner})")
    if remark.blame:
        lines.append("  because of " + ", ".join(b.anchor or b.node for b in remark.blame))
    if remark.hint is not None:
        lines.append(f"  would go with {_HINTS[remark.hint.kind]}{remark.hint.value}")
    return "\n".join(lines)


_HINTS = {"set": "--set ", "edge": "edge ", "text": ""}
