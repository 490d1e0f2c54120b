"""The schemas of JSON documents and files: one file each, and a page with their fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ge_core.cli.documents import DOCUMENTS, FILES, PRINTED, file_name, json_schema
from scripts.markdown import code, page, table

INTRO = (
    "Every document that a command prints and every file that is read or written, field by field, "
    "and as [JSON schemas](https://json-schema.org). Fields may be added within a version, never "
    "removed, renamed or changed in meaning; readers ignore those that they don't know. In what "
    "users write (graphs, targets, configuration) an unknown key is more likely a misspelled one, "
    "and an error. Objects that are described once are linked."
)

SHOWN: Final = 10
"""So many values of a field are listed; the schema has all."""


def schema_files() -> dict[str, str]:
    """Name and text of every schema file."""
    return {
        file_name(name): json.dumps(json_schema(name), indent=2, sort_keys=True) + "\n"
        for name in DOCUMENTS
    }


def schemas() -> str:
    """The page: documents first, then files, then the objects that they share."""
    objects: dict[str, Mapping[str, Any]] = {}
    sections: dict[str, str] = {}
    for name in DOCUMENTS:
        schema = json_schema(name)
        for part, of in schema.get("$defs", {}).items():
            assert objects.setdefault(part, of) == of, f"two objects are called {part}"
        about = f"{schema['description']} [Schema](schemas/{file_name(name)})."
        sections[name] = f"### {name}\n\n{about}\n\n{_fields(schema)}"
    shared = (
        f"### {name}\n\n{_sentence(schema.get('description', ''))}\n\n{_fields(schema)}"
        for name, schema in sorted(objects.items())
        if "properties" in schema
    )
    return page(
        "JSON documents and files",
        INTRO,
        "## What commands print",
        *(sections[name] for name in PRINTED),
        "## Files",
        *(sections[name] for name in FILES),
        "## Objects in them",
        *shared,
    )


def _fields(schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", [])
    rows = (
        [
            code(name),
            _type(of),
            "always" if name in needed else "may be left out",
            of.get("description", ""),
        ]
        for name, of in schema.get("properties", {}).items()
    )
    return table(["field", "type", "there", "meaning"], rows)


def _type(schema: Mapping[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_types(schema)))


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    if "anyOf" in schema:
        for one in schema["anyOf"]:
            yield from _types(one)
    elif "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield f"[{name}](#{name.lower()})"
    elif "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        yield from (code(value) for value in values[:SHOWN])
        if len(values) > SHOWN:
            yield "another of the schema's"
    elif schema.get("type") == "array":
        parts = schema.get("prefixItems") or [schema.get("items", {})]
        yield "list of " + ", ".join(_type(part) for part in parts)
    elif schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        yield "table of " + _type(schema["additionalProperties"])
    elif isinstance(schema.get("type"), list):
        yield from schema["type"]
    else:
        yield schema.get("type", "any")


def _sentence(text: str) -> str:
    return " ".join(text.split())
