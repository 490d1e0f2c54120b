"""The fields of every document as paths, to see that none is lost from one version to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ge_core.cli.documents import DOCUMENTS, json_schema


def all_fields() -> dict[str, dict[str, str]]:
    """Document -> path -> whether it is `always` there or `optional`."""
    return {name: dict(_fields(json_schema(name))) for name in DOCUMENTS}


def _fields(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    defined = schema.get("$defs", {})

    def walk(
        part: Mapping[str, Any], path: str, seen: tuple[str, ...]
    ) -> Iterator[tuple[str, str]]:
        if "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            if name not in seen:
                yield from walk(defined[name], path, (*seen, name))
            return
        for inner in part.get("anyOf", []):
            yield from walk(inner, path, seen)
        for inner in (part.get("items"), part.get("additionalProperties")):
            if isinstance(inner, Mapping):
                yield from walk(inner, f"{path}[]", seen)
        for name, inner in part.get("properties", {}).items():
            there = "always" if name in part.get("required", []) else "optional"
            yield f"{path}.{name}", there
            yield from walk(inner, f"{path}.{name}", seen)

    yield from walk(schema, "", ())


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without room for fields that it doesn't name: what declarations are held to."""
    made = {key: _closed(value) for key, value in schema.items()}
    if "properties" in made:
        made["additionalProperties"] = False
    return made


def _closed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return closed(value)
    return [_closed(item) for item in value] if isinstance(value, list) else value
