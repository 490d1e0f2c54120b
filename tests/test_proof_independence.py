"""The proof shares no code with what it judges (import contracts can't state an allow-list)."""

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

PROOF = Path(__file__).resolve().parents[1] / "ge_core" / "proof"

# Of the memory package only the plan, which the proof judges, and the table that it is read into.
ALLOWED = [
    "ge_core.errors",
    "ge_core.ir",
    "ge_core.memory.plan",
    "ge_core.memory.table",
    "ge_core.ops",
    "ge_core.proof",
    "ge_core.targets",
    "ge_core.tasks",
]


def origin(module: str, name: str) -> str:
    """The module that defines what `from module import name` brings."""
    found = getattr(importlib.import_module(module), name, None)
    if found is None or isinstance(found, type(sys)):
        return f"{module}.{name}"
    return str(getattr(found, "__module__", module))


def imported(path: Path) -> Iterator[str]:
    """The modules whose code a file uses, wherever in the file it imports them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module.partition(".")[0] == "ge_core":
                yield from (origin(node.module, alias.name) for alias in node.names)
            else:
                yield node.module


def allowed(module: str) -> bool:
    """Whether the proof may stand on that module."""
    if module.partition(".")[0] in sys.stdlib_module_names:
        return True
    return any(module == name or module.startswith(name + ".") for name in ALLOWED)


def test_the_proof_stands_on_its_own() -> None:
    """The proof uses graph, op traits, plan, tasks, targets and the standard library."""
    used = {(path.name, name) for path in PROOF.rglob("*.py") for name in imported(path)}
    assert sorted(pair for pair in used if not allowed(pair[1])) == []
