"""Remarks as sentences for people."""

from __future__ import annotations

from collections.abc import Sequence

from ge_core.passes.remarks import Hint, Remark, RemarkKind

_VERBS = {
    RemarkKind.APPLIED: "gone",
    RemarkKind.MISSED: "stays",
    RemarkKind.ANALYSIS: "note",
    RemarkKind.FAILED: "failed",
}


def tell(remark: Remark) -> str:
    """One remark as a short story: what happened, why, because of whom, and what would help."""
    size = "" if remark.bytes == 0 else f" {_size(remark.bytes)},"
    lines = [f"{remark.node} ({remark.op}) {_VERBS[remark.kind]}: {remark.reason}"]
    lines.append(f"  {remark.code},{size} said by {remark.pass_name} ({remark.owner})")
    if remark.blame:
        lines.append("  because of " + ", ".join(b.anchor or b.node for b in remark.blame))
    if remark.hint is not None:
        lines.append(f"  would go {way_on(remark.hint)}")
    return "\n".join(lines)


def tell_all(said: Sequence[Remark], final: Remark | None) -> str:
    """All remarks on one node: the last word first; others that decide are marked by their time."""
    lines = [] if final is None else [tell(final)]
    mark = "earlier: "
    for remark in said:
        if remark is final:
            mark = "later, and overruled: "
        else:
            lines.append(f"{'' if remark.kind is RemarkKind.ANALYSIS else mark}{tell(remark)}")
    return "\n".join(lines)


def _size(count: int | None) -> str:
    if count is None:
        return "unknown size"
    return "1 byte" if count == 1 else f"{count:,} bytes"


def way_on(hint: Hint) -> str:
    """The change that a hint names: `with --set ...`, `without the edge ...`."""
    value = hint.value
    if hint.kind == "unmark":
        node, _, mark = value.rpartition(" ")
        return f"without the mark {mark} of {node}"
    # Data edges are in the way, control edges are wanted.
    if hint.kind == "cut" or (hint.kind == "edge" and "@" in value):
        return f"without the edge {value}"
    return f"with {_WITH[hint.kind]}{value}"


_WITH = {"set": "--set ", "edge": "the edge ", "text": ""}
