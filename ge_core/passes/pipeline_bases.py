"""The base of an overlay for listings: its own, or that of what it includes; nothing is checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ge_core.errors import GeError
from ge_core.passes.overlay_files import MAX_DEPTH, TomlText
from ge_core.passes.overlays import Overlay
from ge_core.passes.pipelines import PackagedOverlay, PipelineRegistry


def listed_base(value: Overlay | PackagedOverlay, pipelines: PipelineRegistry) -> str | None:
    """The base that is named, by it or else by what it includes; None where none is.

    Where that can't be told, for the file is broken or includes disagree, it is None as well:
    `ge plugins doctor` says what is wrong.
    """
    bases = set(_bases(value, pipelines, 0))
    return bases.pop() if len(bases) == 1 else None


def _bases(value: Any, pipelines: PipelineRegistry, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        return
    base: Any
    include: Any
    if isinstance(value, Overlay):
        base, include, source = value.base, value.include, None
    elif isinstance(value, PackagedOverlay):
        base, include, source = value.peek.get("base"), value.peek.get("include"), value.source
    else:
        return
    if isinstance(include, str):
        include = (include,)
    if isinstance(base, str):
        yield base
        return
    for what in include or ():
        found = _included(what, source, pipelines)
        if found is not None:
            yield from _bases(found, pipelines, depth + 1)


def _included(what: Any, source: TomlText | None, pipelines: PipelineRegistry) -> Any:
    if not isinstance(what, str):
        return what
    if source is not None and source.beside is not None and what.endswith(".toml"):
        try:
            text = source.beside(what)
            return PackagedOverlay(what, text, text.table())
        except GeError:
            return None
    entries = {entry.name: entry.value for entry in pipelines.entries()}
    return entries.get(pipelines.current(what)[0])
