"""A pass's own options: read from texts, written back, described."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import OptionError, UnknownNameError
from ge_core.ir import Graph
from ge_core.passes import GraphPass, PassContext, PassDeclaration, PassRegistry, Stage
from ge_core.passes.pass_options import changed_options, describe_options, read_options


class Speed(Enum):
    """How fast."""

    SLOW = "slow"
    FAST = "fast"


@dataclass(frozen=True)
class Tunable(GraphPass):
    """Has one option of every type."""

    limit: int | None = None
    """At most this many; none by
    default."""

    loud: bool = False
    """Whether to shout."""

    scale: float = 0.5
    name: str = "x"
    mode: Literal["a", "b"] = "a"
    speed: Speed = Speed.SLOW
    sizes: tuple[int, ...] = (1, 2)
    pair: tuple[int, str] = field(default_factory=lambda: (0, "z"))

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


def declaration() -> PassDeclaration:
    """The registered pass."""
    passes = PassRegistry()
    passes.add(Tunable, levels=(), stage=Stage.PREPARE)
    return passes.get("Tunable")


TEXTS = {
    "limit": "3",
    "loud": "true",
    "scale": "2.5",
    "name": "y z",
    "mode": "b",
    "speed": "fast",
    "sizes": "4|5|6",
    "pair": "1|q",
}


def test_texts_become_typed_values() -> None:
    """Each by the annotation of its field."""
    values = read_options(declaration(), TEXTS)
    expected = Tunable(3, True, 2.5, "y z", "b", Speed.FAST, (4, 5, 6), (1, "q"))
    assert expected == declaration().make(**values)


def test_values_that_differ_from_defaults_are_written_back() -> None:
    """As texts that read back the same; defaults are left out."""
    assert TEXTS == changed_options(declaration(), read_options(declaration(), TEXTS))
    assert {} == changed_options(declaration(), {"limit": None, "sizes": (1, 2), "pair": (0, "z")})


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "limit": st.none() | st.integers(),
            "loud": st.booleans(),
            "scale": st.floats(allow_nan=False),
            "name": st.text(),
            "speed": st.sampled_from(Speed),
            "sizes": st.lists(st.integers()).map(tuple),
        },
    )
)
def test_any_values_round_trip(values: dict[str, Any]) -> None:
    """Written and read again they are the same, whatever they are."""
    written = changed_options(declaration(), values)
    again = declaration().make(**read_options(declaration(), written))
    assert declaration().make(**values) == again


def test_none_is_written_as_a_word() -> None:
    """`limit=none` is the default spelled out."""
    assert {"limit": None} == read_options(declaration(), {"limit": "none"})


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("limit", "many", "it must be a whole number"),
        ("loud", "yes", "it must be one of true, false"),
        ("scale", "x", "it must be a number"),
        ("mode", "c", "it must be one of a, b"),
        ("speed", "SLOW", "it must be one of slow, fast"),
        ("pair", "1", "it must have 2 members"),
        ("sizes", "1|x", "it must be a whole number"),
    ],
)
def test_a_text_that_is_no_value(name: str, text: str, reason: str) -> None:
    """E10001 with the full name of the option and the reason."""
    with pytest.raises(OptionError, match=f"for option Tunable.{name} is invalid: {reason}"):
        read_options(declaration(), {name: text})


def test_an_unknown_option_names_near_ones() -> None:
    """And lists what there is."""
    with pytest.raises(UnknownNameError) as raised:
        read_options(declaration(), {"limt": "1"})
    assert ("limit",) == raised.value.near
    assert "its options: limit, loud" in str(raised.value)


def test_options_describe_themselves() -> None:
    """Type, default and the docstring below the field."""
    described = {option.name: option for option in describe_options(declaration())}
    assert ("whole number or none", "none", "At most this many; none by default.") == (
        described["limit"].type,
        described["limit"].default,
        described["limit"].help,
    )
    assert "true or false" == described["loud"].type
    assert "slow or fast" == described["speed"].type
    assert "whole number|..." == described["sizes"].type
    assert "" == described["scale"].help
