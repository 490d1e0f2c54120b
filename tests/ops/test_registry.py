"""The op registry: what is declared, for whose graphs, by whom."""

from __future__ import annotations

import pytest

from ge_core.errors import PluginError, UsageError
from ge_core.ir import Graph
from ge_core.ops import OpRegistry, OpTraits, register_builtin_ops
from ge_core.registry import Owner

ACME = Owner("acme", "acme-ops", "2.0")
OTHER = Owner("other", "other-ops", "1.0")


def builtin() -> OpRegistry:
    """GE's own table."""
    ops = OpRegistry()
    register_builtin_ops(ops)
    return ops


def test_an_undeclared_op_is_an_ordinary_reader() -> None:
    """It writes nothing, aliases nothing, and is listed as unknown."""
    node = Graph().add_node("acme::Magic")
    traits = builtin().traits(node)
    assert OpTraits("acme::Magic", known=False) == traits


def test_ops_are_looked_up_by_the_source_of_their_graph() -> None:
    """Reshape aliases by type in graphs from GE; in ONNX's the importer marks its output."""
    ops = builtin()
    assert ((0, 0),) == ops.of("Reshape", "ge").aliases
    assert () == ops.of("Reshape", "onnx").aliases


def test_a_second_declaration_is_an_error() -> None:
    """At once in one registry; between two plugins when the second is taken over."""
    ops = builtin()
    with pytest.raises(UsageError, match="op 'Merge' of ge graphs is declared twice"):
        ops.add(OpTraits("Merge"), "ge")
    first, second = OpRegistry(), OpRegistry()
    first.add(OpTraits("Magic"))
    second.add(OpTraits("Magic", nondeterministic=True), "ge")
    ops.absorb(first, ACME)
    with pytest.raises(PluginError, match=r"op 'Magic'(.|\n)*acme-ops 2\.0, other-ops 1\.0"):
        ops.absorb(second, OTHER)


def test_what_a_plugin_declares_bears_its_name() -> None:
    """The owner is stamped, and a fork keeps the original as it was."""
    ops = builtin()
    staged = OpRegistry()
    staged.add(OpTraits("Magic", inplace=((0, 0),)), "onnx")
    fork = ops.fork()
    fork.absorb(staged, ACME)
    assert "acme-ops 2.0" == fork.of("Magic", "onnx").owner
    assert not ops.of("Magic", "onnx").known


@pytest.mark.parametrize("source", ["tf", "", "GE"])
def test_an_unknown_source_is_an_error(source: str) -> None:
    """A source is ge, onnx or both."""
    with pytest.raises(UsageError, match="none of ge, onnx"):
        OpRegistry().add(OpTraits("X"), source)


def test_an_unknown_kind_is_an_error() -> None:
    """The kinds are a closed list."""
    with pytest.raises(ValueError, match="kind 'magic' is none of"):
        OpTraits("X", kind="magic")


def test_a_plugin_may_say_more_of_an_op_than_the_kernels_table() -> None:
    """GE's pure ops are known; declaring one of them with more traits is no second declaration."""
    ops = builtin()
    assert ops.of("Relu", "ge").known
    staged = OpRegistry()
    staged.add(OpTraits("Relu", inplace=((0, 0),)), "ge")
    ops.absorb(staged, ACME)
    assert ((0, 0),) == ops.of("Relu", "ge").inplace
    assert not ops.of("Relu", "onnx").known
