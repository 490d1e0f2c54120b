"""Interface: inputs and outputs are the original's, and share memory only as they did."""

from __future__ import annotations

from ge_core.ir import Graph, TensorDesc
from ge_core.proof.frames import Frame
from ge_core.proof.reference import Reference
from ge_core.proof.regions import Regions
from ge_core.proof.result import Findings

_Port = tuple[str, TensorDesc | None]


def check_interface(original: Graph, compiled: Graph, findings: Findings) -> None:
    """Compare names, number, order, shapes and dtypes of inputs and outputs."""
    _compare("input", _inputs(original), _inputs(compiled), findings)
    before, after = _outputs(original), _outputs(compiled)
    if before is None or after is None:
        if (before is None) != (after is None):
            text = "a NetOutput" if after is None else "no NetOutput"
            findings.add("interface", compiled.name, expected=text, found="the contrary")
        return
    _compare("output", before, after, findings)


def check_shared_outputs(
    root: Frame, reference: Reference, regions: Regions, findings: Findings
) -> None:
    """Two outputs may share bytes only where they were one memory before."""
    out = root.graph.net_output
    if out is None:
        return
    placed = [
        (regions.of(root, anchor.source), anchor.index)
        for anchor in out.inputs
        if anchor.source is not None
    ]
    placed.sort(key=lambda item: (item[0].pool, item[0].start, item[1]))
    for number, (region, at) in enumerate(placed):
        for other, other_at in placed[number + 1 :]:
            if other.pool != region.pool or other.start >= region.end:
                break
            if not region.overlaps(other) or _same_cell(reference, at, other_at):
                continue
            findings.add(
                "interface",
                out.name,
                input=max(at, other_at),
                range=(region.pool, other.start, min(region.end, other.end)),
                expected=f"bytes apart from output {min(at, other_at)}",
                found="bytes of both",
            )


def _same_cell(reference: Reference, one: int, other: int) -> bool:
    outputs = reference.outputs
    if max(one, other) >= len(outputs):
        return False
    cell = outputs[one][1]
    return cell is not None and cell is outputs[other][1]


def _inputs(graph: Graph) -> list[_Port]:
    return [(node.name, node.outputs[0].desc) for node in graph.root.data_nodes if node.outputs]


def _outputs(graph: Graph) -> list[_Port] | None:
    out = graph.root.net_output
    if out is None:
        return None
    return [(anchor.name, anchor.desc) for anchor in out.inputs]


def _compare(what: str, before: list[_Port], after: list[_Port], findings: Findings) -> None:
    if len(before) != len(after):
        findings.add(
            "interface",
            f"{what}s",
            expected=f"{len(before)} {what}s",
            found=f"{len(after)}",
        )
    for at, (old, new) in enumerate(zip(before, after, strict=False)):
        if _facts(old) != _facts(new):
            findings.add(
                "interface",
                new[0] or f"{what} {at}",
                input=at if what == "output" else None,
                expected=f"{what} {at} {_text(old)}",
                found=_text(new),
            )


def _facts(port: _Port) -> tuple[object, ...]:
    name, desc = port
    return (name,) if desc is None else (name, desc.dtype, desc.shape)


def _text(port: _Port) -> str:
    name, desc = port
    return f"{name or '(no name)'} {desc!r}"
