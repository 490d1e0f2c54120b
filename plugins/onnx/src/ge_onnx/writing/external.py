"""External data of a written model: files referred to, brought along, or made.

Weights that were external stay so and are not read: a data file below the model's new folder is
referred to, another one is copied there. Inline data moves out only where the model would grow too
long for protobuf.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from onnx import TensorProto

from ge_core.api import ConstValue, InputFileError, write_atomically

MAX_INLINE: Final = (1 << 31) - (1 << 26)
"""Bytes of inline constants from which on the long ones go to a data file."""
SMALL: Final = 1024
"""Constants up to this length always stay inline."""
_ALIGNMENT: Final = 4096


class ExternalData:
    """Decides where the constants of one model lie.

    Args:
        path: the model file that is going to be written; None: everything stays inline.
        inline: bytes of all constants that are not external yet.
        limit: how many of them the model may hold; `MAX_INLINE` by default.
    """

    def __init__(self, path: Path | None, inline: int = 0, limit: int | None = None) -> None:
        self._path = path
        self._move_out = path is not None and inline > (MAX_INLINE if limit is None else limit)
        self._locations: dict[Path, str] = {}
        self._copies: dict[Path, Path] = {}
        self._made: list[ConstValue] = []
        self._made_size = 0

    def wants(self, value: ConstValue) -> bool:
        """Whether a constant is written as a reference."""
        if self._path is None:
            return False
        return value.file is not None or (self._move_out and value.nbytes > SMALL)

    def refer(self, tensor: TensorProto, value: ConstValue, more: dict[str, str]) -> None:
        """Make a tensor message refer to its bytes.

        Args:
            more: further entries of the reference, such as a checksum.
        """
        if value.file is not None:
            location, offset = self._location(value.file), value.offset
        else:
            location, offset = self._make(value)
        tensor.data_location = TensorProto.EXTERNAL
        entries = {**more, "location": location, "offset": str(offset), "length": str(value.nbytes)}
        for key, text in entries.items():
            tensor.external_data.add(key=key, value=text)

    def write(self) -> None:
        """Copy and make the data files, each whole or not at all.

        Raises:
            InputFileError: one can't be read or written.
        """
        for source, target in self._copies.items():
            _copy(source, target)
        if self._made:
            assert self._path is not None
            write_atomically(self._data_file(), self._blocks())

    def _location(self, file: Path) -> str:
        assert self._path is not None
        known = self._locations.get(file)
        if known is not None:
            return known
        folder, source = self._path.parent.resolve(), file.resolve()
        if source.is_relative_to(folder):
            found = source.relative_to(folder).as_posix()
        else:
            target = self._free(folder / source.name, source)
            self._copies[source] = target
            found = target.name
        self._locations[file] = found
        return found

    def _free(self, target: Path, source: Path) -> Path:
        """A place for a copy: free, or holding the same bytes already."""
        number = 0
        candidate = target
        while candidate in self._copies.values() or (
            candidate.exists() and not _same(candidate, source)
        ):
            number += 1
            candidate = target.with_name(f"{target.stem}_{number}{target.suffix}")
        return candidate

    def _data_file(self) -> Path:
        assert self._path is not None
        return self._path.with_name(self._path.name + ".data")

    def _make(self, value: ConstValue) -> tuple[str, int]:
        offset = -(-self._made_size // _ALIGNMENT) * _ALIGNMENT
        self._made.append(value)
        self._made_size = offset + value.nbytes
        return self._data_file().name, offset

    def _blocks(self) -> Iterator[bytes]:
        at = 0
        for value in self._made:
            yield bytes(-at % _ALIGNMENT)
            at += -at % _ALIGNMENT
            yield value.read()
            at += value.nbytes


def _same(one: Path, other: Path) -> bool:
    try:
        return one.is_file() and filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _copy(source: Path, target: Path) -> None:
    if target.exists():
        return
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(handle)
        shutil.copyfile(source, temporary)
        shutil.copymode(source, temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise InputFileError(
            f"external data can't be copied from {str(source)!r}: {error.strerror}",
            file=str(target),
        ) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
