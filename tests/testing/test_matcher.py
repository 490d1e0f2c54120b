"""`check_text`: every directive holds where it should and fails where it shouldn't hold."""

from __future__ import annotations

import pytest

from ge_core.testing import CheckError, check_text

TEXT = """\
graph root {
  x = Data() : float32[4x8]
  start = Relu(x:0)   : float32[4x8]
  moved = TensorMove(start:0)
  end = Exp(moved:0)
  NetOutput = NetOutput(end:0)
}
"""


@pytest.mark.parametrize(
    "checks",
    [
        "CHECK: start = Relu(x:0) : float32[4x8]",
        "CHECK: start\nCHECK-NEXT: moved\nCHECK-NEXT: end",
        "CHECK: start =\nCHECK-SAME: Relu\nCHECK-SAME: float32",
        "CHECK: start\nCHECK-NOT: Concat\nCHECK: NetOutput",
        "CHECK-NOT: Concat",
        "CHECK-DAG: end = Exp\nCHECK-DAG: start = Relu\nCHECK: NetOutput",
        r"CHECK: {{\w+}} = TensorMove",
        "CHECK: [[NAME:\\w+]] = TensorMove\nCHECK: Exp([[NAME]]:0)",
        "a comment\n\nCHECK: NetOutput",
        "CHECK-COUNT-3: :0)",
        r"CHECK: [[A:NetOutput]] = [[A]](",
    ],
)
def test_what_is_there_is_found(checks: str) -> None:
    """One directive after the other."""
    check_text(TEXT, checks)


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        ("CHECK: Concat", "CHECK: Concat (check in line 1) is not found"),
        ("CHECK: end\nCHECK: start", "CHECK: start (check in line 2) is not found"),
        ("CHECK: start\nCHECK-NEXT: end", "CHECK-NEXT: end"),
        ("CHECK: start\nCHECK-SAME: Exp", "CHECK-SAME: Exp"),
        ("CHECK: start\nCHECK-NOT: TensorMove\nCHECK: NetOutput", "is found in line 4"),
        ("CHECK-NOT: NetOutput", "is found in line 6"),
        ("CHECK: start\nCHECK-NOT: float32", "is found in line 3"),
        ("CHECK: end\nCHECK-DAG: start", "CHECK-DAG: start"),
        ("CHECK: [[N:\\w+]] = Relu\nCHECK: Exp([[N]]:0)", "is not found"),
        ("CHECK-COUNT-5: :0)", "is not found again"),
    ],
)
def test_what_is_not_there_is_an_error(checks: str, words: str) -> None:
    """It names the check."""
    with pytest.raises(CheckError) as raised:
        check_text(TEXT, checks)
    assert words in str(raised.value)


def test_the_error_shows_where_it_looked() -> None:
    """The last match is marked."""
    with pytest.raises(CheckError) as raised:
        check_text(TEXT, "CHECK: start\nCHECK-NEXT: end")
    assert ">    3 start = Relu(x:0) : float32[4x8]" in str(raised.value)


def test_what_was_remembered_is_answered() -> None:
    """By name."""
    assert {"NAME": "moved"} == check_text(TEXT, "CHECK: [[NAME:\\w+]] = TensorMove")


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        ("start = Relu", "there is no check"),
        ("CHECK-NEVER: x", "no check that there is"),
        ("CHECK-NEXT: x", "follows no match"),
        ("CHECK:", "without a text"),
        ("CHECK: [[NOBODY]]", "nothing is called 'NOBODY'"),
    ],
)
def test_checks_that_can_not_be_read(checks: str, words: str) -> None:
    """Nothing is ignored in silence."""
    with pytest.raises(ValueError, match=words.replace("[", r"\[")):
        check_text(TEXT, checks)
