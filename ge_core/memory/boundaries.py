"""What the inputs, results and slots of a node with subgraphs are, region by region.

A *slot* is the memory of a loop's carried value: the loop node's own output. Values come in by
copies where their memory is another, and at the end of each turn all results are copied to their
slots at once.
"""

from __future__ import annotations

from typing import NamedTuple

from ge_core.memory.expand import Expansion, Region
from ge_core.ops import output_parent_index


class Carried(NamedTuple):
    """How a loop's inputs are dealt out: `first` .. `first + slots - 1` fill the slots."""

    first: int
    slots: int
    elements: int
    captured: int


class Result(NamedTuple):
    """One input of an inner NetOutput.

    Attributes:
        tensor: what is delivered.
        target: the caller's output that it goes to, None for a verdict or what nobody gets.
        role: "alias", "arm", "slot", "collect" or "verdict".
    """

    tensor: int
    target: int | None
    role: str


def carried(work: Expansion, loop: int) -> Carried:
    """How the inputs of a loop node are dealt out."""
    node = work.nodes[loop]
    kind = work.kind(loop)
    count = len(node.inputs) - _number(node.attrs.get("captured"))
    if kind == "while":
        slots = min(len(node.inputs), len(node.outputs))
        return Carried(0, slots, 0, slots)
    if kind == "loop":
        slots = max(0, min(count - 2, len(node.outputs)))
        return Carried(2, slots, 0, count)
    if kind == "scan":
        elements = min(count, _number(node.attrs.get("onnx.num_scan_inputs")))
        slots = max(0, min(count - elements, len(node.outputs)))
        return Carried(0, slots, elements, count)
    return Carried(0, 0, 0, 0)


def outer_tensor(work: Expansion, region: Region, index: int) -> int | None:
    """The tensor that an inner Data with this parent index is; None for memory of its own.

    Memory of its own is written at the head of each turn: iteration number, condition, elements.
    """
    loop = region.caller
    if region.role == "loop":
        deal = carried(work, loop)
        at = index - deal.first
        if 0 <= at < deal.slots:
            return work.tensor(loop, at)
        if index < deal.captured:
            return None
    return work.source(loop, index)


def results(work: Expansion, region: Region, net_output: int) -> list[Result]:
    """What a region hands to its caller; the first result for an output counts."""
    node = work.nodes[net_output]
    caller = work.nodes[region.caller]
    kind = work.kind(region.caller)
    condition = kind == "while" and _is_condition(caller, region)
    slots = carried(work, region.caller).slots if region.role == "loop" else 0
    found: list[Result] = []
    taken: set[int] = set()
    for at in range(len(node.inputs)):
        tensor = work.source(net_output, at)
        if tensor is None:
            continue
        index = output_parent_index(node, at)
        # A Loop's first result is its verdict; the others count from there.
        output = None if index is None else index - 1 if kind == "loop" else index
        if condition or output is None or not 0 <= output < len(caller.outputs) or output in taken:
            found.append(Result(tensor, None, "verdict"))
            continue
        taken.add(output)
        target = work.tensor(region.caller, output)
        found.append(Result(tensor, target, _role(region, kind, output, slots)))
    return found


def _role(region: Region, kind: str, output: int, slots: int) -> str:
    if region.role != "loop":
        return "alias" if region.role == "call" else "arm"
    # What an undeclared op does with results is unknown, but they are gathered in its outputs.
    return "slot" if output < slots else "collect"


def _is_condition(caller: object, region: Region) -> bool:
    labels = list(getattr(caller, "subgraphs", ()))
    return region.label == "cond" or ("cond" not in labels and labels[:1] == [region.label])


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
