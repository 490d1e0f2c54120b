"""The page about the public names."""

from __future__ import annotations

from scripts.markdown import code, page, table
from scripts.public_api import MODULES, groups

ABOUT = {
    "ge_core": "For programs that compile graphs: `import ge_core as ge`.",
    "ge_core.api": "For plugins. They import this and `ge_core.testing`, nothing else.",
    "ge_core.testing": "For tests of plugins.",
}


def names() -> str:
    """A section per module, a table per subject."""
    parts = []
    for module in MODULES:
        parts += [f"## {module}", ABOUT[module]]
        for subject, listed in groups(module).items():
            if subject:
                parts.append(f"### {subject[:1].upper()}{subject[1:]}")
            rows = ([code(public.name), public.summary] for public in listed)
            parts.append(table(["name", "what it is"], rows))
            parts.append(f"<!-- names: {module} {subject or '-'} -->")
    intro = (
        "What these three modules list is public: a name stays, and keeps its meaning, as "
        "CONTRIBUTING.md promises. Everything else may "
        " change in any release. The HTML form of this page has the signatures and members."
    )
    return page("Public names", intro, *parts)
