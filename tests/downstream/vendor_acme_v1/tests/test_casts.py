"""`acme.DropNoOpCast`: which casts go, what is said of them, and that its option counts."""

from __future__ import annotations

import pytest
from graphs import casts

from ge_core.api import OptionError

PASS = "acme.DropNoOpCast"


def said(result) -> dict[str, str]:
    """The last code by cast."""
    return {remark.node: remark.code for remark in result.remarks if remark.pass_name == PASS}


def names(result) -> list[str]:
    """The casts that are left."""
    return [node.name for node in result.graph.nodes_of("Cast")]


def test_a_cast_to_the_same_dtype_goes(compiled):
    """Its reader is fed by its source, and the result is proved."""
    result = compiled(casts("float32"))
    assert names(result) == []
    assert result.graph.node("end").inputs[0].source.node.name == "start"
    assert said(result) == {"cast0": "acme.NOOP"}


def test_the_proof_names_the_pass(compiled):
    """It takes the pass's word for what a Cast is, and says so; where no Cast went it needn't."""
    words = [compiled(casts(dtype)).proof.assumptions for dtype in ("float32", "float16")]
    assert [any(PASS in text for text in texts) for texts in words] == [True, False]


def test_a_cast_to_another_dtype_stays(compiled):
    """The remark blames the tensor whose dtype differs, under acme's name."""
    result = compiled(casts("float16", "float32"))
    assert names(result) == ["cast0", "cast1"]
    assert said(result) == {"cast0": "acme.CHANGES_DTYPE", "cast1": "acme.CHANGES_DTYPE"}
    assert [blame.anchor for blame in result.remarks.final("cast0").blame] == ["start:0"]


def test_the_bytes_saved_are_those_of_the_tensor(compiled):
    """A float32[1,16] is 64 bytes."""
    assert [remark.bytes for remark in compiled(casts("float32")).remarks] == [64]


def test_its_limit_is_an_option(compiled):
    """After that many removals the rest stays, and says so."""
    result = compiled(casts("float32", "float32"), options={f"{PASS}.limit": "1"})
    assert names(result) == ["cast1"]
    assert said(result) == {"cast0": "acme.NOOP", "cast1": "acme.LIMIT_REACHED"}


def test_a_limit_that_is_no_number_is_an_error(compiled):
    """Nothing is ignored in silence."""
    with pytest.raises(OptionError, match="limit"):
        compiled(casts("float32"), options={f"{PASS}.limit": "few"})


@pytest.mark.parametrize(("level", "left"), [("O1", ["cast0"]), ("O2", []), ("O4", [])])
def test_it_is_on_from_o2_upwards(compiled, level, left):
    """As registered."""
    assert left == names(compiled(casts("float32"), level=level))


def test_it_can_be_switched_off(compiled):
    """By the name that it is listed under."""
    assert names(compiled(casts("float32"), disable=[PASS])) == ["cast0"]
