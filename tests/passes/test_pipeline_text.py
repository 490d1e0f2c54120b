"""Pipelines as texts: they parse, and print back to the same pipeline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import UnknownNameError, UsageError
from ge_core.passes import PLACES, Place, Stage
from ge_core.passes.pipeline_text import PassUse, PipelineText, parse_pipeline, print_pipeline

names = st.from_regex(r"[A-Za-z][A-Za-z0-9_.]{0,8}", fullmatch=True)
uses = st.builds(
    PassUse,
    names,
    st.dictionaries(names, st.text(), max_size=3).map(lambda d: tuple(d.items())),
    st.none() | st.sampled_from(PLACES),
)


@given(st.lists(uses, max_size=6).map(lambda u: PipelineText(tuple(u))))
def test_every_pipeline_prints_a_text_that_parses_to_it(pipeline: PipelineText) -> None:
    """Whatever the options' texts hold: blanks, quotes, commas, line ends."""
    assert pipeline == parse_pipeline(print_pipeline(pipeline))


def test_the_parts_of_a_text() -> None:
    """Places group passes; options stand in braces; blanks say nothing."""
    text = ' OPTIMIZE_STAGE2( A , B{n=2} ), C{},D{s="a,b\\"c"} '
    stage2 = Place(Stage.OPTIMIZE_STAGE2)
    assert (
        PassUse("A", place=stage2),
        PassUse("B", (("n", "2"),), stage2),
        PassUse("C"),
        PassUse("D", (("s", 'a,b"c'),)),
    ) == parse_pipeline(text).uses


def test_neighbours_in_one_place_share_its_brackets() -> None:
    """The printed form is short."""
    text = "PREPARE(A,B),C,before_CHECK(D)"
    assert text == str(parse_pipeline(text))


def test_an_empty_text_is_an_empty_pipeline() -> None:
    """So are empty brackets."""
    assert () == parse_pipeline(" ").uses == parse_pipeline("PREPARE()").uses


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("A,", "expected a pass or a stage at column 3"),
        ("A B", "expected ',' or the end at column 3"),
        ("PREPARE(A", "expected ',' at column 10"),
        ("A{n}", "expected '=' at column 4"),
        ("A{n=1,n=2}", "option 'n' is given twice"),
        ("A{n=", "expected a value at column 5"),
        ("(A)", "expected a pass or a stage at column 1"),
        ("PREPARE(CHECK(A))", "expected ',' at column 14"),
    ],
)
def test_malformed_texts(text: str, problem: str) -> None:
    """The error points at the place."""
    with pytest.raises(UsageError) as raised:
        parse_pipeline(text)
    assert problem in str(raised.value)
    assert "^" in str(raised.value)


def test_an_unknown_stage() -> None:
    """Near names are named."""
    with pytest.raises(UnknownNameError, match="no stage 'PREPAR'"):
        parse_pipeline("PREPAR(A)")
