"""The index of installed plugins: what is there, from which package, without importing any of it.

`importlib.metadata` is asked afresh each time. (stevedore's disk cache keys on file times rounded
to 128 seconds, loses the distribution, and finds duplicates only where they are neighbours.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from ge_core.config import ProjectConfig
from ge_core.errors import InputFileError, near_matches
from ge_core.plugin.scan import Found, canonical, scan
from ge_core.registry import Owner

API = "1"
PREFIX = "ge_core.plugins.v"
GROUP = PREFIX + API
"""The entry-point group of this kernel's plugin API."""

DISABLE = "GE_DISABLE_PLUGINS"
"""Names of plugins not to load, or `*` for everything from third parties."""

FIRST_PARTY = frozenset(
    f"graph-engine-{name}"
    for name in (
        "tensormove",
        "concat-notask",
        "memconflict",
        "memassign",
        "onnx",
        "runtime",
        "gegraph",
        "report",
        "debug",
    )
)
"""Distributions whose names need no prefix; a closed list, so that nobody else can join it."""


class Status(StrEnum):
    """What will become of a plugin, and after loading what became of it."""

    INDEXED = "indexed"
    INCOMPATIBLE = "incompatible"
    DISABLED = "disabled"
    DUPLICATE = "duplicate"
    BROKEN = "broken"
    LOADED = "loaded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One plugin as its package announces it.

    Attributes:
        name: of the entry point: the owner's name.
        api: the API it is for.
        value: `module` or `module:object`.
        reason: why it is not loaded.
        folder: of a local module: put at the end of the import path if it can't be imported as is.
    """

    name: str
    api: str
    value: str
    distribution: str
    version: str
    status: Status = Status.INDEXED
    reason: str = ""
    point: Found | None = field(default=None, compare=False)
    folder: Path | None = None

    @property
    def owner(self) -> Owner:
        """Who owns what it registers."""
        return Owner(self.name, self.distribution, self.version, self.is_first_party)

    @property
    def is_local(self) -> bool:
        """Whether it is a module that the project's configuration names."""
        return self.point is None

    @property
    def is_first_party(self) -> bool:
        """Whether it belongs to this project."""
        return not self.is_local and canonical(self.distribution) in FIRST_PARTY

    def __str__(self) -> str:
        return f"plugin {self.name!r} ({self.owner})"

    def to_json(self) -> dict[str, Any]:
        """The record that `ge plugins` prints."""
        return {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "api": self.api,
            "status": str(self.status),
            "error": self.reason or None,
        }


@dataclass(frozen=True)
class PluginIndex:
    """All candidates, sorted by (API, name, distribution).

    Attributes:
        warnings: said on every run.
        unknown: those of them about names that somebody gave and nothing has.
    """

    candidates: tuple[Candidate, ...]
    warnings: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def loadable(self) -> list[Candidate]:
        """Those to load, in order."""
        return [c for c in self.candidates if c.status is Status.INDEXED]

    def disabled(self) -> list[Candidate]:
        """Those that somebody switched off."""
        return [c for c in self.candidates if c.status is Status.DISABLED]

    def refused(self) -> list[Candidate]:
        """Those that can't be loaded and that nobody switched off."""
        return [c for c in self.candidates if c.status in REFUSED]


REFUSED = frozenset({Status.INCOMPATIBLE, Status.DUPLICATE, Status.BROKEN})
"""What can't be loaded, though nobody switched it off."""


def index_plugins(
    config: ProjectConfig | None = None, environ: Mapping[str, str] | None = None
) -> PluginIndex:
    """Index what is installed. Imports no plugin.

    Raises:
        InputFileError: the configuration's `plugins` list is malformed.
    """
    config = ProjectConfig() if config is None else config
    environ = os.environ if environ is None else environ
    found = _for_this_api([*_installed(), *_local(config)])
    found.sort(key=lambda c: (c.api, c.name, canonical(c.distribution), c.version, c.value))
    return _Judge(config, environ).judge(found)


def _for_this_api(found: Sequence[Candidate]) -> list[Candidate]:
    """Without what a package announces for other kernels beside the same plugin for this one."""
    here = {(c.name, canonical(c.distribution)) for c in found if c.api == API}
    return [c for c in found if c.api == API or (c.name, canonical(c.distribution)) not in here]


def _installed() -> Iterable[Candidate]:
    for point in scan(PREFIX):
        yield Candidate(
            name=point.name,
            api=point.group.removeprefix(PREFIX),
            value=point.value,
            distribution=point.distribution,
            version=point.version,
            point=point,
        )


_LOCAL = re.compile(r"\s*([A-Za-z_][\w-]*)\s*=\s*([\w.]+(?::[\w.]+)?)\s*")


def _local(config: ProjectConfig) -> Iterable[Candidate]:
    for text in config.plugins or ():
        if "=" not in text:
            continue
        found = _LOCAL.fullmatch(text)
        if found is None:
            raise InputFileError(
                f"{text!r} is neither a plugin's name nor 'name = module'",
                file=str(config.file),
                field="plugins",
            )
        name, value = found.groups()
        module = value.partition(":")[0]
        yield Candidate(name, API, value, module, "", folder=config.folder)


