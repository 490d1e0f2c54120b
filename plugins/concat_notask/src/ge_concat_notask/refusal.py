"""Reason codes of joins and splits, and one refusal with what it blames.

`rule` is what case files call `kept_reason`: GE's check where it is one of GE's, otherwise a name
of ours for what GE leaves to later stages, or gets wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ge_core.api import Anchor, InputAnchor, Node, OutputAnchor, PassContext

if TYPE_CHECKING:
    from ge_concat_notask.setting import Setting

Blamed = Node | InputAnchor | OutputAnchor
Codes = dict[str, str | tuple[str, str | None]]

COMMON_CODES: Final[Codes] = {
    "NO_TASK": ("its {parts} lie in one buffer, so it needs no task", None),
    "MARKED_BEFORE": ("the graph came with it marked as task-free", None),
    "OP_TYPE": ("{op} is none of the types that the rule knows", "type"),
    "SINGLE_OP_SCENE": ("the graph is a single operator", "scene"),
    "SEPARATE_ALLOCATION": ("tensors of the graph are allocated one by one", "scene"),
    "UNKNOWN_SHAPE": ("a shape of it is not known", "unknown_shape"),
    "UNKNOWN_GRAPH": ("its graph has unknown shapes or was cut for them", "unknown_graph"),
    "NO_ELEMENT_SIZE": ("{dtype} elements have no fixed size", "align32"),
    "OFF_BYTE_PIECE": ("piece {at} does not end at a byte", "align32"),
    "UNALIGNED_PIECE": ("piece {at} does not fit multiples of {granule} bytes", "align32"),
    "AXIS_OUT_OF_RANGE": ("its axis is none of a tensor of rank {rank}", "dim_range"),
    "NO_ALIGNED_SHAPE": ("the padding of {origin} in {runtime} is not known", "align_shape"),
    "NO_AXIS_MAP": ("axes of {origin} can't be followed into {runtime}", "transfer_dims"),
    "NOT_OUTERMOST": ("dimensions other than one stand outside axis {axis}", "real_dim"),
    "READER_NOT_STRIDED": ("{reader}, a {op}, does not read these rows with gaps", "real_dim"),
    "ROWS_IN_ROWS": ("rows of {tensor} would not lie at one distance", "real_dim"),
    "PADDED_AXIS": ("axis {axis} ends inside a padded block of {runtime}", "dim_align"),
    "SIZES_DISAGREE": ("pieces of {pieces} bytes do not make up {whole} bytes", "size"),
    "FIXED_MEMORY": ("the memory of {producer}, a {op}, has its own place", "pre_type"),
    "VARIABLE_MEMORY": ("{producer} lies in the memory of variable {variable}", "pre_type"),
    "UNTRACED_SOURCE": ("the owner of its memory was not found", "pre_type"),
    "SUBGRAPH_PRODUCER": ("{producer} delivers the result of a subgraph", "pre_subgraph"),
    "CLAIMED": ("{producer} is an operand of another join", "locked"),
    "ALSO_GRAPH_OUTPUT": ("{producer} is a result of the graph as well", "netoutput"),
    "LAID_OUT_PRODUCER": ("{producer} has {attribute}, a memory rule of its own", "pre_attr"),
    "OVERWRITTEN": ("{writer} overwrites it", "written"),
    "VIRTUAL_READER": ("{reader} needs no task itself and follows its memory", "output"),
    "MEMORY_KINDS_DIFFER": ("{memory} and {other} memory are asked for its parts", "mem_type"),
    "ON_CHIP_MEMORY": ("it works in on-chip memory {memory}", "lx_mem"),
    "LAYOUT_CLASH": ("{first} and {second} can't share a memory: {clash}", "layout"),
    "RAISES_PEAK": ("without a task it would need a larger arena", "peak"),
}
"""Given by joins and splits alike."""

JOIN_CODES: Final[Codes] = {
    "PLACES_CLASH": ("{operand} lies elsewhere, on other tensors or unaligned", "locked"),
    "LAID_OUT_READER": ("{reader} wants {producer} in a layout of its own", "locked"),
    "RESERVES_EARLY": ("{bytes_early} bytes are reserved before they are written", None),
    "WRITER_NOT_STRIDED": ("{writer}, a {op}, does not write rows with gaps", "real_dim"),
    "SCALAR_OPERAND": ("operand {at} has no dimension", "scalar"),
    "EMPTY_OPERAND": ("operand {at} has no elements", "align32"),
    "SAME_SOURCE": ("operands {first} and {at} are the same memory", "same_source"),
    "RESULT_OVERWRITTEN": ("{writer} overwrites the result and so its operands", "written"),
    "ON_CHIP_NAME": ("its name says that on-chip slicing made it", "lx_name"),
}

PACK_CODES: Final[Codes] = {
    "PRIVATE_FORMAT": ("operand {at} has the private format {runtime}", "format"),
    "NEW_INNERMOST_AXIS": ("a new last axis interleaves the operands", "axis_rank"),
}

SPLIT_CODES: Final[Codes] = {
    "HOLDS_LONGER": ("{bytes_late} bytes stay reserved after their last reader", None),
    "GRAPH_INPUT_BEHIND": ("{producer} hands on graph input {source}", "pre_type"),
    "RESULT_READER": ("output {at} is a result of a graph", "output"),
    "READER_TYPE": ("{reader}, a {op}, can't read a part of a buffer", "output"),
    "PIECE_OVERWRITTEN": ("{writer} overwrites output {at} and so its input", "written"),
}

SLICE_CODES: Final[Codes] = {
    **SPLIT_CODES,
    "SLICED_FORMAT": ("{format} does not store a box of the origin shape as one", "format"),
    "UNKNOWN_BOUNDS": ("where it begins and ends is not known when compiling", "bounds"),
    "STEPS_OVER": ("it takes every {step}-th element of axis {axis}", "bounds"),
    "EMPTY_PIECE": ("it takes no element", "align32"),
}

PLACEMENT_CODES: Final[Codes] = {
    "NO_TASK_IN_PART": (
        "it needs no task, but copies of {copied} of its {parts}, {bytes_copied} bytes",
        None,
    ),
    "OPERAND_COPIED": ("operand {at} of {whose} is copied into its place: {why}", "partial"),
    "PIECE_COPIED": ("output {at} of {whose} is copied out of the whole: {why}", "partial"),
    "RESULT_COPIED": ("{producer} lies in a larger buffer, and the caller gets a copy", "partial"),
    "OUTWEIGHED": ("what it would save costs more copies elsewhere", "locked"),
}
"""Given where all joins and splits are placed together."""

ALL_TEXTS: Final[dict[str, str]] = {
    code: text if isinstance(text, str) else text[0]
    for codes in (COMMON_CODES, JOIN_CODES, PACK_CODES, SLICE_CODES, PLACEMENT_CODES)
    for code, text in codes.items()
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing that keeps a node's task.

    Attributes:
        code: a declared code.
        blame: what stands in the way, nearest first.
        edge: the input in front of which a copy would remove the obstacle; None where none would.
        fields: fill the code's text.
    """

    code: str
    blame: tuple[Blamed, ...] = ()
    edge: InputAnchor | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


