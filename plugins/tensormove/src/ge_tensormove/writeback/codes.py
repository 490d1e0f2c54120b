"""Why a write-back, the copy before it, or an update beside its variable went or stayed."""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str | tuple[str, str | None]]] = {
    "WRITE_BACK_GONE": "{memory} holds the value already, as it was updated where it lies",
    "WORKS_IN_PLACE": "it works on {memory} itself, so that nothing has to be written back",
    "COPY_GONE": "{memory} may be updated where it lies, as nobody reads its old value there",
    "RETURNED_IN_PLACE": (
        "graph output {output} is {input} again, and nobody needs its old value any more"
    ),
    "STORED_AHEAD": "the value is stored in {memory} at once, and updated there",
    "OLD_VALUE_SAVED": (
        "{reader} needs the value that {writer} overwrites: {memory} is updated in place, "
        "and this copy saves what it held"
    ),
    "NEW_VALUE_SAVED": (
        "{writer} goes on changing what {memory} must hold: that is updated in place, "
        "and this is a copy of it"
    ),
    "RESULT_SAVED": "graph output {output} is not to lie in {memory}, which is updated in place",
    "W_RESERVED": ("it is marked to stay", "R0"),
    "W_RAISES_PEAK": "without it a larger arena would be needed",
    "W_MADE_APART": (
        "what is stored in {memory} is made by {source}, which can't work in place",
        None,
    ),
    "W_STILL_READ": (
        "{reader} needs the value that {writer} would overwrite",
        "R3",
    ),
    "W_CHANGED_BETWEEN": (
        "{writer} changes {memory} while {reader} still needs the copy",
        "R3",
    ),
    "W_CHANGED_LATER": (
        "{writer} goes on changing the updated value, which {memory} must not see",
        "R3",
    ),
    "W_AT_ONCE": ("{reader} would overwrite what it reads", "R3"),
    "W_NOT_EVERY_TIME": (
        "{writer} changes the value, and it is not stored in {memory} each time",
        "R3",
    ),
    "W_LISTED_ORDER": (
        "{reader} would have to come before {writer}, and then {one} would run after {other}",
        "R3",
    ),
    "W_ORDER": ("{first} can't be made to come before {second}", "R3"),
    "W_VAGUE": ("what lies where can't be told: {why}", "R3"),
    "W_RESULT": ("graph output {output} would lie in {memory}", "R1"),
    "W_LAYOUT": ("{first} and {second} can't share a memory: {clash}", "R5"),
    "W_MEMORY_KIND": ("it moves data from {source_kind} to {target_kind} memory", "R5"),
}
