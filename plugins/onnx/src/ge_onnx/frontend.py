"""The frontend: reads ONNX models, opset 7 and newer, into graphs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ge_core.api import Graph, InputFileError, LimitExceeded, collector_paused
from ge_onnx.reading.files import read_model
from ge_onnx.reading.given_shapes import bind, fix_inputs
from ge_onnx.reading.loader import Loader
from ge_onnx.reading.schema_functions import expand_graph_ops
from ge_onnx.reading.text import check_text
from ge_onnx.shapes import infer

MAX_NODES: Final = 500_000
"""Nodes that a model's function calls may expand to; `GE_ONNX_MAX_NODES` overrides it."""


class OnnxFrontend:
    """Reads `.onnx` files; the driver `onnx` of the kernel's frontends."""

    suffixes = (".onnx",)

    def load(
        self, path: str | Path, *, input_shapes: Mapping[str, Sequence[int]] | None = None
    ) -> Graph:
        """Read a model.

        Weights in external files are found and measured, not read.

        Args:
            path: the file.
            input_shapes: sizes for inputs whose dimensions the model leaves open. They make more
                of the graph's shapes known; the model's own description of its inputs stays.

        Raises:
            InputFileError: the file is no model that can be read; names file, node and field.
            LimitExceeded: its function calls expand to too many nodes.
            UsageError: `input_shapes` names no input, or contradicts its type.
        """
        path = Path(path)
        model = read_model(path)
        shapes = dict(input_shapes or {})
        try:
            check_text(model)
            bindings = bind(model, shapes)
            model = expand_graph_ops(model)
            with collector_paused():
                loaded = Loader(model, path.parent, _limit(), bindings).load()
                fix_inputs(loaded.graph, shapes)
                infer(loaded.graph, loaded.declared, bindings)
        except InputFileError as error:
            raise error.in_file(str(path)) from error
        except LimitExceeded as error:
            raise LimitExceeded(f"{path}: {error.message}", hint=error.hint) from error
        return loaded.graph


def _limit() -> int:
    text = os.environ.get("GE_ONNX_MAX_NODES", "")
    return int(text) if text.isascii() and text.isdigit() else MAX_NODES
