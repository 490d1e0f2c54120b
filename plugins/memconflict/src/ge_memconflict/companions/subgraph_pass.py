"""`SubgraphPass`: copies where the memory of a caller and that of a subgraph can't be one.

GE's rules, for graphs that come from GE. Where they come from ONNX the values of arms and turns are
copied at the ends of the call anyway, and what no rule of GE needs there is not copied twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from ge_core.api import CASE_OPS, IF_OPS, Graph, GraphPass, Interfaces, Node, PassContext
from ge_memconflict.companions.codes import SUBGRAPH
from ge_memconflict.companions.copying import KEPT, Copier
from ge_memconflict.companions.loops import loop_graphs, loop_inputs
from ge_memconflict.companions.marks import is_dynamic
from ge_memconflict.companions.subgraph_ends import Ends

_BRANCHES = IF_OPS | CASE_OPS


@dataclass(frozen=True)
class SubgraphPass(GraphPass, codes=SUBGRAPH):
    """Copies values at the ends of calls, branches and loops where callers need other memory."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at all graphs at once: the root's run does the work."""
        if not graph.is_root or graph.source == "onnx" or not graph.subgraphs:
            return
        copier, bodies = Copier(ctx), set[Graph]()
        ends = Ends(copier, Interfaces())
        for each in graph.all_graphs():
            if not each.is_root:
                _ends_of(each, ends)
            for node in list(each.nodes):
                if not node.subgraphs:
                    continue
                if ctx.ops.kind(node) == "while":
                    loop_inputs(node, copier)
                    loop_graphs(node, copier, bodies)
                elif node.op in _BRANCHES and not is_dynamic(each):
                    for arm in dict.fromkeys(node.subgraphs.values()):
                        _results_once(arm, copier)


def _ends_of(graph: Graph, ends: Ends) -> None:
    ends.inputs(graph)
    out = graph.net_output
    if out is not None:
        ends.results(graph, out)


def _results_once(arm: Graph, copier: Copier) -> None:
    """Copy each result of a node that has delivered one already."""
    out = arm.net_output
    if out is None:
        return
    first: dict[Node, str] = {}
    for anchor in out.inputs:
        value = anchor.source
        if value is None:
            continue
        known = first.setdefault(value.node, repr(anchor))
        if known == repr(anchor):
            continue
        copier.in_front(
            anchor,
            f"{value.node.name}_output_{value.index}_Memcpy",
            "RESULT_TWICE",
            attrs=KEPT,
            value=value,
            other=known,
        )
