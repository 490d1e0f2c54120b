"""Writes the pages of docs/ that are made from declarations; `make docs` runs it.

python -m scripts.generate_docs
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from scripts import api_page, hook_pages, plan_picture, registry_pages

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
SCHEMA_ROOT: Final = "https://json-schema.org/draft/2020-12/schema"


def generated() -> dict[Path, str]:
    """Every generated file and its text."""
    pages = {
        "api.md": api_page.names(),
        "passes.md": registry_pages.passes(),
        "options.md": registry_pages.options(),
        "reason-codes.md": registry_pages.reason_codes(),
        "anchor-types.md": registry_pages.anchor_types(),
        "errors.md": registry_pages.errors(),
        "hooks.md": hook_pages.hooks(),
        "images/arena.svg": plan_picture.picture(),
        **{f"schemas/{name}.json": schema(name) for name in ("ge-plan-1", "ge-tasks-1")},
    }
    return {DOCS / name: text for name, text in pages.items()}


def schema(name: str) -> str:
    """The JSON schema of a document, as a file."""
    from ge_core.memory import document as plan
    from ge_core.tasks import document as tasks

    makers = {"ge-plan-1": plan.json_schema, "ge-tasks-1": tasks.json_schema}
    made: dict[str, Any] = {"$schema": SCHEMA_ROOT, "$id": f"{name}.json", **makers[name]()}
    return json.dumps(made, indent=2, sort_keys=True) + "\n"


def main() -> None:
    """Write what has changed."""
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
