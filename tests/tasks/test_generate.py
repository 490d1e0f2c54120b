"""Which nodes get a task, of which kind, on which bytes."""

from __future__ import annotations

import pytest

from ge_core.errors import LimitExceeded
from ge_core.ir import Graph, GraphBuilder, TensorDesc
from ge_core.memory import Plan, PlanTensor, PlanWorkspace, Strided
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.tasks import Region, TaskList, generate_tasks
from ge_core.testing import disjoint_plan


@pytest.fixture
def ops() -> OpRegistry:
    """GE's own ops."""
    registry = OpRegistry()
    register_builtin_ops(registry)
    return registry


def _tasks(graph: Graph, ops: OpRegistry) -> TaskList:
    return generate_tasks(graph, ops, disjoint_plan(graph, ops))


def _kinds(tasks: TaskList) -> dict[str, str]:
    return {"/".join((*task.call, task.node)): task.kind for task in tasks.tasks}


def test_kinds_and_nodes_without_a_task(ops: OpRegistry) -> None:
    """Kernels and copies launch; sources, NoOp, NetOutput, views and task-free nodes do not."""
    build = GraphBuilder()
    x = build.data("x")
    weight = build.const("w", bytes(64), (1, 16))
    variable = build.node("Variable", name="v", shape=(1, 16)).outputs[0]
    total = build.op("Add", x, weight, name="add")
    copy = build.op("TensorMove", total, name="move")
    view = build.op("Reshape", copy, name="view", shape=(16,), reuse_input=0)
    store = build.op("Assign", variable, copy, name="store", reuse_input=0)
    build.node("NoOp", name="wait", outputs=[], control=[store.node])
    build.node("Relu", total, name="quiet", attrs={"_no_task": True})
    build.node("Relu", total, name="no_library", attrs={"op_kernel_lib": ""})
    build.net_output(view)
    tasks = _tasks(build.graph, ops)
    assert {"add": "kernel", "move": "copy", "store": "kernel"} == _kinds(tasks)
    assert list(range(3)) == [task.id for task in tasks.tasks]
    assert ["quiet"] == [descriptor.node for descriptor in tasks.dump_only]


def test_a_view_that_the_plan_puts_elsewhere_is_a_task(ops: OpRegistry) -> None:
    """A Reshape is free only while its output lies where its input does."""
    build = GraphBuilder()
    view = build.op("Reshape", build.data("x"), name="view", shape=(16,), reuse_input=0)
    build.net_output(view)
    moved = Plan(tensors=[_at("x", 0), _at("view", 64)])
    assert {"view": "kernel"} == _kinds(generate_tasks(build.graph, ops, moved))
    unplanned = Plan(tensors=[_at("x", 0)])
    assert {"view": "kernel"} == _kinds(generate_tasks(build.graph, ops, unplanned))


def test_regions_are_the_plans(ops: OpRegistry) -> None:
    """Inputs are their producers' places, strides and scratch included; None has no place."""
    build = GraphBuilder()
    x, y = build.data("x"), build.data("y")
    node = build.node("Foo", x, None, y, name="foo")
    build.net_output(node.outputs[0])
    plan = Plan(
        tensors=[_at("x", 64), _at("foo", 0, Strided(16, 32, 4))],
        workspace=[
            PlanWorkspace((), "foo", 1, "HBM", 512, 8),
            PlanWorkspace((), "foo", 0, "HBM", 256, 16),
        ],
    )
    (task,) = generate_tasks(build.graph, ops, plan).tasks
    assert (Region("HBM", 64, 64), None, None) == task.inputs
    assert (Region("HBM", 0, 64, Strided(16, 32, 4)),) == task.outputs
    assert (Region("HBM", 256, 16), Region("HBM", 512, 8)) == task.workspace


