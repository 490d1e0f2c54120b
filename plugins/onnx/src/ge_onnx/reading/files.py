"""Opening a model file: every way to fail is one `InputFileError`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # has no stubs
from onnx import IR_VERSION, ModelProto

from ge_core.api import InputFileError

MAX_BYTES: Final = (1 << 31) - 1
"""Longest message that protobuf reads."""


def read_model(path: Path) -> ModelProto:
    """Parse a model file. External data is neither read nor looked for.

    Raises:
        InputFileError: the file is missing, unreadable, too long or no ONNX model.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputFileError(
                f"{size} bytes, protobuf reads at most {MAX_BYTES}",
                file=str(path),
                hint="save the model with its weights as external data",
            )
        data = path.read_bytes()
    except OSError as error:
        raise InputFileError(f"can't be read: {error.strerror}", file=str(path)) from error
    try:
        model: ModelProto = ModelProto.FromString(data)
    except DecodeError as error:
        raise InputFileError(
            "not an ONNX model: damaged, cut short or of another format", file=str(path)
        ) from error
    if not model.HasField("graph"):
        raise InputFileError("not an ONNX model: it has no graph", file=str(path), field="graph")
    if not 1 <= model.ir_version <= IR_VERSION:
        raise InputFileError(
            f"IR version {model.ir_version} is not one of 1 to {IR_VERSION}, which the installed "
            "onnx package knows",
            file=str(path),
            field="ir_version",
        )
    return model
