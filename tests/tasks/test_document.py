"""Task lists from files: what is checked, and what the schema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ge_core.errors import InputFileError
from ge_core.tasks import Region, Task, TaskList
from ge_core.tasks.document import json_schema, parse_tasks, read_tasks


def _document() -> dict[str, Any]:
    return TaskList(
        [
            Task(0, 0, "kernel", (), "a", (None,), (Region("HBM", 0, 4),)),
            Task(1, 0, "event_record", (), "a", event=0),
        ]
    ).to_json()


def test_a_written_list_reads_back(tmp_path: Path) -> None:
    """What `to_json` wrote is accepted, with fields nobody knows yet."""
    document = _document() | {"added_later": 1}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert TaskList.from_json(document) == read_tasks(path)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("schema",), "ge-plan/1", "schema"),
        (("tasks", 0, "kind"), "launch", "tasks.0.kind"),
        (("tasks", 0, "stream"), "0", "tasks.0.stream"),
        (("tasks", 0, "outputs", 0, "offset"), -1, "tasks.0.outputs.0.offset"),
        (("tasks", 0, "id"), 3, "tasks.0.id"),
        (("tasks", 1, "event"), None, "tasks.1.event"),
    ],
)
def test_a_wrong_field_is_named(path: tuple[Any, ...], value: Any, said: str) -> None:
    """The error says which field of which task is wrong."""
    document = _document()
    target: Any = document
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    with pytest.raises(InputFileError) as caught:
        parse_tasks(document)
    assert said == caught.value.field


@pytest.mark.parametrize("text", ["[1]", "{", '{"schema": "ge-tasks/1"}'])
def test_what_is_no_task_list_is_refused(tmp_path: Path, text: str) -> None:
    """Broken JSON, another kind of value and missing fields name the file."""
    path = tmp_path / "tasks.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputFileError, match=r"tasks\.json"):
        read_tasks(path)


def test_the_schema_describes_every_field_that_is_written() -> None:
    """Each key of a written task and region stands in the JSON schema."""
    schema = json_schema()
    task = set(schema["$defs"]["TaskRecord"]["properties"])
    region = set(schema["$defs"]["RegionRecord"]["properties"])
    written = _document()["tasks"][0]
    assert set(written) == task
    assert set(written["outputs"][0]) == region
    assert {"schema", "tasks", "dump_only"} == set(schema["properties"])
