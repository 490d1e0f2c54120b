"""Asks the registered layout rules: do anchors of one memory clash, and would those of two?

Only pairs of types that have a rule are looked at, and of two classes that are to be joined only
the pairs with one anchor in either: what clashes inside a class already is nobody's news there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from ge_core.analysis import NAME_MARK, AliasClasses, Anchor, InputKind, OutputKind, walk
from ge_core.errors import PassError
from ge_core.ir import Graph, InputAnchor, Node, OutputAnchor
from ge_core.memory.checkers import CheckerRegistry, PairRule, pair_key
from ge_core.ops import OpRegistry, ref_of
from ge_core.targets import GENERIC, Target

PACKED_OUTPUTS: Final = frozenset({"CONTINUOUS_OUTPUT", "NOPADDING_CONTINUOUS_OUTPUT"})
_MOST_STEPS: Final = 100
"""Views looked through on the way to a producer, as in GE."""


class ReadWriteChecker(Protocol):
    """What the registered read/write checker answers."""

    def conflict(self, output: OutputKind, reader: InputKind) -> bool:
        """Whether a reader of this kind needs a copy in front of it, or can't be judged."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A checker's answer; made by `LayoutQuery.conflict` and `no_conflict`.

    Attributes:
        code: the reason, None for no conflict.
        isolate: the anchor that a copy would have to stand at.
    """

    code: str | None
    isolate: Anchor | None = None


_FINE: Final = Answer(None)


@dataclass(frozen=True, slots=True)
class Clash:
    """Two anchors that must not share one memory.

    Attributes:
        types: the types that clash, of `first` and of `second`.
        code: the reason, by the name under which its checker's plugin registered it.
    """

    first: Anchor
    second: Anchor
    types: tuple[str, str]
    code: str
    isolate: Anchor | None
    owner: str


class LayoutQuery:
    """What a checker is asked with.

    Attributes:
        root: the outermost graph.
        ops: op traits.
        target: the device.
        earlier: of the two anchors asked about, the one that comes first in their memory's list.
    """

    def __init__(
        self,
        root: Graph,
        ops: OpRegistry,
        option: Callable[[str], str | None],
        members: Callable[[], Iterator[Anchor]],
        bridge: tuple[Anchor, Anchor] | None = None,
        *,
        holds: Callable[[Anchor], bool] | None = None,
        target: Target = GENERIC,
        listing: Listing | None = None,
    ) -> None:
        self.root = root
        self.ops = ops
        self.target = target
        self.earlier: Anchor | None = None
        self._option = option
        self._members = members
        self._bridge = bridge
        self._holds = holds
        self._listing = listing or Listing(root)

    def option(self, name: str) -> str | None:
        """The value of a declared option, None where it is absent."""
        return self._option(name)

    def members(self) -> Iterator[Anchor]:
        """All anchors of the memory in question."""
        return self._members()

    def holds(self, anchor: Anchor) -> bool:
        """Whether an anchor is of the memory in question."""
        if self._holds is not None:
            return self._holds(anchor)
        return any(member is anchor for member in self._members())

    def results_here(self, node: Node) -> bool:
        """Whether an output of the node is of the memory in question."""
        return any(self.holds(output) for output in node.outputs)

    def listed(self, node: Node) -> int:
        """Where a node stands in the graph's listing, a node before what is inside it."""
        return self._listing.place(node)

    def conflict(self, *, code: str, isolate: Anchor | None = None) -> Answer:
        """The two may not share one memory."""
        return Answer(code, isolate)

    def no_conflict(self) -> Answer:
        """The two may share one memory."""
        return _FINE

    def producer(
        self, anchor: InputAnchor, until: Callable[[OutputAnchor], bool] | None = None
    ) -> OutputAnchor | None:
        """What an input is fed by, views looked through; None for an unconnected one.

        The copy whose two sides are to be joined counts as a view.

        Args:
            until: says of an output that it is where to stop, though it may be a view.
        """
        source = anchor.source
        for _ in range(_MOST_STEPS):
            if source is None:
                return None
            if until is not None and until(source):
                return source
            before = self._input_of(source)
            if before is None or before.source is None:
                return source
            source = before.source
        return source

    def _input_of(self, output: OutputAnchor) -> InputAnchor | None:
        """The input whose memory an output is, or will be."""
        if self._bridge is not None and output is self._bridge[1]:
            return self._bridge[0] if isinstance(self._bridge[0], InputAnchor) else None
        at = ref_of(output, self.ops)
        inputs = output.node.inputs
        return inputs[at] if at is not None and 0 <= at < len(inputs) else None


