"""The content of an op traits file (`ge-op-traits/1`), as pydantic checks it.

A module of its own because it imports pydantic.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from ge_core.ops.traits import KINDS

Pair = Annotated[list[NonNegativeInt], Field(min_length=2, max_length=2)]
"""(output, input)."""


class _Table(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=lambda name: name.replace("_", "-")
    )


class OpTable(_Table):
    """What an op does with memory."""

    type: str = Field(min_length=1, description="op type, as the graph's file has it")
    domain: str | None = Field(default=None, description="of an ONNX op")
    source: Literal["ge", "onnx", "*"] | None = Field(
        default=None,
        description="whose graphs: GE's, ONNX's, or both; onnx where there is a domain",
    )
    override: bool = Field(
        default=False, description="replace what the kernel or a plugin declares of this op"
    )
    kind: str = Field(
        default="compute",
        description="which analyses treat it specially",
        json_schema_extra={"enum": list(KINDS)},
    )
    writes: list[NonNegativeInt] = Field(
        default=[], description="inputs whose memory the op updates in place"
    )
    scribbles: list[NonNegativeInt] | Literal["all"] = Field(
        default=[], description="inputs whose memory it destroys for its own use"
    )
    aliases: list[Pair] = Field(
        default=[], description="[output, input] pairs that are the same memory"
    )
    inplace: list[Pair] = Field(
        default=[], description="[output, input] pairs that may be exactly the same range"
    )
    shape_only: list[NonNegativeInt] = Field(
        default=[], description="inputs of which only the shape is read"
    )
    atomic: bool = Field(default=False, description="outputs must be cleared before it runs")
    collective: bool = Field(default=False, description="takes part in communication")
    side_effect: bool = Field(
        default=False, description="must run exactly once, in its place among others with effects"
    )
    nondeterministic: bool = Field(
        default=False, description="two runs with equal inputs may differ"
    )
    strided_in: bool = Field(default=False, description="reads memory with a pitch")
    strided_out: bool = Field(default=False, description="writes memory with a pitch")
    expansion: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$",
        description="`module:function` that rewrites a node in terms of other ops, for the proof",
    )
    address_refresh: bool = Field(
        default=True,
        description="can be told new addresses between runs; asked of ops of the library for"
        " custom ops",
    )


class TraitsFile(_Table):
    """Op traits that a user vouches for."""

    schema_: Literal["ge-op-traits/1"] | None = Field(
        default=None, alias="schema", description="names this form; may be left out"
    )
    op: list[OpTable] = Field(description="what is said, op by op")
