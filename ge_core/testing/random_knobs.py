"""What a random graph from GE may contain: `GraphKnobs`, `OpRecipe`, and the rare things."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ge_core.errors import UsageError, near_matches
from ge_core.ir import TensorDesc
from ge_core.testing.choices import Choices

Describe = Callable[[Choices, TensorDesc], TensorDesc]
"""What a node's output looks like, from its first input's description."""

RARE: Final[Mapping[str, str]] = {
    "sources": "RefData, FileConstants, constants of any type, variables inside subgraphs",
    "shapes": "tensors without elements or dimensions, of odd sizes, and of unknown shape",
    "names": "outputs that name the variable that they are, ports of equal names",
    "stores": "further in-place ops, of several inputs, and stores into graph inputs",
    "copies": "copies of one source, stacked, marked as reserved, written back, in front of stores",
    "calls": "several inputs and results, stores inside, subgraphs called twice, nested calls,"
    " loops that exchange what they carry, copies where bodies end",
    "collectives": "several inputs, destroyed together or wanted side by side",
    "order": "control edges that nothing needs",
    "results": "inputs, variables, constants and repeated values as results",
}
"""What random graphs contain only where it is asked for, by the name that asks for it."""


@dataclass(frozen=True)
class OpRecipe:
    """How a random graph makes a node of one op type; inputs are alike, outputs like the first.

    Attributes:
        inputs, outputs: how many of each.
        attrs: of the node; a tuple offers a choice for each attribute.
        describe: what the outputs look like, where they aren't like the input.
        views: whether output 0 is the memory of input 0, as the op's traits say.
    """

    op: str
    inputs: int = 1
    outputs: int = 1
    attrs: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    describe: Describe | None = None
    views: bool = False

    @classmethod
    def of(cls, op: OpRecipe | str) -> OpRecipe:
        """A recipe, or the usual one for an op type; a Cast draws the dtype it casts to."""
        if not isinstance(op, str):
            return op
        return cls(op, describe=_cast) if op == "Cast" else cls(op)


def _cast(pick: Choices, desc: TensorDesc) -> TensorDesc:
    return desc.replace(dtype=pick.pick((desc.dtype, "float32", "float16")))


@dataclass(frozen=True)
class GraphKnobs:
    """What a random graph may contain.

    Attributes:
        nodes: about how many nodes, subgraphs included.
        streams: 1 or more.
        writers: in-place stores into variables and activations, scribbling collectives.
        control_flow: calls, If, Case and While.
        joins: Concat, Pack and Split.
        guarded: a node that destroys its input gets a copy first, as GE's passes leave it.
        moves: how often (percent) a node is a copy.
        dtypes: element types in play.
        ops: further op types or recipes in play; about every third node is of one of them. Where
            there are writers, some of their nodes stand between a value that is read later and a
            store in place: whoever makes their input and output one memory changes what is read.
        decorate: changes the description of about every third output, as attributes of third
            parties do: `lambda pick, desc: desc.with_attr("acme.bank", pick.integer(0, 1))`.
        rare: names of `RARE`; `tuple(RARE)` asks for all of it.
        slices: SliceD, of any axis, some of them overlapping.

    Raises:
        UsageError: `rare` has a name that means nothing.
    """

    nodes: int = 12
    streams: int = 1
    writers: bool = True
    control_flow: bool = True
    joins: bool = True
    guarded: bool = True
    moves: int = 25
    dtypes: Sequence[str] = ("float32", "float16", "int8")
    ops: Sequence[OpRecipe | str] = ()
    decorate: Describe | None = None
    rare: Collection[str] = ()
    slices: bool = False

    def __post_init__(self) -> None:
        for name in self.rare:
            if name not in RARE:
                raise UsageError(f"rare={name!r} means nothing", near=near_matches(name, RARE))
