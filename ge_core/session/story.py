"""Remarks as sentences for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ge_core.passes.codes import Code
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


NO_LONGER: Final = "  neither graph has it: a pass put it in, and another took it out"


def givers_of(remark: Remark, codes: Sequence[Code]) -> list[str]:
    """Who stands behind a remark besides its pass: a plugin's rule, or a layout checker."""
    lines = []
    own = [code for code in codes if code.name == remark.code]
    if own and all(code.giver != remark.pass_name for code in own):
        lines.append(f"  {remark.code} comes from {own[0].giver} ({own[0].owner})")
    said = dict.fromkeys(value for value in remark.data.values() if isinstance(value, str))
    for name in said:
        # A checker is known by the two types that it looks at.
        owners = [c.owner for c in codes if c.name == name and " and " in c.giver]
        if owners and name != remark.code:
            lines.append(f"  {name} comes from a layout checker ({owners[0]})")
    return lines


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
