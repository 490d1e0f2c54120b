"""The options that planning depends on, read from their text forms.

Values are read tolerantly, as GE does: what makes no sense is left out with a warning. Whoever
takes options from users checks them before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ge_core.lending import (
    INPUTS_OPTION,
    OUTPUTS_OPTION,
    PAIRS_OPTION,
    read_indexes,
    read_pairs,
)

DISABLE_REUSE: Final = "ge.exec.disableReuseMemory"
INPUT_REUSE: Final = INPUTS_OPTION
OUTPUT_REUSE: Final = OUTPUTS_OPTION
SHARED_IO: Final = PAIRS_OPTION
NO_REUSE_OPS: Final = "OP_NO_REUSE_MEM"
INPLACE: Final = "ge.memory.inplace"

OPTIONS: Final = (DISABLE_REUSE, INPUT_REUSE, OUTPUT_REUSE, SHARED_IO, NO_REUSE_OPS, INPLACE)

NO_REUSE_OPS_LENGTH: Final = 2000
NO_REUSE_OPS_COUNT: Final = 10
_TRUE: Final = frozenset({"1", "true", "on", "yes"})
_VERSION: Final = re.compile(r"V[1-4]$")


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What may be shared.

    Attributes:
        disable_reuse: no two buffers share bytes; aliases still do.
        offered_inputs: graph inputs whose bytes may be used after their last reader.
        offered_outputs: graph outputs whose bytes may be used before they are written.
        shared_io: (input, output) pairs for which the caller gives one address.
        no_reuse: names of nodes and op types whose outputs and scratch share with nobody.
        inplace: let outputs take the place of inputs where the op's traits allow it.
        given: the option texts in force.
    """

    disable_reuse: bool = False
    offered_inputs: frozenset[int] = frozenset()
    offered_outputs: frozenset[int] = frozenset()
    shared_io: tuple[tuple[int, int], ...] = ()
    no_reuse: frozenset[str] = frozenset()
    inplace: bool = False
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, values: Mapping[str, object], warnings: list[str] | None = None) -> PlanOptions:
        """From option texts; what is wrong with them is added to `warnings`."""
        told = [] if warnings is None else warnings
        texts = {key: str(values[key]) for key in OPTIONS if values.get(key) is not None}
        return cls(
            disable_reuse=texts.get(DISABLE_REUSE, "").strip().lower() in _TRUE,
            offered_inputs=frozenset(_indexes(texts, INPUT_REUSE, told)),
            offered_outputs=frozenset(_indexes(texts, OUTPUT_REUSE, told)),
            shared_io=_pairs(texts, told),
            no_reuse=frozenset(_names(texts, told)),
            inplace=texts.get(INPLACE, "").strip().lower() in _TRUE,
            given=texts,
        )

    def keeps_apart(self, node: str, op: str) -> bool:
        """Whether the user named the node, or its op type without a version suffix."""
        return bool(self.no_reuse) and (
            node in self.no_reuse or op in self.no_reuse or _bare(op) in self.no_reuse
        )


def _bare(op: str) -> str:
    return _VERSION.sub("", op)


def _indexes(texts: Mapping[str, str], key: str, told: list[str]) -> tuple[int, ...]:
    found = read_indexes(texts.get(key))
    told.extend(f"option {key}: {what}" for what in found.told)
    return found.indexes


def _pairs(texts: Mapping[str, str], told: list[str]) -> tuple[tuple[int, int], ...]:
    found = read_pairs(texts.get(SHARED_IO))
    told.extend(f"option {SHARED_IO}: {what}" for what in found.told)
    return found.pairs


def _names(texts: Mapping[str, str], told: list[str]) -> list[str]:
    text = texts.get(NO_REUSE_OPS, "")
    names = [name for name in (part.strip() for part in text.split(",")) if name]
    if len(text) > NO_REUSE_OPS_LENGTH or len(names) > NO_REUSE_OPS_COUNT:
        told.append(
            f"{NO_REUSE_OPS} is longer than {NO_REUSE_OPS_COUNT} names or "
            f"{NO_REUSE_OPS_LENGTH} characters, and is left out"
        )
        return []
    return [form for name in names for form in (name, _bare(name))]
