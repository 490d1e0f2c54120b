"""The state of the process that plugins have no business changing: looked at, and put back.

Watched: working directory, environment variables, import path, recursion limit, garbage collector,
signal handlers, sys.stdout and sys.stderr, exception hook, threads, and, where their modules are
loaded, random, locale, warnings and the root logger. Not watched: what can't be read back (umask),
attributes of foreign modules, state inside native libraries.

Other threads of a program may change all of this rightfully, at any time. So only a process that is
ours is watched: one that runs the command, or that has no other thread.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

_SIGNALS: Final = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGPIPE", "SIGUSR1", "SIGCHLD")
    if hasattr(signal, name)
)


_command: ContextVar[bool] = ContextVar("ge_command_runs", default=False)


@contextmanager
def command_runs() -> Iterator[None]:
    """While the command runs, the process is its own."""
    token = _command.set(True)
    try:
        yield
    finally:
        _command.reset(token)


def is_ours() -> bool:
    """Whether nobody but the kernel and its plugins can be changing the process now."""
    return _command.get() or threading.active_count() == 1


class ProcessState:
    """The state now; `put_back` restores it later and says what was changed meanwhile.

    Args:
        imports: whether that is watched too which modules change when they are imported (numpy adds
            filters of warnings): registration modules are light, a pass may import what it needs.
    """

    def __init__(self, *, imports: bool = True) -> None:
        self._imports = imports
        self._folder = _folder()
        self._environ = dict(os.environ)
        self._path = list(sys.path)
        self._recursion = sys.getrecursionlimit()
        self._collecting = gc.isenabled()
        self._handlers = {number: signal.getsignal(number) for number in _SIGNALS}
        self._streams = (sys.stdout, sys.stderr)
        self._excepthook = sys.excepthook
        self._threads = frozenset(threading.enumerate())
        self._random = _random_state()
        self._locale = _locale()
        self._filters = _warning_filters()
        self._logging = _root_logger()

    def put_back(self) -> list[str]:
        """Restore everything; in words, what was found changed, in a fixed order."""
        always: tuple[Callable[[], str | None], ...] = (
            self._put_folder,
            self._put_recursion,
            self._put_collector,
            self._put_handlers,
            self._put_streams,
        )
        at_import: tuple[Callable[[], str | None], ...] = (
            self._put_environ,
            self._put_path,
            self._put_excepthook,
            self._put_random,
            self._put_locale,
            self._put_filters,
            self._put_logging,
            self._look_at_threads,
        )
        checks = (*always, *at_import) if self._imports else always
        return [words for check in checks if (words := check()) is not None]

    def _put_folder(self) -> str | None:
        if self._folder is None or _folder() == self._folder:
            return None
        os.chdir(self._folder)
        return "changed the working directory"

    def _put_environ(self) -> str | None:
        now = dict(os.environ)
        if now == self._environ:
            return None
        names = sorted(
            name for name in {*now, *self._environ} if now.get(name) != self._environ.get(name)
        )
        for name in names:
            if name in self._environ:
                os.environ[name] = self._environ[name]
            else:
                del os.environ[name]
        return f"changed environment variables ({', '.join(names)})"

    def _put_path(self) -> str | None:
        if sys.path == self._path:
            return None
        new = [entry for entry in sys.path if entry not in self._path]
        added_last = sys.path == [*self._path, *new]
        # What was added stays, last: lazy references are imported from it later.
        sys.path[:] = [*self._path, *new]
        if added_last:
            return None
        if new:
            return f"put {new[0]!r} in front of the import path, where it now comes last"
        return "changed the import path"

    def _put_recursion(self) -> str | None:
        if sys.getrecursionlimit() == self._recursion:
            return None
        sys.setrecursionlimit(self._recursion)
        return "changed the recursion limit"

    def _put_collector(self) -> str | None:
        if gc.isenabled() == self._collecting:
            return None
        if self._collecting:
            gc.enable()
            return "switched the garbage collector off"
        gc.disable()
        return "switched the garbage collector on"

    def _put_handlers(self) -> str | None:
        changed = [n for n in _SIGNALS if signal.getsignal(n) is not self._handlers[n]]
        for number in changed:
            before = self._handlers[number]
            if before is not None and threading.current_thread() is threading.main_thread():
                signal.signal(number, before)
        names = ", ".join(number.name for number in changed)
        return f"changed the handler of {names}" if changed else None

    def _put_streams(self) -> str | None:
        now = (sys.stdout, sys.stderr)
        if now[0] is self._streams[0] and now[1] is self._streams[1]:
            return None
        name = "stdout" if now[0] is not self._streams[0] else "stderr"
        sys.stdout, sys.stderr = self._streams
        return f"replaced sys.{name}"

    def _put_excepthook(self) -> str | None:
        if sys.excepthook is self._excepthook:
            return None
        sys.excepthook = self._excepthook
        return "replaced sys.excepthook"

    def _put_random(self) -> str | None:
        if self._random is None or _random_state() == self._random:
            return None
        sys.modules["random"].setstate(self._random)
        return "seeded or used the random generator that everybody shares"

    def _put_locale(self) -> str | None:
        now = _locale()
        if now is None or now == (self._locale or now):
            return None
        module = sys.modules["locale"]
        module.setlocale(module.LC_ALL, self._locale)
        return "changed the locale"

    def _put_filters(self) -> str | None:
        now = _warning_filters()
        if now == self._filters:
            return None
        module = sys.modules["warnings"]
        module.resetwarnings()
        module.filters[:] = self._filters
        return "changed the warning filters"

    def _put_logging(self) -> str | None:
        now = _root_logger()
        before = self._logging or ((), 30)
        if now is None or now == before:
            return None
        root = sys.modules["logging"].root
        for handler in now[0]:
            if handler not in before[0]:
                root.removeHandler(handler)
        for handler in before[0]:
            if handler not in now[0]:
                root.addHandler(handler)
        root.setLevel(before[1])
        return "configured the root logger"

    def _look_at_threads(self) -> str | None:
        more = [t for t in threading.enumerate() if t not in self._threads and t.is_alive()]
        return "started a thread, which can't be watched" if more else None


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        # It was removed under us.
        return None


# These ask only where the module is loaded: what nobody imported, nobody's result depends on.


def _random_state() -> Any:
    module = sys.modules.get("random")
    return None if module is None or not hasattr(module, "getstate") else module.getstate()


def _locale() -> str | None:
    module = sys.modules.get("locale")
    if module is None or not hasattr(module, "setlocale"):
        return None
    return str(module.setlocale(module.LC_ALL))


def _warning_filters() -> list[Any]:
    module = sys.modules.get("warnings")
    return [] if module is None else list(module.filters)


def _root_logger() -> tuple[tuple[Any, ...], int] | None:
    module = sys.modules.get("logging")
    root = getattr(module, "root", None)
    return None if root is None else (tuple(root.handlers), root.level)
