"""Comparing what two graphs compute, and arrays of any element type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ge_core.ir import Graph
from ge_core.session.execution import OutputCheck, make_executor
from ge_core.testing.kernels import installed_kernel


@dataclass(frozen=True)
class Comparison:
    """How the outputs of two runs differ.

    Attributes:
        outputs: one check per output, in order of names.
        tolerance: largest difference that counts as equal; 0 asks for equal bits.
    """

    outputs: tuple[OutputCheck, ...]
    tolerance: float = 0.0

    @property
    def differing(self) -> list[OutputCheck]:
        """The outputs that differ by more than the tolerance."""
        return [output for output in self.outputs if not self._close(output)]

    def _close(self, output: OutputCheck) -> bool:
        if output.bit_exact:
            return True
        diff = output.max_abs_diff
        return bool(self.tolerance) and diff is not None and diff <= self.tolerance

    def __bool__(self) -> bool:
        """Whether all outputs are equal."""
        return not self.differing

    def __str__(self) -> str:
        if self:
            return f"{len(self.outputs)} outputs, equal"
        return "\n".join(
            f"output {output.name} differs by {output.max_abs_diff}" for output in self.differing
        )


def compare_outputs(
    checks: list[Any] | tuple[Any, ...], tolerance: float | None = 0.0
) -> Comparison:
    """A comparison from what an executor's `compare` answers."""
    outputs = [
        OutputCheck(c.name, c.shape, c.dtype, c.bit_exact, c.max_abs_diff)
        for c in sorted(checks, key=lambda c: str(c.name))
    ]
    return Comparison(tuple(outputs), tolerance or 0.0)


def equivalent(
    a: Graph,
    b: Graph,
    feeds: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    tolerance: float = 0.0,
    executor: str = "numpy",
) -> Comparison:
    """Run two graphs without a plan on the same inputs and compare their outputs.

    Args:
        feeds: inputs by name; what is missing is generated from the seed, as graph `a` wants it.
        tolerance: largest absolute difference that is still equal; by default every bit counts.

    Raises:
        PluginError: no such executor is installed.
        GeError: a graph can't be run.
    """
    kernel = installed_kernel()
    runner = make_executor(executor)
    ops, kernels = kernel.ops, kernel.registries.kernels
    values = runner.make_feeds(a, seed, dict(feeds or {}), ops=ops)
    one = runner.reference(a, values, ops=ops, kernels=kernels)
    other = runner.reference(b, values, ops=ops, kernels=kernels)
    missing = sorted({*one.outputs} ^ {*other.outputs})
    if missing:
        gone = tuple(OutputCheck(name, None, None, False, None) for name in missing)
        return Comparison(gone, tolerance)
    return compare_outputs(list(runner.compare(one.outputs, other.outputs)), tolerance)


def assert_equivalent(a: Graph, b: Graph, **about: Any) -> None:
    """`equivalent` as an assertion: AssertionError names the outputs that differ."""
    found = equivalent(a, b, **about)
    if not found:
        raise AssertionError(str(found))
