"""Further rules in the chain of a removal pass, contributed by plugins.

The pass that removes copies asks every rule registered for it, after its own; the first that
answers with `Keep` keeps the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from ge_core.analysis import Origin, Sources, Trace
from ge_core.errors import PassError, PluginError
from ge_core.foreign import edit_hint, in_words, located, place_of_function, shortened
from ge_core.ir import Graph, InputAnchor, Node, OutputAnchor
from ge_core.passes.codes import Code, CodeSpec, read_codes
from ge_core.passes.remarks import Blame, Hint
from ge_core.registry import NOBODY, Entry, Owner, Registry

if TYPE_CHECKING:
    from ge_core.passes.context import PassContext


@dataclass(frozen=True, slots=True)
class Keep:
    """A rule's no: the code it declared, and what stands in the way.

    Attributes:
        code: with or without the plugin's prefix.
        blame: a node, an anchor, or several, nearest first; shown as "because of".
        hint: the one change that would let the copy go: a sentence, `{"set": "option=value"}`,
            `{"edge": "one -> other"}` or another form of `Hint`. Only given where nobody else
            would keep the copy.
        fields: fill the `{names}` of the code's text, and are the remark's `data`.
    """

    code: str
    blame: Any = None
    hint: Hint | Mapping[str, str] | str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


class DeleteCandidate(Protocol):
    """A copy that a removal pass would remove, as contributed rules see it; nothing is edited yet.

    It has one connected input and an output.
    """

    @property
    def copy(self) -> Node:
        """The copy's node."""

    @property
    def graph(self) -> Graph:
        """The graph or subgraph that the copy is in."""

    @property
    def input(self) -> InputAnchor:
        """What the copy reads."""

    @property
    def feed(self) -> OutputAnchor:
        """The direct producer's output, which the copy's readers would read instead."""

    @property
    def output(self) -> OutputAnchor:
        """What the copy's readers read now; it goes, and its description with it."""

    @property
    def origin(self) -> Origin:
        """Where the value was made, views looked through: its `output` and `node`."""

    @property
    def trace(self) -> Trace:
        """The whole way back to the source; costs a step for each node on it."""

    @property
    def ctx(self) -> PassContext:
        """The pass's context: options, target, op traits, `aliases`, `order` and `effects`."""


RuleFunction: TypeAlias = Callable[[DeleteCandidate], Keep | None]

_TAKEN: Final = ("blame", "bytes", "code", "hint", "kind", "node", "reason")
"""Names that a remark gives to other things than fields."""


@dataclass(frozen=True, slots=True)
class DeleteRule:
    """One registered rule; calling it asks it.

    Attributes:
        passes: names of the removal passes it speaks for; empty for every one.
        before, after: names of other rules; those not installed are ignored.
    """

    name: str
    function: RuleFunction
    codes: tuple[Code, ...] = ()
    passes: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    owner: Owner = NOBODY

    def __call__(self, query: DeleteCandidate) -> Keep | None:
        """Ask it; `PassError` naming its package for whatever it raises or answers wrongly."""
        try:
            answer: object = self.function(query)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failure = PassError(
                f"delete rule {self.name!r} {in_words(error)}",
                owner=str(self.owner),
                hint=edit_hint(error, "a delete rule"),
            )
            raise located(failure, error) from error
        if answer is None:
            return None
        if not isinstance(answer, Keep):
            hint = "a rule answers None (may go) or Keep(code, ...)"
            raise self._refusal(shortened(answer), hint)
        self._check(answer)
        return answer

    def _check(self, answer: Keep) -> None:
        """Raises `PassError` for what no remark can be made of."""
        names = (answer.code, self.owner.full(str(answer.code)))
        code = next((code for code in self.codes if code.name in names), None)
        if code is None:
            raise PassError(
                f"delete rule {self.name!r} gives code {answer.code!r}, which it did not declare",
                near=[code.name for code in self.codes],
                owner=str(self.owner),
                hint="declare it with the rule: rules.add(..., codes=(...))",
            )
        fields: object = answer.fields
        if not isinstance(fields, Mapping) or not all(isinstance(name, str) for name in fields):
            raise self._refusal(f"fields={shortened(fields)}", "fields={'name': value}")
        taken = [name for name in fields if name in _TAKEN]
        if taken:
            raise self._refusal(f"a field {taken[0]!r}", "call it another name in the code's text")
        try:
            code.text.format(**fields)
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise self._refusal(
                f"fields that don't fill the text of its code {code.name!r}: {error!r}",
                f"Keep({answer.code!r}, fields={{...}}) fills {code.text!r}",
            ) from error
        try:
            Hint.of(answer.hint)
            blamed: Any = () if answer.blame is None else answer.blame
            for one in blamed if isinstance(blamed, (list, tuple)) else [blamed]:
                Blame.of(one)
        except (TypeError, ValueError) as error:
            raise self._refusal(str(error)) from error

    def _refusal(self, what: str, hint: str | None = None) -> PassError:
        error = PassError(
            f"delete rule {self.name!r} answered {what}", owner=str(self.owner), hint=hint
        )
        error.where = place_of_function(self.function)
        return error

    def looking_at(self, root: Graph) -> DeleteRule:
        """The rule as a pass asks it: an edit of the graph is an error."""

        @wraps(self.function)
        def ask(query: DeleteCandidate) -> Keep | None:
            with root.read_only():
                return self.function(query)

        return replace(self, function=ask)


