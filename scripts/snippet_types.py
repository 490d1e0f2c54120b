"""Checks the types of the documentation's Python: a page's code is a module, its files beside it.

python -m scripts.snippet_types
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from scripts.doc_snippets import DOCUMENTS, ROOT, Block, blocks

CHECK: Final = (
    "--check-untyped-defs",
    "--disable-error-code=no-redef",  # a page may show one hook twice
    "--follow-imports=silent",
    f"--cache-dir={ROOT / '.mypy_cache'}",
)
"""Snippets leave out annotations that say nothing; what is inside is checked all the same."""


def write_modules(folder: Path) -> list[Path]:
    """Every page's code, at the lines where it stands; a page's files become modules beside it."""
    written = []
    for path in DOCUMENTS:
        found = [b for b in blocks(path.read_text(encoding="utf-8")) if b.language == "python"]
        place = folder / path.stem.replace("-", "_").lower()
        for name in dict.fromkeys(block.title for block in found):
            # A file that a page writes twice counts as it is in the end.
            parts = [block for block in found if block.title == name]
            target = place / ("snippets.py" if name is None else name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_text(parts if name is None else parts[-1:]), encoding="utf-8")
            written.append(target)
    return written


def _text(parts: list[Block]) -> str:
    text = ""
    for block in parts:
        text += "\n" * (block.line - text.count("\n")) + block.text
    return text


def main() -> int:
    """1 where a page's code doesn't fit the types; messages name page and line."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for place in sorted({path.parent for path in write_modules(Path(folder))}):
            done = subprocess.run(
                [sys.executable, "-m", "mypy", *CHECK, "."],
                cwd=place,
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            )
            if done.returncode:
                wrong = 1
                print(f"{place.name}:\n{done.stdout}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
