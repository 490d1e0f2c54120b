"""Attribute values as strict JSON: bytes and non-finite floats get a tagged form."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any

from ge_core.errors import InputFileError


def encode(value: Any) -> Any:
    """A JSON-able stand-in; raises `InputFileError` for a value that has none."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, (bytes, bytearray)):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    raise InputFileError(f"a value of type {type(value).__name__} has no JSON form")


def decode(value: Any) -> Any:
    """What `encode` was given (tuples come back as lists)."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"float"} and value["float"] in ("nan", "inf", "-inf"):
            return float(value["float"])
        if set(value) == {"base64"} and isinstance(value["base64"], str):
            return from_base64(value["base64"])
        return {key: decode(item) for key, item in value.items()}
    return value


def from_base64(text: str) -> bytes:
    """Decode base64; raises `InputFileError` for anything else."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputFileError("not base64", field="base64") from error
