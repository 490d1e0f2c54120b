"""If and Case: what an arm may hand out as the result without a copy.

All arms of a branch deliver into one buffer. What an arm was given, a constant or a variable can't
lie there, and of two results that are one tensor only one can. (GE's rule; a piece of a task-free
split counts as the whole.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ge_core.api import (
    DATA_LIKE,
    VAR_LIKE,
    WEIGHT_LIKE,
    AliasClasses,
    Anchor,
    Graph,
    InputAnchor,
    OpRegistry,
    OutputAnchor,
    Scheme,
)

NAME_MARK: Final = "ref_var_src_var_name"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a result of a subgraph needs a copy.

    Attributes:
        code: the reason code.
        result: the result.
        other: what it can't share its memory with, or comes from.
    """

    code: str
    result: InputAnchor
    other: Anchor


def arm_copies(arm: Graph, ops: OpRegistry) -> list[Reason]:
    """The results of an arm that need a copy, in order."""
    end = arm.net_output
    if end is None or not end.inputs:
        return []
    classes = AliasClasses(arm, ops, Scheme.SYMBOLS, below=True)
    held: dict[Anchor, tuple[str, OutputAnchor] | None] = {}
    handed_out: dict[Anchor, InputAnchor] = {}
    found = []
    for result in end.inputs:
        if result.source is None or result not in classes:
            continue
        memory = classes.root(result)
        if memory not in held:
            held[memory] = _held(classes, memory, arm)
        why = held[memory]
        if why is not None:
            found.append(Reason(why[0], result, why[1]))
        elif memory in handed_out:
            found.append(Reason("ARM_RETURNS_IT_TWICE", result, handed_out[memory]))
        else:
            handed_out[memory] = result
    return found


def _held(classes: AliasClasses, memory: Anchor, arm: Graph) -> tuple[str, OutputAnchor] | None:
    """What of a memory keeps it from being a result's buffer: the code and the output."""
    for member in classes.members(memory):
        if not isinstance(member, OutputAnchor):
            continue
        node = member.node
        if node.op in VAR_LIKE or node.op in WEIGHT_LIKE:
            return "ARM_RETURNS_FIXED_MEMORY", member
        if node.op in DATA_LIKE and node.graph is arm:
            return "ARM_RETURNS_ITS_INPUT", member
        if node.attrs.get(NAME_MARK):
            return "ARM_RETURNS_NAMED_MEMORY", member
    return None
