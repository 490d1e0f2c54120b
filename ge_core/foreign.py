"""Calling code that is not ours: whatever it raises becomes one error that names its owner.

Only KeyboardInterrupt goes through: it is the user's. SystemExit and other BaseExceptions do not,
since a plugin that ends the process would end it with the exit code of a success.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ge_core.errors import GeError, PluginError

_LONGEST = 300
"""Letters of somebody else's message that are shown."""


@contextmanager
def foreign(
    what: str, owner: str, *, error: type[GeError] = PluginError, hint: str | None = None
) -> Iterator[None]:
    """Around a call into a plugin.

    Args:
        what: who is called, for messages: `frontend 'onnx'`.
        owner: package and version.
        error: the class of what is raised instead.
        hint: what to do about it.

    Raises:
        GeError: as the plugin raised it, with its owner where it had none; `error` for the rest.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except GeError as raised:
        # Errors of usage and of input files are the user's, whoever noticed.
        if raised.owner is None and raised.exit_code not in (2, 3):
            raised.owner = owner
        raise
    except BaseException as raised:
        raise error(f"{what} {in_words(raised)}", owner=owner, hint=hint) from raised


def in_words(raised: BaseException) -> str:
    """What somebody else's exception says, as the end of a sentence about who raised it."""
    if isinstance(raised, SystemExit):
        return f"tried to end the process (SystemExit: {raised.code})"
    return f"raised {brief(raised)}"


def shortened(thing: object) -> str:
    """How something looks in a message: not longer than a reader can bear, on one line."""
    try:
        text = " ".join(repr(thing).split())
    except Exception:  # somebody else's __repr__
        text = f"<{type(thing).__name__}>"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def brief(raised: BaseException) -> str:
    """Type and message on one line, not longer than a reader can bear."""
    words = " ".join(str(raised).split())
    if len(words) > _LONGEST:
        words = f"{words[:_LONGEST]}..."
    return f"{type(raised).__name__}: {words}" if words else type(raised).__name__
