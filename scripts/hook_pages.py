"""The page about hooks and drivers, made from the specs and protocols."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

from ge_core.plugin import drivers, specs
from scripts.markdown import page

GROUPS = {"Frontend": "FRONTENDS", "Backend": "BACKENDS", "Executor": "EXECUTORS"}


def hooks() -> str:
    """Hooks as they stand in the specs, then the drivers' protocols."""
    tree = ast.parse(inspect.getsource(specs))
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    adding = [_hook(n) for n in found if n.name.startswith("ge_register_")]
    watching = [_hook(n) for n in found if not n.name.startswith("ge_register_")]
    about = _paragraphs(inspect.getdoc(specs) or "")
    return page(
        "Hooks",
        about,
        "## What plugins contribute",
        *adding,
        "## Instruments",
        *watching,
        "## Drivers",
        _paragraphs(inspect.getdoc(drivers) or ""),
        *_protocols(drivers),
    )


def _hook(node: ast.FunctionDef) -> str:
    arguments = ", ".join(
        f"{a.arg}: {ast.unparse(a.annotation)}" if a.annotation else a.arg for a in node.args.args
    )
    doc = _paragraphs(ast.get_docstring(node) or "")
    return f"### {node.name}\n\n`{node.name}({arguments})`\n\n{doc}"


def _protocols(module: ModuleType) -> list[str]:
    tree = ast.parse(inspect.getsource(module))
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name in GROUPS]
    return [_protocol(module, node) for node in classes]


def _protocol(module: ModuleType, node: ast.ClassDef) -> str:
    methods = [n for n in node.body if isinstance(n, ast.FunctionDef)]
    lines = [f"* `{method.name}{_signature(method)}`: {_sentence(method)}" for method in methods]
    group = getattr(module, GROUPS[node.name])
    about = _paragraphs(ast.get_docstring(node) or "")
    return "\n\n".join([f"### {node.name}", f"Group `{group}`. {about}", "\n".join(lines)])


def _signature(node: ast.FunctionDef) -> str:
    names = [a.arg for a in node.args.args if a.arg != "self"]
    if node.args.kwonlyargs:
        names += ["*", *(a.arg for a in node.args.kwonlyargs)]
    return f"({', '.join(names)})"


def _sentence(node: ast.FunctionDef) -> str:
    return " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
