"""Element types by the names numpy and ml_dtypes give them, and their widths in bits.

Types narrower than a byte are packed: a tensor of n elements of b bits takes ceil(n*b/8) bytes.
`string` and `undefined` have no width: such tensors get no place in the arena.
"""

from __future__ import annotations

from ge_core.errors import InputFileError, near_matches

BITS: dict[str, int | None] = {
    "float64": 64,
    "float32": 32,
    "float16": 16,
    "bfloat16": 16,
    "float8_e4m3fn": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2": 8,
    "float8_e5m2fnuz": 8,
    "float8_e8m0fnu": 8,
    "float4_e2m1fn": 4,
    "int64": 64,
    "int32": 32,
    "int16": 16,
    "int8": 8,
    "int4": 4,
    "int2": 2,
    "uint64": 64,
    "uint32": 32,
    "uint16": 16,
    "uint8": 8,
    "uint4": 4,
    "uint2": 2,
    "uint1": 1,
    "bool": 8,
    "complex64": 64,
    "complex128": 128,
    "string": None,
    "undefined": None,
}

_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "DT_FLOAT": "float32",
    "DT_FLOAT16": "float16",
    "DT_BF16": "bfloat16",
    "DT_DOUBLE": "float64",
    "DT_INT8": "int8",
    "DT_INT16": "int16",
    "DT_INT32": "int32",
    "DT_INT64": "int64",
    "DT_UINT8": "uint8",
    "DT_UINT16": "uint16",
    "DT_UINT32": "uint32",
    "DT_UINT64": "uint64",
    "DT_BOOL": "bool",
    "DT_INT4": "int4",
    "DT_STRING": "string",
    "DT_UNDEFINED": "undefined",
    "str": "string",
    "object": "string",
}


def canonical(name: object) -> str:
    """The one spelling of a dtype name; raises `InputFileError` for a name nobody knows."""
    if isinstance(name, str):
        if name in BITS:
            return name
        alias = _ALIASES.get(name)
        if alias is not None:
            return alias
    raise InputFileError(
        f"unknown dtype {name!r}", field="dtype", near=near_matches(str(name), BITS)
    )


def bits(name: str) -> int | None:
    """Bits of one element; None for types without a fixed width."""
    return BITS[name]