class _Judge:
    """Says which candidates are loaded: compatible, not switched off, one package per name."""

    def __init__(self, config: ProjectConfig, environ: Mapping[str, str]) -> None:
        self.config = config
        self.disabled = frozenset(re.split(r"[\s,]+", environ.get(DISABLE, "").strip())) - {""}
        self.warnings: list[str] = []

    def judge(self, found: list[Candidate]) -> PluginIndex:
        judged = [self._alone(candidate) for candidate in found]
        judged = self._contested(judged)
        self._check_names(judged)
        unknown = tuple(self.warnings)
        self._tell_local(judged)
        return PluginIndex(tuple(judged), tuple(self.warnings), unknown)

    def _alone(self, candidate: Candidate) -> Candidate:
        # First: who switches off a plugin that doesn't fit is not told that it doesn't.
        reason = self._switched_off(candidate)
        if reason:
            return replace(candidate, status=Status.DISABLED, reason=reason)
        if candidate.api != API:
            reason = f"is for plugin API {candidate.api}, this kernel has {API}"
            return replace(candidate, status=Status.INCOMPATIBLE, reason=reason)
        reason = _wrong_name(candidate.name) or (candidate.point and candidate.point.problem) or ""
        if reason:
            return replace(candidate, status=Status.BROKEN, reason=reason)
        return candidate

    def _switched_off(self, candidate: Candidate) -> str:
        if candidate.name in self.disabled:
            return f"is disabled by {DISABLE}"
        if candidate.is_first_party:
            return ""
        if "*" in self.disabled:
            return f"is disabled by {DISABLE}=*"
        allowed = self.config.plugins
        if allowed is None or candidate.is_local or candidate.name in allowed:
            return ""
        return f"is not in the list `plugins` of {self.config.file}"

    def _contested(self, judged: list[Candidate]) -> list[Candidate]:
        claims: dict[str, list[Candidate]] = {}
        for candidate in judged:
            if candidate.status is Status.INDEXED:
                claims.setdefault(candidate.name, []).append(candidate)
        return [self._settle(c, claims.get(c.name, [])) for c in judged]

    def _settle(self, candidate: Candidate, claims: list[Candidate]) -> Candidate:
        if candidate.status is not Status.INDEXED or len(claims) < 2:
            return candidate
        preferred = self.config.prefer.get(candidate.name)
        matching = [c for c in claims if canonical(c.distribution) == canonical(preferred or "")]
        if len(matching) == 1:
            if matching[0] is candidate:
                return candidate
            reason = f"is passed over: the configuration prefers {matching[0].owner}"
            return replace(candidate, status=Status.DISABLED, reason=reason)
        owners = ", ".join(str(c.owner) for c in claims)
        reason = f"has a contested name ({owners}); choose with [tool.ge] prefer"
        return replace(candidate, status=Status.DUPLICATE, reason=reason)

    def _check_names(self, judged: list[Candidate]) -> None:
        """What the user named and isn't there is said, not ignored."""
        names = {candidate.name for candidate in judged}
        for name in sorted(self.disabled - {"*"} - names):
            self._warn(f"{DISABLE} names plugin {name!r}, which is not installed", name, names)
        for name in self.config.plugins or ():
            if "=" not in name and name not in names:
                said = f"{self.config.file} lists plugin {name!r}, which is not installed"
                self._warn(said, name, names)
        for name, distribution in sorted(self.config.prefer.items()):
            self._check_preference(name, distribution, judged)

    def _tell_local(self, judged: list[Candidate]) -> None:
        """Code of the project runs without being installed: that is said each time."""
        for candidate in judged:
            if candidate.is_local and candidate.status is Status.INDEXED:
                self.warnings.append(
                    f"plugin {candidate.name!r} runs code of the project: {candidate.value} "
                    f"({self.config.file})"
                )

    def _check_preference(self, name: str, wanted: str, judged: list[Candidate]) -> None:
        claims = {c.distribution for c in judged if c.name == name}
        said = f"{self.config.file} prefers {wanted!r} for plugin {name!r}, "
        if not claims:
            names = {candidate.name for candidate in judged}
            self._warn(f"{said}which is not installed", name, names)
        elif canonical(wanted) not in map(canonical, claims):
            brought = ", ".join(sorted(claims))
            self._warn(f"{said}which {brought} brings", wanted, claims)

    def _warn(self, text: str, name: str, known: Iterable[str]) -> None:
        near = near_matches(name, known)
        self.warnings.append(f"{text}; near: {', '.join(near)}" if near else text)


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_RESERVED = frozenset({"ge", "ge_core", "default"})


def _wrong_name(name: str) -> str:
    """Why a plugin can't be called so: names are prefixes, and stand in texts that are split."""
    if _NAME.fullmatch(name) is None:
        return "is no name for a plugin: one word of letters, digits, _ and -, at most 64 of them"
    return "is no name for a plugin: it is the kernel's" if name in _RESERVED else ""
