"""Inputs and outputs of runs as `.npz` files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ge_core.api import Graph, InputFileError, write_atomically
from ge_runtime.dtypes import numpy_dtype
from ge_runtime.sources import input_name


def read_feeds(path: Path, graph: Graph) -> dict[str, Any]:
    """Inputs by name.

    numpy's format knows no bfloat16 and the like: such arrays come back as plain bytes of the right
    width and are read as what the graph declares.

    Raises:
        InputFileError: the file can't be read, or holds objects (which would be executed).
    """
    declared = {input_name(node): node.outputs[0].desc.dtype for node in graph.root.data_nodes}
    feeds: dict[str, Any] = {}
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise InputFileError("one array, not an archive of named ones", file=str(path))
            for name in archive.files:
                array = archive[name]
                if array.dtype.kind == "V" and declared.get(name) not in (None, "undefined"):
                    array = array.view(numpy_dtype(declared[name]))
                feeds[name] = array
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"can't be read: {reason}", file=str(path)) from error
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputFileError(f"not an .npz archive: {error}", file=str(path)) from error
    return feeds


def write_outputs(path: Path, outputs: Mapping[str, Any]) -> None:
    """Outputs by name; what is no tensor is left out. An existing file is replaced as a whole."""
    arrays = {name: value for name, value in outputs.items() if isinstance(value, np.ndarray)}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        # Not np.savez: it takes names as keywords and refuses "file".
        for name, array in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, np.asarray(array), allow_pickle=False)
            # A fixed date keeps equal outputs equal files.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), data.getvalue())
    write_atomically(path, stream.getvalue())
