"""Why an Identity was put in, went or stayed: one code per reason."""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str]] = {
    # put in
    "ISOLATES_CONSTANT": "{reader} ({reader_kind}) would overwrite the constant {output}",
    "ISOLATES_SHARED": "{reader} uses up {output}, which others read too",
    "ISOLATES_UPDATED": "{reader} uses up {output}, whose memory has to keep its value",
    "ISOLATES_BY_CHECKER": "the read/write checker wants {reader} ({reader_kind}) to have a copy"
    " of {output} ({output_kind})",
    "ISOLATES_RESULT": "{reader} can't take {output}, which a branch updates in place",
    "ISOLATES_SPLIT": "{reader} overwrites what {identity} gave to others too",
    # taken out
    "REMOVED": "{reader} can stand at {output} itself",
    "REMOVED_UNREAD": "nobody reads it",
    "REMOVED_SPLIT": "its readers read {output} themselves",
    # left
    "KEPT_RESERVED": "it is marked _cannot_be_deleted",
    "KEPT_INSERTED": "a pass put it in front of {reader}",
    "KEPT_IN_LOOP": "it stands directly in a loop's subgraph {graph}",
    "KEPT_PORTS": "it has {inputs} inputs and {outputs} outputs",
    "KEPT_UNCONNECTED": "its input is not connected",
    "KEPT_READERS": "it has {count} readers, and not all can stand at {output}",
    "KEPT_STREAM_MERGE": "{reader} merges streams",
    "KEPT_NEAR_SUBGRAPH": "{place} is the border of a subgraph",
    "KEPT_READ_FIRST": "it has {output} read before {writer} writes it",
    "KEPT_CONFLICT": "{reader} ({reader_kind}) needs a copy of {output} ({output_kind})",
    "KEPT_UNKNOWN": "what {reader} does to {output} can't be told",
    # left, other than in GE: the copy's readers would see something else
    "KEPT_OTHER_MEMORY": "it moves data from {source_kind} to {target_kind} memory",
    "KEPT_OTHER_TYPE": "{output} is described otherwise than its copy",
    "KEPT_HANDED_TO_BOTH": "subgraphs called with {output} and with the copy take either",
    "KEPT_PIECES": "{output} or the copy is part of a larger block",
    "KEPT_OWNED": "{writer} would overwrite {output}, whose owner keeps it",
    "KEPT_RESULT": "{output} would become a result",
    "KEPT_WRITTEN_EARLY": "{writer} writes {output} before {reader} has read the copy",
    "KEPT_READ_LATE": "{writer} writes the copy before {reader} has read {output}",
    "KEPT_WAITING": "{waiting} waits for it, and can't wait for {reader}",
    "KEPT_LIMIT": "{output} is used in too many places to look at each",
    "KEPT_LAYOUT": "{first} and {second} can't share a memory: {clash}",
}

GUARD_CODES: Final[dict[str, str]] = {
    "GUARDS_READER": "{user} destroys {output}, which {reader} reads afterwards",
    "GUARDS_CONSTANT": "{user} would overwrite the constant {constant}, seen as {output}",
}

CHECK_CODES: Final[dict[str, str]] = {
    "WRONG_READER": "what {reader} does to {output} can't be told",
    "WRONG_OUTPUT": "what {output} allows its readers can't be told",
}

COUNTERS: Final[dict[str, str]] = {
    "inserted": "Identity nodes put in",
    "removed": "Identity nodes taken out",
    "steps": "anchors and pairs of nodes looked at for the order of accesses",
}
