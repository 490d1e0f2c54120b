"""Generated pages are those that the declarations give now; links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ge_core.cli.main import COMMANDS
from ge_core.passes.closing import KERNEL_CODES
from scripts.doc_snippets import DOCUMENTS, FENCE, ROOT
from scripts.generate_docs import DOCS, generated
from scripts.markdown import NOTE, anchor, cell
from scripts.registry_pages import levels, registries

PAGES = generated()
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_generating_again_changes_nothing(path: Path) -> None:
    """Otherwise a declaration has changed: `make docs`."""
    assert PAGES[path] == path.read_text(encoding="utf-8")


def test_no_generated_page_is_left_behind() -> None:
    """A page that carries the note is still generated."""
    marked = {path for path in DOCS.rglob("*.md") if NOTE in path.read_text(encoding="utf-8")}
    assert set() == marked - set(PAGES)


def test_every_reason_code_is_explained() -> None:
    """Each declared code, the kernel's own among them, has its row."""
    page = PAGES[DOCS / "reason-codes.md"]
    codes = [*KERNEL_CODES, *registries().codes().all()]
    assert [] == [code.name for code in codes if f"| `{code.name}` |" not in page]


def test_every_pass_and_option_is_described() -> None:
    """Each has its section or row."""
    passes, options = PAGES[DOCS / "passes.md"], PAGES[DOCS / "options.md"]
    assert [] == [d.name for d in registries().passes if f"\n## {d.name}\n" not in passes]
    assert [] == [o.name for o in registries().options if f"| `{o.name}` |" not in options]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_described(command: str) -> None:
    """In a heading of the page about commands."""
    titles = HEADING.findall(FENCE.sub("", (DOCS / "cli.md").read_text(encoding="utf-8")))
    assert any(re.search(rf"\b{command}\b", title) for title in titles)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """To a file that is there, and to a heading that it has; the web is not asked."""
    broken = []
    for link in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        if link.startswith("https://"):
            continue
        name, _, fragment = link.partition("#")
        target = path if not name else (path.parent / name).resolve()
        if not target.exists() or (fragment and fragment not in anchors(target)):
            broken.append(link)
    assert [] == broken


def anchors(path: Path) -> list[str]:
    """The headings of a page, as link targets."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return [anchor(title) for title in HEADING.findall(text)]


def test_every_page_can_be_reached() -> None:
    """From the index or the README, directly."""
    texts = [(DOCS / "index.md").read_text(), (ROOT / "README.md").read_text()]
    named = {
        link.partition("#")[0].removeprefix("docs/") for t in texts for link in LINK.findall(t)
    }
    assert set() == {path.name for path in DOCS.glob("*.md")} - named - {"index.md"}


def test_cells_stand_in_one_column() -> None:
    """Bars are escaped, lines joined, nothing is a dash."""
    assert ["a\\|b c", "-"] == [cell("a|b\n c"), cell("  ")]


def test_sets_of_levels_are_said_shortly() -> None:
    """All, from one upwards, or a list."""
    ladder = ("O0", "O1", "O2", "O3", "O4")
    assert "every level" == levels(ladder)
    assert "O3 and above" == levels(ladder[3:])
    assert "O1, O3" == levels(("O1", "O3"))
