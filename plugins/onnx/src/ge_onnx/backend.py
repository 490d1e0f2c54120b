"""The backend: writes graphs that came from ONNX as ONNX models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # has no stubs

from ge_core.api import Graph, InputFileError, Plan, UsageError, write_atomically
from ge_onnx.writing.external import ExternalData
from ge_onnx.writing.writer import Writer

_DAMAGED = (DecodeError, AttributeError, LookupError, TypeError, ValueError)
"""What building a message from somebody's JSON may raise."""


class OnnxBackend:
    """Writes `.onnx` files; the driver `onnx` of the kernel's backends."""

    suffixes = (".onnx",)

    def save(
        self,
        graph: Graph,
        path: str | Path,
        *,
        plan: Plan | None = None,
        source_path: str | Path | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Write a model with the interface of the one that the graph came from.

        Names, order, types and symbolic dimensions of inputs and outputs are the original's, so
        are opsets, notes and the types it declared. Memory marks have no ONNX form and are left
        out; an edge that only orders is kept by the order of the nodes. External weights stay
        external; their file is copied where the model goes to another folder. The model appears
        under its name as a whole, after its data files.

        Args:
            plan: summed up in the model's metadata under `ge.plan`; the input shapes that it
                holds for, where the caller gave some, stand under `ge.input_shapes`.
            source_path: the model that the graph came from; not needed.
            metadata: further entries of the model's metadata.

        Raises:
            UsageError: the graph came from GE.
            InputFileError: something in it has no ONNX form, external data is missing, or the
                file can't be written.
        """
        path = Path(path)
        if graph.source != "onnx":
            raise UsageError(
                f"a graph from GE can't be written to {path.name!r}: its ops have no ONNX form",
                hint="write a .json file",
            )
        notes = dict(metadata or {})
        if plan is not None:
            notes["ge.plan"] = json.dumps(plan_summary(plan), sort_keys=True)
            if "onnx.shapes" in graph.attrs:
                notes["ge.input_shapes"] = json.dumps(graph.attrs["onnx.shapes"], sort_keys=True)
        external = ExternalData(path, _inline_bytes(graph))
        try:
            model = Writer(graph, external).model()
            kept = [entry for entry in model.metadata_props if entry.key not in notes]
            del model.metadata_props[:]
            model.metadata_props.extend(kept)
            for key in sorted(notes):
                model.metadata_props.add(key=key, value=notes[key])
            data = model.SerializeToString(deterministic=True)
        except InputFileError as error:
            raise error.in_file(str(path)) from error
        except _DAMAGED as error:
            text = " ".join(str(error).split())[:200]
            raise InputFileError(
                f"the graph's ONNX attributes are damaged: {type(error).__name__}: {text}",
                file=str(path),
            ) from error
        external.write()
        write_atomically(path, data)


def plan_summary(plan: Plan) -> dict[str, Any]:
    """What a model says of its plan: bytes per pool, and how many tensors have no place in it."""
    return {
        "schema": "ge-plan-summary/1",
        "pools": {
            name: {"bytes": totals.bytes, "lower_bound": totals.lower_bound}
            for name, totals in plan.pools.items()
        },
        "unplanned": len(plan.unplanned),
    }


def _inline_bytes(graph: Graph) -> int:
    return sum(
        node.value.nbytes
        for node in graph.all_nodes()
        if node.value is not None and node.value.file is None
    )
