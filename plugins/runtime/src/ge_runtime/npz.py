"""Inputs and outputs as `.npz` files: one array per name, nothing pickled.

Types that numpy has no name for (bfloat16, 8-bit floats, 4-bit integers, ...) are written as
unsigned integers with the same bits, and read back so by the graph's own types. A sequence becomes
one array per element, `name[0]`, `name[1]`, ....
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ge_core.api import Graph, InputFileError, near_matches, write_atomically
from ge_runtime.dtypes import Array, numpy_dtype
from ge_runtime.sources import input_name


def read_feeds(path: Path, graph: Graph) -> dict[str, Any]:
    """Inputs by name from a file.

    Raises:
        InputFileError: it can't be read, or names what is no input of the graph.
    """
    inputs = {
        name: node
        for node in graph.root.nodes_of("Data", "RefData")
        for name in (node.name, input_name(node))
    }
    feeds: dict[str, Any] = {}
    try:
        # np.load leaves a file open that it can't read, if it has opened it itself.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise InputFileError("is one array, not an .npz of arrays by name", file=str(path))
            for name in archive.files:
                node = inputs.get(name)
                if node is None:
                    raise InputFileError(
                        f"the graph has no input {name!r}",
                        file=str(path),
                        near=near_matches(name, inputs),
                    )
                feeds[name] = _typed(archive[name], node.outputs[0].desc.dtype)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        raise InputFileError(f"can't be read as .npz: {error}", file=str(path)) from error
    return feeds


def write_outputs(path: Path, outputs: Mapping[str, Any]) -> None:
    """Outputs by name into a file, which is replaced as a whole."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in _arrays(outputs):
            # The same content gives the same file: an entry made by name has a fixed date.
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)
    write_atomically(path, buffer.getvalue())


def _arrays(values: Mapping[str, Any]) -> Iterator[tuple[str, Array]]:
    for name, value in values.items():
        if isinstance(value, list):
            yield from _arrays({f"{name}[{at}]": item for at, item in enumerate(value)})
        elif value is not None:
            yield name, _plain(np.asarray(value))


def _plain(array: Array) -> Array:
    """An array that numpy itself can write."""
    if array.dtype.kind == "O":
        return array.astype(np.str_)
    if array.dtype.isbuiltin != 1:
        return array.view(np.dtype(f"u{array.dtype.itemsize}"))
    return array


def _typed(array: Array, dtype: str) -> Array:
    """An array in the graph's own type, where the file's type only says how wide it is."""
    want = numpy_dtype(dtype)
    if want.kind == "O" and array.dtype.kind in "US":
        return array.astype(np.object_)
    same_bits = array.dtype.kind in "uV" and array.dtype.itemsize == want.itemsize
    if want.isbuiltin != 1 and same_bits and array.dtype != want:
        return array.view(want)
    return array
