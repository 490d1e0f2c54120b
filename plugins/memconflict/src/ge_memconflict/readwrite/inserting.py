"""Puts an Identity in front of inputs that can't stand where they stand (section 3.4, insert).

A node that alone scribbles on all uses of a value may take the original with its last use: then
nobody is left whom that could disturb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ge_core.api import (
    DATA_LIKE,
    InputAnchor,
    InputKind,
    Node,
    OpRegistry,
    OutputAnchor,
    OutputKind,
    is_subgraph_data,
    named_pairs,
    written_inputs,
)
from ge_memconflict.placing import isolate_input, serves_only
from ge_memconflict.readwrite.run import SKIP, Run, copied


@dataclass(frozen=True, slots=True)
class _Use:
    """One use of an output: by whom and how, and whether a copy stands in front of it already."""

    anchor: InputAnchor
    node: Node
    kind: InputKind
    is_isolated: bool


def insert_where_needed(run: Run, node: Node) -> None:
    """Isolate the readers of a node's outputs; kinds are those before the first edit here."""
    if run.is_skipped(node):
        return
    for output in node.outputs:
        uses = _uses(run, output)
        if not run.may_conflict(dict.fromkeys(use.kind for use in uses)):
            continue
        kind = run.effects.output_kind(output)
        needing = [u for u in uses if not u.is_isolated and run.wants_copy(kind, u.kind)]
        if needing and _is_used_up(run, output, kind, uses):
            needing.pop()
        for use in needing:
            identity = isolate_input(use.anchor, run.fresh_name(output))
            _say(run, identity, output, kind, use)


def _uses(run: Run, output: OutputAnchor) -> list[_Use]:
    found: list[_Use] = []
    for anchor in output.readers:
        served = serves_only(anchor.node)
        if served is not None:
            behind = anchor.node.outputs[0].readers[0]
            found.append(_Use(anchor, served, run.input_kind(behind), True))
        elif not anchor.node.attrs.get(SKIP):
            found.append(_Use(anchor, anchor.node, run.input_kind(anchor), False))
    return found


def _is_used_up(run: Run, output: OutputAnchor, kind: OutputKind, uses: Sequence[_Use]) -> bool:
    """Whether one node has all uses of a value, and destroys it with each."""
    if len(uses) < len(output.readers) or any(use.node is not uses[0].node for use in uses):
        return False
    if any(use.kind is not InputKind.SCOPE_WRITEABLE for use in uses):
        return False
    if kind is OutputKind.READ_ONLY:
        return True
    return kind is OutputKind.WRITEABLE and _on_one_path(output, run.ops)


def _on_one_path(output: OutputAnchor, ops: OpRegistry) -> bool:
    """Whether memory that is updated in place is used on one path only, up to where it is made."""
    at: OutputAnchor | None = output
    while at is not None:
        if len(at.readers) > 1:
            return False
        if at.node.op in DATA_LIKE:
            return not is_subgraph_data(at.node)
        updated = _updated_input(at, ops)
        if updated is None:
            return True
        at = updated.source
    return False


def _updated_input(output: OutputAnchor, ops: OpRegistry) -> InputAnchor | None:
    """The input that an output is once the node has updated it."""
    node = output.node
    written = written_inputs(node, ops)
    for out, inp in named_pairs(node):
        if out == output.index and inp in written:
            return node.inputs[inp]
    reuse = output.desc.reuse_input
    return node.inputs[reuse] if reuse is not None and reuse in written else None


def _say(run: Run, identity: Node, output: OutputAnchor, kind: OutputKind, use: _Use) -> None:
    code, hint = _reason(kind, use.kind)
    names = {"output": repr(output), "reader": use.node.name}
    other = next((anchor for anchor in output.readers if anchor.node is not identity), None)
    run.ctx.missed(
        identity,
        code,
        blame=[output, use.anchor, *([] if other is None else [other])],
        bytes=copied(identity),
        hint=None if hint is None else hint.format(**names),
        output=repr(output),
        output_kind=kind.value,
        reader=repr(use.anchor),
        reader_kind=use.kind.value,
    )


def _reason(output: OutputKind, reader: InputKind) -> tuple[str, str | None]:
    if output is OutputKind.READ_ONLY_CONST and reader.writes:
        return "ISOLATES_CONSTANT", "have {reader} work on a variable instead of {output}"
    if reader is InputKind.SCOPE_WRITEABLE and output is OutputKind.READ_ONLY:
        return (
            "ISOLATES_SHARED",
            "mark {reader} _skip_rw_conflict if all other readers of {output} come before it",
        )
    if reader is InputKind.SCOPE_WRITEABLE and output is OutputKind.WRITEABLE:
        return (
            "ISOLATES_UPDATED",
            "mark {reader} _skip_rw_conflict if nobody needs {output} after it",
        )
    return "ISOLATES_BY_CHECKER", None
