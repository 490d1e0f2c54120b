"""Writes the pages of docs/ that are made from declarations; `make docs` runs it.

python -m scripts.generate_docs
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scripts import (
    api_page,
    case_page,
    cli_page,
    comparison_page,
    context_page,
    fault_page,
    hook_pages,
    op_page,
    plan_picture,
    precedence_page,
    registry_pages,
    rules_page,
    schema_page,
)
from scripts.kept_outputs import keep_outputs

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"


def generated() -> dict[Path, str]:
    """Every generated file and its text."""
    pages = {
        "api.md": api_page.names(),
        "passes.md": registry_pages.passes(),
        "options.md": registry_pages.options(),
        "reason-codes.md": registry_pages.reason_codes(),
        "anchor-types.md": registry_pages.anchor_types(),
        "precedence.md": precedence_page.precedence(),
        "claims.md": registry_pages.claims(),
        "errors.md": registry_pages.errors(),
        "plugin-faults.md": fault_page.page(),
        "op-traits.md": op_page.op_traits(),
        "hooks.md": hook_pages.hooks(),
        "images/arena.svg": plan_picture.picture(),
        "pass-context.md": context_page.pass_context(),
        "comparison.md": comparison_page.comparison(),
        "case-files.md": keep_outputs(case_page.case_files(), DOCS / "case-files.md"),
        "cli.md": keep_outputs(cli_page.commands(), DOCS / "cli.md"),
        "schemas.md": schema_page.schemas(),
        **rules_page.pages(),
        **{f"schemas/{name}": text for name, text in schema_page.schema_files().items()},
    }
    return {DOCS / name: text for name, text in pages.items()}


def main() -> None:
    """Write what has changed."""
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