class Listing:
    """Where nodes stand in the listing of a graph: read when first asked, and for new nodes."""

    def __init__(self, root: Graph) -> None:
        self._root = root
        self._places: dict[Node, int] = {}

    def place(self, node: Node) -> int:
        """The number of a node: a node's inner ones follow it."""
        if node not in self._places:
            self._places = {known: at for at, known in enumerate(walk(self._root))}
        return self._places[node]


@dataclass(frozen=True, slots=True)
class Unruled:
    """Two types that meet in one memory though nobody says what that means.

    Attributes:
        first, second: two anchors that meet, of `types` in this order.
    """

    types: tuple[str, str]
    first: Anchor
    second: Anchor


class LayoutChecks:
    """The registered rules, ready to be asked about the classes of one graph.

    Args:
        apart_from: types; rules for two of these are not asked.
        without: pairs of types whose rules are not asked.

    Attributes:
        asked: how many pairs of anchors rules were asked about.
    """

    def __init__(
        self,
        checkers: CheckerRegistry,
        root: Graph,
        ops: OpRegistry,
        option: Callable[[str], str | None],
        *,
        apart_from: Container[str] = (),
        without: Collection[tuple[str, str]] = (),
        target: Target = GENERIC,
    ) -> None:
        left_out = {pair_key(*pair) for pair in without}
        self._rules = {
            pair: rule
            for rule in checkers
            if rule.kind != "never"
            and not all(name in apart_from for name in rule.types)
            and (pair := pair_key(*rule.types)) not in left_out
        }
        self._checkers = checkers
        self._root = root
        self._ops = ops
        self._option = option
        self._target = target
        self._listing = Listing(root)
        self.asked = 0

    def __bool__(self) -> bool:
        """Whether any rule could find a clash."""
        return bool(self._rules)

    # ---- two classes ---------------------------------------------------------------------------

    def first_clash(self, classes: AliasClasses, first: Anchor, second: Anchor) -> Clash | None:
        """The first clash between an anchor of one class and one of another, None for none.

        Args:
            first, second: the two sides of what would join the classes, such as a copy's input and
                output.
        """

        def members() -> Iterator[Anchor]:
            yield from classes.members(first)
            yield from classes.members(second)

        def holds(anchor: Anchor) -> bool:
            return anchor in classes and (
                classes.same(anchor, first) or classes.same(anchor, second)
            )

        query = self._query(members, holds, (first, second))
        here, there = classes.present(first), classes.present(second)
        meeting = {pair_key(one, other) for one in here for other in there}
        for rule in (rule for pair, rule in self._rules.items() if pair in meeting):
            for left, right, ones, others in classes.meetings(first, second, (rule.types,)):
                for one in ones:
                    for other in others:
                        clash = self._ask(classes, rule, (left, right), one, other, query)
                        if clash is not None:
                            return clash
        return None

    # ---- one class -----------------------------------------------------------------------------

    def may_clash(self, classes: AliasClasses, anchor: Anchor) -> bool:
        """Whether a class has anchors of two types that have a rule."""
        return next(self._pairs(classes, anchor), None) is not None

    def clashes(
        self,
        classes: AliasClasses,
        anchor: Anchor,
        *,
        answered: Callable[[str, Anchor], bool] | None = None,
    ) -> Iterator[Clash]:
        """The clashes inside one class, by pair of types, then as its list has the anchors.

        Args:
            answered: says of an anchor and its type that nobody needs to know what it clashes with;
                asked once for each, where a tensor with many joins has more pairs than one can ask.
        """
        pairs = list(self._pairs(classes, anchor))
        if not pairs:
            return

        def holds(other: Anchor) -> bool:
            return other in classes and classes.same(other, anchor)

        query = self._query(lambda: classes.members(anchor), holds, None)
        places = {member: at for at, member in enumerate(classes.members(anchor))}
        for left, right in pairs:
            rule = self._rules[pair_key(left, right)]
            for one, other in _meetings(classes, anchor, left, right, answered):
                types = (left, right)
                if places[one] > places[other]:
                    one, other, types = other, one, (right, left)
                clash = self._ask(classes, rule, types, one, other, query)
                if clash is not None:
                    yield clash

    def unruled(self, classes: AliasClasses, anchor: Anchor) -> Iterator[Unruled]:
        """The pairs of types that meet in a class and that nobody has said anything about.

        Types that demand nothing need no rule. One pair of anchors stands for all of its types.
        """
        demanding = [
            name for name in classes.present(anchor) if not self._checkers.is_indifferent(name)
        ]
        for at, left in enumerate(demanding):
            for right in demanding[at:]:
                if self._checkers.rule(left, right) is not None:
                    continue
                for one, other in _meetings(classes, anchor, left, right):
                    if one.node is not other.node and not _names_the_other(classes, one, other):
                        yield Unruled((left, right), one, other)
                        break

    def _pairs(self, classes: AliasClasses, anchor: Anchor) -> Iterator[tuple[str, str]]:
        """The pairs of types of a class that have a rule."""
        present = classes.present(anchor)
        for at, left in enumerate(present):
            for right in present[at:]:
                if left == right and classes.count(anchor, left) < 2:
                    continue
                if (left, right) in self._rules:
                    yield left, right

    # ---- asking --------------------------------------------------------------------------------

    def _query(
        self,
        members: Callable[[], Iterator[Anchor]],
        holds: Callable[[Anchor], bool],
        bridge: tuple[Anchor, Anchor] | None,
    ) -> LayoutQuery:
        return LayoutQuery(
            self._root,
            self._ops,
            self._option,
            members,
            bridge,
            holds=holds,
            target=self._target,
            listing=self._listing,
        )

    def _ask(
        self,
        classes: AliasClasses,
        rule: PairRule,
        types: tuple[str, str],
        one: Anchor,
        other: Anchor,
        query: LayoutQuery,
    ) -> Clash | None:
        """What a rule says of two anchors, the one listed first in front."""
        if one.node is other.node or _names_the_other(classes, one, other):
            return None
        self.asked += 1
        query.earlier = one
        if rule.kind == "always":
            isolate = _of_absolute_pair(one, other, query)
            return Clash(one, other, types, rule.codes[0], isolate, str(rule.owner))
        swapped = types != rule.types
        with self._root.read_only():
            answer = rule(other, one, query) if swapped else rule(one, other, query)
        if not isinstance(answer, Answer):
            raise PassError(
                f"checker for {' and '.join(rule.types)} answered {answer!r}",
                owner=str(rule.owner),
                hint="answer query.conflict(code=..., isolate=...) or query.no_conflict()",
            )
        if answer.code is None:
            return None
        code = rule.owner.full(str(answer.code))
        if code not in rule.codes:
            raise PassError(
                f"checker for {' and '.join(rule.types)} gives code {answer.code!r},"
                " which it did not declare",
                near=rule.codes,
                owner=str(rule.owner),
                hint="declare it with the checker: checkers.check(..., codes=(...))",
            )
        if not isinstance(answer.isolate, (InputAnchor, OutputAnchor, type(None))):
            raise PassError(
                f"checker for {' and '.join(rule.types)} answered isolate={answer.isolate!r},"
                " which is no anchor",
                owner=str(rule.owner),
            )
        return Clash(one, other, types, code, answer.isolate, str(rule.owner))


