"""Further rules in the chain of a removal pass, contributed by plugins.

The pass that removes copies asks every rule registered for it, after its own; the first that
answers with `Keep` keeps the copy. What a rule is asked with is defined by the pass that asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ge_core.errors import PassError, PluginError
from ge_core.foreign import in_words, located
from ge_core.ir import Graph
from ge_core.passes.codes import Code, CodeSpec, read_codes
from ge_core.passes.remarks import Hint
from ge_core.registry import NOBODY, Entry, Owner, Registry


@dataclass(frozen=True, slots=True)
class Keep:
    """A rule's no: the code it declared, and what stands in the way."""

    code: str
    blame: Any = None
    hint: Hint | Mapping[str, str] | str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


RuleFunction: TypeAlias = Callable[[Any], Keep | None]


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

    def __call__(self, query: Any) -> Keep | None:
        """Ask it; `PassError` naming its package for whatever it raises or answers wrongly."""
        try:
            answer = self.function(query)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failure = PassError(
                f"delete rule {self.name!r} {in_words(error)}",
                owner=str(self.owner),
            )
            raise located(failure, error) from error
        if answer is not None and not isinstance(answer, Keep):
            raise PassError(
                f"delete rule {self.name!r} answered {answer!r}",
                owner=str(self.owner),
                hint="a rule answers None (may go) or Keep(code, ...)",
            )
        if answer is not None and all(
            code.name not in (answer.code, self.owner.full(str(answer.code))) for code in self.codes
        ):
            raise PassError(
                f"delete rule {self.name!r} gives code {answer.code!r}, which it did not declare",
                near=[code.name for code in self.codes],
                owner=str(self.owner),
                hint="declare it with the rule: rules.add(..., codes=(...))",
            )
        return answer

    def looking_at(self, root: Graph) -> DeleteRule:
        """The rule as a pass asks it: an edit of the graph is an error."""

        def ask(query: Any) -> Keep | None:
            with root.read_only():
                return self.function(query)

        return replace(self, function=ask)


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
            rule: answers None where the copy may go, or `Keep(code, ...)`.
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
