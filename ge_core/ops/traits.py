"""`OpTraits`: what an op does with memory, as declared; never guessed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

KINDS: Final = (
    "compute",
    "data",
    "constant",
    "variable",
    "net_output",
    "move",
    "join",
    "pack",
    "split",
    "slice",
    "noop",
    "merge",
    "if",
    "case",
    "while",
    "loop",
    "scan",
    "call",
)

ALL: Final = -1
"""Stands for every input in `OpTraits.scribbles`."""


@dataclass(frozen=True, slots=True)
class OpTraits:
    """Memory behaviour of one op type.

    Attributes:
        op: op type.
        owner: the plugin that declared it, stamped by the kernel.
        kind: one of `KINDS`; decides which analyses treat the op specially.
        writes: inputs whose memory the op updates in place (GE: Writeable).
        scribbles: inputs whose memory it destroys for its own use (GE: ScopeWriteable).
        aliases: (output, input) pairs that are the same memory (a RefOp).
        inplace: (output, input) pairs that may be exactly the same range: element by element,
            each element is read before it is written.
        shape_only: inputs of which only the shape is read.
        atomic: outputs must be cleared before the op runs.
        collective: takes part in communication; two runs are never equal.
        side_effect: must run exactly once, in its place among others with effects.
        nondeterministic: two runs with equal inputs may differ.
        known: False for an op that nobody declared: an ordinary reader with fresh outputs.
        strided_in, strided_out: reads or writes memory with a pitch, on a target that does so at
            all (`Target.strided`).
        expansion: `module:function` that rewrites a node in terms of other ops, for the proof.
        address_refresh: whether it can be told new addresses between runs; asked of ops of the
            library for custom ops only.
        vouched: a user's file says so (`owner` is the place), and no package that tests it: the
            proof lists the op as an assumption.
    """

    op: str
    owner: str = ""
    kind: str = "compute"
    writes: tuple[int, ...] = ()
    scribbles: tuple[int, ...] = ()
    aliases: tuple[tuple[int, int], ...] = ()
    inplace: tuple[tuple[int, int], ...] = ()
    shape_only: tuple[int, ...] = ()
    atomic: bool = False
    collective: bool = False
    side_effect: bool = False
    nondeterministic: bool = False
    known: bool = True
    strided_in: bool = False
    strided_out: bool = False
    expansion: str | None = None
    address_refresh: bool = True
    vouched: bool = False

    def __post_init__(self) -> None:
        op: object = self.op
        if not isinstance(op, str) or not op:
            raise ValueError(f"op {op!r} is no op type")
        for name in ("writes", "scribbles", "shape_only"):
            _check(self.op, name, getattr(self, name), _is_index)
        for name in ("aliases", "inplace"):
            _check(self.op, name, getattr(self, name), _is_pair)
        if self.kind not in KINDS:
            raise ValueError(f"op {self.op!r}: kind {self.kind!r} is none of {', '.join(KINDS)}")

    @property
    def has_subgraphs(self) -> bool:
        """Whether the op runs subgraphs."""
        return self.kind in ("if", "case", "while", "loop", "scan", "call")


def _is_index(value: object) -> bool:
    return type(value) is int and value >= ALL


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(_is_index(part) for part in value)


def _check(op: str, name: str, value: object, fits: Callable[[object], bool]) -> None:
    if not isinstance(value, tuple) or not all(fits(one) for one in value):
        raise ValueError(f"op {op!r}: {name}={value!r} is not a tuple of what {name} holds")
