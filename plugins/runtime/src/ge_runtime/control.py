"""Which frames a calling node runs.

`drive` is a generator. It yields a frame when its values are in place, is resumed when the frame
has run, and hands the results over. Who resumes it decides what runs in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ge_runtime.branches import drive_call, drive_case, drive_if
from ge_runtime.errors import ExecutionError, is_located, located
from ge_runtime.loops import drive_loop, drive_scan, drive_while
from ge_runtime.steps import Frame, Step

if TYPE_CHECKING:
    from ge_runtime.machine import Machine

_DRIVERS: Final = {
    "call": drive_call,
    "if": drive_if,
    "case": drive_case,
    "while": drive_while,
    "loop": drive_loop,
    "scan": drive_scan,
}


def drive(step: Step, machine: Machine) -> Iterator[Frame]:
    """The frames of a calling node, one by one.

    Raises:
        ExecutionError: nobody knows how the op runs its subgraphs, or its inputs don't fit.
    """
    driver = _DRIVERS.get(step.kind)
    if driver is None:
        raise ExecutionError(
            f"node {step.node.name!r}: no rule says how op {step.node.op!r} runs its subgraphs",
            hint="declare its kind in the op registry: " + ", ".join(_DRIVERS),
        )
    # Outputs are not poisoned here: their bytes may be somebody else's until the body writes them.
    machine.poison(step.before)
    try:
        yield from driver(step, machine)
    except ExecutionError as error:
        if is_located(error):
            raise
        raise located(step, error) from error
    step.context.turn += 1
    machine.poison(step.after)
