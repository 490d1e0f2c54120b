"""The page about `PassContext`: every member in the order and under the headings of its source."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Final

from ge_core.passes import context
from scripts.markdown import code, page, table

HEADING: Final = re.compile(r"^ +# -+ (.+?) -+$")


def pass_context() -> str:
    """A table per heading."""
    source = inspect.getsource(context)
    [defined] = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == "PassContext"
    ]
    headings = {
        at: found[1]
        for at, line in enumerate(source.splitlines(), start=1)
        if (found := HEADING.match(line)) is not None
    }
    parts: dict[str, list[tuple[str, str]]] = {}
    for node in defined.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            title = headings[max(at for at in headings if at < node.lineno)]
            parts.setdefault(title, []).append((code(_signature(node)), _words(node)))
    tables = (
        f"## {title[:1].upper()}{title[1:]}\n\n{table(['member', 'meaning'], rows)}"
        for title, rows in parts.items()
    )
    return page("What a pass may ask and say", _intro(defined), *tables)


def _intro(defined: ast.ClassDef) -> str:
    about = inspect.cleandoc(ast.get_docstring(defined) or "")
    attributes = about.partition("Attributes:\n")[2]
    rows = (
        [codes_of(names), " ".join(words.split())]
        for names, words in re.findall(
            r"^ {4}([\w, ]+): ((?:.+\n?)(?: {8}.+\n?)*)", attributes, re.M
        )
    )
    return (
        "Every pass gets a `PassContext` beside its graph, called `ctx` here and "
        "[in the guide](pass-authors.md). It belongs to one pass at work on one graph: keep "
        "nothing of it.\n\n" + table(["attribute", "meaning"], rows)
    )


def codes_of(names: str) -> str:
    """`a, b` as code."""
    return ", ".join(code(f"ctx.{name.strip()}") for name in names.split(","))


def _signature(node: ast.FunctionDef) -> str:
    if any(ast.unparse(decorator) == "property" for decorator in node.decorator_list):
        return f"ctx.{node.name}"
    names = [a.arg for a in node.args.args if a.arg != "self"]
    if node.args.kwonlyargs:
        names += ["*", *(a.arg for a in node.args.kwonlyargs)]
    names += [f"**{node.args.kwarg.arg}"] if node.args.kwarg is not None else []
    return f"ctx.{node.name}({', '.join(names)})"


def _words(node: ast.FunctionDef) -> str:
    """The docstring; what it says of arguments and errors in one go."""
    text = ast.get_docstring(node) or ""
    return " ".join(text.replace("Args:", "*Arguments*:").replace("Raises:", "*Raises*:").split())
