"""Graph inputs that come back as graph outputs at the same address, updated on the way.

The caller declares the two to have one address (`ge.exec.outputReuseInputMemIndexes`), and the plan
has the updates work there where nobody needs the old value any more. Here those who need it are
made to come first.
"""

from __future__ import annotations

from collections.abc import Iterator

from ge_core.api import PAIRS_OPTION, read_pairs
from ge_tensormove.writeback.chain import Chain
from ge_tensormove.writeback.scene import Scene


def has_pairs(declared: str | None) -> bool:
    """Whether the caller has declared any."""
    return bool(read_pairs(declared).pairs)


def returned(scene: Scene) -> Iterator[Chain]:
    """The chains from declared inputs to their outputs that consist of updates alone.

    Where there are copies it is their removal that is asked about, by the passes for that.
    """
    root = scene.known.root
    out = root.net_output
    inputs = {node.attrs.get("index"): node for node in root.data_nodes}
    for index, output in read_pairs(scene.ctx.option(PAIRS_OPTION)).pairs:
        node = inputs.get(index)
        if node is None or out is None or not 0 <= output < len(out.inputs):
            continue
        end = out.inputs[output]
        if end.source is None:
            continue
        chain = scene.chains.to(end, node.outputs[0])
        if chain.is_closed and chain.links and not any(link.is_copy for link in chain.links):
            yield chain
