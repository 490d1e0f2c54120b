"""What could not be loaded, from which package, and how it failed."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ge_core.errors import GeError, PluginLoadError
from ge_core.plugin.index import Candidate, Status

_SHOWN = 5
"""An unknown name names at most so many plugins that aren't there."""


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """One plugin that failed; nothing of it is registered.

    Attributes:
        when: `at import`, `in ge_register_passes`, `when merged`.
        error: what it raised, in one line.
        traceback: the whole of it.
    """

    candidate: Candidate
    when: str
    error: str
    traceback: str

    @classmethod
    def of(cls, candidate: Candidate, when: str, error: BaseException) -> PluginFailure:
        """From what was raised."""
        if isinstance(error, GeError):
            # On one line: what it says, then what to do.
            words = "; ".join(line.strip() for line in str(error).splitlines())
        elif isinstance(error, SystemExit):
            words = f"it tried to end the process (SystemExit: {error.code})"
        elif isinstance(error, ImportError) and str(error):
            words = str(error)
        else:
            text = str(error)
            words = f"{type(error).__name__}: {text}" if text else type(error).__name__
        return cls(candidate, when, words, "".join(traceback.format_exception(error)))

    def as_candidate(self) -> Candidate:
        """The candidate with its load result."""
        return replace(
            self.candidate, status=Status.FAILED, reason=f"failed {self.when}: {self.error}"
        )

    def __str__(self) -> str:
        return f"{self.candidate} failed {self.when}: {self.error}"


class FailureTable:
    """Plugins that aren't there though they are installed: failed, incompatible, contested.

    Those that somebody switched off are no failures; they only explain unknown names.

    Attributes:
        unknown: what was said of names that the configuration or the environment gives and nothing
            has.
    """

    def __init__(
        self,
        failures: Sequence[PluginFailure] = (),
        refused: Sequence[Candidate] = (),
        disabled: Sequence[Candidate] = (),
        unknown: Sequence[str] = (),
    ) -> None:
        self.failures = tuple(failures)
        self.refused = tuple(refused)
        self.disabled = tuple(disabled)
        self.unknown = tuple(unknown)

    def lines(self) -> list[str]:
        """One line per plugin: name, package, version and reason."""
        return [
            *map(str, self.failures),
            *(f"{candidate} {candidate.reason}" for candidate in self.refused),
        ]

    def hint(self) -> str | None:
        """What to say with an unknown name; None where every plugin loaded."""
        lines = [*self.lines(), *(f"{c} {c.reason}" for c in self.disabled)]
        if not lines:
            return None
        shown = lines[:_SHOWN]
        if len(lines) > _SHOWN:
            shown.append(f"{len(lines) - _SHOWN} more")
        return "not loaded: " + "; ".join(shown) + "; see `ge plugins doctor`"

    def absent(self) -> dict[str, str]:
        """Why each is missing, by the plugin's name."""
        reasons = {failure.candidate.name: str(failure) for failure in self.failures}
        for candidate in (*self.refused, *self.disabled):
            reasons.setdefault(candidate.name, f"{candidate} {candidate.reason}")
        return reasons

    def check_strict(self) -> None:
        """Raises `PluginError` that names all of them and unknown names, where there is any."""
        lines = [*self.lines(), *self.unknown]
        if lines:
            what = "plugins are not loaded" if len(self) else "plugins are not there"
            raise PluginLoadError(
                f"{what}, and --strict-plugins was asked for:\n  " + "\n  ".join(lines),
                hint="see `ge plugins doctor`, or set GE_DISABLE_PLUGINS",
            )

    def __len__(self) -> int:
        return len(self.failures) + len(self.refused)
