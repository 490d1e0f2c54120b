"""What is said of an inserted copy: one remark, two anchors to blame, bytes, and a way out."""

from __future__ import annotations

from typing import Final

from ge_core.api import Clash, Node, PassContext, Unruled, blame_two
from ge_memconflict.layout.arms import Reason
from ge_memconflict.layout.codes import CODES, HINTS

INSERTED: Final = "conflicts"
COUNTERS: Final = {
    INSERTED: "copies inserted because anchors of one memory clash",
    "pairs_asked": "pairs of anchors that rules were asked about",
}


def say_clash(ctx: PassContext, copy: Node, clash: Clash) -> None:
    """The copy is there because two anchors can't share a memory."""
    code = clash.code if clash.code in CODES else "CLASH"
    fields = {"first": str(clash.first), "second": str(clash.second)}
    if code == "CLASH":
        fields["clash"] = clash.code
        fields["owner"] = clash.owner
    ctx.count(INSERTED)
    ctx.missed(
        copy,
        code,
        blame=blame_two(copy, [clash.first, clash.second]),
        bytes=_bytes(copy),
        hint=_hint(ctx, code),
        **fields,
    )


def say_reason(ctx: PassContext, copy: Node, reason: Reason, ports: int) -> None:
    """The copy is there because of what a subgraph hands out; one for several results."""
    ctx.count(INSERTED)
    ctx.missed(
        copy,
        reason.code,
        blame=blame_two(copy, [reason.result, reason.other]),
        bytes=_bytes(copy),
        hint=_hint(ctx, reason.code),
        first=str(reason.result),
        second=str(reason.other),
        results=ports,
    )


def say_unruled(ctx: PassContext, found: Unruled) -> None:
    """Two types meet and nobody says what that means: the first place is named, once for a pair."""
    types = ctx.environment.anchor_types
    owners = [types.get(name).owner for name in found.types]
    named = [f"{name} ({owner})" for name, owner in zip(found.types, owners, strict=True)]
    ctx.environment.warn(
        f"no rule says whether anchors of types {named[0]} and {named[1]} may share a memory,"
        f" as {found.first} and {found.second} do"
    )
    ctx.analysis(
        found.first.node,
        "NO_RULE_FOR_TYPES",
        blame=[found.first, found.second],
        hint={"text": f"checkers.never({found.types[0]!r}, {found.types[1]!r}), or another rule"},
        first=str(found.first),
        second=str(found.second),
        first_type=named[0],
        second_type=named[1],
    )


def _hint(ctx: PassContext, code: str) -> dict[str, str] | None:
    """The way out that a code has, where it leads out: an option must be what makes the demand."""
    hint = HINTS.get(code)
    if hint is None or "set" not in hint:
        return hint
    name, _, value = hint["set"].partition("=")
    single = ctx.environment.root.attrs.get("_single_op_scene") and code == "USER_INPUT_CUT"
    return None if single or ctx.option(name) in (None, value) else hint


def _bytes(copy: Node) -> int | None:
    sizes = [output.desc.nbytes for output in copy.outputs]
    return None if None in sizes else sum(size or 0 for size in sizes)
