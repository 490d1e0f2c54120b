"""Further rules in the chain of a removal pass, contributed by plugins.

The pass that removes copies asks every rule registered for it, after its own; the first that
answers with `Keep` keeps the copy. What a rule is asked with is defined by the pass that asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ge_core.errors import PassError
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
        except Exception as error:
            raise PassError(
                f"delete rule {self.name!r} raised {type(error).__name__}: {error}",
                owner=str(self.owner),
            ) from error
        if answer is not None and not isinstance(answer, Keep):
            raise PassError(
                f"delete rule {self.name!r} answered {answer!r}",
                owner=str(self.owner),
                hint="a rule answers None (may go) or Keep(code, ...)",
            )
        return answer


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
        declared = DeleteRule(
            name, rule, read_codes(codes), tuple(passes), tuple(before), tuple(after)
        )
        self._put(Entry(name, declared))

    def _stamped(self, entry: Entry[DeleteRule], owner: Owner) -> Entry[DeleteRule]:
        from dataclasses import replace

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
