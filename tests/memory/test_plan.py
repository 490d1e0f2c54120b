"""The plan: finding places, explaining them, and the ge-plan/1 form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ge_core.errors import InputFileError, UnknownNameError
from ge_core.memory import Plan, PlanTensor, PlanWorkspace, PoolTotals, Run, Strided
from ge_core.memory.document import PlanDocument, json_schema, parse_plan, read_plan


@pytest.fixture
def plan() -> Plan:
    """One of everything."""
    return Plan(
        "test",
        "O3",
        {"a": "1"},
        {"HBM": PoolTotals(256, 128, 512, False)},
        [
            PlanTensor((), "x", 0, "HBM", 0, 64, io="input", life=(0, 9)),
            PlanTensor(("c",), "y", 0, "HBM", 64, 32, alias_of="x:0", life=(2, 3)),
            PlanTensor(("d",), "y", 0, "HBM", 96, 32, run=Run("x:0", 96), life=(4, 5)),
            PlanTensor((), "z", 1, "HBM", 128, 32, strided=Strided(8, 24, 4), life=(4, 5)),
        ],
        [PlanWorkspace((), "x", 0, "HBM", 192, 64)],
        ["s:0"],
    )


def test_the_json_form_loses_nothing(plan: Plan) -> None:
    """A plan comes back from its document as it was."""
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_the_document_model_accepts_what_plans_write(plan: Plan) -> None:
    """The pydantic model and the hand-written form are two descriptions of one document."""
    assert parse_plan(plan.to_json()) == plan
    written = PlanDocument.model_validate(plan.to_json()).model_dump(by_alias=True)
    assert written == plan.to_json()


def test_the_schema_names_every_field(plan: Plan) -> None:
    """The JSON schema lists the fields that documents have, no more and no fewer."""
    assert set(json_schema()["properties"]) == set(plan.to_json())


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("schema",), "ge-plan/2", "schema"),
        (("pools",), [], "pools"),
        (("pools", "HBM", "bytes"), -1, "pools.HBM.bytes"),
        (("tensors", 0, "offset"), True, "tensors[0].offset"),
        (("tensors", 1, "life"), [3], "tensors[1].life"),
        (("tensors", 1, "io"), "weights", "tensors[1].io"),
        (("tensors", 3, "strided", "row"), "8", "tensors[3].strided.row"),
        (("workspace", 0, "node"), None, "workspace[0].node"),
    ],
)
def test_a_broken_document_names_the_field(
    plan: Plan, path: tuple[str | int, ...], value: object, field: str
) -> None:
    """Reading fails with the place of the first value that makes no sense."""
    document: Any = plan.to_json()
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with pytest.raises(InputFileError) as caught:
        Plan.from_json(document)
    assert caught.value.field == field


def test_a_plan_file_is_read_or_refused(plan: Plan, tmp_path: Any) -> None:
    """A file gives the plan, or an error that names the file and what is wrong inside."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(plan.to_json()))
    document = plan.to_json()
    document["tensors"][2]["bytes"] = None
    bad.write_text(json.dumps(document))
    assert read_plan(good) == plan
    with pytest.raises(InputFileError, match=r"bad\.json") as caught:
        read_plan(bad)
    assert caught.value.field == "tensors.2.bytes"


def test_places_are_found_by_call_node_and_output(plan: Plan) -> None:
    """`at` answers with the one instance, or with None."""
    assert plan.at(["c"], "y", 0) == plan.tensors[1]
    assert plan.at([], "y", 0) is None


def test_names_may_leave_out_the_call_where_it_is_clear(plan: Plan) -> None:
    """`find` takes the full name, or a short one that only one instance has."""
    assert plan.find("c/y:0") == plan.tensors[1]
    assert plan.find("x:ws0") == plan.workspace[0]
    assert plan.find("z:1") == plan.tensors[3]
    with pytest.raises(UnknownNameError, match="several instances"):
        plan.find("y:0")
    with pytest.raises(UnknownNameError, match="no tensor 'zz:1'"):
        plan.find("zz:1")


def test_a_strided_place_ends_behind_its_last_row(plan: Plan) -> None:
    """Gaps between rows belong to the range that a place spans."""
    assert plan.tensors[3].end == 128 + 3 * 24 + 8


def test_explaining_without_a_graph_says_what_the_plan_does(plan: Plan) -> None:
    """A plan from a file knows who shares bytes, not who might."""
    answer = plan.explain("c/y:0", "d/y:0")
    assert (answer.may_share, answer.shares) == (None, False)
    assert plan.explain("x:0", "x:0").shares


def test_the_table_lists_places_by_offset(plan: Plan) -> None:
    """One line per place below the pool's totals, then what is not planned."""
    lines = plan.table().splitlines()
    assert lines[0] == "HBM: 256 bytes, lower bound 128, without reuse 512"
    assert [line.split()[:2] for line in lines[2:7]] == [
        ["0", "64"],
        ["64", "32"],
        ["96", "32"],
        ["128", "32"],
        ["192", "64"],
    ]
    assert lines[7] == "unplanned: s:0"