def refuse(
    code: str,
    blame: Blamed | Iterable[Blamed] = (),
    *,
    edge: InputAnchor | None = None,
    **fields: Any,
) -> Refusal:
    """Short for a Refusal."""
    if isinstance(blame, (Node, InputAnchor, OutputAnchor)):
        blame = (blame,)
    return Refusal(code, tuple(blame), edge, fields)


def say(
    ctx: PassContext, node: Node, refusal: Refusal, edge: InputAnchor | None, lost: int | None
) -> None:
    """Tell why a node keeps its task.

    Args:
        edge: where one copy would remove the obstacle.
        lost: the bytes that the node copies; None where nobody knows.
    """
    ctx.missed(
        node,
        refusal.code,
        blame=refusal.blame,
        bytes=lost,
        hint=None if edge is None else {"edge": f"{edge.source!r} -> {edge!r}"},
        **refusal.fields,
    )


def the_one_edge(first: Refusal, others: Iterator[Refusal]) -> InputAnchor | None:
    """The edge on which one copy removes every obstacle, where there is such an edge."""
    edge = first.edge
    if edge is None:
        return None
    return edge if all(other.edge is edge for other in others) else None


def layout_clash(setting: Setting, anchors: Sequence[Anchor]) -> Iterator[Refusal]:
    """A plugin's rule against these anchors' lying in one buffer; asked where all else agrees."""
    clash = setting.clash(anchors)
    if clash is not None:
        blame = (clash.first, clash.second)
        first, second = map(str, blame)
        yield refuse("LAYOUT_CLASH", blame, first=first, second=second, clash=clash.code)
