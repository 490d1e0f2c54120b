"""What the passes of one compile share, and the analyses computed for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ge_core.analysis import TraceRules
from ge_core.ir import Graph, Node
from ge_core.ops import OpRegistry
from ge_core.passes.codes import CodeTable
from ge_core.passes.delete_rules import DeleteRules
from ge_core.passes.levels import WorkingLevel
from ge_core.passes.remarks import Remark, Remarks
from ge_core.passes.timing import Timing
from ge_core.registry import Owner, kernel_owner
from ge_core.targets import Target

if TYPE_CHECKING:
    from ge_core.passes.options import OptionValues


class AnalysisCache:
    """Analyses of the root graph, kept until an edit makes them stale.

    One that the running pass preserves stays as it is: the pass promises that its edits keep it
    right, or that it updates it.
    """

    def __init__(self, root: Graph) -> None:
        self._root = root
        self._made: dict[str, tuple[int, Any, Callable[[], Any]]] = {}
        """Version, analysis, and how it is made anew."""
        self._preserved: frozenset[str] = frozenset()
        self._lasting: dict[str, Any] = {}
        self.timing: Timing | None = None
        """Where making an analysis is measured."""

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        """The analysis of that name, made anew where the graph has changed since."""
        version = self._root.version
        known = self._made.get(name)
        if known is not None and (known[0] == version or name in self._preserved):
            return known[1]
        made = self._make(name, make)
        # Analyses are pure functions of the graph, but one may still number things in it.
        self._made[name] = (self._root.version, made, make)
        self._dropped_by_rollback(name)
        return made

    def get_lasting(self, name: str, make: Callable[[], Any]) -> Any:
        """An analysis that notices edits by itself: made once per compile."""
        if name not in self._lasting:
            self._lasting[name] = self._make(name, make)
            self._dropped_by_rollback(name)
        return self._lasting[name]

    def _dropped_by_rollback(self, name: str) -> None:
        # What is made inside a transaction has seen its edits, and a rollback moves no version.
        journal = self._root.journal
        if journal.active:
            journal.record(lambda: (self._made.pop(name, None), self._lasting.pop(name, None)))

    def _make(self, name: str, make: Callable[[], Any]) -> Any:
        if self.timing is None:
            return make()
        with self.timing.span(f"analysis {name}"):
            return make()

    def begin(self, preserves: Iterable[str]) -> None:
        """A pass begins: what was stale before it is dropped, what it preserves stays."""
        self._drop_stale()
        self._preserved = frozenset(preserves)

    def preserved(self) -> list[tuple[str, Any, Callable[[], Any]]]:
        """What the running pass preserves and has been made: name, analysis, how to make it."""
        return [(n, *self._made[n][1:]) for n in sorted(self._preserved & self._made.keys())]

    def end(self) -> None:
        """A pass has ended: what it preserved is right for the graph as it is now."""
        version = self._root.version
        for name in sorted(self._preserved & self._made.keys()):
            self._made[name] = (version, *self._made[name][1:])
        self._preserved = frozenset()
        self._drop_stale()

    def drop(self) -> None:
        """Forget everything: edits were rolled back, and versions do not run backwards."""
        self._made.clear()
        self._lasting.clear()
        self._preserved = frozenset()

    def _drop_stale(self) -> None:
        version = self._root.version
        self._made = {name: made for name, made in self._made.items() if made[0] == version}


@dataclass(frozen=True, slots=True)
class Retraction:
    """A placement that a pass made and that can be taken back where it costs too much memory.

    Attributes:
        node: the join or split that was placed.
        bytes: what the placement saves.
        undo: makes the node an ordinary one again, through the graph's methods.
        remark: what is then said of the node.
    """

    node: Node
    bytes: int
    undo: Callable[[], object]
    remark: Remark


@dataclass
class Environment:
    """What the passes of one compile share.

    Attributes:
        root: the graph being compiled.
        level: the working level.
        target: the device.
        ops: op traits.
        options: the values in force.
        codes: every declared reason code.
        remarks: what was said so far.
        read_write: the registered read/write checker, None where no plugin brings one.
        layout_checkers, anchor_types, trace_rules: registries of plugins' contributions.
        extras: further objects by name that front doors hand to passes.
        kernel: who the kernel's own remarks name.
        retractions: placements that may be taken back to keep the peak down.
        kept: names of copies that passes must leave, as their removal raised the peak.
        equivalences: (output, original output, pass) for which passes vouch to the proof.
        changing: the graph as it was before the running pass changed what is computed; None where
            it hasn't.
    """

    root: Graph
    level: WorkingLevel
    target: Target
    ops: OpRegistry
    options: OptionValues
    codes: CodeTable = field(default_factory=CodeTable)
    remarks: Remarks = field(default_factory=Remarks)
    delete_rules: DeleteRules = field(default_factory=DeleteRules)
    trace_rules: TraceRules = field(default_factory=TraceRules)
    read_write: Any = None
    layout_checkers: Any = None
    anchor_types: Any = None
    warnings: list[str] = field(default_factory=list)
    extras: dict[str, Any] = field(default_factory=dict)
    kernel: Owner = field(default_factory=kernel_owner)
    retractions: list[Retraction] = field(default_factory=list)
    kept: frozenset[str] = frozenset()
    equivalences: list[tuple[str, str, str]] = field(default_factory=list)
    changing: Graph | None = None

    def __post_init__(self) -> None:
        self.analyses = AnalysisCache(self.root)
        self._offered: dict[Node, int] = {}

    def offer(self, retraction: Retraction) -> None:
        """Note a placement that may be taken back; a later one for a node replaces the former."""
        at = self._offered.setdefault(retraction.node, len(self.retractions))
        self.retractions[at : at + 1] = [retraction]

    def withdraw(self, node: Node) -> None:
        """Forget what was offered for a node."""
        at = self._offered.pop(node, None)
        if at is not None:
            del self.retractions[at]
            self._offered = {one.node: at for at, one in enumerate(self.retractions)}

    def capability(self, name: str) -> bool:
        """Whether something that a pass may require is there."""
        return getattr(self, name, None) is not None or self.extras.get(name) is not None

    def warn(self, text: str) -> None:
        """Say something once; warnings end up in the result."""
        if text not in self.warnings:
            self.warnings.append(text)