def test_a_descriptor_says_where_a_task_free_node_lies(ops: OpRegistry) -> None:
    """Dumps find the addresses of a node that no task carries, and whether it wants a dump."""
    build = GraphBuilder()
    x = build.data("x")
    attrs = {"_no_task": True, "_no_task_and_dump_needed": True}
    join = build.op("ConcatD", x, x, name="join", shape=(2, 16), attrs=attrs)
    build.net_output(join)
    plan = Plan(tensors=[_at("x", 0), _at("join", 64)])
    (found,) = generate_tasks(build.graph, ops, plan).dump_only
    assert ("join", "ConcatD", True) == (found.node, found.op, found.needed)
    assert (Region("HBM", 0, 64), Region("HBM", 0, 64)) == found.inputs
    assert (Region("HBM", 64, 64),) == found.outputs


def _called_twice() -> Graph:
    build = GraphBuilder()
    x = build.data("x")
    body = build.subgraph("g")
    body.net_output(body.op("Relu", body.data("g/x"), name="g/relu"))
    first = build.op("PartitionedCall", x, name="first", subgraphs={"f": body})
    second = build.op("PartitionedCall", first, name="second", subgraphs={"f": body})
    build.net_output(second)
    return build.graph


def test_a_shared_subgraph_yields_its_tasks_once_per_call(ops: OpRegistry) -> None:
    """The call comes first, then its nodes under its name, then what follows."""
    tasks = _tasks(_called_twice(), ops)
    expected = [
        ((), "first"),
        (("first",), "g/relu"),
        ((), "second"),
        (("second",), "g/relu"),
    ]
    assert expected == [(task.call, task.node) for task in tasks.tasks]
    assert ["call", "kernel"] * 2 == [task.kind for task in tasks.tasks]


def test_expansion_is_bounded_by_work(ops: OpRegistry) -> None:
    """Calls of calls of calls: the number of instances is limited, not the depth."""
    build = GraphBuilder()
    below = build.subgraph("g0")
    below.net_output(below.op("Relu", below.data("g0/x"), name="g0/relu"))
    for level in range(1, 30):
        here = build.subgraph(f"g{level}")
        value = here.data(f"g{level}/x")
        for at in range(2):
            value = here.op(
                "PartitionedCall", value, name=f"g{level}/call{at}", subgraphs={"f": below}
            )
        here.net_output(value)
        below = here
    call = build.op("PartitionedCall", build.data("x"), name="call", subgraphs={"f": below})
    build.net_output(call)
    with pytest.raises(LimitExceeded, match="1000 node instances"):
        generate_tasks(build.graph, ops, Plan(), limit=1000)


def test_deep_nesting_is_no_limit(ops: OpRegistry) -> None:
    """Two thousand calls inside one another are expanded without recursion."""
    build = GraphBuilder()
    below = build.subgraph("g0")
    below.net_output(below.op("Relu", below.data("g0/x"), name="g0/relu"))
    for level in range(1, 2000):
        here = build.subgraph(f"g{level}")
        value = here.data(f"g{level}/x")
        here.net_output(
            here.op("PartitionedCall", value, name=f"g{level}/call", subgraphs={"f": below})
        )
        below = here
    build.net_output(
        build.op("PartitionedCall", build.data("x"), name="call", subgraphs={"f": below})
    )
    tasks = generate_tasks(build.graph, ops, Plan())
    assert 2001 == len(tasks.tasks)
    assert 2000 == len(tasks.tasks[-1].call)


def test_a_listing_that_is_no_order_is_sorted(ops: OpRegistry) -> None:
    """Tasks come in topological order even where the list is not in one."""
    build = GraphBuilder()
    x = build.data("x")
    first = build.op("Relu", x, name="first")
    second = build.op("Relu", first, name="second")
    build.net_output(second)
    nodes = {node.name: node for node in build.graph.nodes}
    build.graph.reorder([nodes[name] for name in ("NetOutput", "second", "first", "x")])
    assert ["first", "second"] == [task.node for task in _tasks(build.graph, ops).tasks]


def _at(node: str, offset: int, strided: Strided | None = None) -> PlanTensor:
    size = TensorDesc.make().nbytes or 0
    return PlanTensor((), node, 0, "HBM", offset, size, strided)
