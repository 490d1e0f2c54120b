"""Plugins that misbehave: each ends in one message that names package and version."""

from __future__ import annotations

import pytest

from . import at_load, in_drivers, in_passes, in_planners, in_registries, in_rules
from .conftest import Meet, Ran
from .table import OWNER, Fault

FAULTS = (
    *at_load.FAULTS,
    *in_registries.FAULTS,
    *in_passes.FAULTS,
    *in_rules.FAULTS,
    *in_planners.FAULTS,
    *in_drivers.FAULTS,
)


def said(ran: Ran, fault: Fault) -> str:
    """The one message: the error, or the warning of the compile's document."""
    if fault.ends == "error":
        starts = [line for line in ran.err.splitlines() if line.startswith("error ")]
        assert 1 == len(starts), ran.err
        return ran.err
    warnings = [text for text in ran.json["warnings"] if "acme" in text]
    assert 1 == len(warnings), warnings
    return str(warnings[0])


@pytest.mark.parametrize(
    "fault",
    [f for f in FAULTS if f.ends != "fine"],
    ids=[f.what for f in FAULTS if f.ends != "fine"],
)
def test_one_message_names_the_package(fault: Fault, meet: Meet) -> None:
    """With its version and what it did; no traceback, no second message."""
    ran = meet(fault)
    assert fault.code_expected == ran.code, ran.err
    assert "Traceback" not in ran.err
    if fault.code_expected == 130:
        assert ("interrupted", "") == (ran.err.strip(), ran.out)
        return
    message = said(ran, fault)
    assert OWNER in message
    assert [] == [words for words in fault.says if words not in message], message
    assert len(message) < 2000


@pytest.mark.parametrize(
    "fault",
    [f for f in FAULTS if f.ends == "fine"],
    ids=[f.what for f in FAULTS if f.ends == "fine"],
)
def test_some_misbehaviour_does_no_harm(fault: Fault, meet: Meet) -> None:
    """The command ends well, and what it prints is one document."""
    ran = meet(fault)
    assert 0 == ran.code, ran.err
    if "json" in fault.run:
        assert "ge-compile/1" == ran.json["schema"]
    assert [] == [words for words in fault.says if words not in ran.out + ran.err]


def test_what_is_listed_is_listed_once() -> None:
    """Every row of the page is another misbehaviour, and there are enough of them."""
    rows = [fault.what for fault in FAULTS]
    assert sorted(set(rows)) == sorted(rows)
    assert len(rows) >= 40
