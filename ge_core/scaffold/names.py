"""The names in a new package, all made from the one that its author gave."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from importlib.metadata import distributions
from importlib.util import find_spec
from typing import Final

from ge_core.config import ProjectConfig
from ge_core.errors import UsageError
from ge_core.plugin.index import FIRST_PARTY, index_plugins
from ge_core.registry import kernel_owner

LONGEST: Final = 24
"""Letters in a name: everything made from it still fits on a line."""

RESERVED: Final = frozenset({"default", "ge", "kernel", "local", "test", "tests", "user"})
"""Names that mean something else in options, messages or folders."""

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_SUFFIX: Final = "ge"


@dataclass(frozen=True, slots=True)
class Names:
    """What is called how.

    Attributes:
        owner: the plugin's name, prefix of what it registers ("acme").
        distribution: what is installed ("acme-ge"): the plain name may well be somebody's product.
        package: what is imported ("acme_ge").
        camel: the beginning of op types ("Acme").
        dashed: the beginning of names that users type bare, of targets and pipelines ("acme").
    """

    owner: str
    distribution: str
    package: str
    camel: str
    dashed: str

    @classmethod
    def of(cls, text: str) -> Names:
        """The names made from what an author typed; says nothing about who else has them.

        Raises:
            UsageError: it can't be a name, or means something else; says what would do.
        """
        problem = _problem(text)
        if problem is not None:
            raise UsageError(f"plugin name {text!r} {problem}", hint=_advice(text))
        words = re.split("[-_]", text)
        if len(words) > 1 and words[-1] == _SUFFIX:
            del words[-1]
        return cls(
            owner="_".join(words),
            distribution="-".join([*words, _SUFFIX]),
            package="_".join([*words, _SUFFIX]),
            camel="".join(word.capitalize() for word in words),
            dashed="-".join(words),
        )


def plugin_names(text: str, config: ProjectConfig | None = None) -> Names:
    """The names for a new plugin, none of them taken here. Imports nothing that is installed.

    Args:
        config: the project's, whose local plugins count as installed.

    Raises:
        UsageError: the text can't be a name, or is taken; says by whom and what to do.
    """
    names = Names.of(text)
    builtin = {name.removeprefix("graph-engine-").replace("-", "_") for name in FIRST_PARTY}
    if names.owner in builtin | {kernel_owner().name}:
        raise UsageError(
            f"plugin name {text!r} belongs to the product itself",
            hint="choose another name, such as your company's or your device's",
        )
    for candidate in index_plugins(config).candidates:
        if _folded(candidate.name) == _folded(names.owner):
            raise UsageError(
                f"plugin name {text!r} is taken here",
                owner=str(candidate.owner),
                hint="choose another name, or uninstall that package first",
            )
    for distribution in distributions():
        # A broken installation may leave metadata without a name.
        name = distribution.metadata["Name"] or ""
        if _folded(name) == _folded(names.distribution):
            raise UsageError(
                f"plugin name {text!r} makes package {names.distribution!r}, which is installed",
                owner=f"{name} {distribution.version}",
                hint="choose another name, or uninstall that package first",
            )
    found = find_spec(names.package)
    if found is not None:
        raise UsageError(
            f"plugin name {text!r} makes module {names.package!r}, which exists already",
            owner=found.origin or ", ".join(found.submodule_search_locations or ()),
            hint="choose another name",
        )
    return names


def _problem(text: str) -> str | None:
    """Why a text is no name for a plugin."""
    if _NAME.fullmatch(text) is None:
        return "is not lower-case letters and digits, in words joined by '-', a letter first"
    if len(text) > LONGEST:
        return f"has {len(text)} letters, more than {LONGEST}"
    owner = re.sub(f"[-_]{_SUFFIX}$", "", text).replace("-", "_")
    if owner in RESERVED:
        return "means something else here"
    if keyword.iskeyword(owner) or keyword.issoftkeyword(owner):
        return "is a word of Python's own"
    if owner.startswith("graph_engine"):
        return "begins as the product's own packages do"
    return None


def _advice(text: str) -> str:
    """What would do."""
    words = re.findall("[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text).lower())
    near = "-".join(words).lstrip("0123456789-")[:LONGEST].rstrip("-")
    if near and near != text and _problem(near) is None:
        return f"try {near!r}"
    return "choose another name, such as your company's or your device's"


def _folded(name: str) -> str:
    """A name as packaging compares it."""
    return re.sub("[-_.]+", "-", name).lower()
