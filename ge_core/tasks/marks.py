"""First and last marks: which tasks open and close a run of their stream.

GE's rule: the tasks of a stream form runs, cut at label and stream switches (which belong to none)
and, with more than one stream, at nodes that own subgraphs. Within a run the first and the last
task of each kernel library are marked. A node without a task can be neither.
"""

from __future__ import annotations

from typing import Final

from ge_core.ir import Graph, Node
from ge_core.tasks.model import Task, TaskList

FIRST: Final = "is_first_node"
LAST: Final = "is_last_node"

SEPARATORS: Final = frozenset({"LabelSet", "LabelGotoEx", "LabelSwitchByIndex", "StreamSwitch"})

_LIBRARY_KEYS: Final = ("_ge_attr_op_kernel_lib_name", "op_kernel_lib")
_DEFAULT_LIBRARY: Final = "default"


def kernel_library(node: Node) -> str:
    """The kernel library that runs the node; empty where it names none, which means no task."""
    for key in _LIBRARY_KEYS:
        if key in node.attrs:
            return str(node.attrs[key] or "")
    return _DEFAULT_LIBRARY


def mark_first_and_last(tasks: list[Task], graph: Graph) -> None:
    """Set `first` and `last` on the tasks."""
    nodes = {task.node: graph.node(task.node) for task in tasks if not task.is_event}
    by_stream: dict[int, list[Task]] = {}
    for task in tasks:
        if not task.is_event:
            by_stream.setdefault(task.stream, []).append(task)
    several = len(by_stream) > 1
    for members in by_stream.values():
        run: list[Task] = []
        for task in members:
            node = nodes[task.node]
            if node.op in SEPARATORS or (several and task.kind == "call"):
                _mark_run(run, nodes)
                run = []
                continue
            run.append(task)
        _mark_run(run, nodes)


def _mark_run(run: list[Task], nodes: dict[str, Node]) -> None:
    last: dict[str, Task] = {}
    for task in run:
        library = kernel_library(nodes[task.node])
        if library not in last:
            task.first = True
        last[library] = task
    for task in last.values():
        task.last = True


def set_marks(graph: Graph, tasks: TaskList) -> None:
    """Write the marks onto the nodes (`is_first_node`, `is_last_node`), and drop stale ones.

    A node that several call paths share carries a mark where any of its tasks does.
    """
    first = {task.node for task in tasks.tasks if task.first}
    last = {task.node for task in tasks.tasks if task.last}
    for node in graph.all_nodes():
        for name, marked in ((FIRST, first), (LAST, last)):
            if node.name in marked and node.attrs.get(name) is not True:
                graph.set_attr(node, name, True)
            elif node.name not in marked:
                graph.del_attr(node, name)
