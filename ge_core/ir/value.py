"""The bytes of a constant: held inline, in a file of their own, or behind a loader."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from ge_core.errors import InputFileError


class ConstValue:
    """Raw little-endian bytes of a constant, read only when somebody asks.

    Attributes:
        nbytes: length in bytes.
        file, offset: set when the bytes lie in an external file.
    """

    __slots__ = ("_data", "_digest", "_load", "file", "nbytes", "offset")

    def __init__(
        self,
        *,
        data: bytes | None = None,
        load: Callable[[], bytes] | None = None,
        nbytes: int | None = None,
        file: Path | None = None,
        offset: int = 0,
    ) -> None:
        if data is None and load is None and file is None:
            raise ValueError("a constant needs data, a loader or a file")
        if data is None and nbytes is None:
            raise ValueError("a constant that is not inline needs its length")
        self._data = data
        self._load = load
        self._digest: str | None = None
        self.file, self.offset = file, offset
        self.nbytes: int = len(data) if data is not None else int(nbytes or 0)

    def read(self) -> bytes:
        """The bytes. Raises `InputFileError` when the external file is missing or too short."""
        if self._data is not None:
            return self._data
        if self._load is not None:
            return self._load()
        assert self.file is not None
        try:
            with self.file.open("rb") as handle:
                handle.seek(self.offset)
                data = handle.read(self.nbytes)
        except OSError as error:
            raise InputFileError(
                f"external data can't be read: {error.strerror}", file=str(self.file)
            ) from error
        if len(data) != self.nbytes:
            raise InputFileError(
                f"external data ends early: {len(data)} of {self.nbytes} bytes at {self.offset}",
                file=str(self.file),
            )
        return data

    def digest(self) -> str:
        """SHA-256 of the bytes, or of the reference where they lie in a file (not loaded)."""
        if self._digest is None:
            if self.file is not None:
                text = f"{self.file}\0{self.offset}\0{self.nbytes}".encode()
                self._digest = "file:" + hashlib.sha256(text).hexdigest()
            else:
                self._digest = hashlib.sha256(self.read()).hexdigest()
        return self._digest
