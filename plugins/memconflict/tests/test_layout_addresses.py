"""Which ops can be told new addresses, and when addresses change at all."""

from __future__ import annotations

import dataclasses

import pytest

from ge_core.api import (
    AliasClasses,
    Graph,
    GraphBuilder,
    LayoutChecks,
    OpRegistry,
    OpTraits,
    Scheme,
    Target,
    register_builtin_ops,
)
from ge_core.session.kernel import default_kernel, make_kernel
from ge_core.targets import GENERIC

KERNEL = default_kernel()
LIBRARY = "_ge_attr_op_kernel_lib_name"
HCCL = {LIBRARY: "ops_kernel_info_hccl"}
CUSTOM = {LIBRARY: "DNN_VM_CUSTOM_OP_STORE"}
MOVES = {"ge.featureBaseRefreshable": "1"}
PAGED = {"ge.exec.staticMemoryPolicy": "4"}
STATIC = dataclasses.replace(GENERIC, name="static", address_refresh=False)


def ops_with(**refresh: bool) -> OpRegistry:
    """GE's ops, and custom ones that say whether they follow."""
    ops = OpRegistry()
    register_builtin_ops(ops)
    for name, follows in refresh.items():
        ops.add(OpTraits(name, address_refresh=follows), source="ge")
    return ops


OPS = ops_with(Follows=True, Sticks=False)


def clashes(graph: Graph, options: dict[str, str], target: Target = GENERIC) -> list[str]:
    """Where copies would have to stand in a graph."""
    classes = AliasClasses(graph, OPS, Scheme.SYMBOLS, KERNEL.registries.anchor_types.of)
    checks = LayoutChecks(KERNEL.registries.checkers, graph, OPS, options.get, target=target)
    return [
        str(clash.isolate)
        for memory in classes.classes()
        for clash in checks.clashes(classes, memory)
    ]


def between(op: str, attrs: dict[str, str]) -> Graph:
    """An op between two ordinary ones."""
    b = GraphBuilder()
    made = b.op(op, b.op("Relu", b.data("x")), name="op", attrs=attrs)
    b.op("Exp", made)
    return b.graph


BOTH = ["op@0", "op:0"]


@pytest.mark.parametrize(
    ("op", "attrs", "options", "target", "expected"),
    [
        ("StreamSwitch", {}, {}, GENERIC, []),
        ("StreamSwitch", {}, MOVES, GENERIC, BOTH),
        ("StreamSwitch", {}, PAGED, GENERIC, BOTH),
        ("LabelSwitchByIndex", {}, MOVES, GENERIC, BOTH),
        ("StreamSwitch", {}, MOVES, STATIC, []),
        ("StreamSwitch", {}, {"ge.exec.staticMemoryPolicy": "2"}, GENERIC, []),
        ("HcomFoo", HCCL, {}, GENERIC, []),
        ("HcomFoo", HCCL, MOVES, GENERIC, []),
        ("HcomFoo", HCCL, PAGED, GENERIC, []),
        ("Sticks", CUSTOM, MOVES, GENERIC, BOTH),
        ("Follows", CUSTOM, MOVES, GENERIC, []),
        ("Sticks", {}, MOVES, GENERIC, []),
        ("Foo", {}, MOVES, GENERIC, []),
    ],
)
def test_ops_that_can_t_follow_need_copies_where_addresses_move(
    op: str, attrs: dict[str, str], options: dict[str, str], target: Target, expected: list[str]
) -> None:
    """GE's rules; and a target whose addresses never change asks for none."""
    assert expected == clashes(between(op, attrs), options, target)


def test_a_static_graph_in_one_of_unknown_shapes_is_laid_out_elsewhere_each_time() -> None:
    """Its arena moves without an option."""
    b = GraphBuilder()
    b.graph.set_graph_attr("_graph_unknown_flag", True)
    inner = b.subgraph("g")
    made = inner.op("Relu", inner.data("g/x", index=0))
    inner.net_output(inner.op("Exp", inner.op("StreamSwitch", made, name="g/switch")))
    b.net_output(b.op("PartitionedCall", b.data("x"), subgraphs={"f": inner}))
    assert ["g/switch@0", "g/switch:0"] == clashes(b.graph, {})


def test_a_collective_that_can_t_follow_keeps_off_the_caller_s_memory() -> None:
    """Where the arena stays, hccl takes no other address; the caller's may change all the same."""
    b = GraphBuilder()
    b.op("HcomFoo", b.data("x"), name="op", attrs=HCCL)
    assert ["op@0"] == clashes(b.graph, {})
    assert [] == clashes(b.graph, MOVES)


@pytest.mark.parametrize(
    ("variable", "option", "value"),
    [
        ("GE_USE_STATIC_MEMORY", "ge.exec.staticMemoryPolicy", "4"),
        ("GE_USE_STATIC_MEMORY", "ge.exec.staticMemoryPolicy", "1"),
        ("RESOURCE_CONFIG_PATH", "ge.resourceConfigPath", "/etc/devices.json"),
    ],
)
def test_ge_s_variables_of_the_environment_set_options(
    variable: str, option: str, value: str
) -> None:
    """An option that is set under its own name is stronger."""
    kernel = make_kernel(environ={variable: value})
    assert [value] == [source.options[option] for source in kernel.sources if source.options]
    own = "GE_OPTION_" + option.replace(".", "__")
    kernel = make_kernel(environ={variable: value, own: "2"})
    assert ["2"] == [source.options[option] for source in kernel.sources if source.options]
