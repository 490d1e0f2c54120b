"""The page about the ops that somebody declared: what each does with memory."""

from __future__ import annotations

from collections.abc import Iterable

from ge_core.ops import ALL, OpTraits
from scripts.markdown import code, codes, page, table
from scripts.registry_pages import registries

INTRO = """\
What an op does with memory is declared, in [traits](ops.md#what-an-op-does-with-memory); this is
all that the project's own packages declare. A plugin declares more with
[`ge_register_ops`](hooks.md#ge_register_ops). An op that nobody declared is an ordinary reader
with outputs of its own, which the proof lists as an assumption. In graphs from GE, attributes say
the rest: [ops and attributes](ops.md#attributes-that-say-what-a-node-does)."""


def op_traits() -> str:
    """The ops with traits in a table, the ordinary ones in a list, and those that are computed."""
    graphs: dict[OpTraits, list[str]] = {}
    for source, traits in registries().ops:
        graphs.setdefault(traits, []).append(source)
    special = {t: where for t, where in graphs.items() if t.kind != "compute" or facts(t)}
    rows = (
        [code(t.op), " and ".join(special[t]), t.kind, "; ".join(facts(t)), _package(t)]
        for t in sorted(special, key=lambda t: (t.op.lower(), t.op, special[t]))
    )
    ordinary = {
        source: [t.op for t, where in graphs.items() if source in where and t not in special]
        for source in ("ge", "onnx")
    }
    return page(
        "Traits of ops",
        INTRO,
        table(["op", "graphs from", "kind", "memory", "package"], rows),
        "## Ordinary ops",
        "They are of kind `compute`, only read their inputs, and write outputs of their own. "
        "The proof takes them for functions of their inputs.",
        _listed("From GE", ordinary["ge"]),
        _listed("From ONNX", ordinary["onnx"]),
        "## What the executor computes of GE's ops",
        "Of graphs from GE these have a kernel. What else is of kind `compute` gets "
        "[a stand-in](ops.md#what-ge-run-computes), as do these where their shapes, dtypes or "
        "attributes say nothing that can be computed. For ops of ONNX there is no stand-in.",
        _listed("With a kernel", computed()),
    )


def facts(traits: OpTraits) -> list[str]:
    """What an op does besides reading its inputs and writing fresh outputs; nothing for most."""
    found = []
    if traits.writes:
        found.append(f"writes {_inputs(traits.writes)}")
    if traits.scribbles:
        found.append(f"destroys {_inputs(traits.scribbles)}")
    found += [f"output {out} is input {inp}'s memory" for out, inp in traits.aliases]
    for output in dict.fromkeys(out for out, _ in traits.inplace):
        inputs = [inp for out, inp in traits.inplace if out == output]
        found.append(f"output {output} may lie on input {' or '.join(map(str, inputs))}")
    if traits.shape_only:
        found.append(f"reads only the shape of {_inputs(traits.shape_only)}")
    words = {
        "outputs are cleared first": traits.atomic,
        "collective": traits.collective,
        "side effect": traits.side_effect,
        "two runs may differ": traits.nondeterministic,
        "reads rows with gaps": traits.strided_in,
        "writes rows with gaps": traits.strided_out,
        "the proof looks inside": traits.expansion is not None,
    }
    return found + [word for word, holds in words.items() if holds]


def computed() -> list[str]:
    """GE's ops that have a kernel."""
    return [k.op for k in registries().kernels if k.op and k.source != "onnx"]


def _inputs(indices: tuple[int, ...]) -> str:
    if ALL in indices:
        return "every input"
    return ", ".join(f"input {index}" for index in indices)


def _package(traits: OpTraits) -> str:
    return code((traits.owner or "ge_core").split(" ")[0])


def _listed(title: str, ops: Iterable[str]) -> str:
    return f"{title}: {codes(sorted(set(ops)))}."
