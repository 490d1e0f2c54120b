"""Files whose calls and subgraphs don't fit together: one error that names the place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ge_core as ge
from ge_core.errors import GraphError, InputFileError
from ge_core.ir import GraphBuilder, read_graph, write_graph


def described() -> dict[str, Any]:
    """A call that hands its input to a subgraph and reads its one result, as a file has it."""
    build = GraphBuilder("n")
    inner = build.subgraph("f")
    inner.net_output(inner.op("Relu", inner.data("d", index=0), name="e"))
    call = build.op("PartitionedCall", build.data("x"), name="call", subgraphs={"f": inner})
    build.net_output(build.op("Exp", call, name="use"))
    return write_graph(build.graph)


def inner_node(told: dict[str, Any], op: str) -> dict[str, Any]:
    """The first node of a type in the subgraph."""
    (part,) = told["subgraphs"]
    found: dict[str, Any] = next(node for node in part["nodes"] if node["op"] == op)
    return found


def far_input(told: dict[str, Any]) -> None:
    """The Data stands for an input that the call hasn't."""
    inner_node(told, "Data")["attrs"]["_parent_node_index"] = 5


def far_result(told: dict[str, Any]) -> None:
    """The NetOutput delivers an output that the call hasn't."""
    inner_node(told, "NetOutput")["input_descs"][0]["attrs"]["_parent_node_index"] = 7


def no_end(told: dict[str, Any]) -> None:
    """The subgraph delivers nothing."""
    nodes = told["subgraphs"][0]["nodes"]
    nodes.remove(inner_node(told, "NetOutput"))


def more_outputs(told: dict[str, Any]) -> None:
    """Somebody reads an output of the call that nobody makes."""
    call = next(node for node in told["nodes"] if node["name"] == "call")
    call["outputs"].append(dict(call["outputs"][0]))
    next(node for node in told["nodes"] if node["name"] == "use")["inputs"] = ["call:1"]


def one_for_both(told: dict[str, Any]) -> None:
    """The call becomes an If whose arms are one subgraph."""
    call = next(node for node in told["nodes"] if node["name"] == "call")
    call["op"], call["subgraphs"] = "If", {"then_branch": "f", "else_branch": "f"}


CASES: dict[str, tuple[Callable[[dict[str, Any]], None], str, str]] = {
    "far input": (far_input, "d", "stands for input 5 of 'call', which has 1"),
    "far result": (far_result, "f/NetOutput", "delivers output 7 of 'call', which has 1"),
    "no end": (no_end, "call", r"does not make output 0, which is read: it has no NetOutput"),
    "one for both": (one_for_both, "call", "'f' is both its then_branch and its else_branch"),
    "more outputs": (more_outputs, "call", "does not make output 1, which is read"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_does_not_fit_is_said_of_the_file(case: str, tmp_path: Path) -> None:
    """File, node and what is wrong, before anything is compiled."""
    spoil, node, text = CASES[case]
    told = described()
    spoil(told)
    path = tmp_path / "n.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(InputFileError, match=text) as caught:
        ge.compile(path)
    assert f"{path}: node {node!r}, field" in str(caught.value)
    assert caught.value.hint is not None


def test_what_nobody_reads_need_not_be_made(tmp_path: Path) -> None:
    """GE's own files have such outputs."""
    told = described()
    call = next(node for node in told["nodes"] if node["name"] == "call")
    call["outputs"].append(dict(call["outputs"][0]))
    path = tmp_path / "n.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    ge.compile(path).check_proof()


MARKS = (
    "_cannot_be_deleted _input_mutable _no_padding_continuous_input _no_padding_continuous_output"
    " _no_task _output_reuse_input continuous_input continuous_output reference"
).split()
ODD = [
    *((mark, value) for mark in MARKS for value in ("x", None, -1, [1])),
    *((name, value) for name in ("concat_dim", "split_dim") for value in ("x", 1.5, None, True)),
    ("rw", {"inputs": {"0": "wrt"}}),
    ("_reuse_input_on_dim_index", -1),
]


@pytest.mark.parametrize(("name", "value"), ODD, ids=[f"{n}={v!r}" for n, v in ODD])
def test_an_attribute_that_is_read_must_be_readable(name: str, value: object) -> None:
    """Node, field and what may stand there."""
    told = described()
    told["nodes"][-2].setdefault("attrs", {})[name] = value
    with pytest.raises(GraphError, match="is not") as caught:
        read_graph(told)
    assert f"attrs.{name}" == caught.value.field


@pytest.mark.parametrize("value", [True, False, 0, 1])
def test_a_mark_may_be_a_number(value: object) -> None:
    """Files of other makers have 0 and 1."""
    told = described()
    told["nodes"][-2].setdefault("attrs", {})["reference"] = value
    read_graph(told)
