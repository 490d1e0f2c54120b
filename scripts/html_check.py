"""Says where built pages would fetch something from a network: they must be readable without one.

python -m scripts.html_check docs/_build/html
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FETCHES: Final = (
    re.compile(
        r"<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc=[\"']((?:https?:)?//[^\"']+)"
    ),
    re.compile(r"<link\b[^>]*\bhref=[\"']((?:https?:)?//[^\"']+)"),
    re.compile(r"url\(\s*[\"']?((?:https?:)?//[^\"')]+)"),
    re.compile(r"@import\s+(?:url\()?[\"']((?:https?:)?//[^\"']+)"),
)
"""Elements and rules that a browser follows by itself; links that a reader follows are none."""


def fetched(folder: Path) -> Iterator[tuple[Path, str]]:
    """(file, address) of everything that pages and style sheets load from elsewhere."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".css"):
            text = path.read_text(encoding="utf-8")
            for pattern in FETCHES:
                yield from ((path, found) for found in pattern.findall(text))


def main(arguments: list[str]) -> int:
    """1 where a page of these folders fetches something."""
    found = [item for name in arguments for item in fetched(Path(name))]
    for path, address in found:
        print(f"{path} fetches {address}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
