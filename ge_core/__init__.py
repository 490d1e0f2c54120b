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
    from ge_core.session.files import load, save
    from ge_core.session.front import compile
    from ge_core.session.result import Result

__all__ = ["Graph", "Plan", "Result", "compile", "load", "save"]

_HOMES = {
    "Graph": "ge_core.ir",
    "Plan": "ge_core.memory",
    "Result": "ge_core.session.result",
    "compile": "ge_core.session.front",
    "load": "ge_core.session.files",
    "save": "ge_core.session.files",
}


def _get(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        from ge_core.deprecation import old_names

        return old_names(__name__, stacklevel=3)(name)
    return getattr(import_module(home), name)


if not TYPE_CHECKING:
    # Type checkers would take every name for one that exists.
    __getattr__ = _get


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
