"""The module that a package's entry point names: its hooks, rendered from the pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ge_core.plugin.registries import HOOKS
from ge_core.scaffold.declarations import WIDTH, hook_source, hook_types
from ge_core.scaffold.names import Names
from ge_core.scaffold.pieces import Piece, Registration

ABOUT: Final = {
    "ge_register_ops": "What ops of our own do with memory.",
    "ge_register_options": "Options of the plugin as a whole.",
    "ge_register_passes": "Passes: at which levels, and where in a compile.",
    "ge_register_trace_rules": "How a source trace steps over ops of our own.",
    "ge_register_anchor_types": "What an input or output may demand of its memory.",
    "ge_register_conflict_checkers": "What may lie in one memory.",
    "ge_register_delete_rules": "Copies that stay, whatever else lets them go.",
    "ge_register_memory_assigners": "Planners, by the name that users give.",
    "ge_register_targets": "Devices, by the name that users give.",
    "ge_register_kernels": "How the executor computes ops of our own.",
    "ge_register_pipelines": "Pipelines, by the name that users give.",
    "ge_after_pass": "Called after every pass, on the root graph.",
}
"""What the docstring of each hook says."""


def init_source(names: Names, pieces: Sequence[Piece]) -> str:
    """The module's text: imports, then one function per hook, in calling order."""
    by_hook: dict[str, list[Registration]] = {}
    for one in pieces:
        for registration in one.registrations:
            by_hook.setdefault(registration.hook, []).append(registration)
    known = list(HOOKS)
    hooks = sorted(
        by_hook,
        key=lambda hook: (hook not in known, known.index(hook) if hook in known else 0, hook),
    )
    parts = [
        f'"""Registers what {names.distribution} brings. Light: listing passes imports it."""',
        "from __future__ import annotations",
        *_imports(names, [one for hook in hooks for one in by_hook[hook]], hooks),
    ]
    functions = [
        hook_source(hook, ABOUT[hook], [one.text for one in by_hook[hook]]) for hook in hooks
    ]
    return "\n\n".join(parts) + "\n\n\n" + "\n\n\n".join(functions) + "\n"


def _imports(
    names: Names, registrations: Sequence[Registration], hooks: Sequence[str]
) -> list[str]:
    api = {"hookimpl"}
    own: dict[str, set[str]] = {}
    for one in registrations:
        api.update(one.api)
        for module, name in one.imports:
            where = f"{names.package}.{module}" if module else names.package
            own.setdefault(where, set()).add(name)
    for hook in hooks:
        api |= hook_types(hook)
    blocks = [_from("ge_core.api", api)]
    if own:
        blocks.append("\n".join(_from(module, own[module]) for module in sorted(own)))
    return blocks


def _from(module: str, names: set[str]) -> str:
    """An import as the formatter would write it: constants, classes, functions."""
    ordered = sorted(names, key=lambda name: (_rank(name), name.lower()))
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in ordered), ")"])


def _rank(name: str) -> int:
    if name.isupper():
        return 0
    return 1 if name[0].isupper() else 2
