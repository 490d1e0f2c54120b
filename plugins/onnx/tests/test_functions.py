"""A model's own functions are expanded where they are called."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, parser

from ge_core.api import Graph, InputFileError, LimitExceeded
from ge_onnx.frontend import OnnxFrontend

Load = Callable[..., Graph]
HEADER = '<ir_version: 10, opset_import: ["": 20, "my": 1]>\n'


def test_calls_become_their_nodes(load: Load, interpret: Callable[..., dict[str, Any]]) -> None:
    """Every call gets nodes of its own, named after it; results keep the caller's names."""
    graph = load(
        parser.parse_model(
            HEADER
            + """g (float[2] x) => (float[2] y) { [f1] a = my.F(x) [f2] y = my.F(a) }
            <opset_import: ["": 20], domain: "my">
            F (i) => (o) { t = Add(i, i) o = Neg(t) }"""
        )
    )
    assert [n.name for n in graph.nodes] == ["x", "f1/t", "f1/o", "f2/t", "f2/o", "NetOutput"]
    assert graph.node("f1/o").output_names == ("a",)
    x = np.array([1, 2], np.float32)
    assert interpret(graph, {"x": x})["y"].tolist() == [4, 8]


def test_attributes_are_bound(load: Load) -> None:
    """A reference is the call's attribute, else the default, else the attribute is left out."""
    graph = load(
        parser.parse_model(
            HEADER
            + """g (float[2,3] x) => (float[2,3] a, float[2,3] b) {
              [a] a = my.F<axis = 0>(x)
              [b] b = my.F(x)
            }
            <opset_import: ["": 20], domain: "my">
            F <axis, alpha: float = 0.5> (i) => (o) {
              t = Softmax<axis: int = @axis>(i)
              o = Elu<alpha: float = @alpha>(t)
            }"""
        )
    )
    assert graph.node("a/t").attrs["onnx.axis"] == 0
    assert "onnx.axis" not in graph.node("b/t").attrs
    assert graph.node("a/o").attrs["onnx.alpha"] == 0.5


def test_functions_see_no_outer_names(load: Load) -> None:
    """A name that is not the function's own is an error, although the caller has it."""
    with pytest.raises(InputFileError, match="nothing produces 'x'"):
        load(
            parser.parse_model(
                HEADER
                + """g (float[2] x) => (float[2] y) { y = my.F(x) }
                <opset_import: ["": 20], domain: "my"> F (i) => (o) { o = Add(i, x) }"""
            )
        )


def test_captures_out_of_a_function(load: Load, interpret: Callable[..., dict[str, Any]]) -> None:
    """A branch inside a function captures the function's arguments."""
    graph = load(
        parser.parse_model(
            HEADER
            + """g (bool c, float[2] x) => (float[2] y) { y = my.F(c, x) }
            <opset_import: ["": 20], domain: "my">
            F (p, i) => (o) {
              o = If(p) <
                then_branch = t () => (float[2] a) { a = Neg(i) },
                else_branch = e () => (float[2] b) { b = Abs(i) }
              >
            }"""
        )
    )
    (node,) = graph.nodes_of("If")
    assert [repr(a.source) for a in node.inputs] == ["c:0", "x:0"]
    x = np.array([1, -2], np.float32)
    assert interpret(graph, {"c": np.array(True), "x": x})["y"].tolist() == [-1, 2]


def test_versions_of_their_own(load: Load, interpret: Callable[..., dict[str, Any]]) -> None:
    """A function's nodes follow the opsets that the function imports."""
    graph = load(
        parser.parse_model(
            HEADER
            + """g (float[2,3,4] x) => (float[2,3,4] y) { y = my.F(x) }
            <opset_import: ["": 11], domain: "my"> F (i) => (o) { o = Softmax<axis = 1>(i) }"""
        )
    )
    (node,) = graph.nodes_of("Softmax")
    assert node.attrs["_onnx_opset"] == 11
    found = interpret(graph, {"x": np.zeros((2, 3, 4), np.float32)})["y"]
    assert np.allclose(found, 1 / 12)


