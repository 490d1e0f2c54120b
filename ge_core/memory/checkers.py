"""The registry of conflict checkers (hook `ge_register_conflict_checkers`).

A *layout* rule says what it means that anchors of two types share one memory: always a conflict,
never one, or ask a function. Rules are for unordered pairs; a function gets the two anchors in the
order in which the types were written. The *read/write checker* is one object, asked by passes that
remove copies. What is asked, and when, is the business of who runs the checkers.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

from ge_core.errors import PassError, PluginError
from ge_core.foreign import edit_hint, foreign, in_words, located, shortened
from ge_core.registry import NOBODY, Owner, check_open, resolve_reference
from ge_core.renames import both_owners

CheckFunction: TypeAlias = Callable[[Any, Any, Any], Any]
"""`check(a, b, query)`: answers with `query.conflict(...)` or `query.no_conflict()`."""

Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairRule:
    """What holds for anchors of two types in one memory.

    Attributes:
        types: as written, in this order.
        kind: "always" a conflict, "never" one, or "check" with `function`.
        codes: what it may give as the reason; of an "always" rule the one it gives.
    """

    types: Pair
    kind: Literal["always", "never", "check"]
    codes: tuple[str, ...] = ()
    function: CheckFunction | None = None
    owner: Owner = NOBODY

    def __call__(self, a: Any, b: Any, query: Any) -> Any:
        """Ask the function; `PassError` naming the owner for whatever it raises."""
        if self.function is None:
            raise PassError(f"the rule for {self.types} has no function", owner=str(self.owner))
        try:
            return self.function(a, b, query)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failure = PassError(
                f"checker for {' and '.join(self.types)} {in_words(error)}",
                owner=str(self.owner),
                hint=edit_hint(error, "a checker"),
            )
            raise located(failure, error) from error


class CheckerRegistry:
    """Rules per pair of anchor types, and the read/write checker."""

    def __init__(self) -> None:
        self._rules: dict[Pair, PairRule] = {}
        self._indifferent: dict[str, Owner] = {}
        self.closed = False
        self._read_write: tuple[Any, Owner] | None = None

    def always(self, a: str, b: str, *, code: str) -> None:
        """Two anchors of these types in one memory are a conflict, with this reason code."""
        self._put(PairRule((a, b), "always", _read_codes([code])))

    def never(self, a: str, b: str) -> None:
        """Two anchors of these types in one memory are none."""
        self._put(PairRule((a, b), "never"))

    def indifferent(self, name: str) -> None:
        """Anchors of this type demand nothing of their memory.

        A pair of types without a rule is reported where it meets, unless one of the two is such a
        type. Rules may still speak of it.
        """
        check_open(self.closed, "checker", name)
        given: object = name
        if not isinstance(given, str) or not given:
            raise PluginError(f"anchor types are given by name, not as {name!r}")
        self._indifferent[name] = NOBODY

    def check(self, a: str, b: str, function: CheckFunction, *, codes: Iterable[str] = ()) -> None:
        """Ask `function(a, b, query)` about two anchors of these types in one memory.

        Args:
            codes: those that it may give as the reason, as a list.

        Raises:
            PluginError: `function` is none, a code isn't `SOME_REASON`, or the pair has a rule.
        """
        if not callable(function):
            raise PluginError(f"the checker for {a!r} and {b!r} is no function: {function!r}")
        self._put(PairRule((a, b), "check", _read_codes(codes), function))

    def read_write(self, checker: Any) -> None:
        """Declare the read/write checker: an object, or a lazy `"module:Class"` of one.

        Raises:
            PluginError: there is one already.
        """
        check_open(self.closed, "checker", "read_write")
        if self._read_write is not None:
            raise PluginError(
                "a read/write checker is registered already",
                owner=both_owners(self._read_write[1], NOBODY),
            )
        self._read_write = (checker, NOBODY)

    def _put(self, rule: PairRule) -> None:
        check_open(self.closed, "checker", " and ".join(map(str, rule.types)))
        names: tuple[object, ...] = rule.types
        if not all(isinstance(name, str) and name for name in names):
            raise PluginError(f"anchor types are given by name, not as {rule.types!r}")
        key = pair_key(*rule.types)
        taken = self._rules.get(key)
        if taken is not None:
            raise PluginError(
                f"anchor types {' and '.join(rule.types)} have a rule already",
                owner=both_owners(taken.owner, rule.owner),
            )
        self._rules[key] = rule

    # ---- the loader's side ---------------------------------------------------------------------

    def fork(self) -> Self:
        """A copy that can be changed without changing this one."""
        copy = type(self)()
        copy._rules = dict(self._rules)
        copy._indifferent = dict(self._indifferent)
        copy._read_write = self._read_write
        return copy

    def absorb(self, staged: Self, owner: Owner) -> None:
        """Take over what one plugin registered; raises `PluginError` for a pair that has a rule."""
        for key in sorted(staged._rules):
            rule = staged._rules[key]
            codes = tuple(owner.full(code) for code in rule.codes)
            self._put(replace(rule, codes=codes, owner=owner))
        self._indifferent.update(dict.fromkeys(staged._indifferent, owner))
        if staged._read_write is not None:
            self.read_write(staged._read_write[0])
            self._read_write = (staged._read_write[0], owner)

    def resolve(
        self, types: Container[str], present: Callable[[str, Owner], str] | None = None
    ) -> None:
        """Give the types in rules their registered names, now that all types are known.

        An author may write an own type without the prefix. Names that no plugin registered are
        left: their plugin isn't installed, and then nothing has that type.

        Args:
            present: what a type that a rule's owner names is called today.

        Raises:
            PluginError: two rules turn out to speak of one pair.
        """
        self._indifferent = {
            self._full(present(name, owner) if present else name, owner, types): owner
            for name, owner in self._indifferent.items()
        }
        rules, self._rules = list(self._rules.values()), {}
        for rule in rules:
            names = [present(name, rule.owner) for name in rule.types] if present else rule.types
            a, b = (self._full(name, rule.owner, types) for name in names)
            self._put(replace(rule, types=(a, b)))

    @staticmethod
    def _full(name: str, owner: Owner, types: Container[str]) -> str:
        full = owner.full(name)
        return full if name not in types and full in types else name

    # ---- reading -------------------------------------------------------------------------------

    @property
    def has_read_write(self) -> bool:
        """Whether there is a read/write checker; imports nothing."""
        return self._read_write is not None

    @property
    def read_write_owner(self) -> Owner | None:
        """Who brings the read/write checker; None where nobody does."""
        return None if self._read_write is None else self._read_write[1]

    def rule(self, a: str, b: str) -> PairRule | None:
        """The rule for two types in either order, or None."""
        return self._rules.get(pair_key(a, b))

    def is_indifferent(self, name: str) -> bool:
        """Whether anchors of a type demand nothing of their memory."""
        return name in self._indifferent

    def partners(self, kind: str) -> list[str]:
        """The types that have a rule together with this one, sorted."""
        found = {
            (rule.types[1] if rule.types[0] == kind else rule.types[0])
            for rule in self._rules.values()
            if kind in rule.types
        }
        return sorted(found)

    def make_read_write(self) -> Any:
        """The read/write checker, imported and made where it is a reference; None where none is."""
        if self._read_write is None:
            return None
        source, owner = self._read_write
        if not isinstance(source, str):
            return source
        made = resolve_reference(source, owner)
        with foreign("the read/write checker", str(owner)):
            return made()

    def __iter__(self) -> Iterator[PairRule]:
        return (self._rules[key] for key in sorted(self._rules))

    def __len__(self) -> int:
        return len(self._rules)


def _read_codes(codes: object) -> tuple[str, ...]:
    if isinstance(codes, str) or not isinstance(codes, Iterable):
        raise PluginError(f"codes={shortened(codes)} is no list of codes", hint='["SOME_REASON"]')
    found = tuple(codes)
    for code in found:
        if not isinstance(code, str) or not all(part.isidentifier() for part in code.split(".")):
            raise PluginError(
                f"{shortened(code)} is no reason code", hint="codes look like SOME_REASON"
            )
    return found


def pair_key(a: str, b: str) -> Pair:
    """Two types in the order in which the registry keeps them."""
    return (a, b) if a <= b else (b, a)
