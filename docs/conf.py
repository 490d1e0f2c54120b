"""Sphinx makes HTML of the Markdown pages, which stay readable where they are.

`make docs-html` builds it. Nothing is fetched from a network, and equal sources give equal pages.
What Markdown has no form for is added while a page is read: the table of contents, from the links
of the index, and the signatures and texts of the public names, where their page has a comment.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from scripts import public_api, sphinx_names  # noqa: E402  (found by the line above)

project = "graph-engine"
author = "the authors of graph-engine"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "**/.*"]
html_theme = "furo"
html_title = "graph-engine"
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
pygments_style = "tango"

# References that lead nowhere are errors with `-W`; those into the standard library are no links,
# since its inventory would come from the network.
nitpicky = True
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
# Headings may skip a level; a field's name may be that of attributes of two classes; what a command
# prints is no language that a highlighter knows.
suppress_warnings = ["misc.highlighting_failure", "myst.header", "ref.python"]

autodoc_class_signature = "mixed"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "exclude-members": "__init__,__new__"}
napoleon_numpy_docstring = False
napoleon_use_ivar = True

_LINK = re.compile(r"\]\(([a-z0-9-]+)\.md(?:#[^)]*)?\)")
_NAMES = re.compile(r"^<!-- names: (\S+) (.*) -->$", re.MULTILINE)


def _contents(text: str) -> str:
    """The index with a hidden table of contents: per heading, the pages first linked below it."""
    head, *parts = re.split(r"(?m)^(?=## )", text)
    seen: set[str] = set()
    for at, part in enumerate(parts):
        title = part.partition("\n")[0].removeprefix("## ")
        pages = [page for page in dict.fromkeys(_LINK.findall(part)) if page not in seen]
        seen.update(pages)
        listed = "\n".join(pages)
        parts[at] = f"{part}\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{listed}\n```\n\n"
    return "".join([head, *parts])


def _names(found: re.Match[str]) -> str:
    """The names of one subject, as Sphinx describes them."""
    module, subject = found.groups()
    names = public_api.groups(module)["" if subject == "-" else subject]
    described = (sphinx_names.directive(name) for name in names if sphinx_names.is_home(name))
    return "```{eval-rst}\n" + "\n".join(described) + "\n```"


def _read(app: Any, page: str, source: list[str]) -> None:
    if page == "index":
        source[0] = _contents(source[0])
    source[0] = _NAMES.sub(_names, source[0])


def setup(app: Any) -> dict[str, bool]:
    """Connect what adds to pages and resolves names."""
    app.connect("source-read", _read)
    # Before napoleon, which has sections made of the text.
    app.connect("autodoc-process-docstring", sphinx_names.docstring, priority=100)
    app.connect("missing-reference", sphinx_names.missing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
