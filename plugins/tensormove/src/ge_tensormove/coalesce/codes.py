"""Why a copy went or stayed when the exact accesses were looked at: one code per reason."""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str]] = {
    "O4_REMOVED": "nobody can see whether this is a copy",
    "O4_REMOVAL_FAILED": "the graph can't be edited here: {error}",
    "O4_RAISES_PEAK": "without it a larger arena would be needed",
    # what is known before anybody looks at memory
    "O4_RESERVED": "it carries the mark {mark}",
    "O4_UNCONNECTED": "its input is not connected",
    "O4_NO_OUTPUT": "it has no output, so nobody reads what it copies",
    "O4_SEVERAL_PORTS": "it copies {ports} values at once",
    "O4_NAMES_MEMORY": "it stores what it copies in the memory of {variable}",
    "O4_CONTROL_FLOW": "its value comes through {place}, which is control flow",
    # whose memory it is
    "O4_CONSTANT_WRITTEN": "{source} is a constant, and {writer} overwrites the copy",
    "O4_VARIABLE_WRITTEN": "{source} outlives the run, and {writer} overwrites the copy",
    "O4_FIXED_TO_RESULT": "{source} must keep its place, and would lie in graph output {output}",
    "O4_INPUT_SCRIBBLED": "{source} is the caller's, and {writer} uses the copy as scratch",
    "O4_INPUT_WRITTEN": "graph input {index} is the caller's, and {writer} overwrites the copy",
    "O4_INPUT_TO_RESULT": (
        "graph input {index} would lie in graph output {output}, and no pair declares those two"
    ),
    "O4_TWO_RESULTS": "graph outputs {one} and {other} would be one memory",
    # where it may lie
    "O4_MEMORY_KIND": "it moves data from {source_kind} to {target_kind} memory",
    "O4_TWO_PLACES": "its source would have to lie at two places of one buffer",
    "O4_ONE_MEMORY": "its source and the copy may be one memory already",
    "O4_IN_ONE_ROW": "{row} needs {one} and {other} side by side",
    "O4_GAPS": "its source or the copy is a piece, with gaps, of a larger whole",
    "O4_NO_CHECKERS": "no layout checkers are installed",
    "O4_CLASH": "{first} and {second} can't share a memory: {clash}",
    # who would see another value
    "O4_SAME_NODE": "{writer} would overwrite what it reads",
    "O4_SOURCE_READ_LATER": "{writer} overwrites the copy before {reader} reads the source",
    "O4_COPY_READ_LATER": "{writer} overwrites the source before {reader} reads the copy",
    "O4_RESULT_SPOILED": "{writer} overwrites what graph output {output} is read from at the end",
    "O4_NEXT_TURN": "{writer} overwrites what {reader} reads in the loop's next turn",
    "O4_LISTED_ORDER": (
        "{reader} would have to come before {writer}, and then {one} would run after {other}"
    ),
    "O4_AFTER_COPY": "{waiting} waits for the copy, and can't be made to wait for {reader}",
    "O4_COPIES_TO_ITSELF": "without it {copy} would copy a memory to itself, and must stay",
    "O4_TOO_MANY_RUNS": "calls of calls run what touches the memory too often to be looked at",
    "O4_SEARCH_LIMIT": "the searches for an order of its neighbours became too long",
}
