"""`PassContext`: what a pass sees besides the graph, and how it says what it did."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from ge_core.analysis import (
    AliasClasses,
    Anchor,
    Effects,
    Order,
    Scheme,
    Sharing,
    SourceTracer,
    Trace,
)
from ge_core.errors import PassError, near_matches
from ge_core.foreign import brief, shortened
from ge_core.ir import Graph, InputAnchor, Node, OutputAnchor, clone
from ge_core.ops import OpRegistry
from ge_core.passes.codes import Code, fields_of
from ge_core.passes.counters import Counters
from ge_core.passes.delete_rules import (
    CopyCandidate,
    DeleteCandidate,
    DeleteRule,
    Keep,
    first_no,
)
from ge_core.passes.environment import Environment, Retraction
from ge_core.passes.levels import WorkingLevel
from ge_core.passes.registry import PassDeclaration
from ge_core.passes.remarks import Blame, Hint, Remark, RemarkKind
from ge_core.targets import Target

if TYPE_CHECKING:
    from ge_core.memory.reuse import ReuseRule
    from ge_core.passes.walker import Walk

Blamed: TypeAlias = "Node | InputAnchor | OutputAnchor | Blame | str"
HintSpec: TypeAlias = "Hint | Mapping[str, str] | str | None"


class PassContext:
    """One pass at work on one graph.

    Attributes:
        graph: the graph or subgraph being worked on.
        environment: what all passes of the compile share.
        declaration: of the running pass.
        counters: what the pass has counted in this run.
        after_subgraphs: whether a node pass visits a node for the second time, after its subgraphs.
        visiting: the node that a node pass looks at; the context of the root graph knows it.
    """

    def __init__(
        self,
        environment: Environment,
        declaration: PassDeclaration,
        graph: Graph,
        walk: Walk | None = None,
        counters: Counters | None = None,
    ) -> None:
        self.environment = environment
        self.declaration = declaration
        self.graph = graph
        self.after_subgraphs = False
        self.visiting: Node | None = None
        self.counters = counters or Counters(
            declaration.counters, declaration.name, str(declaration.owner)
        )
        self._walk = walk
        self._log: Any = None
        self._rules: list[DeleteRule] | None = None

    # ---- what is known -------------------------------------------------------------------------

    @property
    def level(self) -> WorkingLevel:
        """The working level; `ctx.level.base` is the kernel's level that it stands on."""
        return self.environment.level

    @property
    def target(self) -> Target:
        """The device compiled for."""
        return self.environment.target

    @property
    def ops(self) -> OpRegistry:
        """Op traits."""
        return self.environment.ops

    @property
    def strict_options(self) -> bool:
        """Whether malformed option values are errors, rather than read as tolerantly as GE does."""
        return self.environment.options.strict

    def option(self, name: str) -> str | None:
        """The value in force of a declared option; None where nobody set it and it has no default.

        Raises:
            UnknownNameError: nobody declared the option.
        """
        return self.environment.options.get(name)

    @property
    def log(self) -> Any:
        """A structlog logger bound to pass and graph."""
        if self._log is None:
            # 190 ms that only a pass which logs has to pay.
            import structlog

            self._log = structlog.get_logger("ge.passes").bind(
                pass_name=self.declaration.name, graph=self.graph.name
            )
        return self._log

    # ---- analyses ------------------------------------------------------------------------------

    @property
    def order(self) -> Order:
        """What comes before what in the root graph and below; it notices edits."""
        env = self.environment
        return env.analyses.get_lasting("order", lambda: Order(env.root, env.ops))  # type: ignore[no-any-return]  # the cache holds anything

    @property
    def effects(self) -> Effects:
        """Read and write kinds of anchors; always of the graph as it is."""
        env = self.environment
        return env.analyses.get_lasting("effects", lambda: Effects(env.ops))  # type: ignore[no-any-return]  # the cache holds anything

    @property
    def aliases(self) -> AliasClasses:
        """What is one memory when the graph runs, with places (`Scheme.MEMORY`).

        Made anew after edits unless the pass was registered with `preserves=("aliases",)`; that
        pass keeps it right by `join` and `discard`.
        """
        return self._alias_classes("aliases", Scheme.MEMORY)

    @property
    def symbols(self) -> AliasClasses:
        """GE's table for layout questions, anchor types counted (`Scheme.SYMBOLS`).

        Made anew after edits unless the pass was registered with `preserves=("symbols",)`.
        """
        return self._alias_classes("symbols", Scheme.SYMBOLS)

    @property
    def tracer(self) -> SourceTracer:
        """Traces values back to their source, by the rules of all plugins."""
        env = self.environment

        def make() -> SourceTracer:
            return SourceTracer(env.root, env.ops, env.trace_rules)

        return env.analyses.get_lasting("tracer", make)  # type: ignore[no-any-return]  # the cache holds anything

    def trace(self, anchor: InputAnchor) -> Trace:
        """The way from an input back to the source of its value."""
        return self.tracer.trace(anchor)

    def writer_of(self, output: OutputAnchor) -> Anchor | None:
        """The first anchor that may change the memory of an output; None where nobody does.

        It is looked for behind views, calls and joins and splits without a task, among all that
        `ctx.aliases` takes for that memory: an input that is written or destroyed, or an output
        that says by name that it is a variable's.
        """
        return self._sharing.first_writer(output)

    def may_share(self, output: OutputAnchor, source: OutputAnchor) -> bool:
        """Whether the readers of `output` may read `source`, which has the same contents, instead.

        Yes where nobody writes the memory of either, or both are one memory already. No also
        where it would be safe in the order in which writers and readers run: `ctx.order` tells.
        """
        return self._sharing.may_share(output, source)

    @property
    def reuse(self) -> ReuseRule:
        """The rule of reuse on the root graph: may bytes of one memory be given to another?

        Made anew after edits, which costs about as much as planning: a pass that sets marks of
        nodes without a task while it asks keeps the one it has.
        """
        from ge_core.memory.reuse import ReuseRule

        env = self.environment

        def make() -> ReuseRule:
            return ReuseRule(env.root, env.ops, env.options.as_dict())

        return env.analyses.get("reuse", make)  # type: ignore[no-any-return]  # the cache holds anything

    @property
    def _sharing(self) -> Sharing:
        env = self.environment
        return env.analyses.get_lasting("sharing", lambda: Sharing(env.root, env.ops))  # type: ignore[no-any-return]  # the cache holds anything

    def cached(self, name: str, make: Callable[[], Any]) -> Any:
        """An analysis of one's own on the root graph: made by `make`, and again after edits.

        The name gets the owner's prefix where it has none. Declare it with
        `PassRegistry.add_analysis` to have passes name it in `preserves`: those keep it right
        themselves.
        """
        # A dot says that the author wrote a prefix, his own or that of whose analysis it is.
        full = name if "." in name else self.declaration.owner.full(name)
        return self.environment.analyses.get(full, make)

    def _alias_classes(self, name: str, scheme: Scheme) -> AliasClasses:
        env = self.environment
        types = None if env.anchor_types is None else env.anchor_types.of

        def make() -> AliasClasses:
            return AliasClasses(env.root, env.ops, scheme, types)

        return env.analyses.get(name, make)  # type: ignore[no-any-return]  # the cache holds anything

    # ---- counting ------------------------------------------------------------------------------

    def count(self, name: str, n: int = 1) -> None:
        """Count up what the pass declared with the class keyword `counters=`.

        Raises:
            PassError: it declared no such counter, or `n` is negative or no whole number.
        """
        self.counters.add(name, n)

    # ---- abilities of plugins ------------------------------------------------------------------

    @property
    def read_write(self) -> Any:
        """The registered read/write checker, or None: keep the copy then, and say so."""
        return self.environment.read_write

    @property
    def layout_checkers(self) -> Any:
        """The registered conflict checkers, or None."""
        return self.environment.layout_checkers

    def delete_rules(self, pass_name: str | None = None) -> list[DeleteRule]:
        """Plugins' rules for a removal pass (the running one by default), in order."""
        root = self.environment.root
        rules = self.environment.delete_rules.for_pass(pass_name or self.declaration.name)
        return [rule.looking_at(root) for rule in rules]

    def kept_by_rule(self, copy: Node | DeleteCandidate) -> Keep | None:
        """What plugins' delete rules say against the removal of a copy; None where it may go.

        Every pass that takes copies out asks this, when it would do so by its own rules and before
        it edits anything, and gives what it is told as the reason for the copy's staying.

        Args:
            copy: with a connected input and an output; as a `DeleteCandidate` where the pass knows
                the way to the source already.

        Raises:
            PassError: a rule raised or gave a wrong answer; names the rule's package.
        """
        if self._rules is None:
            self._rules = self.delete_rules()
        if not self._rules:
            return None
        candidate = CopyCandidate(copy, self) if isinstance(copy, Node) else copy
        return first_no(self._rules, candidate)

    # ---- node passes ---------------------------------------------------------------------------

    def revisit(self, node: Node, *, now: bool = False) -> None:
        """Ask for another visit: once the walk has drained, or next (`now`).

        As in GE, an immediate visit is one of a node that was visited before: asked for during the
        node's own first visit, or of one that was never visited, `now` does nothing.
        """
        self._walking().revisit(node, now)

    def revisit_neighbours(self, node: Node) -> None:
        """Ask for another visit of a node's producers and consumers; call it before removing it."""
        self._walking().revisit_neighbours(node)

    def _walking(self) -> Walk:
        if self._walk is None:
            raise PassError(
                f"pass {self.declaration.name!r} asks for a visit and is not a NodePass",
                owner=str(self.declaration.owner),
            )
        return self._walk

    # ---- remarks -------------------------------------------------------------------------------

    def applied(self, node: Node, code: str | Code, **about: Any) -> None:
        """The copy is gone, or costs nothing any more. See `remark` for the arguments."""
        self.remark(RemarkKind.APPLIED, node, code, **about)

    def missed(self, node: Node, code: str | Code, **about: Any) -> None:
        """The copy stays, for this reason. See `remark` for the arguments."""
        self.remark(RemarkKind.MISSED, node, code, **about)

    def analysis(self, node: Node, code: str | Code, **about: Any) -> None:
        """Something worth knowing; it decides nothing. See `remark` for the arguments."""
        self.remark(RemarkKind.ANALYSIS, node, code, **about)

    def failed(self, node: Node, code: str | Code, **about: Any) -> None:
        """Tried, and could not be done. See `remark` for the arguments."""
        self.remark(RemarkKind.FAILED, node, code, **about)

    def remark(
        self,
        kind: RemarkKind,
        node: Node,
        code: str | Code,
        *,
        blame: Blamed | Iterable[Blamed] | None = None,
        bytes: int | None = 0,
        hint: HintSpec = None,
        reason: str | None = None,
        **fields: Any,
    ) -> None:
        """Say something about a node.

        Args:
            node: what it is about; it may be removed already.
            code: a code that this pass, or a registered rule or checker, has declared.
            blame: what stands in the way: nodes and anchors, or names of such in the graph.
            bytes: saved or lost, a whole number from 0; None where the size is not known.
            hint: the one change that would remove the copy.
            reason: words that fit better than the code's own text.
            fields: fill the `{names}` of the code's text.

        Raises:
            PassError: the code is not declared, or an argument is not what it should be; names the
                pass, its package and the node.
        """
        self.environment.remarks.add(
            self._made(kind, node, code, blame, bytes, hint, reason, fields)
        )

    def equivalent(self, output: OutputAnchor, original: str) -> None:
        """Vouch to the proof that an output computes what `node:output` of the original computed.

        For passes that put other ops in the place of some: the proof takes their word for the
        values, lists it among its assumptions, and goes on checking the memory.
        """
        self.environment.equivalences.append((repr(output), original, self.declaration.name))

    def changes_values(self) -> None:
        """Say, before the edit, that what is edited from here on changes what is computed.

        For a pass that seldom does so, in place of `changes_values=True` at its registration: the
        proof goes on from what the graph then is, and lists the pass among its assumptions.
        """
        env = self.environment
        if env.changing is None:
            env.changing = clone(env.root)

    def retractable(
        self, node: Node, undo: Callable[[], object], code: str | Code, *, bytes: int = 0
    ) -> None:
        """Offer to take a placement back, where it turns out to raise the peak.

        An offer for a node that had one takes the former's place.

        Args:
            undo: makes the node an ordinary one again, through the graph's methods only.
            code: the reason that is then given for the copy's staying.
            bytes: what the placement saves; the cheapest are taken back first.
        """
        hint = "--objective copies"
        remark = self._made(RemarkKind.MISSED, node, code, None, bytes, hint, None, {})
        self.environment.offer(Retraction(node, bytes, undo, remark))

    def withdraw(self, node: Node) -> None:
        """Say that a placement was undone: there is nothing to take back, and nothing is decided.

        Say next why the node has its task again.
        """
        self.environment.withdraw(node)
        self.environment.remarks.reopen(node.name)

    def _made(
        self,
        kind: RemarkKind,
        node: Node,
        code: str | Code,
        blame: Blamed | Iterable[Blamed] | None,
        bytes: int | None,
        hint: HintSpec,
        reason: str | None,
        fields: Mapping[str, Any],
    ) -> Remark:
        if not isinstance(node, Node):
            raise PassError(
                f"pass {self.declaration.name!r} gives a remark about {shortened(node)},"
                " which is no node",
                owner=str(self.declaration.owner),
            )
        declared = self._declared(code)
        try:
            return Remark(
                kind=kind,
                pass_name=self.declaration.name,
                owner=str(self.declaration.owner),
                graph=self.graph.name if node.graph is None else node.graph.name,
                node=node.name,
                op=node.op,
                code=declared.name,
                reason=self._words(declared, node, fields) if reason is None else reason,
                blame=self._blames(blame),
                bytes=bytes,
                hint=Hint.of(hint),
                rule=declared.rule,
                data=fields,
            )
        except (TypeError, ValueError) as error:
            raise self._refused(node, str(error)) from error

    def _refused(self, node: Node, words: str, hint: str | None = None) -> PassError:
        return PassError(
            f"pass {self.declaration.name!r} on node {node.name!r}: {words}",
            owner=str(self.declaration.owner),
            hint=hint,
        )

    def _blames(self, blame: Blamed | Iterable[Blamed] | None) -> tuple[Blame, ...]:
        blames = _blames(blame)
        find = self.environment.root.find
        for one in (blame,) if isinstance(blame, str) else blame if _is_list(blame) else ():
            if isinstance(one, str) and find(re.sub(r"[:@]\d+$", "", one)) is None:
                raise ValueError(f"blame={one!r} names no node of the graph; give the node itself")
        return blames

    def _declared(self, code: str | Code) -> Code:
        found = self._find_code(code)
        if found.retired:
            raise PassError(
                f"pass {self.declaration.name!r} gives code {found.name!r}, which is retired since"
                f" {found.retired}",
                owner=str(self.declaration.owner),
                hint="a new reason gets a new code",
            )
        return found

    def _find_code(self, code: str | Code) -> Code:
        if isinstance(code, Code):
            return code
        own = self.declaration.code(code)
        if own is not None:
            return own
        table = self.environment.codes
        owner = self.declaration.owner
        found = table.find(code) or table.find(owner.full(code))
        if found is not None:
            return found
        known = [c.name for c in table.all()]
        near = near_matches(owner.full(code), [c.name for c in self.declaration.codes])
        near = near or near_matches(owner.full(code), dict.fromkeys(known))
        short = self.declaration.name.rpartition(".")[2]
        raise PassError(
            f"pass {self.declaration.name!r} gives code {code!r}, which nobody declared",
            near=near,
            owner=str(owner),
            hint=f"declare it with the pass: class {short}(..., codes=({code!r},))",
        )

    def _words(self, code: Code, node: Node, fields: Mapping[str, Any]) -> str:
        try:
            return code.text.format(**fields)
        except Exception as error:  # a field's own __format__ may raise anything
            wants = ", ".join(f"{{{field}}}" for field in fields_of(code.text))
            given = ", ".join(sorted(fields)) or "nothing"
            missing = set(fields_of(code.text)) - set(fields)
            why = "" if missing else f": {brief(error)}"
            raise self._refused(
                node, f"the text of {code.name} wants {wants}; given: {given}{why}"
            ) from error


def _is_list(blame: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(blame, (list, tuple))


def _blames(blame: Blamed | Iterable[Blamed] | None) -> tuple[Blame, ...]:
    if blame is None:
        return ()
    if isinstance(blame, (Node, InputAnchor, OutputAnchor, Blame, str)):
        return (Blame.of(blame),)
    given: Any = blame
    # What is no list is one thing, and `Blame.of` says what it is not.
    return tuple(Blame.of(one) for one in (given if isinstance(given, Iterable) else (given,)))
