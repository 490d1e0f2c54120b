"""Puts the outputs that a page shows already into a page that was generated anew.

Outputs are true or not; whoever runs the page's snippets says so and refreshes them. A generator
that ran the commands itself would do that work twice.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from scripts.doc_snippets import Block, blocks, commands_of


def keep_outputs(text: str, path: Path) -> str:
    """The text with the outputs that the file shows for the same commands, in their order."""
    known: dict[str, list[str]] = defaultdict(list)
    if path.is_file():
        for block in _consoles(path.read_text(encoding="utf-8")):
            for _, command, output in commands_of(block):
                known[command].append(output)
    pieces: list[str] = []
    at = 0
    for block in _consoles(text):
        pieces.append(text[at : block.span[0]])
        for _, command, room in commands_of(block):
            output = known[command].pop(0) if known[command] else room
            pieces.append(f"$ {command}\n{output}")
        at = block.span[1]
    return "".join([*pieces, text[at:]])


def _consoles(text: str) -> list[Block]:
    return [block for block in blocks(text) if block.language == "console"]
