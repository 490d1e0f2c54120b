"""Builds the graph of a model: nodes and edges. Types come later, from `ge_onnx.shapes`.

Nested graphs and function calls are read by generators that hand inner work to a driver, so that
the depth of nesting costs no Python stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnx import GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto

from ge_core.api import Graph, InputFileError, LimitExceeded, Node, OutputAnchor, TensorDesc
from ge_onnx import ops
from ge_onnx.proto.types import ABSENT, UNKNOWN, Bindings, read_info, type_desc
from ge_onnx.reading.constants import Constant, read_constant_node, read_initializers
from ge_onnx.reading.functions import Function, FunctionTable
from ge_onnx.reading.names import NameTable
from ge_onnx.reading.nodes import (
    bound_attributes,
    check_ports,
    listed,
    node_facts,
    plain_node,
    split_sizes,
)
from ge_onnx.reading.order import Sorter, subgraphs_of
from ge_onnx.reading.schemas import check_node, domain_name, read_opsets
from ge_onnx.reading.scope import CallSite, Scope
from ge_onnx.work import Work, drive


@dataclass
class Loaded:
    """A graph without types, and the types that the file declares.

    Attributes:
        declared: by value; claims of the file, to be believed only where nothing better is known.
    """

    graph: Graph
    declared: dict[OutputAnchor, TypeProto] = field(default_factory=dict)


class Loader:
    """Reads one model.

    Args:
        folder: where its external data lies.
        limit: how many nodes it may expand to.
        bindings: sizes of symbolic dimensions.
    """

    def __init__(
        self, model: ModelProto, folder: Path, limit: int, bindings: Bindings | None = None
    ) -> None:
        self._model = model
        self._folder = folder
        self._limit = limit
        self._bindings = bindings or {}
        self._sorter = Sorter()
        self._opsets = read_opsets(model.opset_import, "model")
        if not self._opsets:
            raise InputFileError("no opset is imported", field="opset_import")
        self._functions = FunctionTable(model.functions, self._opsets, self._sorter)
        if self._functions:
            self._functions.check_expansion(model.graph, limit)
        self._names = NameTable(_root_names(model.graph))
        self._constants: dict[int, tuple[NodeProto, Constant]] = {}
        self._sizes: dict[Node, None] = {}
        self._count = 0
        self._loaded = Loaded(Graph(model.graph.name or "graph", "onnx"))
        self._graph_names = NameTable([self._loaded.graph.name])

    def load(self) -> Loaded:
        """Read the model.

        Raises:
            InputFileError: naming node and field.
            LimitExceeded: it expands to too many nodes.
        """
        graph = self._loaded.graph
        graph.set_graph_attr("onnx.model", self._model_facts())
        scope = Scope(graph, self._opsets, add_data=self._add_data)
        drive(self._graph(self._model.graph, scope))
        for constant in self._sizes:
            if not constant.outputs[0].readers and ops.INPUT_INFO not in constant.attrs:
                assert constant.graph is not None
                constant.graph.remove(constant)
        return self._loaded

    def _model_facts(self) -> dict[str, Any]:
        model = self._model
        imports = dict(self._opsets)
        for function in self._functions:
            for domain, version in function.opsets.items():
                imports.setdefault(domain, version)
        facts: dict[str, Any] = {"ir_version": model.ir_version, "opset_imports": imports}
        for name in ("producer_name", "producer_version", "domain", "model_version", "doc_string"):
            if getattr(model, name):
                facts[name] = getattr(model, name)
        if model.metadata_props:
            facts["metadata"] = {entry.key: entry.value for entry in model.metadata_props}
        rest = ModelProto()
        for name in ("training_info", "configuration"):
            if getattr(model, name, None):
                getattr(rest, name).extend(getattr(model, name))
        if rest.ByteSize():
            facts["rest"] = rest.SerializeToString()
        return facts

    # ---- graphs --------------------------------------------------------------------------------

    def _graph(self, proto: GraphProto, scope: Scope) -> Work:
        graph = scope.graph
        self._set_graph_facts(graph, proto)
        constants = read_initializers(proto, self._folder)
        self._add_inputs(proto, scope, constants)
        for name, constant in constants.items():
            listed = ops.INPUT_INFO in constant.attrs
            unique = self._names.own(name) if listed else self._names.take(scope.prefix + name)
            self._add_const(scope, name, unique, constant)
        for node in self._sorter.sorted(proto.node):
            work = self._node(node, scope)
            if work is not None:
                yield work
        self._declare(scope, proto.value_info)
        self._add_outputs(proto, scope)
        self._declare(scope, proto.output)

    def _set_graph_facts(self, graph: Graph, proto: GraphProto) -> None:
        graph.set_graph_attr("onnx.name", proto.name)
        if proto.doc_string:
            graph.set_graph_attr("onnx.doc_string", proto.doc_string)
        if proto.metadata_props:
            facts = {entry.key: entry.value for entry in proto.metadata_props}
            graph.set_graph_attr("onnx.metadata", facts)
        if proto.value_info:
            infos = [read_info(info) for info in proto.value_info]
            graph.set_graph_attr("onnx.value_info", infos)
        if proto.quantization_annotation:
            notes = [note.SerializeToString() for note in proto.quantization_annotation]
            graph.set_graph_attr("onnx.quantization", notes)

    def _add_inputs(self, proto: GraphProto, scope: Scope, constants: dict[str, Constant]) -> None:
        # Before IR version 4 every initializer had to be listed as an input and none of them could
        # be overridden; since then a listed one is the default of an input.
        overridable = self._model.ir_version >= 4
        index = 0
        for at, info in enumerate(proto.input):
            if not info.name:
                raise InputFileError(f"input {at} has no name", field="graph.input")
            given = constants.get(info.name)
            if given is not None and scope.parent is not None:
                raise InputFileError(
                    f"{info.name!r} is both an input and an initializer of an inner graph",
                    field="graph.input",
                )
            if given is not None and not overridable:
                given.attrs[ops.INPUT_INFO] = {"at": at, **read_info(info)}
                continue
            key = "index" if scope.parent is None else "_parent_node_index"
            attrs = {key: index, ops.INPUT_INFO: {"at": at, **read_info(info)}}
            data = self._add_data(scope, info.name, attrs, self._input_desc(info, scope))
            if given is not None:
                _check_default(info, data.outputs[0].desc, given)
                scope.graph.set_value(data, given.value)
                for name, value in given.attrs.items():
                    scope.graph.set_attr(data, name, value)
                del constants[info.name]
            scope.define(info.name, data.outputs[0], info.name, "graph.input")
            index += 1

    def _input_desc(self, info: ValueInfoProto, scope: Scope) -> TensorDesc:
        try:
            desc = type_desc(info.type, self._bindings)
        except InputFileError as error:
            raise InputFileError(
                error.plain_message, node=info.name, field=f"graph.input.{error.field}"
            ) from error
        if scope.parent is None and info.type.WhichOneof("value") is None:
            raise InputFileError("the input has no type", node=info.name, field="graph.input")
        if scope.parent is None and desc.dtype == "undefined" and not desc.attrs:
            raise InputFileError(
                "the input has no element type", node=info.name, field="graph.input.elem_type"
            )
        return desc

    def _add_outputs(self, proto: GraphProto, scope: Scope) -> None:
        graph = scope.graph
        anchors: list[OutputAnchor] = []
        names = [info.name for info in proto.output]
        for at, name in enumerate(names):
            if not name or name in names[:at]:
                why = "is listed twice" if name else "has no name"
                raise InputFileError(f"output {name!r} {why}", field="graph.output")
            anchor = scope.read(name, name, "graph.output")
            if anchor is None:
                raise InputFileError(f"output {name!r} is absent", field="graph.output")
            anchors.append(anchor)
        stem = "NetOutput" if scope.parent is None else f"{graph.name}/NetOutput"
        node = self._add(
            scope,
            "NetOutput",
            self._names.take(stem),
            anchors,
            attrs={ops.OUTPUT_INFOS: [read_info(info) for info in proto.output]},
            input_names=names,
        )
        if scope.parent is not None:
            for port in node.inputs:
                graph.set_desc(port, UNKNOWN.with_attr("_parent_node_index", port.index))

    def _declare(self, scope: Scope, infos: Sequence[ValueInfoProto]) -> None:
        for info in infos:
            anchor = scope.values.get(info.name)
            if anchor is not None and anchor.node.graph is scope.graph:
                self._loaded.declared[anchor] = info.type

    # ---- nodes ---------------------------------------------------------------------------------

    def _node(self, node: NodeProto, scope: Scope) -> Work | None:
        function = self._functions.get(node)
        if function is not None:
            return self._call(node, function, scope)
        label = node.name or next((name for name in node.output if name), node.op_type)
        attributes = bound_attributes(node, scope.bindings)
        check_node(node, label, attributes, scope.opsets)
        if not domain_name(node.domain) and node.op_type in ops.CONTROL_FLOW:
            return self._control(node, scope)
        inner = next(subgraphs_of(node), None)
        if inner is not None:
            raise InputFileError(
                f"{node.op_type} runs a graph; only If, Loop and Scan may",
                node=label,
                field=inner[0],
            )
        if node.op_type == "Constant" and not domain_name(node.domain):
            self._constant(node, scope, label)
            return None
        plain = plain_node(node, label, attributes, scope.opsets, self._opsets, self._folder)
        inputs = [scope.read(name, label) if name else None for name in node.input]
        made = self._add(
            scope,
            plain.op,
            self._node_name(node, scope),
            inputs,
            [UNKNOWN if name else ABSENT for name in node.output],
            attrs=plain.attrs,
            output_names=[name and scope.prefix + name for name in node.output],
        )
        if plain.op == "SplitD" and len(inputs) == 2:
            sizes = split_sizes(made)
            if sizes is not None:
                self._sizes[sizes] = None
        self._define_outputs(node, made, scope)
        return None

    def _constant(self, node: NodeProto, scope: Scope, label: str) -> None:
        known = self._constants.get(id(node))
        if known is None:
            attributes = bound_attributes(node, scope.bindings)
            constant = read_constant_node(node, label, attributes, self._folder)
            if scope.prefix and not any(a.ref_attr_name for a in node.attribute):
                # Every call of a function shares the bytes of its constants.
                self._constants[id(node)] = (node, constant)
        else:
            constant = known[1]
        attrs = {**constant.attrs, **node_facts(node, ops.DOC, ops.METADATA, ops.REST)}
        made = self._add(
            scope,
            "Const",
            self._node_name(node, scope),
            outputs=[constant.desc],
            attrs=attrs,
            value=constant.value,
            output_names=[scope.prefix + node.output[0]],
        )
        self._define_outputs(node, made, scope)

    def _control(self, node: NodeProto, scope: Scope) -> Work:
        name = self._node_name(node, scope)
        attributes = bound_attributes(node, scope.bindings)
        plain = plain_node(node, name, attributes, scope.opsets, self._opsets, self._folder)
        inputs = [scope.read(item, name) if item else None for item in node.input]
        if node.op_type == "Loop":
            inputs += [None] * (2 - len(inputs))
        site = CallSite(len(inputs))
        graphs: dict[str, Graph] = {}
        outputs = 0
        for label, proto in listed(subgraphs_of(node)):
            outputs = check_ports(node, name, label, proto, attributes, scope.opsets[""])
            graph = self._loaded.graph.add_subgraph(self._graph_names.take(f"{name}/{label}"))
            graphs[label] = graph
            inner = Scope(
                graph,
                scope.opsets,
                scope.prefix,
                scope.bindings,
                parent=scope,
                site=site,
                add_data=self._add_data,
            )
            yield self._graph(proto, inner)
        given = [item and scope.prefix + item for item in node.output]
        made = self._add(
            scope,
            plain.op,
            name,
            [*inputs, *site.outer],
            [UNKNOWN] * outputs,
            attrs={**plain.attrs, "captured": len(site.outer)},
            output_names=given + [""] * (outputs - len(given)),
        )
        for label, graph in graphs.items():
            scope.graph.set_subgraph(made, label, graph)
        self._define_outputs(node, made, scope)

    def _call(self, node: NodeProto, function: Function, scope: Scope) -> Work:
        name = self._node_name(node, scope)
        message = function.message
        if len(node.input) > len(message.input) or len(node.output) > len(message.output):
            raise InputFileError(
                f"{len(node.input)} inputs and {len(node.output)} outputs; function "
                f"{message.name!r} has {len(message.input)} and {len(message.output)}",
                node=name,
                field="input",
            )
        bindings = bound_attributes(node, scope.bindings)
        for default in message.attribute_proto:
            bindings.setdefault(default.name, default)
        inner = Scope(
            scope.graph,
            function.opsets,
            f"{name}/",
            bindings,
            add_data=self._add_data,
        )
        given = [scope.read(item, name) if item else None for item in node.input]
        given += [None] * (len(message.input) - len(given))
        for formal, anchor in zip(message.input, given, strict=True):
            inner.define(formal, anchor, name, "function.input")
        for item in function.nodes:
            work = self._node(item, inner)
            if work is not None:
                yield work
        for actual, formal in zip(node.output, message.output, strict=False):
            if not actual:
                continue
            anchor = inner.read(formal, name, "function.output")
            scope.define(actual, anchor, name, "output")
            if anchor is not None and anchor not in given:
                _name_output(anchor, scope.prefix + actual)

    # ---- adding --------------------------------------------------------------------------------

    def _node_name(self, node: NodeProto, scope: Scope) -> str:
        if node.name and not scope.prefix and scope.parent is None:
            return self._names.own(node.name)
        stem = node.name or next((name for name in node.output if name), node.op_type)
        return self._names.take(scope.prefix + stem)

    def _define_outputs(self, node: NodeProto, made: Node, scope: Scope) -> None:
        if node.name and node.name != made.name and not scope.prefix:
            scope.graph.set_attr(made, ops.NODE_NAME, node.name)
        for name, anchor in zip(node.output, made.outputs, strict=False):
            if name:
                scope.define(name, anchor, made.name, "output")

    def _add(
        self,
        scope: Scope,
        op: str,
        name: str,
        inputs: Sequence[OutputAnchor | None] = (),
        outputs: Sequence[TensorDesc] = (),
        **facts: Any,
    ) -> Node:
        # The count before expansion leaves out the Data that captures add on every level that
        # they cross; nested calls can make many of them.
        self._count += 1
        if self._functions and self._count > 2 * self._limit:
            raise LimitExceeded(
                f"its function calls expand to more than {self._count} nodes",
                hint="set the environment variable GE_ONNX_MAX_NODES to allow more",
            )
        return scope.graph.add_node(op, name, inputs, outputs, **facts)

    def _add_data(self, scope: Scope, name: str, attrs: Any, desc: TensorDesc) -> Node:
        graph = scope.graph
        if scope.parent is None:
            unique = self._names.own(name)
        else:
            unique = self._names.take(f"{graph.name}/{name}")
        first = next(graph.nodes, None) if scope.last_data is None else None
        scope.last_data = self._add(
            scope,
            "Data",
            unique,
            outputs=[desc],
            attrs=attrs,
            output_names=[name],
            after=scope.last_data,
            before=first,
        )
        return scope.last_data

    def _add_const(self, scope: Scope, name: str, unique: str, constant: Constant) -> None:
        made = self._add(
            scope,
            "Const",
            unique,
            outputs=[constant.desc],
            attrs=constant.attrs,
            value=constant.value,
            output_names=[scope.prefix + name],
        )
        scope.define(name, made.outputs[0], unique, "graph.initializer")


def _check_default(info: ValueInfoProto, desc: TensorDesc, given: Constant) -> None:
    shape, default = desc.shape, given.desc.shape or ()
    fits = shape is None or (
        len(shape) == len(default)
        and all(a in (-1, b) for a, b in zip(shape, default, strict=True))
    )
    if desc.dtype != given.desc.dtype or not fits:
        raise InputFileError(
            f"its default is {given.desc!r}, its type {desc!r}",
            node=info.name,
            field="graph.initializer",
        )


def _name_output(anchor: OutputAnchor, name: str) -> None:
    names = list(anchor.node.output_names)
    names[anchor.index] = name
    anchor.node.output_names = tuple(names)


def _root_names(proto: GraphProto) -> list[str]:
    names = [info.name for info in proto.input]
    names += [node.name for node in proto.node]
    return [name for name in names if name]