def test_long_chains_of_calls_are_fine(load: Load) -> None:
    """What is bounded is the number of nodes, not how deep calls are nested."""
    assert sum(n.op == "Neg" for n in load(chain(2000, calls=1)).nodes) == 2000


def test_bombs_are_refused_before_they_go_off(tmp_path: Path) -> None:
    """Functions that each call the one before twice are counted, not expanded."""
    path = tmp_path / "bomb.onnx"
    path.write_bytes(chain(300, calls=2).SerializeToString())
    start = time.perf_counter()
    with pytest.raises(LimitExceeded, match=r"bomb\.onnx: .* more than 10\^90 nodes") as caught:
        OnnxFrontend().load(path)
    assert caught.value.exit_code == 3
    assert time.perf_counter() - start < 2


def test_bombs_in_branches_are_counted(tmp_path: Path) -> None:
    """Calls inside inner graphs count like any other."""
    message = parser.parse_model(
        HEADER + "g (bool c, float[2] x) => (float[2] y) { y = my.f30(c, x) }"
    )
    for at in range(1, 31):
        inner = f"a = my.f{at - 1}(c, i) a2 = my.f{at - 1}(c, a)" if at > 1 else "a2 = Neg(i)"
        other = f"b = my.f{at - 1}(c, i)" if at > 1 else "b = Abs(i)"
        function = parser.parse_function(
            f"""<opset_import: ["": 20, "my": 1], domain: "my"> f{at} (c, i) => (o) {{
              o = If(c) <
                then_branch = t () => (float[2] a2) {{ {inner} }},
                else_branch = e () => (float[2] b) {{ {other} }}
              >
            }}"""
        )
        message.functions.append(function)
    path = tmp_path / "bomb.onnx"
    path.write_bytes(message.SerializeToString())
    with pytest.raises(LimitExceeded, match="GE_ONNX_MAX_NODES"):
        OnnxFrontend().load(path)


def test_the_limit_can_be_set(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment says how many nodes calls may expand to."""
    monkeypatch.setenv("GE_ONNX_MAX_NODES", "7")
    assert len(load(chain(7, calls=1))) == 9
    with pytest.raises(LimitExceeded, match="8 nodes, the limit is 7"):
        load(chain(8, calls=1))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_recursion_is_an_error(load: Load, length: int) -> None:
    """A function that calls itself, directly or through others, has no expansion."""
    message = parser.parse_model(HEADER + "g (float[2] x) => (float[2] y) { y = my.f0(x) }")
    for at in range(length):
        message.functions.append(
            parser.parse_function(
                f'<opset_import: ["": 20, "my": 1], domain: "my"> f{at} (i) => (o) '
                f"{{ o = my.f{(at + 1) % length}(i) }}"
            )
        )
    with pytest.raises(InputFileError, match="a function calls itself: f0 -> "):
        load(message)


def chain(length: int, calls: int) -> onnx.ModelProto:
    """Function f<n> calls f<n-1> so many times and adds one node."""
    functions = []
    for at in range(length):
        nodes = [helper.make_node("Neg", ["i"], ["t0"])]
        if at:
            nodes += [
                helper.make_node(f"f{at - 1}", [f"t{k}"], [f"t{k + 1}"], domain="my")
                for k in range(calls)
            ]
        last = nodes[-1].output[0]
        functions.append(
            helper.make_function(
                "my",
                f"f{at}",
                ["i"],
                [last],
                nodes,
                [helper.make_opsetid("", 20), helper.make_opsetid("my", 1)],
            )
        )
    message = parser.parse_model(
        HEADER + f"g (float[2] x) => (float[2] y) {{ y = my.f{length - 1}(x) }}"
    )
    message.functions.extend(functions)
    return message
