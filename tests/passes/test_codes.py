"""Reason codes: the forms they are written in, and where they are found."""

from __future__ import annotations

import pytest

from ge_core.passes import Code, CodeTable
from ge_core.passes.codes import read_codes
from ge_core.registry import Owner

ACME = Owner("acme", "acme-casts", "1.0")
BUILTIN = Owner("core", "graph-engine-core", builtin=True)


def test_names_alone_explain_themselves() -> None:
    """CHANGES_DTYPE reads "changes dtype"."""
    assert (Code("CHANGES_DTYPE", "changes dtype"),) == read_codes(("CHANGES_DTYPE",))


def test_texts_and_rules() -> None:
    """A mapping gives texts, and the rule that case files call kept_reason."""
    codes = read_codes({"A": "because {x}", "B": ("so", "R3")})
    assert (Code("A", "because {x}"), Code("B", "so", "R3")) == codes


@pytest.mark.parametrize("spec", ["NOOP", ("not a name",), ("A", "A"), {"1A": "x"}])
def test_malformed_codes(spec: object) -> None:
    """A lone string, a code that is no name, and the same code twice are errors at once."""
    with pytest.raises(TypeError):
        read_codes(spec)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{node} is it", "wants {node}, which a remark takes for itself"),
        ("{bytes:,} of it", "wants {bytes}, which a remark takes for itself"),
        ("{reason.words}", "wants {reason}, which a remark takes for itself"),
        ("{0} of it", "wants {0}, which has no name"),
        ("{who", "can't be read: "),
    ],
)
def test_texts_that_can_not_be_filled(text: str, says: str) -> None:
    """They are errors when the class is made, not when the remark is given."""
    for spec in ({"X": text}, (Code("X", text),)):
        with pytest.raises(TypeError, match="the text of code 'X' ") as raised:
            read_codes(spec)
        assert says in str(raised.value)


def test_codes_of_third_parties_get_the_prefix() -> None:
    """acme's NOOP is acme.NOOP; a built-in pass's stays NOOP."""
    code = Code("NOOP", "noop")
    assert "acme.NOOP" == code.stamped(ACME, "acme.P").name
    assert "NOOP" == code.stamped(BUILTIN, "P").name


def test_two_givers_of_one_code() -> None:
    """Each keeps its own text; without a giver the first by name answers."""
    table = CodeTable()
    table.add([Code("A", "second", giver="P2"), Code("A", "first", giver="P1")])
    found = table.find("A", "P2")
    anyone = table.find("A")
    assert found is not None and anyone is not None
    assert ("second", "first") == (found.text, anyone.text)
    assert table.find("B") is None
    assert ["P1", "P2"] == [code.giver for code in table.all()]


def test_a_fork_does_not_change_the_table() -> None:
    """Codes added to a copy stay there."""
    table = CodeTable()
    table.fork().add([Code("A", "a")])
    assert [] == table.all()