def _meetings(
    classes: AliasClasses,
    anchor: Anchor,
    left: str,
    right: str,
    answered: Callable[[str, Anchor], bool] | None = None,
) -> Iterator[tuple[Anchor, Anchor]]:
    """The pairs of a class with one anchor of either type, each two anchors once for it."""

    def those(name: str) -> list[Anchor]:
        found = classes.of_type(anchor, name)
        return found if answered is None else [a for a in found if not answered(name, a)]

    ones = those(left)
    if left == right:
        for at, one in enumerate(ones):
            for other in ones[at + 1 :]:
                yield one, other
        return
    others = those(right)
    for one in ones:
        for other in others:
            if one is not other:
                yield one, other


def _of_absolute_pair(one: Anchor, other: Anchor, query: LayoutQuery) -> Anchor:
    """Where the copy of two that never go together stands: at an input.

    Of two inputs it is the first in the listing, unless its node hands the memory on.
    """
    if not isinstance(one, InputAnchor):
        return other
    if not isinstance(other, InputAnchor):
        return one
    first = query.listed(one.node) < query.listed(other.node)
    return one if first and not query.results_here(one.node) else other


def _names_the_other(classes: AliasClasses, one: Anchor, other: Anchor) -> bool:
    """Whether two outputs are a variable and what refers to it by name, neither being packed."""
    if not isinstance(one, OutputAnchor) or not isinstance(other, OutputAnchor):
        return False
    names = [anchor.desc.attrs.get(NAME_MARK) for anchor in (one, other)]
    if names[0] != other.node.name and names[1] != one.node.name:
        return False
    return not any(PACKED_OUTPUTS.intersection(classes.types_of(anchor)) for anchor in (one, other))
