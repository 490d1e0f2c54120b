"""The layout rules: GE's table of pairs, with a function for each entry that depends on more.

A rule says when two anchors of one memory clash, and where a copy has to stand. It reads the edges
as they are. What follows GE is the table and the side of each copy; where a rule differs its text
says so.
"""

from __future__ import annotations

from typing import Any, Final

from ge_memconflict import anchor_types as types
from ge_memconflict.checkers.fixed import (
    fixed_and_join,
    fixed_and_packed_output,
    fixed_and_special_output,
    fixed_and_user_output,
)
from ge_memconflict.checkers.joins import join_and_split, two_joins
from ge_memconflict.checkers.packed import (
    packed_input_and_output,
    two_packed_inputs,
    two_packed_outputs,
    two_splits,
)
from ge_memconflict.checkers.refresh import (
    fixed_reader,
    fixed_reader_and_writer,
    fixed_writer,
    user_input_and_fixed_reader,
    user_input_and_fixed_writer,
    user_output_and_fixed_reader,
    user_output_and_fixed_writer,
)
from ge_memconflict.checkers.special import (
    packed_and_special,
    special_input_and_output,
    two_special_inputs,
    two_special_outputs,
)
from ge_memconflict.checkers.users import (
    user_input_and_join,
    user_input_and_packed,
    user_input_and_special_output,
    user_input_and_split,
    user_output_and_packed,
)

_UI: Final = types.USER_MEMORY_INPUT
_UO: Final = types.USER_MEMORY_OUTPUT
_IM: Final = types.IMMUTABLE_ADDRESS_OUTPUT
_UR_IN: Final = types.UNSUPPORTED_ADDRESS_REFRESH_OPERATOR_INPUT
_UR_OUT: Final = types.UNSUPPORTED_ADDRESS_REFRESH_OPERATOR_OUTPUT
_CI: Final = types.CONTINUOUS_INPUT
_CO: Final = types.CONTINUOUS_OUTPUT
_NI: Final = types.NOPADDING_CONTINUOUS_INPUT
_NO: Final = types.NOPADDING_CONTINUOUS_OUTPUT
_SI: Final = types.RTS_SPECIAL_TYPE_INPUT
_SO: Final = types.RTS_SPECIAL_TYPE_OUTPUT
_NORMAL: Final = (types.NORMAL_INPUT, types.NORMAL_OUTPUT)

_NEVER: Final = ((_UO, _UI), (_UO, _UO), (_SI, types.NORMAL_OUTPUT))

_ALWAYS: Final = (
    (_UO, _CO, "USER_OUTPUT_PACKED"),
    (_UO, _NO, "USER_OUTPUT_PACKED"),
    (_UO, _SI, "USER_OUTPUT_IN_SPECIAL_MEMORY"),
    (_UO, _SO, "USER_OUTPUT_IN_SPECIAL_MEMORY"),
    (_UI, _SI, "USER_INPUT_IN_SPECIAL_MEMORY"),
    (_IM, _SI, "FIXED_ADDRESS_IN_SPECIAL_MEMORY"),
    (_IM, _CI, "FIXED_ADDRESS_PACKED"),
    (_CI, _NO, "PACKED_AND_UNPADDED"),
    (_CO, _NI, "PACKED_AND_UNPADDED"),
)

