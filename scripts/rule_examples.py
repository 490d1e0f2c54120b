"""The examples of rules as pages show them: the graph, the remark that it really gets, and GE."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from ge_core.cases import Case
from ge_core.cases.runner import run_outcome
from ge_core.ir import Graph, Node, OutputAnchor, TensorDesc
from ge_core.session.journey import journey_of
from ge_core.session.journey_words import lines_of
from ge_core.session.kernel import Kernel, default_kernel
from ge_core.session.story import tell
from ge_core.testing.rule_examples import examples_in, remark_of

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDERS: Final = sorted((ROOT / "plugins").glob("*/examples"))
TRACES: Final = "traces"
MATRIX: Final = "matrix"
"""Folders of examples that are named after a trace rule, or an entry of the read/write matrix."""
_USUAL: Final = TensorDesc.make()


def examples() -> dict[tuple[str, str], Case]:
    """The examples of reasons, by pass and code."""
    others = (TRACES, MATRIX)
    return {key: example for key, example in all_examples().items() if key[0] not in others}


@cache
def all_examples() -> dict[tuple[str, str], Case]:
    """Every example by its folder and name."""
    found = [example for folder in FOLDERS for example in examples_in(folder)]
    return {(example.path.parent.name, example.path.stem): example for example in found}


def named_examples(folder: str) -> dict[str, Case]:
    """The examples of traces or of the matrix, by name."""
    return {name: example for (owner, name), example in all_examples().items() if owner == folder}


def shown(example: Case, *, story: bool = False) -> str:
    """An example in Markdown: why, the graph, the remark, what GE does."""
    kernel = default_kernel()
    node, _ = remark_of(example)
    parts = [example.why, _fence("\n".join(_graph(example.build())))]
    options = ", ".join(f"`{name}={value}`" for name, value in example.options.items())
    parts.append(f"With {options}:" if options else "")
    parts.append(_fence(said(example, node, kernel, story=story)))
    ge, differs = example.extra.get("ge", ""), example.extra.get("differs", ())
    links = ", ".join(f"[{name}](ge-differences.md#{name.lower()})" for name in differs)
    parts.append(f"**GE:** {ge}{f' ({links})' if links else ''}" if ge else "")
    return "\n\n".join(part for part in parts if part)


def said(example: Case, node: str, kernel: Kernel, *, story: bool) -> str:
    """The final remark as it comes out, with the story behind it?"""
    outcome = run_outcome(example, kernel)
    final = outcome.remarks.last_word(node)
    assert final is not None, f"{example.path}: no remark on {node}"
    lines = [tell(final)]
    if story:
        journey = journey_of(node, example.build(), outcome.graph, final, kernel)
        lines += [] if journey is None else lines_of(journey)
    return "\n".join(lines)


def _fence(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def _graph(root: Graph) -> Iterator[str]:
    """A line per node; descriptions that are as usual are left out."""
    for graph in root.all_graphs():
        if graph.attrs:
            yield f"# {_attrs(graph.attrs)}"
        if not graph.is_root:
            yield f"{graph.name}:"
        indent = "" if graph.is_root else "  "
        yield from (indent + _line(node) for node in graph.nodes)


def _line(node: Node) -> str:
    inputs = ", ".join("nothing" if a.source is None else str(a.source) for a in node.inputs)
    described = [text for output in node.outputs if (text := _desc(output))]
    parts = [f"{node.name} = {node.op}({inputs})"]
    if described:
        parts.append(": " + ", ".join(described))
    if node.attrs:
        parts.append("{" + _attrs(node.attrs) + "}")
    if node.control_inputs:
        parts.append("after " + ", ".join(other.name for other in node.control_inputs))
    parts += [f"{label}={sub.name}" for label, sub in node.subgraphs.items()]
    return " ".join(parts)


def _attrs(attrs: object) -> str:
    assert hasattr(attrs, "items")
    return ", ".join(f"{name}={value!r}" for name, value in sorted(attrs.items()))


def _desc(output: OutputAnchor) -> str:
    desc = output.desc
    found = []
    if (desc.dtype, desc.shape, desc.format) != (_USUAL.dtype, _USUAL.shape, _USUAL.format):
        found.append(repr(desc))
    if desc.mem_type != _USUAL.mem_type:
        found.append(f"in {desc.mem_type}")
    if desc.reuse_input is not None:
        found.append(f"in the memory of input {desc.reuse_input}")
    if desc.attrs:
        found.append("{" + _attrs(desc.attrs) + "}")
    name = "" if len(output.node.outputs) == 1 or not found else f":{output.index} "
    return name + " ".join(found)
