"""Pipelines as texts: they parse, and print back to the same pipeline."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import UnknownNameError, UsageError
from ge_core.passes import PLACES, Place, Stage
from ge_core.passes.pipeline_parser import parse_pipeline
from ge_core.passes.pipeline_text import PassUse, PipelineText, Repeat, print_pipeline

odd = st.text(st.sampled_from("aB.1_,{}()=\"\\\\ \n\t#'é\u2003日")) | st.text()
words = st.from_regex(r"[A-Za-z][A-Za-z0-9_.]{0,8}", fullmatch=True) | st.just("repeat") | odd
options = st.dictionaries(words, odd, max_size=3).map(lambda d: tuple(d.items()))


@st.composite
def pipelines(draw: st.DrawFn) -> PipelineText:
    """Passes with options, some in places, neighbours of one place in repeats."""
    uses: list[PassUse] = []
    for number in range(draw(st.integers(0, 4))):
        place = draw(st.none() | st.sampled_from(PLACES))
        repeat = draw(st.none() | st.builds(Repeat, st.just(number), st.integers(1, 10**6)))
        for _ in range(draw(st.integers(1, 3))):
            uses.append(PassUse(draw(words), draw(options), place, repeat))
    return PipelineText(tuple(uses))


@given(pipelines())
def test_every_pipeline_prints_a_text_that_parses_to_it(pipeline: PipelineText) -> None:
    """Whatever names and options hold: blanks, quotes, commas, line ends, other scripts."""
    text = print_pipeline(pipeline)
    assert pipeline == parse_pipeline(text)
    assert text == print_pipeline(parse_pipeline(text))


@given(st.text(st.sampled_from('AB,{}()="\\ =repeatlimt1')))
def test_any_text_is_read_or_refused(text: str) -> None:
    """What is read prints back to the same pipeline; nothing else happens."""
    try:
        pipeline = parse_pipeline(text)
    except UsageError:
        return
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
        ("PREPARE(CHECK(A))", "stage CHECK can't stand in brackets at column 9"),
        ('A{n="x', "a quoted text has no end; it begins at column 5"),
        ("A,\n  B C", "expected ',' or the end at line 2, column 5"),
        ("repeat(A)", "repeat needs a limit, as in repeat{limit=10}(A,B), at column 1"),
        ("repeat{}(A)", "repeat needs a limit"),
        ("repeat{limit=0}(A)", "limit '0' is not a number of runs, 1 or more, at column 14"),
        ("repeat{limit=many}(A)", "limit 'many' is not a number of runs"),
        ("repeat{limit=2}()", "expected a pass at column 17"),
        ("repeat{limit=2}", "expected '(' at column 16"),
        ("repeat{limit=2}(A,repeat{limit=3}(B))", "can't stand in a repeat at column 19"),
        ("repeat{limit=2}(CHECK(A))", "stage CHECK can't stand in brackets at column 17"),
    ],
)
def test_malformed_texts(text: str, problem: str) -> None:
    """The error points at the place."""
    with pytest.raises(UsageError) as raised:
        parse_pipeline(text)
    assert problem in str(raised.value)
    assert "^" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "problem", "near"),
    [
        ("A,PREPAR(B)", "no stage 'PREPAR' at column 3", ("PREPARE",)),
        ("repaet(A)", "no stage 'repaet' at column 1", ("repeat",)),
        ("PREPARE(repaet{limit=3}(A))", "'repaet' is followed by '('", ("repeat",)),
        ("repeat{limt=3}(A)", "repeat has no option 'limt' at column 8", ("limit",)),
    ],
)
def test_misspelled_words(text: str, problem: str, near: tuple[str, ...]) -> None:
    """The error says what is near, and points at the place."""
    with pytest.raises(UnknownNameError) as raised:
        parse_pipeline(text)
    assert problem in raised.value.message
    assert near == raised.value.near[: len(near)]


def test_a_repeat() -> None:
    """Its passes share it; the next one is another."""
    text = "CHECK(A,repeat{limit=10}(B,C),repeat{limit=10}(B)),repeat{limit=2}(D)"
    pipeline = parse_pipeline(text)
    assert [None, (1, 10), (1, 10), (2, 10), (3, 2)] == [
        use.repeat and (use.repeat.id, use.repeat.limit) for use in pipeline.uses
    ]
    assert text == str(pipeline)


def test_groups_are_numbered_anew() -> None:
    """Pipelines made in Python compare as they run, whatever numbers were used."""
    made = PipelineText((PassUse("A", repeat=Repeat(7, 3)), PassUse("B", repeat=Repeat(9, 3))))
    assert made == parse_pipeline("repeat{limit=3}(A),repeat{limit=3}(B)")
    assert made != parse_pipeline("repeat{limit=3}(A,B)")


def test_a_pass_called_repeat_is_quoted() -> None:
    """So are names with odd characters."""
    text = '"repeat"{"a b"=1},"x,y"'
    assert ["repeat", "x,y"] == [use.name for use in parse_pipeline(text).uses]
    assert text == str(parse_pipeline(text))


@pytest.mark.parametrize("limit", [0, -1, True, 2.0, "3"])
def test_a_limit_is_a_number_of_runs(limit: Any) -> None:
    """Also in Python."""
    with pytest.raises(UsageError, match="not a number of runs"):
        Repeat(1, limit)


def test_an_error_in_a_long_text_shows_its_neighbourhood() -> None:
    """A few words around the place, with the mark under it."""
    with pytest.raises(UsageError) as raised:
        parse_pipeline(",".join(["LongNameOfAPass"] * 20) + " X" + ",LongNameOfAPass" * 20)
    _, line, mark = str(raised.value).splitlines()
    assert line.startswith("  ...") and line.endswith("...") and len(line) < 110
    assert "X" == line[mark.index("^")]


def test_a_stage_without_passes_is_none() -> None:
    """The error says what it is; a quoted one is a pass."""
    for text in ("TENSOR_MOVE", "A,TENSOR_MOVE", "CHECK(TENSOR_MOVE)"):
        with pytest.raises(
            UsageError, match=r"TENSOR_MOVE is a stage, .* as in TENSOR_MOVE\(A,B\)"
        ):
            parse_pipeline(text)
    quoted = '"TENSOR_MOVE"'
    assert quoted == str(parse_pipeline(quoted))
