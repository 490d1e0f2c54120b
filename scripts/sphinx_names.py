"""How Sphinx shows the public names: their directives, their texts, and references to them."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any, Final

from scripts.public_api import MODULES, PublicName, groups

QUOTED: Final = re.compile(r"(?<![`:\w])`([^`]+)`(?!`)")


def directive(public: PublicName) -> str:
    """The reStructuredText that describes one name."""
    where = f"{public.module}.{public.name}"
    if public.kind == "module":
        return f".. automodule:: {where}\n   :members:\n"
    if public.kind != "data":
        return f".. auto{public.kind}:: {where}\n"
    lines = ["", *_marked(public.doc.splitlines())]
    return f".. py:data:: {where}\n" + "\n".join(f"   {line}".rstrip() for line in lines) + "\n"


def docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with `code`: make that code, or a link to a public name."""
    lines[:] = _marked(lines)


def _marked(lines: list[str]) -> list[str]:
    return [QUOTED.sub(_quoted, line) for line in lines]


def _quoted(found: re.Match[str]) -> str:
    text = found.group(1)
    where = _homes().get(text)
    return f"``{text}``" if where is None else f":py:obj:`{text} <{where}>`"


@cache
def _homes() -> dict[str, str]:
    """Public name to where it is described; plugin authors' modules come first."""
    found: dict[str, str] = {}
    for module in (*MODULES[1:], MODULES[0]):
        for names in groups(module).values():
            for public in names:
                found.setdefault(public.name, f"{public.module}.{public.name}")
    return found


def is_home(public: PublicName) -> bool:
    """Whether a name is described here: `ge_core.Graph` is what `ge_core.api` has already."""
    return _homes()[public.name] == f"{public.module}.{public.name}"


def missing(app: Any, env: Any, node: Any, content: Any) -> Any:
    """A name by its private place leads to its public one; what isn't public is left unlinked."""
    if node.get("refdomain") != "py":
        return None
    target = str(node.get("reftarget", ""))
    if not target.replace(".", "").isidentifier():
        return content  # a part of an annotation, not a name
    where = _homes().get(target.rpartition(".")[2])
    if where is not None and where != target:
        return env.get_domain("py").resolve_xref(
            env, node.get("refdoc"), app.builder, "obj", where, node, content
        )
    return content if not target.startswith("ge_core.") or _is_there(target) else None


def _is_there(target: str) -> bool:
    """Whether a name of this project means something, without being public."""
    module, _, name = target.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), name)
    except ImportError:
        return False
