"""Pass declarations and the registry they are added to.

A declaration mirrors GE's REG_PASS_OPTION: a set of levels, or a switch option that decides
instead; what GE leaves to the order of a list, we say with stages and constraints. A pass is given
as a class, or as a lazy `"module:Class"` reference where importing it is dear.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import eq
from typing import Any, Self

from ge_core.errors import MissingHookError, PassError, PluginError
from ge_core.ir import Graph
from ge_core.passes.analyses import AnalysisRegistry, Same
from ge_core.passes.base import AnalysisPass, GraphPass, NodePass, Pass
from ge_core.passes.claims import ClaimRegistry, Since, Verdict
from ge_core.passes.codes import Code, CodeSpec, read_codes
from ge_core.passes.counters import CounterSpec, read_counters
from ge_core.passes.option_types import READABLE, is_readable
from ge_core.passes.stages import Place, Stage
from ge_core.registry import NOBODY, Entry, Owner, Registry, resolve_reference


@dataclass(frozen=True, slots=True)
class PassDeclaration:
    """One registered pass.

    Attributes:
        name: GE's bare name for built-in passes, `owner.Name` for others.
        reference: the class, or `"module:Class"`.
        levels: the levels it is on at; not asked where a switch option is bound.
        place: the stage it runs in.
        before, after: soft constraints; needs: passes that must run, and before it.
        requires: what it can't do without: capabilities (`read_write`, `layout_checkers`) and
            claims that must hold where it runs.
        switch: primary and secondary switch option; the secondary is asked first.
        required: switching it off is an error.
        changes_values: it may change what is computed; the proof re-bases there.
        preserves: analyses that its edits keep right.
        repeat: run it until it changes nothing, at most so often; 1 runs it once.
        establishes: claims that hold from here on, see `PassRegistry.add_claim`.
        invalidates: claims that it may break; they no longer hold from here on.
        handles: kinds of copies (`move`, `join`, `pack`, `split`, `slice`), or op types of such
            kinds, that it has rules for: where it is off, the final remark on such a node names it.
            Nodes that are no copies end without a remark, whoever handles their op.
        codes: the codes it gives.
        counters: what it counts, with a text for each.
    """

    name: str
    reference: type[Pass] | str
    levels: tuple[str, ...]
    place: Place
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    switch: tuple[str, ...] = ()
    required: bool = False
    changes_values: bool = False
    preserves: tuple[str, ...] = ()
    repeat: int = 1
    establishes: tuple[str, ...] = ()
    invalidates: tuple[str, ...] = ()
    handles: tuple[str, ...] = ()
    codes: tuple[Code, ...] = ()
    counters: Mapping[str, str] = field(default_factory=dict)
    owner: Owner = NOBODY
    summary: str = ""

    @property
    def is_lazy(self) -> bool:
        """Whether the class is not imported yet."""
        return isinstance(self.reference, str)

    def load(self) -> type[Pass]:
        """The class; imports a lazy one.

        Raises:
            PluginError: the module can't be imported; names the owner.
            PassError: what it refers to is not a pass.
        """
        if not isinstance(self.reference, str):
            return self.reference
        found = resolve_reference(self.reference, self.owner)
        check_class(found, self.name, self.owner)
        return found  # type: ignore[no-any-return]  # check_class has just said so

    def make(self, **options: Any) -> Pass:
        """An instance with these options; the rest at their defaults."""
        return self.load()(**options)

    def code(self, name: str) -> Code | None:
        """The declared code that a pass means by a name."""
        full = self.owner.full(name)
        return next((code for code in self.codes if code.name in (full, name)), None)


def check_class(cls: object, name: str, owner: Owner) -> None:
    """Whether a class can be a pass.

    Raises:
        MissingHookError: it lacks a method that it must have.
        PassError: it is none for another reason; one sentence for its author.
    """
    problem = _problem(cls)
    if problem:
        kind = MissingHookError if problem.startswith(_LACKS) else PassError
        raise kind(f"pass {name!r} {problem}", owner=str(owner) if owner.name else None)


_LACKS = "lacks "


def _problem(cls: object) -> str | None:
    if not isinstance(cls, type) or not issubclass(cls, Pass):
        return f"is {cls!r}, not a subclass of GraphPass, NodePass or AnalysisPass"
    if not issubclass(cls, (GraphPass, NodePass, AnalysisPass)):
        return "derives from Pass itself; derive from GraphPass, NodePass or AnalysisPass"
    if getattr(cls, "__abstractmethods__", None):
        return _LACKS + ", ".join(sorted(cls.__abstractmethods__))
    parameters = cls.__dict__.get("__dataclass_params__")
    if parameters is None:
        if [name for name in inspect.get_annotations(cls) if not name.startswith("_")]:
            return "has fields and is not a dataclass; decorate it with @dataclass(frozen=True)"
        return None
    if not parameters.frozen:
        return "is not frozen; decorate it with @dataclass(frozen=True)"
    for option in dataclasses.fields(cls):  # type: ignore[arg-type]  # it has the parameters
        missing = dataclasses.MISSING
        if option.init and option.default is missing and option.default_factory is missing:
            return f"has an option {option.name!r} without a default"
    return _unreadable(cls)


def _unreadable(cls: type[Pass]) -> str | None:
    """Which option no user could give, as no text says a value of its type."""
    try:
        hints = typing.get_type_hints(cls)
    except Exception:  # told where the options are asked for
        return None
    for option in dataclasses.fields(cls):  # type: ignore[arg-type]  # it is one
        if option.init and not is_readable(hints[option.name]):
            kind = hints[option.name]
            shown = kind.__name__ if isinstance(kind, type) else kind
            return f"has an option {option.name!r} of type {shown}; options are {READABLE}"
    return None


class PassRegistry(Registry[PassDeclaration]):
    """The registered passes."""

    kind = "pass"

    def __init__(self) -> None:
        super().__init__()
        self.claims = ClaimRegistry()
        self.analyses = AnalysisRegistry()

    def add_claim(
        self,
        name: str,
        *,
        check: Callable[..., Verdict],
        summary: str,
        remember: Callable[[Graph], Any] | None = None,
        since: Since = "pass",
        always: bool = False,
        holds_after: Stage | Place | str | None = None,
    ) -> None:
        """Declare a claim that passes may establish, require and invalidate.

            passes.add_claim("few_casts", check=at_most_ten_casts, summary="at most ten Casts")

        The arguments are the attributes of `Claim`; see `ClaimRegistry.add` for what it raises.
        """
        self.claims.add(
            name,
            check=check,
            summary=summary,
            remember=remember,
            since=since,
            always=always,
            holds_after=holds_after,
        )

    def add_analysis(self, name: str, *, same: Same | None = eq, summary: str = "") -> None:
        """Declare an analysis that passes keep with `ctx.cached` and may preserve.

        Args:
            same: whether two of one graph say the same, `==` by default; an audit asks it of one
                that a pass preserved and one made anew. None where they can't be compared.

        Raises:
            PluginError: the name is taken.
        """
        self.analyses.add(name, same=same, summary=summary)

    def fork(self) -> Self:
        """A copy that can be changed without changing this one."""
        copy = super().fork()
        copy.claims, copy.analyses = self.claims.fork(), self.analyses.fork()
        return copy

    def absorb(self, staged: Self, owner: Owner) -> None:
        """Take over what one plugin registered; raises `PluginError` for a taken name."""
        self.claims.absorb(staged.claims, owner)
        self.analyses.absorb(staged.analyses, owner)
        super().absorb(staged, owner)

    def add(
        self,
        cls: type[Pass] | str,
        *,
        levels: Iterable[str],
        stage: Stage | Place | str,
        name: str | None = None,
        before: Sequence[str] = (),
        after: Sequence[str] = (),
        needs: Sequence[str] = (),
        requires: Sequence[str] = (),
        switch: str | Sequence[str] = (),
        required: bool = False,
        changes_values: bool = False,
        preserves: Sequence[str] = (),
        repeat: int = 1,
        establishes: Sequence[str] = (),
        invalidates: Sequence[str] = (),
        handles: Sequence[str] = (),
        codes: CodeSpec = (),
        counters: CounterSpec = (),
        summary: str = "",
    ) -> None:
        """Declare a pass.

        Args:
            cls: the class, or `"module:Class"`, which is imported when it runs.
            levels: the levels that it is on at; not asked where a switch option is bound.
            stage: a stage, or the place just before or after one (`Stage.CHECK.before`).
            name: the class's name by default.
            before, after: passes of the stage that it comes before and after, where they are there.
            needs: passes that must run, and before it.
            requires: capabilities (`read_write`, `layout_checkers`) and claims that must hold.
            switch: the option that decides, or `[primary, secondary]`, the secondary asked first.
            required: switching it off is an error.
            changes_values: it may change what is computed; the proof re-bases there.
            preserves: analyses that its edits keep right.
            repeat: run it until it changes nothing, at most so often; 1 runs it once.
            establishes, invalidates: claims that hold from here on, and that it may break.
            handles: kinds of ops (`move`, `join`, ...) or op types that it has rules for.
            codes, counters, summary: of a lazy pass; others say them with the class.

        Raises:
            PassError: the class can't be a pass; says what to change.
            PluginError: the name is taken, or an argument is malformed.
        """
        if name is None:
            name = cls.rpartition(":")[2] if isinstance(cls, str) else cls.__name__
        if not isinstance(cls, str):
            check_class(cls, name, NOBODY)
            codes = (*cls.codes, *read_codes(codes))
            counters = {**cls.counters, **read_counters(counters)}
            summary = summary or first_line(cls)
        elif ":" not in cls:
            raise PluginError(
                f"pass {name!r}: {cls!r} is not a reference", hint="write 'module:Class'"
            )
        if not isinstance(stage, (Stage, Place, str)):
            raise PluginError(f"pass {name!r}: stage {stage!r} is neither a stage nor its name")
        switches = (switch,) if isinstance(switch, str) else tuple(switch)
        if len(switches) > 2:
            raise PluginError(f"pass {name!r} binds {len(switches)} switch options, at most 2")
        if "" in switches or len(set(switches)) < len(switches):
            raise PluginError(
                f"pass {name!r} binds switch options {switches!r}: one primary name,"
                " and at most one other as the secondary"
            )
        declaration = PassDeclaration(
            name=name,
            reference=cls,
            levels=tuple(str(level) for level in _not_text("levels", levels, name)),
            place=Place.of(stage),
            before=tuple(_not_text("before", before, name)),
            after=tuple(_not_text("after", after, name)),
            needs=tuple(_not_text("needs", needs, name)),
            requires=tuple(_not_text("requires", requires, name)),
            switch=switches,
            required=required,
            changes_values=changes_values,
            preserves=tuple(_not_text("preserves", preserves, name)),
            repeat=_bound(repeat, name),
            establishes=_claims("establishes", establishes, name),
            invalidates=_claims("invalidates", invalidates, name),
            handles=tuple(_not_text("handles", handles, name)),
            codes=read_codes(codes),
            counters=read_counters(counters),
            summary=summary,
        )
        self._put(Entry(name, declaration))

    def _stamped(self, entry: Entry[PassDeclaration], owner: Owner) -> Entry[PassDeclaration]:
        name = owner.full(entry.name)
        codes = tuple(code.stamped(owner, name) for code in entry.value.codes)
        stamped = replace(entry.value, name=name, codes=codes, owner=owner)
        return Entry(name, stamped, owner)


def _not_text(what: str, value: Iterable[str], name: str) -> Iterable[str]:
    # A lone string would be taken letter by letter: `levels=Level.O3` and `before="X"` alike.
    if isinstance(value, str):
        raise PluginError(f"pass {name!r}: {what}={value!r} is not a list; write ({value!r},)")
    return value


def _bound(repeat: object, name: str) -> int:
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise PluginError(
            f"pass {name!r}: repeat={repeat!r} is not a number of runs, 1 or more",
            hint="repeat=10 runs it until it changes nothing, at most 10 times",
        )
    return repeat


def _claims(what: str, value: Iterable[str], name: str) -> tuple[str, ...]:
    claims: tuple[Any, ...] = tuple(_not_text(what, value, name))
    for at, claim in enumerate(claims):
        if not isinstance(claim, str) or not claim:
            raise PluginError(f"pass {name!r}: {what} has {claim!r}, which is not a claim's name")
        if claim in claims[:at]:
            raise PluginError(f"pass {name!r}: {what} names {claim!r} twice")
    return claims


def first_line(cls: type) -> str:
    """The first line of a class's own docstring, empty without one."""
    # A dataclass without a docstring is given its signature for one.
    doc = cls.__dict__.get("__doc__") or ""
    line = doc.strip().partition("\n")[0]
    return "" if line.startswith(f"{cls.__name__}(") else line
