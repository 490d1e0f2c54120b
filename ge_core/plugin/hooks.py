"""Plugins' instrument hooks as one instrument of the pass manager."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ge_core.errors import GeError, PluginError
from ge_core.foreign import in_words, located, shortened
from ge_core.passes.instruments import (
    CompileEnded,
    CompileStarted,
    Instrument,
    Veto,
    check_reason,
)
from ge_core.plugin.index import Candidate

if TYPE_CHECKING:
    import pluggy

    from ge_core.ir import Graph
    from ge_core.passes.context import PassContext
    from ge_core.passes.precedence import Because


@dataclass(frozen=True)
class WatchingPlugin:
    """A loaded plugin and the manager that holds its hooks alone."""

    candidate: Candidate
    manager: pluggy.PluginManager

    def watches(self, hook: str) -> bool:
        """Whether it implements an instrument hook."""
        return bool(getattr(self.manager.hook, hook).get_hookimpls())

    def call(self, hook: str, arguments: dict[str, Any]) -> Any:
        """What it answers; `PluginError` naming package and version where it raises or edits."""
        root = _graph_of(arguments)
        version = 0 if root is None else root.version
        try:
            caller = getattr(self.manager.hook, hook)
            answer = caller(**arguments)
            if not caller.spec.opts["firstresult"]:
                refuse_answers(hook, answer)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            words = error.message if isinstance(error, GeError) else f"it {in_words(error)}"
            failure = PluginError(
                f"plugin {self.candidate.name!r} failed in {hook}: {words}",
                owner=str(self.candidate.owner),
                hint=f"GE_DISABLE_PLUGINS={self.candidate.name} runs without it",
            )
            raise located(failure, error) from error
        if root is not None and root.version != version:
            # No check of a pass would see it, and the next pass would be blamed.
            raise PluginError(
                f"plugin {self.candidate.name!r} edited the graph in {hook}",
                owner=str(self.candidate.owner),
                hint="an instrument looks and changes nothing; edit the graph in a pass",
            )
        return answer


def _graph_of(arguments: dict[str, Any]) -> Graph | None:
    """The root graph that a hook is shown, if it is shown one."""
    shown = arguments.get("ctx") or arguments.get("event")
    return None if shown is None else shown.environment.root


def refuse_unusual(hook: str, function: Any, is_wrapper: bool) -> None:
    """Raises `PluginError` for functions that pluggy would call without running their code."""
    kinds = (
        (inspect.iscoroutinefunction, "a coroutine function"),
        (inspect.isasyncgenfunction, "an asynchronous generator function"),
        (inspect.isgeneratorfunction, "a generator function"),
    )
    for is_so, kind in kinds:
        if is_so(function) and not (is_wrapper and is_so is inspect.isgeneratorfunction):
            raise PluginError(
                f"{hook} is {kind}: calling it runs nothing of it", hint="write it with plain def"
            )


def refuse_answers(hook: str, answers: Any) -> None:
    """Raises `PluginError` where a hook returned something: nobody would look at it."""
    for answer in answers if isinstance(answers, list) else [answers]:
        if answer is not None:
            close = getattr(answer, "close", None)
            if inspect.iscoroutine(answer) and close is not None:
                close()
            raise PluginError(
                f"{hook} returned {shortened(answer)}, and hooks return nothing",
                hint="register things by calling the methods of what the hook is given",
            )


class HookInstrument(Instrument):
    """Tells plugins what happens, in the order in which they were loaded."""

    def __init__(self, plugins: Sequence[WatchingPlugin]) -> None:
        hooks = (
            "ge_compile_started",
            "ge_veto_pass",
            "ge_before_pass",
            "ge_after_pass",
            "ge_pass_failed",
            "ge_pass_skipped",
            "ge_compile_finished",
        )
        self._watching = {hook: [p for p in plugins if p.watches(hook)] for hook in hooks}

    def _tell(self, hook: str, **arguments: Any) -> None:
        for plugin in self._watching[hook]:
            plugin.call(hook, arguments)

    def compile_started(self, event: CompileStarted) -> None:
        """`ge_compile_started`."""
        self._tell("ge_compile_started", event=event)

    def veto_pass(self, ctx: PassContext) -> Veto | None:
        """`ge_veto_pass`: the first plugin's that gives a reason."""
        for plugin in self._watching["ge_veto_pass"]:
            reason = plugin.call("ge_veto_pass", {"ctx": ctx})
            if reason is not None:
                owner = str(plugin.candidate.owner)
                check_reason(reason, f"plugin {plugin.candidate.name!r}", owner)
                return Veto(reason, owner)
        return None

    def before_pass(self, ctx: PassContext) -> None:
        """`ge_before_pass`."""
        self._tell("ge_before_pass", ctx=ctx)

    def after_pass(self, ctx: PassContext, changed: bool, seconds: float) -> None:
        """`ge_after_pass`."""
        self._tell("ge_after_pass", ctx=ctx, changed=changed, seconds=seconds)

    def pass_failed(self, ctx: PassContext, error: GeError) -> None:
        """`ge_pass_failed`."""
        self._tell("ge_pass_failed", ctx=ctx, error=error)

    def pass_skipped(self, name: str, because: Sequence[Because]) -> None:
        """`ge_pass_skipped`."""
        self._tell("ge_pass_skipped", name=name, because=because)

    def compile_finished(self, event: CompileEnded) -> None:
        """`ge_compile_finished`."""
        self._tell("ge_compile_finished", event=event)
