"""The error classes of the kernel and the exit codes they stand for.

Every error says what was asked, what is near, who owns it and what to do. Messages are lower case
without a full stop. Codes are GE's E-numbers where one exists: E10001 a bad option value, E13028 a
pass that failed, E13029 a plugin that could not be loaded, E13030 a function that is declared and
missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class GeError(Exception):
    """Base of every error that the product raises on purpose.

    Args:
        message: what was asked and why it can't be done.
        near: names that exist and look alike.
        owner: package and version that the failing thing belongs to.
        hint: what to do about it.

    Attributes:
        where: the line of somebody else's code that raised, `at casts.py:9 in run`; None where
            nothing of the kind is known.
    """

    code = "GE00000"
    exit_code = 1
    where: str | None = None

    def __init__(
        self,
        message: str,
        *,
        near: Sequence[str] = (),
        owner: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.near = tuple(near)
        self.owner = owner
        self.hint = hint

    def __str__(self) -> str:
        lines = [self.message]
        if self.near:
            lines.append("  near: " + ", ".join(self.near))
        if self.owner:
            lines.append("  owner: " + self.owner)
        if self.where:
            lines.append("  " + self.where)
        if self.hint:
            lines.append("  " + self.hint)
        return "\n".join(lines)


class UsageError(GeError):
    """A command line, API argument or name that can't be understood."""

    code = "GE00002"
    exit_code = 2


class OptionError(UsageError):
    """A bad value for an option (GE's E10001).

    Args:
        parameter: the option; `value`: the text that was given for it.
        reason: why the one is no value of the other.
    """

    code = "E10001"

    def __init__(
        self,
        message: str,
        *,
        parameter: str = "",
        value: str = "",
        reason: str = "",
        near: Sequence[str] = (),
        owner: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, near=near, owner=owner, hint=hint)
        self.parameter, self.value, self.reason = parameter, value, reason

    @classmethod
    def invalid(
        cls,
        parameter: str,
        value: str,
        reason: str,
        *,
        kind: str = "option",
        near: Sequence[str] = (),
        owner: str | None = None,
        hint: str | None = None,
    ) -> OptionError:
        """The error for a value, with the parts that GE's message has."""
        return cls(
            f"value {value!r} for {kind} {parameter} is invalid: {reason}",
            parameter=parameter,
            value=value,
            reason=reason,
            near=near,
            owner=owner,
            hint=hint,
        )

    @property
    def ge_text(self) -> str:
        """The message as GE words it, for who looks for that in a log."""
        reason = f"{self.reason[:1].upper()}{self.reason[1:]}"
        return f"Value {self.value} for parameter {self.parameter} is invalid. Reason: {reason}."


class UnknownNameError(UsageError):
    """A pass, option, target, assigner or code that nobody registered."""

    code = "GE00003"


class InputFileError(GeError):
    """A file that can't be read as what it should be; names file, node and field."""

    code = "GE00004"
    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        node: str | None = None,
        field: str | None = None,
        hint: str | None = None,
        near: Sequence[str] = (),
    ) -> None:
        where = ", ".join(
            f"{label} {value!r}"
            for label, value in (("node", node), ("field", field))
            if value is not None
        )
        text = message if not where else f"{where}: {message}"
        super().__init__(text if file is None else f"{file}: {text}", near=near, hint=hint)
        self.file, self.node, self.field = file, node, field
        self.plain_message = message

    def in_file(self, file: str) -> InputFileError:
        """The same error with the file named, for readers that learn the name late."""
        if self.file is not None:
            return self
        return InputFileError(
            self.plain_message,
            file=file,
            node=self.node,
            field=self.field,
            hint=self.hint,
            near=self.near,
        )


class GraphError(InputFileError):
    """A graph whose structure is broken, or an edit that would break it."""

    code = "GE00005"


class PluginError(GeError):
    """A plugin that is needed and is missing, contested, broken or incompatible."""

    code = "GE00006"
    exit_code = 4


class PluginLoadError(PluginError):
    """A plugin, or a module that one refers to, that can't be loaded (GE's E13029)."""

    code = "E13029"


class PassError(PluginError):
    """A pass, checker, rule or planner that raised, or broke its contract (GE's E13028)."""

    code = "E13028"


class MissingHookError(PassError):
    """A function, class or hook that a plugin declares and does not have (GE's E13030)."""

    code = "E13030"


class ProofError(GeError):
    """The compiled graph and plan do not compute what the original computes."""

    code = "GE00008"
    exit_code = 5


class LayoutConflict(GeError):
    """Placement constraints that contradict each other; names the chain of constraints."""

    code = "GE00009"


class PlanError(GeError):
    """A memory problem that can't be placed, or an assigner that returned a bad placement."""

    code = "GE00010"


class CheckFailed(GeError):
    """A check that was asked for (`--check`, `ge case`, `ge verify`) failed."""

    code = "GE00011"


class LimitExceeded(GeError):
    """A bound on work was reached; says which, and how to raise it."""

    code = "GE00012"
    exit_code = 3


def hint_lines(*hints: str | None) -> str:
    """Several hints as one, a line each; those that are None are left out."""
    return "\n  ".join(filter(None, hints))


def near_matches(
    name: str, known: Iterable[str], count: int = 3, cutoff: float = 0.55
) -> tuple[str, ...]:
    """Known names that look like `name`, best first; ties keep alphabetical order.

    Args:
        cutoff: how like, from 0 to 1; 0.5 is one of two letters.
    """
    by_fold: dict[str, str] = {}
    for candidate in sorted(known):
        by_fold.setdefault(candidate.casefold(), candidate)
    hits = get_close_matches(name.casefold(), list(by_fold), n=count, cutoff=cutoff)
    return tuple(by_fold[hit] for hit in hits)
