"""Where settings come from: the sources, strongest first, and what each says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LEVEL = "ge.oo.level"
STRICT = "ge.strictOptions"
SWITCH = "ge.optimizationSwitch"
DISABLE = "ge.disableOptimizations"
SWITCH_FILE = "ge.fusionSwitchFile"

CONTROL = (LEVEL, STRICT, SWITCH, DISABLE, SWITCH_FILE)
"""Options that are read while the passes are chosen."""

ARGUMENTS, PIPELINE, PROJECT, ENVIRONMENT = STRENGTH = (
    "arguments",
    "pipeline",
    "project",
    "environment",
)
"""Names of sources, strongest first; what nobody sets, the level decides."""

PIPELINE_RANK = STRENGTH.index(PIPELINE)
"""How strong a pipeline is, 0 the strongest."""


@dataclass(frozen=True, slots=True)
class Source:
    """What one source says.

    Attributes:
        name: one of `STRENGTH`.
        options: texts by the name of an option, of a pass (on, off) or `Pass.field`.
        enable, disable: names of passes.
        origin: what a user reads of it: a flag, a file.
        origins: how single things were given, by the name of the option (`--set ge.oo.level=O5`),
            or by `enable NAME` and `disable NAME`.
        changes: what a pipeline says that switches a pass, by `enable NAME` and `disable NAME`.
        folder: what relative paths in it are relative to; the working directory by default.
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    origin: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    changes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in STRENGTH:
            raise ValueError(f"source {self.name!r} is none of {', '.join(STRENGTH)}")

    @property
    def shown(self) -> str:
        """What a user reads of it."""
        return self.origin or self.name

    def given(self, name: str) -> str:
        """How an option was given, for errors."""
        return self.origins.get(name) or f"{self.shown}: {name}={self.options[name]}"

    def given_switch(self, verb: str, name: str) -> str:
        """How a pass was switched (`enable` or `disable`), for errors."""
        return self.origins.get(f"{verb} {name}") or f"{self.shown}: {verb} {name}"

    @property
    def rank(self) -> int:
        """Its strength, 0 the strongest."""
        return STRENGTH.index(self.name)
