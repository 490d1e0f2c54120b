"""Declaring passes: what is accepted, what is stamped, and what the author reads otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from ge_core.errors import PassError, PluginError, UnknownNameError
from ge_core.ir import Graph
from ge_core.passes import GraphPass, Level, NodePass, Pass, PassContext, PassRegistry, Stage
from ge_core.passes.registry import first_line
from ge_core.registry import Owner

ACME = Owner("acme", "acme-casts", "1.0")
BUILTIN = Owner("tensormove", "graph-engine-tensormove", "1.0", builtin=True)


@dataclass(frozen=True)
class DropNoOpCast(GraphPass, codes=("NOOP",)):
    """Removes casts.

    More about it.
    """

    limit: int | None = None

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


def registry(owner: Owner, **about: Any) -> PassRegistry:
    """The pass registered by an owner."""
    staged, merged = PassRegistry(), PassRegistry()
    staged.add(DropNoOpCast, **{"levels": Level.O2.and_above(), "stage": Stage.PREPARE, **about})
    merged.absorb(staged, owner)
    return merged


def problem_of(cls: object, **about: Any) -> str:
    """What the author of a pass reads."""
    with pytest.raises(PluginError) as raised:
        PassRegistry().add(cls, **{"levels": Level.O2.and_above(), "stage": "PREPARE", **about})  # type: ignore[arg-type]  # that is the point
    return str(raised.value)


def test_names_and_codes_of_third_parties_get_the_prefix() -> None:
    """acme's DropNoOpCast is acme.DropNoOpCast, and its code acme.NOOP."""
    declaration = registry(ACME).get("acme.DropNoOpCast")
    assert ("acme.DropNoOpCast", ACME) == (declaration.name, declaration.owner)
    assert ["acme.NOOP"] == [code.name for code in declaration.codes]
    assert "Removes casts." == declaration.summary


def test_a_written_prefix_is_not_doubled() -> None:
    """`name="acme.X"` stays acme.X."""
    assert ["acme.X"] == registry(ACME, name="acme.X").names()


def test_built_in_names_stay_bare() -> None:
    """GE's names."""
    assert ["DropNoOpCast"] == registry(BUILTIN).names()


def test_a_pass_finds_its_codes_with_or_without_prefix() -> None:
    """Authors write NOOP; remarks say acme.NOOP."""
    declaration = registry(ACME).get("acme.DropNoOpCast")
    assert declaration.code("NOOP") is declaration.code("acme.NOOP") is declaration.codes[0]
    assert declaration.code("OTHER") is None


def test_the_same_name_twice() -> None:
    """An error that names both owners."""
    merged, staged = registry(BUILTIN), PassRegistry()
    staged.add(DropNoOpCast, levels=(), stage=Stage.CHECK)
    with pytest.raises(PluginError) as raised:
        merged.absorb(staged, Owner("x", "graph-engine-onnx", "2.0", builtin=True))
    assert "graph-engine-tensormove 1.0, graph-engine-onnx 2.0" == raised.value.owner


def test_an_unknown_pass_names_near_ones_and_their_owners() -> None:
    """`no pass 'ConcatNoTaskPass'`, near: ... (package version)."""
    with pytest.raises(UnknownNameError) as raised:
        registry(ACME).get("acme.DropNoopCast")
    assert ("acme.DropNoOpCast (acme-casts 1.0)",) == raised.value.near


class NotDecorated(GraphPass):
    """Its field would silently be no option."""

    limit: int = 3

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


@dataclass
class NotFrozen(GraphPass):
    """Its options could change between two runs."""

    limit: int = 3

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


@dataclass(frozen=True)
class NoDefault(GraphPass):
    """Nobody could make it without being told the option."""

    limit: int

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


@dataclass(frozen=True)
class DictOption(GraphPass):
    """No text says a value of it."""

    limits: dict[str, int] = field(default_factory=dict)

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


@dataclass(frozen=True)
class EveryOption(GraphPass):
    """All types that there are."""

    count: int | None = None
    share: float = 0.5
    words: tuple[str, ...] = ()
    mode: Literal["a", "b"] = "a"
    pair: tuple[int, bool] = (1, True)
    stage: Stage | None = None

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


def test_options_of_all_types_that_a_text_can_say() -> None:
    """They register."""
    PassRegistry().add(EveryOption, levels=(), stage=Stage.CHECK)


