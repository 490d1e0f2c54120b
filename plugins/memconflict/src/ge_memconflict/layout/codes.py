"""Why a copy was inserted, in words; the codes of rules are those that the rules declare."""

from __future__ import annotations

from typing import Final

_TOGETHER: Final = "{first} and {second} can't share a memory: "

CODES: Final = {
    # constants and variables
    "FIXED_ADDRESS_TO_USER_OUTPUT": _TOGETHER + "a constant lies in no buffer of the caller's",
    "FIXED_ADDRESS_CUT": _TOGETHER + "a constant or variable is not cut where it lies",
    "FIXED_ADDRESS_IN_JOIN": _TOGETHER + "a constant or variable lies next to no other operand",
    "FIXED_ADDRESS_PACKED": _TOGETHER + "a constant or variable lies in no packed group",
    "FIXED_ADDRESS_IN_SPECIAL_MEMORY": _TOGETHER + "a constant or variable lies in no other memory",
    # packed groups, joins and splits
    "IN_TWO_PACKED_GROUPS": _TOGETHER + "one tensor lies in one packed group",
    "TWICE_IN_ONE_GROUP": _TOGETHER + "one tensor lies at one place of a packed group",
    "GROUPS_NOT_ALIGNED": _TOGETHER + "the two packed groups are not one aligned run",
    "PIECE_OF_TWO_GROUPS": _TOGETHER + "one tensor is a piece of one packed group",
    "PIECE_OF_TWO_SPLITS": _TOGETHER + "a piece of a split is not cut again where it lies",
    "PACKED_AND_UNPADDED": _TOGETHER + "one group is padded, the other is not",
    "IN_TWO_JOINS": _TOGETHER + "the operands of neither join are a run of the other's",
    "JOIN_MEETS_SPLIT": _TOGETHER + "only a split that reads the join itself takes it apart",
    # user memory
    "USER_INPUT_PACKED": _TOGETHER + "the caller's input lies in no packed group",
    "USER_INPUT_IN_JOIN": _TOGETHER + "the caller's input lies next to no other operand",
    "USER_INPUT_CUT": _TOGETHER + "only the first piece's address can be bound late",
    "USER_INPUT_IN_SPECIAL_MEMORY": _TOGETHER + "the caller's input may lie in any memory",
    "USER_INPUT_READ_AT_A_FIXED_ADDRESS": _TOGETHER + "the caller's input may lie anywhere",
    "USER_INPUT_WRITTEN_AT_A_FIXED_ADDRESS": _TOGETHER + "the caller's input may lie anywhere",
    "USER_OUTPUT_PACKED": _TOGETHER + "a packed group lies in no buffer of the caller's",
    "USER_OUTPUT_IN_SPECIAL_MEMORY": _TOGETHER + "the caller's buffer may lie in any memory",
    "USER_OUTPUT_READ_AT_A_FIXED_ADDRESS": _TOGETHER + "the caller's buffer may lie anywhere",
    "USER_OUTPUT_WRITTEN_AT_A_FIXED_ADDRESS": _TOGETHER + "the caller's buffer may lie anywhere",
    # memory of special kinds
    "PACKED_IN_SPECIAL_MEMORY": _TOGETHER + "the packed group lies in the device's own memory",
    "TWO_SPECIAL_INPUTS": _TOGETHER + "they want it in two kinds of memory",
    "SPECIAL_INPUT_AND_OUTPUT": _TOGETHER + "it is made in one kind of memory, read in another",
    "TWO_SPECIAL_OUTPUTS": _TOGETHER + "they want it in two kinds of memory",
    # addresses
    "READ_AT_A_FIXED_ADDRESS": _TOGETHER + "the reader can't be told that the address has changed",
    "WRITTEN_AT_A_FIXED_ADDRESS": _TOGETHER
    + "the writer can't be told that the address has changed",
    # a plugin's rule
    "CLASH": _TOGETHER + "{clash}",
    # ends of subgraphs
    "ARM_RETURNS_ITS_INPUT": "{first} is handed out by an arm as it came in by {second}",
    "ARM_RETURNS_FIXED_MEMORY": "{first} is handed out by an arm from fixed memory: {second}",
    "ARM_RETURNS_NAMED_MEMORY": "{first} is handed out by an arm from named memory: {second}",
    "ARM_RETURNS_IT_TWICE": "{first} is handed out by an arm as {second} already",
    "LOOP_HAS_SEVERAL_SLOTS": "{first} is written where inputs of the next turn lie, such as"
    " {second}",
    "LOOP_WRITES_WHAT_IT_READS": "{first} would be written before {second} is done with the input",
    "LOOP_RETURNS_PACKED": "{first} lies in the packed group of {second}",
    "LOOP_SLOTS_EXCHANGED": "{first} is another slot's input: {second}",
    # what is only said
    "NO_RULE_FOR_TYPES": "{first} ({first_type}) and {second} ({second_type}) share a memory, and"
    " no plugin has a rule for these two types",
}

HINTS: Final = {
    "USER_INPUT_CUT": {"set": "ge.buildGraphMode=online"},
    "READ_AT_A_FIXED_ADDRESS": {"set": "ge.featureBaseRefreshable=0"},
    "WRITTEN_AT_A_FIXED_ADDRESS": {"set": "ge.featureBaseRefreshable=0"},
    "FIXED_ADDRESS_TO_USER_OUTPUT": {"text": "let the caller keep the constant"},
    "ARM_RETURNS_ITS_INPUT": {"text": "hand it to the reader beside the branch"},
    "ARM_RETURNS_IT_TWICE": {"text": "return it once, and read it twice"},
    "IN_TWO_JOINS": {"text": "give both joins the operands in one order"},
    "GROUPS_NOT_ALIGNED": {"text": "read the outputs in the order in which they are made"},
}
"""The one change that would free the copy, where there is one."""
