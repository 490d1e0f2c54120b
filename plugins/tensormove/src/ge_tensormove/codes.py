"""Why a copy went or stayed: one code per reason, grouped by the rule that gives it."""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str | tuple[str, str | None]]] = {
    "REMOVED": "nobody can see whether this is a copy",
    "REMOVAL_FAILED": "the graph can't be edited here: {error}",
    "RAISES_PEAK": "without it a larger arena would be needed",
    # R0: reserved
    "R0_CANNOT_BE_DELETED": ("it is marked _cannot_be_deleted", "R0"),
    "R0_NO_CONSTANT_FOLDING": ("it carries the mark no_need_constant_folding", "R0"),
    # R1: the source
    "R1_UNCONNECTED": ("its input is not connected", "R1"),
    "R1_TRACE_STOPPED": ("where its value is made can't be told: {why}", "R1"),
    "R1_CONTROL_FLOW": ("its value comes out of {source}, which is control flow", "R1"),
    "R1_FIXED_INSIDE": ("{source} may hand out a constant, a variable or an input", "R1"),
    "R1_SPECIAL_TO_VIEW": ("{source} must keep its value, and {reader} hands its memory on", "R1"),
    "R1_SPECIAL_TO_OUTPUT": ("{source} must keep its value, and would become a result", "R1"),
    "R1_SPECIAL_TO_SUBGRAPH": (
        "{source} must keep its value, and {reader} passes it into a subgraph",
        "R1",
    ),
    "R1_SPECIAL_WRITTEN": ("{source} must keep its value, and {reader} overwrites it", "R1"),
    "R1_SPECIAL_NO_OUTPUT": ("{source} must keep its value, and the copy has no output", "R1"),
    # R2: the caller's memory
    "R2_NO_INDEX": ("{source} has no input index, so no declaration can mean it", "R2"),
    "R2_NOT_DECLARED": (
        "graph input {index} belongs to the caller, who has not declared it reusable",
        "R2",
    ),
    "R2_OTHER_OUTPUT": (
        "graph input {index} would lie in graph output {output}, and no pair declares those two",
        "R2",
    ),
    # R3: others on the same memory
    "R3_CONTROL_FLOW": ("on the way from its source lies {place}, which is control flow", "R3"),
    "R3_HIDDEN_FORK": ("another output of {place} is the same memory and is read", "R3"),
    "R3_SHARED_ABOVE": ("{output}, further up, has other readers", "R3"),
    "R3_SIBLING_OUTPUT": ("its source is a result as well", "R3"),
    "R3_SIBLING_SUBGRAPH": ("{sibling} passes the source into a subgraph", "R3"),
    "R3_SIBLING_VIEW": ("{sibling} has an output that is the source's memory", "R3"),
    "R3_BOTH_WRITE": ("{sibling} overwrites the source and {reader} the copy", "R3"),
    "R3_WRITER_AND_VIEW": (
        "{sibling} overwrites the source, and {reader} hands the copy's memory on",
        "R3",
    ),
    "R3_WRITER_UNORDERED": (
        "{sibling} overwrites the source, and no edge makes {reader} come before that",
        "R3",
    ),
    "R3_SAME_NODE": ("{reader} reads the source while it overwrites the copy", "R3"),
    "R3_WRITER_FIRST": ("{reader} overwrites the copy before {sibling} reads the source", "R3"),
    "R3_WRITER_BEHIND_VIEW": (
        "{writer} overwrites the copy behind a view, and {sibling} may read the source later",
        "R3",
    ),
    "R3_READER_BEHIND_VIEW": (
        "{sibling} overwrites the source, and the copy is read through {reader} as well",
        "R3",
    ),
    "R3_OTHER_NAME": ("{writer} may overwrite the source's memory by another name", "R3"),
    "R3_AFTER_COPY_OUTPUT": (
        "{waiting} waits for the copy, and can't be made to wait for the graph's end",
        "R3",
    ),
    "R3_AFTER_COPY_CYCLE": ("{waiting} waits for the copy, and comes before {reader}", "R3"),
    "R3_EDGE_REFUSED": ("the edge from {first} to {second} would close a cycle", "R3"),
    "R3_LISTED_ORDER": (
        "{one} would run after {other}, and only the listing says which comes first",
        "R3",
    ),
    "R3_SEARCH_LIMIT": (
        "the searches for its neighbours' order became too long (search_limit bounds them)",
        "R3",
    ),
    # R4: reading and writing
    "R4_NO_CHECKER": ("no read/write checker is installed", "R4"),
    "R4_CONFLICT": ("{reader} ({reader_kind}) needs a copy of {output} ({output_kind})", "R4"),
    "R4_UNKNOWN": ("what {reader} does to {output} can't be told", "R4"),
    "R4_BEHIND_VIEW": (
        "{reader} ({reader_kind}), further down, needs a copy of {output} ({output_kind})",
        "R4",
    ),
    # R5: layout
    "R5_NO_CHECKERS": ("no layout checkers are installed", "R5"),
    "R5_MEMORY_KIND": ("it moves data from {source_kind} to {target_kind} memory", "R5"),
    "R5_TWO_PLACES": ("its source would have to lie at two places of one buffer", "R5"),
    "R5_CLASH": ("{first} and {second} can't share a memory: {clash}", "R5"),
}
