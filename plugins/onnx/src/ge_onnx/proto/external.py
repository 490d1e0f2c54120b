"""External data: where a tensor's bytes lie beside the model file.

Paths come from the file and are not trusted: the data must be a regular file below the model's
folder, links resolved.
"""

from __future__ import annotations

from pathlib import Path

from onnx import TensorProto

from ge_core.api import InputFileError


def external_reference(tensor: TensorProto) -> dict[str, str]:
    """The entries of a tensor's external reference, in their order."""
    return {entry.key: entry.value for entry in tensor.external_data}


def external_file(tensor: TensorProto, nbytes: int, folder: Path) -> tuple[Path, int]:
    """The file that holds a tensor's bytes, and the offset in it. Nothing is read.

    Raises:
        InputFileError: the file is missing, too short or outside the folder, or the reference is
            malformed.
    """
    reference = external_reference(tensor)
    path = _inside(reference.get("location", ""), folder)
    offset = _number(reference, "offset", 0)
    length = _number(reference, "length", nbytes)
    if length != nbytes:
        raise InputFileError(f"{length} bytes, needed are {nbytes}", field="external_data.length")
    size = path.stat().st_size
    if offset + nbytes > size:
        raise InputFileError(
            f"external data file {path.name!r} ends early: {size} bytes, needed are "
            f"{offset} + {nbytes}",
            field="external_data",
        )
    return path, offset


def _inside(location: str, folder: Path) -> Path:
    field = "external_data.location"
    if not location or "\0" in location:
        raise InputFileError(f"{location!r} names no file", field=field)
    # Either separator, whatever the machine: the same file is refused everywhere.
    given = Path(location.replace("\\", "/"))
    try:
        root = folder.resolve()
        path = (root / given).resolve()
        is_file = path.is_file()
    except (OSError, RuntimeError) as error:
        # RuntimeError: a loop of links.
        raise InputFileError(f"{location!r:.200} names no file", field=field) from error
    if given.is_absolute() or ".." in given.parts or not path.is_relative_to(root):
        raise InputFileError(f"{location!r} lies outside the model's folder", field=field)
    if not is_file:
        raise InputFileError(
            f"external data file {location!r} is missing",
            field=field,
            hint=f"put it into {str(folder)!r}, beside the model",
        )
    return path


def _number(reference: dict[str, str], key: str, default: int) -> int:
    text = reference.get(key)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise InputFileError(f"{text!r} is not a number of bytes", field=f"external_data.{key}")
    return int(text)
