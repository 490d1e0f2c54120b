"""Source text made from the kernel's declarations, so that it can't say what isn't so.

A hook that is gone, an argument that a registry doesn't take or one that it can't do without is an
error here: whoever changes a declaration learns of it from the tests of this package.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Final

from ge_core.errors import GeError
from ge_core.plugin import specs
from ge_core.plugin.registries import HOOKS, Registries

WIDTH: Final = 100
INDENT: Final = "    "


def hook_arguments(hook: str) -> dict[str, str]:
    """The arguments of a hook and their types, as the specs write them.

    Raises:
        GeError: the specs have no such hook.
    """
    spec: Any = getattr(specs, hook, None)
    if spec is None or not hasattr(spec, f"{specs.PROJECT}_spec"):
        raise GeError(f"there is no hook {hook!r} to show")
    return {
        argument.name: str(argument.annotation)
        for argument in inspect.signature(spec).parameters.values()
    }


def hook_types(hook: str) -> set[str]:
    """Those of the kernel's types that the signature names."""
    words = {word for text in hook_arguments(hook).values() for word in re.findall(r"\w+", text)}
    return {word for word in words if word[0].isupper() and word not in _STANDARD}


_STANDARD: Final = frozenset({"Sequence", "Mapping", "Any", "None"})


def hook_source(hook: str, about: str, body: Iterable[str]) -> str:
    """An implementation of a hook."""
    arguments = ", ".join(f"{name}: {kind}" for name, kind in hook_arguments(hook).items())
    lines = ["@hookimpl", f"def {hook}({arguments}) -> None:", f'{INDENT}"""{about}"""']
    return "\n".join([*lines, *(textwrap.indent(text, INDENT) for text in body)])


def registration(hook: str, method: str, *values: str, **named: str) -> str:
    """A call of a method of the registry that a hook is given, with these source texts.

    Raises:
        GeError: the registry has no such method, or the method can't be called so.
    """
    function = _method(hook, method)
    try:
        inspect.signature(function).bind(None, *values, **named)
    except TypeError as error:
        raise GeError(f"{hook}: {method} can't be called as shown: {error}") from error
    (registry,) = hook_arguments(hook)
    texts = [*values, *(f"{name}={value}" for name, value in named.items())]
    return call(f"{registry}.{method}", texts)


def further(hook: str, method: str, *shown: str) -> str:
    """A comment that names the arguments of a registry's method beside those that are shown."""
    parameters = list(inspect.signature(_method(hook, method)).parameters.values())[1:]
    names = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    unknown = [name for name in shown if name not in names]
    if unknown:
        raise GeError(f"{hook}: {method} takes no argument {unknown[0]!r}")
    rest = ", ".join(name for name in names if name not in shown)
    return comment(f"Further arguments: {rest}.")


def comment(text: str) -> str:
    """Lines of comment."""
    lines = textwrap.wrap(text, WIDTH - len(INDENT) - len("# "))
    return "\n".join(f"# {line}" for line in lines)


def call(function: str, arguments: Iterable[str]) -> str:
    """A call as the formatter would write it, one level in."""
    texts = list(arguments)
    line = f"{function}({', '.join(texts)})"
    if len(INDENT) + len(line) <= WIDTH and "\n" not in line:
        return line
    return "\n".join([f"{function}(", *(f"{INDENT}{text}," for text in texts), ")"])


def _method(hook: str, method: str) -> Any:
    if hook not in HOOKS:
        raise GeError(f"hook {hook!r} is given no registry")
    registries = {part.name: part.default_factory for part in fields(Registries)}
    found = getattr(registries[HOOKS[hook]], method, None)
    if found is None:
        raise GeError(f"{hook}: the registry has no method {method!r}")
    return found
