"""What a user asked for: the arguments of a compile, read and checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ge_core.errors import UsageError
from ge_core.passes.instruments import Instrument
from ge_core.passes.overlays import Overlay
from ge_core.passes.pipeline_text import PipelineText
from ge_core.passes.precedence import ARGUMENTS, LEVEL, Source
from ge_core.targets import Target

Objective = Literal["copies", "peak"]
OBJECTIVES: tuple[Objective, ...] = ("copies", "peak")


@dataclass(frozen=True)
class CompileRequest:
    """The arguments of one compile.

    Attributes:
        level: O0 to O4 or a plugin's; None leaves it to configuration (O3 by default).
        input_shapes: shapes of graph inputs whose file leaves dimensions open.
        options: texts by option name (`ge.*`, `owner.Pass.field`).
        enable, disable: names of passes.
        origins: how single settings were given, for messages; see `Source.origins`.
        pipeline: a pipeline's text, name or TOML file, or its value.
        target: a name, a TOML file, or a target.
        assigner: a name.
        objective: `peak` never takes a higher peak than O1's for fewer copies; None leaves it to
            configuration (`peak` by default).
        verify_each, audit: check structure, and that passes edit through the graph's methods only
            and keep what they promise of analyses.
        timeout: seconds that the assigner may search; None for its own bound in steps.
        instruments: watch this compile, after the plugins' hooks.
        strict_plugins: a plugin that failed to load is an error.
        prove: whether to run the proof.
    """

    level: str | None = None
    input_shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    enable: Sequence[str] = ()
    disable: Sequence[str] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    pipeline: str | Path | Overlay | PipelineText | None = None
    target: str | Path | Target | None = None
    assigner: str | None = None
    objective: Objective | None = None
    verify_each: bool = False
    audit: bool = False
    timeout: float | None = None
    instruments: Sequence[Instrument] = ()
    strict_plugins: bool = False
    prove: bool = True

    def __post_init__(self) -> None:
        _check_type("level", self.level, str)
        _check_type("pipeline", self.pipeline, str, Path, Overlay, PipelineText)
        _check_type("target", self.target, str, Path, Target)
        _check_type("assigner", self.assigner, str)
        if self.objective is not None and self.objective not in OBJECTIVES:
            raise UsageError(
                f"objective {self.objective!r} is neither 'copies' nor 'peak'",
                hint="see --objective",
            )
        if self.timeout is not None and not self.timeout >= 0:
            raise UsageError(f"timeout {self.timeout!r} is no number of seconds")
        for name, value in self.options.items():
            if not isinstance(value, str):
                raise UsageError(f"option {name!r} is given {value!r}, which is no text")

        written = self.options.get(LEVEL, self.level)
        if self.level is not None and written != self.level:
            raise UsageError(
                f"the level is given twice, as {str(self.level)!r} and as {LEVEL}={written!r}"
            )

    def at_level(self, level: str) -> CompileRequest:
        """The same request at another level; passes follow that, and nobody's wish to have one."""
        options = {name: value for name, value in self.options.items() if name != LEVEL}
        return replace(self, level=level, options=options, enable=(), pipeline=None)

    def source(self) -> Source:
        """The arguments as the strongest source of settings."""
        options = dict(self.options)
        if self.level is not None:
            options[LEVEL] = str(self.level)
        return Source(
            ARGUMENTS,
            options,
            tuple(self.enable),
            tuple(self.disable),
            "arguments",
            dict(self.origins),
        )


def _check_type(what: str, value: object, *kinds: type) -> None:
    if value is not None and not isinstance(value, kinds):
        shown = [kind.__name__ for kind in kinds]
        expected = " or ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
        raise UsageError(
            f"{what} is a {type(value).__name__}: {value!r}", hint=f"give a {expected}"
        )
