"""What the caller declared: which graph inputs may be overwritten and lie in which outputs."""

from __future__ import annotations

from collections.abc import Iterable

from ge_core.api import INPUTS_OPTION, PAIRS_OPTION, read_indexes, read_pairs

__all__ = ["INPUTS_OPTION", "PAIRS_OPTION", "Declarations"]


class Declarations:
    """The caller's permissions.

    Args:
        pairs: value of `ge.exec.outputReuseInputMemIndexes`.
        inputs: value of `ge.exec.inputReuseMemIndexes`, which has no condition on outputs.
    """

    def __init__(self, pairs: str | None, inputs: str | None) -> None:
        self._pairs = read_pairs(pairs).pairs
        self._listed = read_indexes(inputs).indexes
        self._pairs_text = pairs
        self._inputs = inputs

    @property
    def indexes(self) -> frozenset[int]:
        """The inputs that are declared reusable at all."""
        return frozenset((*self._listed, *(first for first, _ in self._pairs)))

    def names(self, index: int) -> bool:
        """Whether an input is declared reusable at all."""
        return any(first == index for first, _ in self._pairs) or index in self._listed

    def undeclared_outputs(self, index: int, outputs: Iterable[int]) -> list[int]:
        """Those of some graph outputs that a declared input may not lie in."""
        if index in self._listed:
            return []
        return [output for output in outputs if (index, output) not in self._pairs]

    def with_input(self, index: int) -> str:
        """The setting that would also declare this input."""
        # In front: a list ends at its first token that is no number.
        return f"{INPUTS_OPTION}={index}" + (f",{self._inputs}" if self._inputs else "")

    def with_outputs(self, index: int, outputs: Iterable[int]) -> str:
        """The setting that would also let this input lie in these outputs."""
        pairs = [f"{index},{output}" for output in outputs]
        return f"{PAIRS_OPTION}=" + "|".join([*filter(None, [self._pairs_text]), *pairs])
