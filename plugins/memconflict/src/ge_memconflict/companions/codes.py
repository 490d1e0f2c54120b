"""Why the companion passes put copies in, took them away, or left them: a code per reason."""

from __future__ import annotations

from typing import Final

SEEN: Final = {
    "COPY_WOULD_HIDE_A_STORE": (
        "{other} would not see what {writer} stores, if {reader} read a copy"
    ),
    "SEARCH_LIMIT": "what a copy would change can't be told within the limit on searches",
}
"""Copies that a rule wants and that would change what is computed."""

STORED: Final = {
    "BROADCAST_STORED": "{broadcast} is meant to fill {variable}, and works on a copy of it now",
}
"""Stores of a broadcast's result."""

INNER_ADD: Final = {
    "INNER_IDENTITY": "{store} updates {value} in place, so it is given a copy",
    "STORE_HANDED_BACK": "{store} works on a copy of {value} now, which the caller may look at",
    **SEEN,
}

INNER_DELETE: Final = {
    "INNER_IDENTITY_UNNEEDED": "who reads and who stores can share one memory",
    "MEMORY_AREA": "{value} and {reader} lie in different address areas",
    "MEMORY_KIND": "it moves {value} into another kind of memory",
    "STORE_INTO_CONSTANT": "{value} is a constant, and {store} would overwrite it",
    "READER_NOT_BEHIND": "nothing makes {reader} run after {store}",
    "READER_NOT_BEFORE": "nothing makes {reader} run before {store}",
    "STORE_WOULD_BE_SEEN": "{other} would see what {writer} stores",
    "SEARCH_LIMIT": SEEN["SEARCH_LIMIT"],
}

HCCL: Final = {
    "DESTROYS_LASTING": "{user} destroys {value}, which has to last",
    "DESTROYS_BEFORE_READ": "{user} destroys {value} before {other} reads it",
    **STORED,
    **SEEN,
}

HCCL_CONTINUOUS: Final = {
    "PACKED_HAS_HOME": "{user} wants {value} beside its other inputs, and it can't be moved",
    "PACKED_TWICE": "{value} can't lie beside the inputs of both {user} and {other}",
    "PEER_HAS_HOME": "{user} wants {value} in peer memory, and it can't be moved",
    **STORED,
    **SEEN,
}

SUBGRAPH: Final = {
    # at the ends of any subgraph
    "PACKED_INPUT": "{user} lays its inputs side by side, and {value} lies where the caller has it",
    "CONSTANT_INTO_LOOP": "the loop overwrites its values, and {value} is a constant",
    "CONSTANT_RESULT": "{value} is a constant, and can't lie where the caller wants the result",
    "CLEARED_RESULT": "{user} has {value} cleared before it runs, and not the caller's memory",
    "PACKED_RESULT": "{user} lays its outputs side by side, and can't put {value} at the caller's",
    "INPUT_AS_RESULT": "{value} is handed in and out, and would be one memory for both",
    "LOOP_RESULT": "{value} comes out of a loop, in a graph below one of unknown shape",
    # around and in loops
    "SHARED_INTO_LOOP": "the loop overwrites its values, and {other} reads {value} as well",
    "LOOP_TURN_INPUTS": "the turns of {loop} share the memory that {body} reads and overwrites",
    "LOOP_TURN_RESULTS": "{body} must have read all values of {loop} before it overwrites one",
    "LOOP_CONDITION": "the condition {body} of {loop} is run below a graph of unknown shape",
    # in branches
    "RESULT_TWICE": "{value} comes from a node that delivers {other} too",
    **SEEN,
}

LINT: Final = {
    "UNORDERED_WRITERS": "no path leads between {writer} and {other}, and both update {value}",
    "UNORDERED_READER": (
        "no path leads between {writer}, which updates {value}, and {other}, which reads it"
    ),
}
