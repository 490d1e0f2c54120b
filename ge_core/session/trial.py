"""Tries the one change that would free a copy: compiles once more with it, and looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ge_core.errors import GeError, ProofError
from ge_core.ir import Graph, clone
from ge_core.passes.levels import Level
from ge_core.passes.remarks import Hint, Remark, RemarkKind
from ge_core.session.hints import follow, options_of
from ge_core.session.result import Result
from ge_core.session.story import way_on

HIGHEST: Final = str(Level.O4)
OBJECTIVE: Final = "--objective "
ENABLE: Final = "--enable "


class CompileAgain(Protocol):
    """Compiles a graph as before, but for some arguments."""

    def __call__(self, graph: Graph, changed: Mapping[str, Any]) -> Result:
        """What came of it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one change.

    Attributes:
        change: in words, as `would go ...` is followed by.
        gone: whether the copy went, and the proof holds without it.
        code: of the final remark with the change; None where nothing was said any more. Where the
            model can't be compiled with the change, or not be proved, that of the error.
        refused: whether it is an error's.
    """

    change: str
    gone: bool
    code: str | None
    refused: bool = False

    def to_json(self) -> dict[str, Any]:
        """As in `ge-explain/1`."""
        return {"change": self.change, "gone": self.gone, "code": self.code}

    def __str__(self) -> str:
        if self.gone:
            return f"tried: it goes {self.change}"
        if self.refused:
            what = "proved" if self.code == ProofError.code else "compiled"
            return f"tried: {self.change} the model can't be {what} ({self.code})"
        return f"tried: it stays {self.change} too ({self.code})"


def trials(result: Result, node: str, compile_again: CompileAgain) -> list[Trial]:
    """Try a kept copy's hint and, where that doesn't free it, the highest level."""
    final = result.remarks.final(node)
    if final is None or final.kind is RemarkKind.APPLIED:
        return []
    found = []
    if final.hint is not None:
        tried = _try_hint(result, final, final.hint, compile_again)
        found += [] if tried is None else [tried]
    below = result.pipeline is None and result.level in _below_highest()
    if below and not any(trial.gone for trial in found):
        found.append(
            _look(node, f"with -O {HIGHEST}", result.original, {"level": HIGHEST}, compile_again)
        )
    return found


def _below_highest() -> list[str]:
    return [str(level) for level in Level if str(level) != HIGHEST]


def _try_hint(
    result: Result, final: Remark, hint: Hint, compile_again: CompileAgain
) -> Trial | None:
    """What came of a hint; None of a sentence, which is the reader's to understand."""
    graph = clone(result.original)
    changed: dict[str, Any] = {}
    options = options_of(hint)
    if options:
        changed["options"] = options
    elif hint.kind == "text" and hint.value.startswith(OBJECTIVE):
        changed["objective"] = hint.value.removeprefix(OBJECTIVE)
    elif hint.kind == "text" and hint.value.startswith(ENABLE):
        changed["enable"] = [hint.value.removeprefix(ENABLE)]
    elif not follow(hint, graph):
        return None
    return _look(final.node, way_on(hint), graph, changed, compile_again)


def _look(
    node: str, change: str, graph: Graph, changed: Mapping[str, Any], compile_again: CompileAgain
) -> Trial:
    try:
        again = compile_again(graph, changed).check_proof()
    except GeError as error:
        return Trial(change, False, error.code, refused=True)
    final = again.remarks.final(node)
    missed = final is not None and final.kind is not RemarkKind.APPLIED
    return Trial(change, not missed, None if final is None else final.code)
