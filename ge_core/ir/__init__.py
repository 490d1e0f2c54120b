"""The graph that everything works on: nodes, anchors, descriptions, and their JSON form."""

from ge_core.ir.builder import GraphBuilder
from ge_core.ir.clone import clone
from ge_core.ir.collector import collector_paused, collector_rare
from ge_core.ir.desc import UNKNOWN_DIM, Shape, TensorDesc
from ge_core.ir.graph import Graph, crosses_streams
from ge_core.ir.journal import Journal, Transaction
from ge_core.ir.json_form import (
    load_graph_file,
    load_json,
    read_graph,
    save_graph_file,
    write_atomically,
    write_graph,
)
from ge_core.ir.node import InputAnchor, Node, OutputAnchor
from ge_core.ir.printer import print_graph, structural_hash
from ge_core.ir.value import ConstValue
from ge_core.ir.verifier import check_acyclic, verify

__all__ = [
    "UNKNOWN_DIM",
    "ConstValue",
    "Graph",
    "GraphBuilder",
    "InputAnchor",
    "Journal",
    "Node",
    "OutputAnchor",
    "Shape",
    "TensorDesc",
    "Transaction",
    "check_acyclic",
    "collector_paused",
    "collector_rare",
    "crosses_streams",
    "clone",
    "load_graph_file",
    "load_json",
    "print_graph",
    "read_graph",
    "save_graph_file",
    "structural_hash",
    "verify",
    "write_atomically",
    "write_graph",
]
