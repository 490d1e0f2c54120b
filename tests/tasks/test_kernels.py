"""The kernel registry: who computes an op."""

from __future__ import annotations

import pytest

from ge_core.errors import PluginError, UsageError
from ge_core.registry import Owner
from ge_core.tasks import Kernels

ACME = Owner("acme", "acme-ops", "1.2")


def _found(kernels: Kernels, op: str, source: str) -> str | None:
    entry = kernels.find(op, source)
    return None if entry is None else entry.reference


def test_the_special_comes_before_the_general() -> None:
    """The op for this source, the op for all, the fallback for this source, that for all."""
    kernels = Kernels()
    kernels.add("Relu", "m:ge_relu", source="ge")
    kernels.add("Relu", "m:relu")
    kernels.add("Add", "m:add")
    kernels.fallback("onnx", "m:onnx")
    assert "m:ge_relu" == _found(kernels, "Relu", "ge")
    assert "m:relu" == _found(kernels, "Relu", "onnx")
    assert "m:add" == _found(kernels, "Add", "ge")
    assert "m:onnx" == _found(kernels, "Gelu", "onnx")
    assert None is _found(kernels, "Gelu", "ge")
    kernels.fallback("*", "m:any")
    assert "m:any" == _found(kernels, "Gelu", "ge")


def test_an_op_has_one_kernel_per_source() -> None:
    """A second claim is an error that names both owners; fallbacks too."""
    kernels, staged = Kernels(), Kernels()
    kernels.add("Relu", "m:relu", source="ge")
    staged.add("Relu", "acme:relu", source="ge")
    with pytest.raises(PluginError, match="'Relu' of ge graphs is registered twice"):
        kernels.absorb(staged, ACME)
    with pytest.raises(UsageError, match="'caffe' is none of"):
        kernels.add("Relu", "m:relu", source="caffe")


def test_staging_leaves_the_original_alone_and_stamps_owners() -> None:
    """A fork takes over what a plugin staged, with its owner; the registry it came from has not."""
    kernels, staged = Kernels(), Kernels()
    staged.add("Gelu", "acme:gelu")
    fork = kernels.fork()
    fork.absorb(staged, ACME)
    assert 0 == len(kernels)
    assert [("Gelu", ACME)] == [(entry.op, entry.owner) for entry in fork]


def test_a_kernel_is_imported_when_it_is_first_asked_for() -> None:
    """References resolve lazily; a broken one names its owner."""
    kernels, staged = Kernels(), Kernels()
    staged.add("Ok", "ge_core.tasks.marks:kernel_library")
    staged.add("Broken", "ge_core.tasks.marks:nothing")
    kernels.absorb(staged, ACME)
    ok, broken = kernels.find("Ok", "ge"), kernels.find("Broken", "ge")
    assert ok is not None and broken is not None
    assert kernels.load(ok) is kernels.load(ok)
    with pytest.raises(PluginError) as caught:
        kernels.load(broken)
    assert "acme-ops 1.2" == caught.value.owner
