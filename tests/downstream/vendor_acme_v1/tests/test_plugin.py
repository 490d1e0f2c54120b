"""The package as a whole: found by its entry point, named after it, listed with its version."""

from __future__ import annotations

from importlib.metadata import entry_points, version

import pytest
from graphs import branches, casts

import ge_core as ge
from ge_core.api import UnknownNameError


def test_it_is_found_by_its_entry_point():
    """Nothing needs to be imported or configured."""
    found = [p for p in entry_points(group="ge_core.plugins.v1") if p.name == "acme"]
    assert [point.value for point in found] == ["acme_ge"]


def test_remarks_name_package_and_version():
    """So that a reader knows whom to ask."""
    result = ge.compile(casts("float32"), level="O3")
    owners = {remark.owner for remark in result.remarks}
    assert {f"acme-ge {version('acme-ge')}"} == owners


def test_a_misspelled_assigner_is_answered_with_the_right_one():
    """And with whose it is."""
    with pytest.raises(UnknownNameError, match=r"acme\.first_fit \(acme-ge"):
        ge.compile(branches(), assigner="acme.firstfit")
