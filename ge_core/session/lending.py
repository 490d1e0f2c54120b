"""What callers lend, as one compile reads it: plain texts, of indexes that the graph has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ge_core.errors import OptionError
from ge_core.ir import Graph
from ge_core.lending import (
    INPUTS_OPTION,
    OUTPUTS_OPTION,
    PAIRS_OPTION,
    LentIndexes,
    LentPairs,
    read_indexes,
    read_pairs,
)
from ge_core.ops.builtin import DATA_LIKE

_READERS: Final[Mapping[str, Callable[[str], LentIndexes | LentPairs]]] = {
    INPUTS_OPTION: read_indexes,
    OUTPUTS_OPTION: read_indexes,
    PAIRS_OPTION: read_pairs,
}


def plainly(options: Mapping[str, str]) -> dict[str, str]:
    """The options, those that lend memory as they are read."""
    return {
        name: str(_READERS[name](value)) if name in _READERS else value
        for name, value in options.items()
    }


def check_pairs(graph: Graph, options: Mapping[str, str]) -> None:
    """Refuse pairs with inputs or outputs that the graph doesn't have, as GE's API does.

    Raises:
        OptionError: (E10001) there is one; says which, and how many there are.
    """
    text = options.get(PAIRS_OPTION)
    if not text:
        return
    end = graph.net_output
    inputs, outputs = len(graph.nodes_of(*sorted(DATA_LIKE))), 0 if end is None else len(end.inputs)
    for pair in read_pairs(text).pairs:
        for what, index, count in zip(("input", "output"), pair, (inputs, outputs), strict=True):
            if index >= count:
                having = f"the graph has {count} {what}{'' if count == 1 else 's'}"
                raise OptionError.invalid(
                    PAIRS_OPTION,
                    text,
                    f"there is no graph {what} {index}",
                    hint=f"{having}, counted from 0; a pair is input,output",
                )
