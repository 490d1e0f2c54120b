"""What is checked of a pass while its edits can still be taken back.

A check looks before and after; what it raises becomes an error that names the pass, and the edits
are undone. Checks change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ge_core.errors import GraphError, PassError
from ge_core.foreign import brief, located
from ge_core.ir import Node, structural_hash, verify
from ge_core.passes.analyses import Analysis, comparison
from ge_core.passes.base import AnalysisPass, Pass
from ge_core.passes.environment import Environment
from ge_core.passes.remarks import RemarkKind

SUBJECT_KINDS = ("move", "join", "pack", "split", "slice")
"""Kinds of ops whose nodes each end with one final remark."""


class PassCheck(Protocol):
    """One check; `state` is what `before` answered."""

    def before(self, env: Environment) -> Any:
        """Look at the graph before a pass runs."""
        ...

    def after(self, env: Environment, work: Pass, state: Any, edited: bool) -> None:
        """Look at it afterwards; raise `PassError` with the problem. `edited` says the version."""
        ...


class VerifyEach:
    """The graph's structure is right after every pass that edited it."""

    def before(self, env: Environment) -> None:
        """Nothing to remember."""

    def after(self, env: Environment, work: Pass, state: None, edited: bool) -> None:
        """Raises `PassError` for a broken graph; an edit without the methods may break it too."""
        try:
            verify(env.root)
        except GraphError as error:
            raise PassError(f"left a broken graph: {error}") from error
        except Exception as error:
            # Broken so badly that looking at it fails.
            raise PassError(f"left a graph that can't be looked at: {error!r}") from error


class ChangeAudit:
    """The graph changed only through its methods, by its structural hash."""

    def before(self, env: Environment) -> str:
        """The hash."""
        return structural_hash(env.root)

    def after(self, env: Environment, work: Pass, state: str, edited: bool) -> None:
        """Raises `PassError` for a change that the graph doesn't know of."""
        if not edited and structural_hash(env.root) != state:
            raise PassError(
                "changed the graph without its methods",
                hint="edit through Graph.set_attr, Graph.rewire, ...",
            )


class PreserveAudit:
    """An analysis that a pass preserved says what one made anew says.

    Args:
        analyses: the declared ones, which know how they are compared.
    """

    def __init__(self, analyses: Mapping[str, Analysis]) -> None:
        self._analyses = analyses

    def before(self, env: Environment) -> None:
        """Nothing to remember."""

    def after(self, env: Environment, work: Pass, state: None, edited: bool) -> None:
        """Raises `PassError` for a promise that was not kept."""
        if not edited:
            return
        for name, kept, make in env.analyses.preserved():
            declared = self._analyses.get(name)
            same = comparison(name, None if declared is None else declared.same, env.root)
            if same is None:
                continue
            try:
                right = same(kept, make())
            except Exception as error:
                failure = PassError(
                    f"analysis {name!r} can't be compared: {brief(error)}",
                    owner=None if declared is None else str(declared.owner),
                )
                raise located(failure, error) from error
            if not right:
                raise PassError(
                    f"says that it preserves {name!r}, which is wrong after its edits",
                    hint=f"keep it right, or leave {name!r} out of preserves=",
                )


class AnalysisAudit:
    """Analysis passes edit nothing."""

    def before(self, env: Environment) -> None:
        """Nothing to remember."""

    def after(self, env: Environment, work: Pass, state: None, edited: bool) -> None:
        """Raises `PassError` for an edit."""
        if edited and isinstance(work, AnalysisPass):
            raise PassError("is an AnalysisPass and edited the graph")


class SubjectAudit:
    """A move, join, pack, split or slice of the original graph doesn't go without a remark.

    Attributes:
        subjects: the original nodes by name, as they were.
    """

    def __init__(self, env: Environment) -> None:
        self.subjects = {node.name: node for node in subjects_of(env)}
        self._here = dict.fromkeys(self.subjects)

    def before(self, env: Environment) -> None:
        """Nothing to remember."""

    def after(self, env: Environment, work: Pass, state: None, edited: bool) -> None:
        """Raises `PassError` for a node that is gone and has no applied remark."""
        if not edited:
            return
        find = env.root.find
        gone = [name for name in self._here if find(name) is None]
        silent = [name for name in gone if not _was_applied(env, name)]
        if silent:
            standing = {name for node in env.root.all_nodes() for name in node.origin}
            silent = [name for name in silent if name not in standing]
        if silent:
            raise PassError(
                f"removed {self.subjects[silent[0]]!r} without saying so",
                hint="call ctx.applied(node, code) for every copy that goes",
            )
        for name in gone:
            del self._here[name]


def _was_applied(env: Environment, name: str) -> bool:
    final = env.remarks.final(name)
    return final is not None and final.kind is RemarkKind.APPLIED


def subjects_of(env: Environment) -> list[Node]:
    """The nodes now in the graph that must end with a final remark."""
    kinds = frozenset(SUBJECT_KINDS)
    return [node for node in env.root.all_nodes() if env.ops.kind(node) in kinds]
