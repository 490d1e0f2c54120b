"""Makes the one change that a remark's hint names, to see whether the copy goes then."""

from __future__ import annotations

from typing import Final

from ge_core.ir import Graph, Node
from ge_core.passes.remarks import Hint

ARROW: Final = " -> "


def options_of(hint: Hint) -> dict[str, str]:
    """The option that a hint wants set; nothing for other hints."""
    name, given, value = hint.value.partition("=")
    return {name: value} if hint.kind == "set" and given else {}


def follow(hint: Hint, graph: Graph) -> bool:
    """Make a hint's edit in a graph.

    Returns:
        whether there was one to make: False for options, for sentences, and where the graph has
        nothing of those names.
    """
    if hint.kind == "unmark":
        name, _, mark = hint.value.rpartition(" ")
        node = graph.root.find(name)
        if node is None or mark not in node.attrs:
            return False
        _home(node).del_attr(node, mark)
        return True
    ends = [graph.root.find(name) for name in hint.value.split(ARROW)]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0].graph is not ends[1].graph:
        return False
    home = _home(ends[0])
    if hint.kind == "cut":
        return home.remove_control(ends[0], ends[1])
    return hint.kind == "edge" and home.add_control(ends[0], ends[1])


def _home(node: Node) -> Graph:
    assert node.graph is not None
    return node.graph
