"""Bytes and pools of tensors."""

from __future__ import annotations

from typing import Final

from ge_core.digits import whole_number
from ge_core.ir import InputAnchor, Node, OutputAnchor, TensorDesc
from ge_core.memory.plan import ARENA

UNKNOWN: Final = -1
"""Stands for the size of a tensor that can't be planned."""

_RANKS: Final = {
    "HBM": 0x2,
    "P2P": 0x11,
    "TS": 0x40,
    "HOST": 0x81,
    "UB": 0x8000,
    "L1": 0x10000,
    "L2": 0x20000,
}
"""GE's numbers of memory types: of two wishes for one memory the larger number wins."""
_ORDINARY: Final = frozenset({"", ARENA, "HBM", "DDR", "MEM4"})
_NAMES: Final = {rank: name for name, rank in _RANKS.items()}


def data_bytes(desc: TensorDesc) -> int:
    """Bytes that a tensor holds; `UNKNOWN` where that is not known before the run."""
    if desc.dtype == "string":
        return UNKNOWN
    found = desc.nbytes if desc.data_bytes is None else desc.data_bytes
    return UNKNOWN if found is None else found


def room_bytes(desc: TensorDesc) -> int:
    """Bytes to keep for a tensor: its data, and padding where its description asks for it."""
    data = data_bytes(desc)
    return data if data == UNKNOWN or desc.size is None else max(data, desc.size)


def pool_name(wish: object) -> str:
    """The pool that a memory type stands for, given by name or by GE's number."""
    rank = whole_number(wish) if isinstance(wish, str) else wish
    if isinstance(wish, str) and rank is None:
        return wish or ARENA
    rank = rank if isinstance(rank, int) else 0
    return _NAMES.get(rank, ARENA if rank in (0, 1) else f"MEM{rank}")


def pool_rank(pool: str) -> tuple[int, str]:
    """Sort key of wishes; the greatest wins."""
    number = whole_number(pool.removeprefix("MEM"))
    return _RANKS.get(pool, 1 << 30 if number is None else number), pool


def output_wishes(node: Node, index: int) -> list[str]:
    """The pools that a node asks for an output of its own."""
    desc = node.outputs[index].desc
    found = [desc.mem_type] if desc.mem_type != ARENA else []
    found += _listed(node.attrs.get("_output_memory_type"), index)
    found += _listed([desc.attrs.get("_tensor_memory_type")], 0)
    return found


def input_wishes(node: Node, index: int) -> list[str]:
    """The pools that a node asks for one of its inputs."""
    return _listed(node.attrs.get("_input_memory_type"), index)


def special_memory(anchor: InputAnchor | OutputAnchor) -> str | None:
    """The kind of memory that a node asks for, by its pool's name; None for ordinary memory.

    HBM and DDR are ordinary. An input asks by its node's list, or by a description of its own: what
    the output that feeds it asks for is that output's affair.
    """
    if isinstance(anchor, OutputAnchor):
        wishes = output_wishes(anchor.node, anchor.index)
    else:
        wishes = [*_own_wish(anchor), *input_wishes(anchor.node, anchor.index)]
    special = [pool for pool in wishes if pool not in _ORDINARY]
    return max(special, key=pool_rank) if special else None


def _own_wish(anchor: InputAnchor) -> list[str]:
    return [] if anchor.own_desc is None else [anchor.own_desc.mem_type]


def _listed(wishes: object, index: int) -> list[str]:
    if not isinstance(wishes, (list, tuple)) or index >= len(wishes) or wishes[index] is None:
        return []
    return [pool_name(wishes[index])]
