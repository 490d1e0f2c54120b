"""Names of values: those of the file where they are still free, and never two alike in a model.

That inner graphs reuse no outer name is more than ONNX asks for; it makes captures safe.
"""

from __future__ import annotations

from dataclasses import dataclass

from ge_core.api import Graph, InputFileError, Node, OutputAnchor
from ge_onnx import ops
from ge_onnx.reading.names import NameTable
from ge_onnx.writing.constants import is_initializer

Names = dict[OutputAnchor, str]


@dataclass
class GraphNames:
    """The names of one graph's values.

    Attributes:
        values: by output; empty for what the model leaves out.
        outputs: the name of each of the graph's outputs.
        copies: (value, name) for outputs that need an Identity to have their name.
    """

    values: Names
    outputs: list[str]
    copies: list[tuple[OutputAnchor, str]]


def interface_names(graph: Graph) -> list[str]:
    """Names of a root graph's inputs and outputs, which nothing else may take."""
    return [*(input_name(data) for data in graph.data_nodes), *output_names(graph)]


def input_name(data: Node) -> str:
    """The name under which a Data came, or gets its first one."""
    info = data.attrs.get(ops.INPUT_INFO)
    return str(info["name"]) if info else preferred_name(data.outputs[0])


def output_names(graph: Graph) -> list[str]:
    """The names of a graph's outputs."""
    end = graph.net_output
    if end is None:
        return []
    given = end.input_names
    return [
        given[at] if at < len(given) and given[at] else f"output_{at}"
        for at in range(len(end.inputs))
    ]


def preferred_name(output: OutputAnchor) -> str:
    """The name of a value in the file, or one made of its node's."""
    if output.name:
        return output.name
    return output.node.name if output.index == 0 else f"{output.node.name}_{output.index}"


def captured_from(caller: Node | None) -> int:
    """The first input of a control-flow node that its graphs see as a captured value."""
    if caller is None:
        return 1 << 62
    return len(caller.inputs) - int(caller.attrs.get("captured", 0))


def name_values(
    graph: Graph, nodes: list[Node], caller: Node | None, outer: Names, table: NameTable
) -> GraphNames:
    """Name everything in one graph.

    Args:
        nodes: of the graph, in the order of the file.
        caller, outer: the node that runs it, and the names around that.
        table: of the whole model.

    Raises:
        InputFileError: an output that nothing feeds, or a captured value that is absent.
    """
    found = GraphNames({}, [], [])
    for data in graph.data_nodes:
        found.values[data.outputs[0]] = _data_name(data, caller, outer, table)
    end = graph.net_output
    for anchor, wanted in zip([] if end is None else end.inputs, output_names(graph), strict=True):
        if anchor.source is None:
            assert end is not None
            raise InputFileError(f"output {wanted!r} is not connected", node=end.name)
        _name_output(graph, anchor.source, wanted, caller, table, found)
    for node in nodes:
        for output in node.outputs:
            if output not in found.values:
                absent = bool(node.output_names) and not output.name and not output.readers
                name = "" if absent else table.take(preferred_name(output))
                found.values[output] = name
    return found


def _data_name(data: Node, caller: Node | None, outer: Names, table: NameTable) -> str:
    if caller is None:
        return table.own(input_name(data))
    at = int(data.attrs["_parent_node_index"])
    if at < captured_from(caller):
        return table.take(input_name(data))
    source = caller.inputs[at].source
    if source is None:
        raise InputFileError("it reads an input that is absent", node=data.name)
    return outer[source]


def _name_output(
    graph: Graph,
    source: OutputAnchor,
    wanted: str,
    caller: Node | None,
    table: NameTable,
    found: GraphNames,
) -> None:
    known = found.values.get(source)
    if _is_direct(graph, source, wanted, caller, found):
        assert known is not None
        found.outputs.append(known)
        return
    name = table.own(wanted) if graph.is_root else table.take(wanted)
    found.outputs.append(name)
    if known is not None or (is_initializer(source.node) and preferred_name(source) != wanted):
        found.copies.append((source, name))
    else:
        found.values[source] = name


def _is_direct(
    graph: Graph, source: OutputAnchor, wanted: str, caller: Node | None, found: GraphNames
) -> bool:
    """Whether an input is an output under its own name, as it was in the file."""
    if source.node.op != "Data" or input_name(source.node) != wanted:
        return False
    if graph.is_root:
        return True
    formal = int(source.node.attrs["_parent_node_index"]) < captured_from(caller)
    return formal and found.values[source] not in found.outputs
