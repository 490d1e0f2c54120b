"""The task list's parts, and its JSON form."""

from __future__ import annotations

import json

import pytest

from ge_core.memory import Strided
from ge_core.tasks import DumpDescriptor, Region, Task, TaskList


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        (Region("HBM", 8, 16), 24),
        (Region("HBM", 8, 0), 8),
        (Region("HBM", 8, 12, Strided(4, 10, 3)), 32),
        (Region("HBM", 8, 0, Strided(4, 10, 0)), 8),
    ],
)
def test_a_region_ends_behind_its_last_byte(region: Region, expected: int) -> None:
    """Rows that lie apart reach further than their bytes; no rows reach nowhere."""
    assert expected == region.end


def test_json_both_ways() -> None:
    """A list comes back equal from text: strided and missing regions, events, descriptors."""
    tasks = TaskList(
        [
            Task(
                0,
                2,
                "kernel",
                ("call0", "if1"),
                "conv",
                (Region("HBM", 0, 12, Strided(4, 10, 3)), None),
                (Region("P2P", 64, 8),),
                (Region("HBM", 128, 32),),
                first=True,
            ),
            Task(1, 2, "event_record", (), "conv", event=7),
        ],
        [DumpDescriptor((), "join", "ConcatD", (None,), (Region("HBM", 0, 4),), needed=True)],
    )
    assert tasks == TaskList.from_json(json.loads(json.dumps(tasks.to_json())))


def test_the_record_has_the_documented_fields() -> None:
    """`ge-tasks/1` names id, stream, kind, call, node, inputs, outputs, first and last."""
    document = TaskList([Task(0, 0, "copy", (), "move")]).to_json()
    assert "ge-tasks/1" == document["schema"]
    assert [] == document["dump_only"]
    wanted = {"id", "stream", "kind", "call", "node", "inputs", "outputs", "first", "last"}
    assert wanted <= set(document["tasks"][0])