@dataclass(frozen=True, slots=True)
class CopyCandidate:
    """A copy with one connected input and an output, as `PassContext.kept_by_rule` asks about it.

    Attributes:
        copy: the copy's node.
        ctx: the context of the pass that would remove it.
    """

    copy: Node
    ctx: PassContext

    @property
    def graph(self) -> Graph:
        """The graph or subgraph that the copy is in."""
        assert self.copy.graph is not None
        return self.copy.graph

    @property
    def input(self) -> InputAnchor:
        """What the copy reads."""
        return self.copy.inputs[0]

    @property
    def feed(self) -> OutputAnchor:
        """The direct producer's output."""
        assert self.input.source is not None
        return self.input.source

    @property
    def output(self) -> OutputAnchor:
        """What the copy's readers read now."""
        return self.copy.outputs[0]

    @property
    def origin(self) -> Origin:
        """Where the value was made, views looked through."""
        return Sources(self.ctx.tracer, lambda via, following: True).origin(self.feed)

    @property
    def trace(self) -> Trace:
        """The whole way back to the source; costs a step for each node on it."""
        return self.ctx.trace(self.input)


def first_no(rules: Iterable[DeleteRule], candidate: DeleteCandidate) -> Keep | None:
    """The first rule's no, with its full code; its hint only where no later rule says no too."""
    first: Keep | None = None
    for rule in rules:
        keep = rule(candidate)
        if keep is None:
            continue
        if first is not None:
            return replace(first, hint=None)
        first = replace(keep, code=rule.owner.full(keep.code))
        if first.hint is None:
            break
    return first


class DeleteRules(Registry[DeleteRule]):
    """The registered delete rules."""

    kind = "delete rule"

    def add(
        self,
        name: str,
        rule: RuleFunction,
        *,
        codes: CodeSpec,
        passes: Sequence[str] = (),
        before: Sequence[str] = (),
        after: Sequence[str] = (),
    ) -> None:
        """Declare a rule.

        Args:
            rule: asked with a `DeleteCandidate`; answers None where the copy may go, or
                `Keep(code, ...)`. It must be a pure function of what it is asked with.
            codes: the codes it gives.
            passes: the removal passes it speaks for, every one by default.
            before, after: its place among other rules.
        """
        if not callable(rule):
            raise PluginError(f"delete rule {name!r}: {rule!r} is no function")
        declared = DeleteRule(
            name, rule, read_codes(codes), tuple(passes), tuple(before), tuple(after)
        )
        self._put(Entry(name, declared))

    def _stamped(self, entry: Entry[DeleteRule], owner: Owner) -> Entry[DeleteRule]:
        name = owner.full(entry.name)
        codes = tuple(code.stamped(owner, name) for code in entry.value.codes)
        return Entry(name, replace(entry.value, name=name, codes=codes, owner=owner), owner)

    def for_pass(self, pass_name: str) -> list[DeleteRule]:
        """The rules that speak for a pass, in order of their constraints, then by name."""
        from ge_core.passes.ordering import Item, arrange

        speaking = [r for r in self if not r.passes or pass_name in r.passes]
        items = [Item(r.name, r.before, r.after, (), r.owner) for r in speaking]
        by_name = {rule.name: rule for rule in speaking}
        return [by_name[name] for name in arrange(items, what="delete rules")]
