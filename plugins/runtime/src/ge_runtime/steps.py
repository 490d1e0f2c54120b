"""Steps and frames: a prepared node instance, and the prepared nodes of one graph on a call path.

Everything that is the same in every turn of a loop is looked up once, when a frame is prepared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ge_core.api import Call, Graph, Kernel, Node, OpTraits
from ge_runtime.dtypes import Bytes
from ge_runtime.ports import Port


@dataclass(slots=True)
class Context:
    """What a kernel may ask about the node it computes (`KernelContext`)."""

    call: Call
    traits: OpTraits
    origin: str
    writes: Sequence[int]
    scribbles: Sequence[int]
    aliases: Mapping[int, int]
    turn: int = 0
    """How often the node instance ran before."""
    stood_in: bool = False
    """Whether the stand-in has computed it in this run."""

    @property
    def seed(self) -> int:
        """For random ops: from the origin's name and the turn."""
        import hashlib

        text = f"{self.origin}\0{self.turn}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


@dataclass(slots=True, eq=False)
class Step:
    """One node instance that runs.

    Attributes:
        kind: of the op (`OpTraits.kind`); a control-flow kind makes it a call.
        label: names of the original nodes that the node stands for.
        inputs, outputs: how its tensors are reached; None for an input left out.
        context: facts for the kernel.
        is_move: it copies each input to the output of the same number.
        unread: inputs whose bytes it does not look at.
        is_view: nothing is computed, every output is the memory of an input.
        kernel: what computes it; None for copies, views and calls.
        poison: bytes to fill before it runs; scribble: bytes that it destroys;
            before, after: dead bytes to fill around it.
        owner: package and version of a third party's kernel.
        in_place: bytes of a join or split that lie where they belong and move nowhere.
        task: id of its task; its place in the reference run.
    """

    node: Node
    kind: str
    is_move: bool
    label: str
    inputs: tuple[Port | None, ...]
    outputs: tuple[Port, ...]
    context: Context
    unread: tuple[int, ...]
    is_view: bool
    is_call: bool
    kernel: Kernel | None
    task: int
    poison: tuple[Bytes, ...] = ()
    scribble: tuple[Bytes, ...] = ()
    before: tuple[Bytes, ...] = ()
    after: tuple[Bytes, ...] = ()
    in_place: int = 0
    owner: str | None = None


@dataclass(slots=True)
class Entry:
    """A Data of a subgraph: the caller's input or slot that it stands for, and its memory."""

    index: int
    port: Port


@dataclass(slots=True, eq=False)
class Frame:
    """One graph on one call path.

    Attributes:
        entries: its Data nodes.
        results: (parent output, port) of each input of its NetOutput.
        after: dead bytes to fill when its results have been handed over.
    """

    call: Call
    graph: Graph
    steps: list[Step] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    results: list[tuple[int, Port]] = field(default_factory=list)
    after: tuple[Bytes, ...] = ()

    def result(self, index: int) -> Port | None:
        """The port that delivers a parent output."""
        return next((port for at, port in self.results if at == index), None)


def truth(value: Any) -> bool:
    """A predicate: one element counts by being zero or not, more of them by their bytes' parity.

    GE's case graphs hand whole tensors to If; the parity makes both arms happen.
    """
    import zlib

    import numpy as np

    array = np.asarray(value)
    if array.size == 1:
        return bool(array.reshape(-1)[0] != 0)
    return bool(zlib.crc32(np.asarray(array, order="C").tobytes()) & 1)
