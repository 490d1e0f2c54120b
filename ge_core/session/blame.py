"""Which pass did it: found out by running the passes once more, when something is wrong.

A compile that ends well pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Protocol

from ge_core.errors import GeError, GraphError, LimitExceeded, PassError, hint_lines
from ge_core.ir import Graph, Node, clone, verify
from ge_core.ir.desc import freeze
from ge_core.passes.context import PassContext
from ge_core.passes.instruments import Instrument
from ge_core.passes.manager import RunReport

if TYPE_CHECKING:
    from ge_core.proof import ProofResult, Violation

MOST_COMPARED: Final = 500_000
"""Nodes that are compared again to name passes: so many nodes times passes, at most."""

_Key = tuple[str, str, int | None]
"""Check, node and input of a violation."""
_Fault = tuple[str, str, str, str | None, bool]
"""What is wrong, whoever reads it: a pass that hands the wrong value to another is innocent."""


class Again(Protocol):
    """Runs the passes once more on a new copy of the original."""

    def __call__(self, *instruments: Instrument) -> RunReport | None:
        """What ran; None where it is not what ran the first time."""
        ...


# ---- broken graphs -------------------------------------------------------------------------------


def culprit(
    error: Exception, original: Graph, now: Graph, check_again: Callable[[], RunReport | None]
) -> GeError | None:
    """The error that names the pass which broke the graph, where something failed because of that.

    Args:
        now: the graph as it was when something failed.
        check_again: runs the passes once more and checks the graph after each; None where that is
            no news.

    Returns:
        None where the error says it best.
    """
    said_already = isinstance(error, GeError) and not isinstance(error, GraphError)
    if said_already and (isinstance(error, LimitExceeded) or _problem(now) is None):
        return None
    if _problem(original) is not None:
        return None
    try:
        report = check_again()
    except PassError as found:
        first = error.message if isinstance(error, GeError) else f"{type(error).__name__}: {error}"
        seen = f"found by running the passes again; first seen as: {first}"
        found.hint = hint_lines(found.hint, seen)
        return found
    except Exception:
        # The error that is there already is about what the user asked for.
        return None
    if report is not None and isinstance(error, GraphError):
        sound = "no pass is known to have done it: run again, each left a sound graph"
        error.hint = hint_lines(error.hint, sound)
    return None


def _problem(graph: Graph) -> Exception | None:
    try:
        verify(graph)
    except Exception as error:
        # A graph may be broken so badly that looking at it fails.
        return error
    return None


# ---- failed proofs -------------------------------------------------------------------------------


def blamed(proof: ProofResult, original: Graph, again: Again) -> ProofResult:
    """The answer with the passes named that did it: as it is, where that can't be known.

    After each pass that changed something, the graphs are compared as the proof compares them. What
    is found first behind a pass is its doing. What only the plan makes wrong is said to stand since
    the last pass that changed one of its nodes.
    """
    history = _History(original)
    try:
        if again(history) is None:
            return proof
    except Exception:
        # The proof has failed; that it can't be said why is no further failure.
        return proof
    return replace(
        proof,
        violations=tuple(
            replace(violation, since_pass=history.since(violation))
            for violation in proof.violations
        ),
    )


@dataclass
class _Part:
    """What passes did between two that changed values on purpose.

    Attributes:
        base: what the graph is compared with.
        found: what is wrong by now, and since which pass; "" where no pass before it did it.
        faults: the same by what is wrong instead of where it is seen.
        touched: the last pass that changed a node, and its number in the order they ran.
    """

    base: Graph
    found: dict[_Key, str] = field(default_factory=dict)
    faults: dict[_Fault, str] = field(default_factory=dict)
    touched: dict[str, tuple[int, str]] = field(default_factory=dict)

    def changed(self) -> set[str]:
        """The passes that did something."""
        return {name for _, name in self.touched.values()}


class _History(Instrument):
    def __init__(self, original: Graph) -> None:
        self._parts = [_Part(original)]
        self._root: Graph | None = None
        self._borders: list[str] = []
        """Passes that changed values, between the parts."""
        self._before: dict[str, tuple[Any, ...]] = {}
        self._secret: str | None = None
        """The first pass that changed the graph without its methods."""
        self._compared = 0
        self._step = 0

    def before_pass(self, ctx: PassContext) -> None:
        self._root = ctx.graph.root
        self._before = _nodes(self._root)

    def after_pass(self, ctx: PassContext, changed: bool, seconds: float) -> None:
        root, name = ctx.graph.root, ctx.declaration.name
        after = _nodes(root)
        touched = [
            node for node in (*self._before, *after) if self._before.get(node) != after.get(node)
        ]
        if not changed and not touched:
            return
        if self._secret is None and (not changed or _problem(root) is not None):
            self._secret = name
        if changed and ctx.environment.changing is not None:
            self._parts.append(_Part(clone(root)))
            self._borders.append(name)
            self._compare(ctx, "")
            return
        part = self._parts[-1]
        self._step += 1
        part.touched.update(dict.fromkeys(touched, (self._step, name)))
        self._compare(ctx, name)

    def _compare(self, ctx: PassContext, by: str) -> None:
        """Compare the graph with what it should compute; `by` did what is found first."""
        from ge_core.proof import Equivalence, compare_graphs

        env, part = ctx.environment, self._parts[-1]
        self._compared += sum(map(len, env.root.all_graphs()))
        if self._compared > MOST_COMPARED:
            return
        violations = compare_graphs(
            part.base,
            env.root,
            ops=env.ops,
            equivalences=[Equivalence(*claim) for claim in env.equivalences],
        )
        found: dict[_Key, str] = {}
        faults: dict[_Fault, str] = {}
        for violation in violations:
            key, fault = _key(violation), _fault(violation)
            since = part.found.get(key, part.faults.get(fault, by))
            found[key] = since
            faults.setdefault(fault, since)
        part.found, part.faults = found, faults

    def since(self, violation: Violation) -> str | None:
        """The pass behind which it was found, else the last that changed one of its nodes."""
        parts = self._parts_of(violation)
        key, fault = _key(violation), _fault(violation)
        for part in parts:
            since = part.found.get(key, part.faults.get(fault))
            if since is not None:
                return since or self._secret
        for names in self._about(violation):
            touching = [p.touched[name] for p in parts for name in names if name in p.touched]
            if touching:
                return max(touching)[1]
        # What passes said of it, as long as one that did something said so.
        said = violation.since_pass
        return said if any(said in part.changed() for part in parts) else None

    def _about(self, violation: Violation) -> list[list[str]]:
        """The nodes that it is about, those first that nobody but the culprit need have changed."""
        writer, reader = (
            [] if path is None else [path.rpartition("/")[2]]
            for path in (violation.written_by, violation.node)
        )
        if violation.differs is not None:
            # The writer computes something else; the reader has nothing to do with it.
            return [writer]
        source = self._source(reader[0], violation.input)
        if not writer:
            return [source, reader]
        return [[*writer, *reader, *source]]

    def _source(self, reader: str, at: int | None) -> list[str]:
        """The node that an input reads from."""
        node = None if self._root is None else self._root.find(reader)
        if node is None or at is None or at >= len(node.inputs):
            return []
        anchor = node.inputs[at].source
        return [] if anchor is None else [anchor.node.name]

    def _parts_of(self, violation: Violation) -> list[_Part]:
        """The parts that it can be about; all, where it is about the graph as a whole."""
        between = violation.from_pass, violation.up_to_pass
        if between == (None, None):
            return self._parts[::-1]
        pairs = pairwise([None, *self._borders, None])
        found = [part for part, pair in zip(self._parts, pairs, strict=True) if pair == between]
        return found[::-1]


def _key(violation: Violation) -> _Key:
    return violation.check, violation.node, violation.input


def _fault(violation: Violation) -> _Fault:
    # In what it differs depends on how the graph it is compared with is called.
    has_same_name = violation.differs is not None
    return violation.check, violation.expected, violation.found, violation.written_by, has_same_name


def _nodes(graph: Graph) -> dict[str, tuple[Any, ...]]:
    """What each node is, by name."""
    return {node.name: _state(node) for node in graph.all_nodes()}


def _state(node: Node) -> tuple[Any, ...]:
    """All that passes may change of a node, in a form that later edits leave alone."""
    sources = [
        None if anchor.source is None else (anchor.source.node.name, anchor.source.index)
        for anchor in node.inputs
    ]
    return (
        node.op,
        None if node.graph is None else node.graph.name,
        freeze(node.attrs),
        sources,
        [anchor.own_desc for anchor in node.inputs],
        [output.desc for output in node.outputs],
        [other.name for other in node.control_inputs],
        [(label, graph.name) for label, graph in node.subgraphs.items()],
        None if node.value is None else id(node.value),
    )