_CHECKED: Final = (
    # packed groups
    (_CI, _CI, two_packed_inputs, "IN_TWO_PACKED_GROUPS"),
    (_CI, _NI, two_packed_inputs, "IN_TWO_PACKED_GROUPS"),
    (_CI, _CO, packed_input_and_output, "GROUPS_NOT_ALIGNED"),
    (_CO, _CO, two_packed_outputs, "PIECE_OF_TWO_GROUPS"),
    (_CO, _NO, two_packed_outputs, "PIECE_OF_TWO_GROUPS"),
    (_NO, _NO, two_splits, "PIECE_OF_TWO_SPLITS"),
    (_NI, _NI, two_joins, "IN_TWO_JOINS"),
    (_NI, _NO, join_and_split, "JOIN_MEETS_SPLIT"),
    # constants and variables
    (_IM, _UO, fixed_and_user_output, "FIXED_ADDRESS_TO_USER_OUTPUT"),
    (_IM, _CO, fixed_and_packed_output, "FIXED_ADDRESS_CUT"),
    (_IM, _NO, fixed_and_packed_output, "FIXED_ADDRESS_CUT"),
    (_IM, _NI, fixed_and_join, "FIXED_ADDRESS_IN_JOIN"),
    (_IM, _SO, fixed_and_special_output, "FIXED_ADDRESS_IN_SPECIAL_MEMORY"),
    # user memory
    (_UI, _CI, user_input_and_packed, "USER_INPUT_PACKED"),
    (_UI, _CO, user_input_and_packed, "USER_INPUT_PACKED"),
    (_UI, _NI, user_input_and_join, "USER_INPUT_IN_JOIN"),
    (_UI, _NO, user_input_and_split, "USER_INPUT_CUT"),
    (_UI, _SO, user_input_and_special_output, "USER_INPUT_IN_SPECIAL_MEMORY"),
    (_UI, _UR_IN, user_input_and_fixed_reader, "USER_INPUT_READ_AT_A_FIXED_ADDRESS"),
    (_UI, _UR_OUT, user_input_and_fixed_writer, "USER_INPUT_WRITTEN_AT_A_FIXED_ADDRESS"),
    (_UO, _CI, user_output_and_packed, "USER_OUTPUT_PACKED"),
    (_UO, _NI, user_output_and_packed, "USER_OUTPUT_PACKED"),
    (_UO, _UR_IN, user_output_and_fixed_reader, "USER_OUTPUT_READ_AT_A_FIXED_ADDRESS"),
    (_UO, _UR_OUT, user_output_and_fixed_writer, "USER_OUTPUT_WRITTEN_AT_A_FIXED_ADDRESS"),
    # memory of special kinds
    *((packed, _SI, packed_and_special, "PACKED_IN_SPECIAL_MEMORY") for packed in (_CI, _CO)),
    *((packed, _SO, packed_and_special, "PACKED_IN_SPECIAL_MEMORY") for packed in (_CI, _CO)),
    *((packed, _SI, packed_and_special, "PACKED_IN_SPECIAL_MEMORY") for packed in (_NI, _NO)),
    *((packed, _SO, packed_and_special, "PACKED_IN_SPECIAL_MEMORY") for packed in (_NI, _NO)),
    (_SI, _SI, two_special_inputs, "TWO_SPECIAL_INPUTS"),
    (_SI, _SO, special_input_and_output, "SPECIAL_INPUT_AND_OUTPUT"),
    (_SO, _SO, two_special_outputs, "TWO_SPECIAL_OUTPUTS"),
    # ops that can't be told new addresses
    *(
        (_UR_IN, other, fixed_reader, "READ_AT_A_FIXED_ADDRESS")
        for other in (_IM, _UR_IN, _CI, _CO, _NI, _NO, _SI, _SO, *_NORMAL)
    ),
    *(
        (_UR_OUT, other, fixed_writer, "WRITTEN_AT_A_FIXED_ADDRESS")
        for other in (_IM, _UR_OUT, _CI, _CO, _NI, _NO, _SI, _SO, *_NORMAL)
    ),
)


def register_checkers(checkers: Any) -> None:
    """Declare the rules.

    Two inputs of the caller's, two constants, or one of either have none: they can't be one memory,
    and where they would have to be, somebody forgot a copy. That is reported.
    """
    for one, other in _NEVER:
        checkers.never(one, other)
    for one, other, code in _ALWAYS:
        checkers.always(one, other, code=code)
    for one, other, function, code in _CHECKED:
        checkers.check(one, other, function, codes=(code,))
    either = ("READ_AT_A_FIXED_ADDRESS", "WRITTEN_AT_A_FIXED_ADDRESS")
    checkers.check(_UR_IN, _UR_OUT, fixed_reader_and_writer, codes=either)
    for name in (types.REFERENCE_OUTPUT, *_NORMAL):
        checkers.indifferent(name)
