"""Removes memory copies from neural-network graphs, plans their memory, and proves the result.

    import ge_core as ge

    result = ge.compile("model.onnx", level="O4")
    print(result)
    outputs = result.run({"x": x})

The names below are imported when they are first used: `import ge_core` itself costs nothing.
Plugin authors find theirs in `ge_core.api`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ge_core.ir import Graph
    from ge_core.memory import Plan
    from ge_core.session import Result, compile, load, save

__all__ = ["Graph", "Plan", "Result", "compile", "load", "save"]

_HOMES = {
    "Graph": "ge_core.ir",
    "Plan": "ge_core.memory",
    "Result": "ge_core.session",
    "compile": "ge_core.session",
    "load": "ge_core.session",
    "save": "ge_core.session",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'ge_core' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
