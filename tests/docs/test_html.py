"""What the HTML form of the documentation is made from, and what it may not load."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.html_check import fetched, main
from scripts.public_api import MODULES, groups


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_documented(module: str) -> None:
    """In the source: a docstring, or a text below an assignment."""
    names = [public for subject in groups(module).values() for public in subject]
    assert [] == [public.name for public in names if not public.summary]


def test_public_names_are_grouped_by_the_comments_of_their_list() -> None:
    """Order and subjects of `ge_core.api.__all__`."""
    import ge_core.api

    listed = [public.name for subject in groups("ge_core.api").values() for public in subject]
    assert sorted(ge_core.api.__all__) == sorted(listed)
    assert "GraphPass" in [public.name for public in groups("ge_core.api")["passes"]]


def test_what_a_browser_would_fetch_is_found(tmp_path: Path) -> None:
    """Scripts, images, style sheets and fonts from elsewhere, in pages and style sheets."""
    (tmp_path / "page.html").write_text(
        '<script src="https://cdn.example/a.js"></script><img src="//cdn.example/b.png">'
        '<link rel="stylesheet" href="https://cdn.example/c.css"><script src="own.js"></script>'
    )
    (tmp_path / "own.css").write_text(
        "@font-face { src: url('https://cdn.example/d.woff2') } .x { background: url(own.svg) }"
    )
    addresses = [address for _, address in fetched(tmp_path)]
    assert [
        "https://cdn.example/d.woff2",
        "https://cdn.example/a.js",
        "//cdn.example/b.png",
        "https://cdn.example/c.css",
    ] == addresses
    assert 1 == main([str(tmp_path)])


def test_links_that_a_reader_follows_are_no_fetches(tmp_path: Path) -> None:
    """Anchors may lead anywhere."""
    (tmp_path / "page.html").write_text('<a href="https://example.org">there</a>')
    assert 0 == main([str(tmp_path)])
