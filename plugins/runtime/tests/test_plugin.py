"""The plugin as the kernel sees it: light to import, an executor by name, kernels by hook."""

from __future__ import annotations

import subprocess
import sys

from ge_core.api import Executor, Kernels
from ge_core.plugin.drivers import EXECUTORS, driver
from ge_runtime import ge_register_kernels
from ge_runtime.executor import NumpyExecutor


def test_registering_imports_no_arrays() -> None:
    """Listing plugins must stay fast: neither numpy nor ml_dtypes comes with the hooks."""
    code = (
        "import sys, ge_runtime; from ge_core.api import Kernels; "
        "ge_runtime.ge_register_kernels(Kernels()); "
        "print([m for m in ('numpy', 'ml_dtypes') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()


def test_the_driver_is_found_by_name() -> None:
    """`numpy` is the executor, with the methods that executors have."""
    found = driver(EXECUTORS, "numpy")
    assert isinstance(found, NumpyExecutor)
    assert isinstance(found, Executor)


def test_every_kernel_can_be_loaded() -> None:
    """No reference is misspelled, and whatever GE op has one is found by it."""
    kernels = Kernels()
    ge_register_kernels(kernels)
    assert all(callable(kernels.load(entry)) for entry in kernels)
    fallback = kernels.find("SomeOpOfSomebody", "ge")
    assert fallback is not None and fallback.reference.endswith("standin:compute")
    assert None is kernels.find("SomeOpOfSomebody", "onnx")