class NoVisit(NodePass):
    """Forgot the method."""


class Bare(Pass):
    """Not of any kind."""


@pytest.mark.parametrize(
    ("cls", "sentence"),
    [
        (NotDecorated, "has fields and is not a dataclass"),
        (NotFrozen, "is not frozen"),
        (NoDefault, "has an option 'limit' without a default"),
        (
            DictOption,
            "has an option 'limits' of type dict[str, int]; options are int, float, bool, str, an"
            " enum, a Literal, a tuple of these, or one of these or None",
        ),
        (NoVisit, "lacks visit"),
        (Bare, "derives from Pass itself"),
        (int, "not a subclass of GraphPass, NodePass or AnalysisPass"),
    ],
)
def test_a_class_that_can_not_be_a_pass(cls: type, sentence: str) -> None:
    """One sentence that says what to change."""
    assert sentence in problem_of(cls)


@pytest.mark.parametrize(
    "argument",
    ["before", "after", "needs", "preserves", "levels", "requires", "establishes", "invalidates"],
)
def test_a_lone_string_is_no_list(argument: str) -> None:
    """`before="X"` would mean one constraint per letter."""
    assert f"{argument}='O3' is not a list" in problem_of(DropNoOpCast, **{argument: "O3"})


def test_three_switch_options_are_too_many() -> None:
    """A primary and a secondary one, as in GE."""
    assert "at most 2" in problem_of(DropNoOpCast, switch=("a", "b", "c"))


@pytest.mark.parametrize("repeat", [0, -1, True, 2.0, "3"])
def test_a_bound_on_repeats_that_is_no_count(repeat: object) -> None:
    """A pass runs once or more."""
    assert f"repeat={repeat!r} is not a number of runs" in problem_of(DropNoOpCast, repeat=repeat)


@pytest.mark.parametrize("argument", ["establishes", "invalidates"])
def test_claims_that_have_no_name(argument: str) -> None:
    """An empty name, and something that is no name at all."""
    for name in ("", 3):
        problem = problem_of(DropNoOpCast, **{argument: (name,)})
        assert f"{argument} has {name!r}, which is not a claim's name" in problem


@pytest.mark.parametrize("argument", ["establishes", "invalidates"])
def test_a_claim_named_twice(argument: str) -> None:
    """The second one would say nothing."""
    problem = problem_of(DropNoOpCast, **{argument: ("frozen", "frozen")})
    assert f"{argument} names 'frozen' twice" in problem


def test_what_a_pass_says_of_claims_and_repeats() -> None:
    """Kept as it was written; a pass runs once unless it says otherwise."""
    plain = registry(BUILTIN).get("DropNoOpCast")
    assert (1, (), ()) == (plain.repeat, plain.establishes, plain.invalidates)
    about = registry(BUILTIN, repeat=4, establishes=["a"], invalidates=["b", "a"])
    declared = about.get("DropNoOpCast")
    assert (4, ("a",), ("b", "a")) == (declared.repeat, declared.establishes, declared.invalidates)


def test_a_code_declared_again_below() -> None:
    """A subclass inherits codes and can't declare one again."""
    with pytest.raises(TypeError, match="declared again"):

        class Again(DropNoOpCast, codes=("NOOP",)):
            """The same code."""


def test_a_lazy_pass_is_imported_when_it_is_asked_for() -> None:
    """Listing needs only what was declared with the reference."""
    registered = PassRegistry()
    registered.add(
        "no_such_module_anywhere:Fuse", levels=(), stage="CHECK", summary="fuses", codes=("A",)
    )
    declaration = registered.get("Fuse")
    assert (True, "fuses", "A") == (
        declaration.is_lazy,
        declaration.summary,
        declaration.codes[0].name,
    )
    with pytest.raises(PluginError, match="can't be loaded: ModuleNotFoundError"):
        declaration.load()


def test_a_lazy_reference_to_something_else() -> None:
    """What it refers to is checked when it is loaded."""
    registered = PassRegistry()
    registered.add("collections:OrderedDict", levels=(), stage="CHECK")
    with pytest.raises(PassError, match="not a subclass"):
        registered.get("OrderedDict").load()


def test_a_dataclass_without_docstring_has_no_summary() -> None:
    """The signature that dataclasses put there is none."""

    @dataclass(frozen=True)
    class Silent:
        x: int = 1

    assert "" == first_line(Silent)
