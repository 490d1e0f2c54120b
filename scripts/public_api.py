"""The public names, by subject, with what the source says of each."""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import tokenize
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Final

MODULES: Final = ("ge_core", "ge_core.api", "ge_core.testing")


@dataclass(frozen=True)
class PublicName:
    """One name of a public module: what it is, and its documentation as written."""

    module: str
    name: str
    kind: str
    doc: str

    @property
    def summary(self) -> str:
        """The first sentence or line."""
        return " ".join(self.doc.partition("\n\n")[0].split())


@cache
def groups(module: str) -> dict[str, tuple[PublicName, ...]]:
    """The names of a public module by the comments that stand in its `__all__`."""
    loaded = importlib.import_module(module)
    found: dict[str, list[PublicName]] = {}
    for name, subject in _subjects(loaded).items():
        found.setdefault(subject, []).append(_public(loaded, name))
    return {subject: tuple(names) for subject, names in found.items()}


def _subjects(module: ModuleType) -> dict[str, str]:
    """Name to subject, in the order of `__all__`."""
    listed = dict.fromkeys(module.__all__, "")
    subject, inside = "", False
    for token in tokenize.generate_tokens(io.StringIO(inspect.getsource(module)).readline):
        if token.type == tokenize.NAME and token.string == "__all__":
            inside = True
        elif inside and token.type == tokenize.COMMENT:
            subject = token.string.lstrip("# ")
        elif inside and token.type == tokenize.STRING:
            listed[ast.literal_eval(token.string)] = subject
        elif inside and token.type == tokenize.OP and token.string == "]":
            inside = False
    return listed


def _public(module: ModuleType, name: str) -> PublicName:
    value = getattr(module, name)
    if inspect.ismodule(value):
        return PublicName(module.__name__, name, "module", inspect.getdoc(value) or "")
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        return PublicName(module.__name__, name, kind, inspect.getdoc(value) or "")
    if inspect.isroutine(value) or hasattr(value, "__wrapped__"):
        return PublicName(module.__name__, name, "function", inspect.getdoc(value) or "")
    return PublicName(module.__name__, name, "data", _text_of(module, name))


def _text_of(module: ModuleType, name: str) -> str:
    """The text below an assignment, in the module that really makes it."""
    tree = ast.parse(inspect.getsource(module))
    for node in ast.walk(tree):  # a module that imports late says where from to type checkers only
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _text_of(importlib.import_module(node.module), alias.name)
    for at, node in enumerate(tree.body):
        if name in _assigned(node) and at + 1 < len(tree.body):
            below = tree.body[at + 1]
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                return inspect.cleandoc(str(below.value.value))
    return ""


def _assigned(node: ast.stmt) -> list[str]:
    targets: list[Any] = []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Assign):
        targets = node.targets
    return [target.id for target in targets if isinstance(target, ast.Name)]
