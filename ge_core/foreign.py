"""Calling code that is not ours: whatever it raises becomes one error that names its owner.

Only KeyboardInterrupt goes through: it is the user's. SystemExit and other BaseExceptions do not,
since a plugin that ends the process would end it with the exit code of a success.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import FrozenInstanceError
from pathlib import Path
from traceback import walk_tb
from typing import Any, Final, TypeVar

from ge_core.errors import GeError, PluginError

E = TypeVar("E", bound=GeError)

_OURS: Final = Path(__file__).parent
_STANDARD: Final = Path(sysconfig.get_path("stdlib"))
_INSTALLED: Final = ("site-packages", "dist-packages")

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
        if raised.exit_code not in (2, 3):
            located(raised, raised)
        raise
    except BaseException as raised:
        wrapped = error(f"{what} {in_words(raised)}", owner=owner, hint=hint)
        raise located(wrapped, raised) from raised


def located(error: E, raised: BaseException) -> E:
    """The error, which now says where somebody else's code raised what it stands for.

    The whole traceback is logged at level debug where the caller has set up structlog.
    """
    if error.where is None:
        error.where = place_of(raised)
    structlog: Any = sys.modules.get("structlog")
    # Not set up, it would print to standard output; and importing it takes 190 ms.
    if error.where is not None and structlog is not None and structlog.is_configured():
        structlog.get_logger("ge.foreign").debug(error.message, exc_info=raised)
    return error


def place_of(raised: BaseException) -> str | None:
    """The deepest line outside the kernel and Python's own library: `at casts.py:9 in run`."""
    found = None
    for frame, line in walk_tb(raised.__traceback__):
        code = frame.f_code
        if not code.co_filename.startswith("<") and _is_foreign(Path(code.co_filename)):
            found = f"at {_short(Path(code.co_filename))}:{line} in {code.co_name}"
    return found


def place_of_function(function: object) -> str | None:
    """Where a function is written: `at casts.py:9 in run`; None where it is no Python function."""
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    if code is None:
        return None
    return f"at {_short(Path(code.co_filename))}:{code.co_firstlineno} in {code.co_name}"


def _is_foreign(file: Path) -> bool:
    if file.is_relative_to(_OURS) or "pluggy" in file.parts:
        return False
    return not file.is_relative_to(_STANDARD) or any(name in file.parts for name in _INSTALLED)


def _short(file: Path) -> str:
    """The file's name from where Python, or the user, starts to look for it."""
    folders = [Path(entry) for entry in (str(Path.cwd()), *sys.path) if entry]
    names = [file.relative_to(one).as_posix() for one in folders if file.is_relative_to(one)]
    return min(names, key=len, default=file.name)


def in_words(raised: BaseException) -> str:
    """What somebody else's exception says, as the end of a sentence about who raised it."""
    if isinstance(raised, SystemExit):
        return f"tried to end the process (SystemExit: {raised.code})"
    return f"raised {brief(raised)}"


def edit_hint(raised: BaseException, who: str) -> str | None:
    """What to say to somebody who may only look and raised this by an edit; None for others."""
    words = str(raised)
    edits = "may only look" in words or "'mappingproxy' object" in words
    edits = edits or isinstance(raised, FrozenInstanceError)
    return f"{who} must not edit: it only looks" if edits else None


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
