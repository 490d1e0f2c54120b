"""The fallback: onnx's own reference implementation, one small model per node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import AttributeProto, NodeProto, helper
from onnx.reference import ReferenceEvaluator

from ge_core.api import InputFileError
from ge_onnx.kernels.call import Call
from ge_onnx.proto.values import write_attribute


def run_reference(call: Call, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Compute a node with onnx's reference implementation.

    Raises:
        InputFileError: it has none for this op.
    """
    present = tuple(value is not None for value in inputs)
    evaluator = call.state.get(present)
    if evaluator is None:
        evaluator = call.state[present] = _evaluator(call, present)
    feeds = {f"i{at}": value for at, value in enumerate(inputs) if value is not None}
    results = iter(evaluator.run(None, feeds))
    return tuple(next(results) if wanted else None for wanted in call.outputs)


def _evaluator(call: Call, present: Sequence[bool]) -> Any:
    inputs = [f"i{at}" if given else "" for at, given in enumerate(present)]
    outputs = [f"o{at}" if wanted else "" for at, wanted in enumerate(call.outputs)]
    node = NodeProto(op_type=call.op, domain=call.domain, input=inputs, output=outputs)
    node.attribute.extend(_attributes(call))
    graph = helper.make_graph(
        [node],
        "node",
        [helper.make_empty_tensor_value_info(name) for name in inputs if name],
        [helper.make_empty_tensor_value_info(name) for name in outputs if name],
    )
    imports = [helper.make_opsetid(call.domain, call.version)]
    if call.domain:
        imports.append(helper.make_opsetid("", 20))
    try:
        return ReferenceEvaluator(helper.make_model(graph, opset_imports=imports))
    except (RuntimeError, NotImplementedError, AssertionError, TypeError, KeyError) as error:
        name = f"{call.domain}::{call.op}" if call.domain else call.op
        raise InputFileError(
            f"no kernel for op {name!r} of version {call.version}", field="op_type"
        ) from error


def _attributes(call: Call) -> list[AttributeProto]:
    return [write_attribute(name, value) for name, value in call.attrs.items()]
