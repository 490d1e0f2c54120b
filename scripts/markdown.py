"""The few forms of Markdown that generated pages are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NOTE = "<!-- Generated from the declarations by `make docs`; edit those, not this page. -->"


def page(title: str, *parts: str) -> str:
    """A page: title, note, parts with a blank line between them."""
    return "\n\n".join([f"# {title}", NOTE, *(part.rstrip("\n") for part in parts if part)]) + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars in cells are escaped, empty cells shown as a dash."""
    lines = [_row(columns), _row(["---"] * len(columns))]
    lines += [_row([cell(text) for text in row]) for row in rows]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def cell(text: str) -> str:
    """A text that stands in a cell as it is."""
    return " ".join(text.split()).replace("|", "\\|") or "-"


def code(text: object) -> str:
    """A text in code font, nothing for none."""
    shown = "" if text is None else str(text)
    return f"`{shown}`" if shown else ""


def codes(texts: Iterable[object]) -> str:
    """Several, with commas."""
    return ", ".join(code(text) for text in texts)


def bullets(items: Iterable[tuple[str, str]]) -> str:
    """A list of `name: what`, without those that say nothing."""
    return "\n".join(f"* {name}: {text}" for name, text in items if text)


def anchor(title: str) -> str:
    """The link target that GitHub gives a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")
