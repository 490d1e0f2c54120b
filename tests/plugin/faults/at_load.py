"""Misbehaviour while a plugin is imported and its hooks are read."""

from __future__ import annotations

from typing import Final

from .table import HEAD, Fault, hook

GOOD = hook("targets", "targets.add(Target('npu'))")
EMPTY = hook("targets", "pass")


def at_import(line: str) -> str:
    """A module that works and does something at import."""
    return f"{line}\n{EMPTY}"


IMPORT: Final = (
    Fault("raises at import", "raise ValueError('no driver')", ("no driver",), "warning"),
    Fault("imports what is not installed", "import not_here", ("not_here",), "warning"),
    Fault("ends the process at import", "raise SystemExit(7)", ("SystemExit: 7",), "warning"),
    Fault(
        "raises a bare BaseException at import",
        "raise BaseException('odd')",
        ("at import", "odd"),
        "warning",
    ),
    Fault("has a syntax error", "def f(:\n", ("SyntaxError",), "warning"),
    Fault(
        "recurses without end at import",
        "def f(): f()\nf()",
        ("RecursionError",),
        "warning",
    ),
    Fault(
        "prints to standard output at import",
        at_import("print('hello, I am acme')"),
        ("wrote to standard output",),
        "warning",
    ),
    Fault(
        "writes to file descriptor 1 at import",
        at_import("import os; os.write(1, b'a banner')"),
        ("a banner",),
        "fine",
        alone=True,
    ),
    Fault(
        "changes the working directory at import",
        at_import("import os; os.chdir('/')"),
        ("changed the working directory", "put back"),
        "warning",
        alone=True,
    ),
    Fault(
        "changes environment variables at import",
        at_import("import os; os.environ['GE_OPTION_ge__oo__level'] = 'O0'"),
        ("changed environment variables (GE_OPTION_ge__oo__level)", "put back"),
        "warning",
        alone=True,
    ),
    Fault(
        "changes the recursion limit at import",
        at_import("import sys; sys.setrecursionlimit(100000)"),
        ("changed the recursion limit", "put back"),
        "warning",
        alone=True,
    ),
    Fault(
        "switches the garbage collector off at import",
        at_import("import gc; gc.disable()"),
        ("switched the garbage collector off", "put back"),
        "warning",
        alone=True,
    ),
    Fault(
        "installs a signal handler at import",
        at_import("import signal; signal.signal(signal.SIGTERM, lambda *_: None)"),
        ("changed the handler of SIGTERM", "put back"),
        "warning",
        alone=True,
    ),
    Fault(
        "seeds the random generator at import",
        "import random\n" + at_import("random.seed(0)"),
        ("seeded or used the random generator", "put back"),
        "warning",
        alone=True,
    ),
    Fault(
        "changes the locale at import",
        at_import("import locale; locale.setlocale(locale.LC_ALL, 'C.UTF-8')"),
        ("changed the locale", "put back"),
        "warning",
        alone=True,
    ),
    Fault(
        "sets up logging for the whole process at import",
        at_import("import logging; logging.basicConfig(level='DEBUG')"),
        ("configured the root logger", "put back"),
        "warning",
        alone=True,
    ),
    Fault(
        "changes the warning filters at import",
        at_import("import warnings; warnings.simplefilter('ignore')"),
        ("changed the warning filters", "put back"),
        "warning",
        alone=True,
    ),
    Fault(
        "puts itself in front of the import path",
        at_import("import sys; sys.path.insert(0, '/opt/acme')"),
        ("put '/opt/acme' in front of the import path", "last"),
        "warning",
        alone=True,
    ),
    Fault(
        "replaces sys.stdout at import",
        at_import("import sys, io; sys.stdout = io.StringIO()"),
        ("replaced sys.stdout", "put back"),
        "warning",
        alone=True,
    ),
    Fault(
        "starts a thread at import",
        at_import(
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=(0.2,), daemon=True).start()"
        ),
        ("started a thread",),
        "warning",
        alone=True,
    ),
)

HOOKS: Final = (
    Fault(
        "misspells a hook",
        HEAD + "@hookimpl\ndef ge_register_pases(passes): pass\n",
        ("no hook 'ge_register_pases'", "near: ge_register_passes"),
        "warning",
    ),
    Fault(
        "forgets @hookimpl",
        HEAD + "def ge_register_passes(passes): pass\n",
        ("ge_register_passes is not marked",),
        "warning",
    ),
    Fault(
        "asks for an argument that the hook does not have",
        HEAD + "@hookimpl\ndef ge_register_passes(passes, graph): pass\n",
        ("ge_register_passes", "'graph'"),
        "warning",
    ),
    Fault("implements no hook", "x = 1", ("implements no hook",), "warning"),
    Fault(
        "names something that its module does not have",
        EMPTY,
        ("at import", "ghost"),
        "warning",
        entry=("acme", "{module}:ghost"),
    ),
    Fault(
        "writes a registering hook as a coroutine",
        EMPTY.replace("def ge_", "async def ge_"),
        ("ge_register_targets", "coroutine function"),
        "warning",
    ),
    Fault(
        "writes a registering hook as a generator",
        hook("targets", "yield targets"),
        ("ge_register_targets", "generator function"),
        "warning",
    ),
    Fault(
        "returns what it should register",
        hook("targets", "return [Target('npu')]"),
        ("ge_register_targets", "returned", "register"),
        "warning",
    ),
    Fault(
        "writes an instrument as a coroutine",
        HEAD + "@hookimpl\nasync def ge_before_pass(ctx): pass\n",
        ("ge_before_pass", "coroutine function"),
        "warning",
    ),
    Fault(
        "returns an answer from an instrument",
        HEAD + "@hookimpl\ndef ge_before_pass(ctx): return False\n",
        ("ge_before_pass", "returned False"),
    ),
    Fault(
        "raises in an instrument",
        HEAD + "@hookimpl\ndef ge_after_pass(ctx): raise OSError('disk full')\n",
        ("ge_after_pass", "disk full"),
    ),
    Fault(
        "ends the process in an instrument",
        HEAD + "@hookimpl\ndef ge_after_pass(ctx): raise SystemExit(0)\n",
        ("ge_after_pass", "SystemExit"),
    ),
    Fault(
        "edits the graph in an instrument",
        HEAD + "@hookimpl\ndef ge_before_pass(ctx):\n    ctx.graph.set_graph_attr('mine', 1)\n",
        ("ge_before_pass", "edit"),
    ),
    Fault(
        "raises in its second hook",
        GOOD + "\n@hookimpl\ndef ge_register_ops(ops): raise KeyError('x')\n",
        ("ge_register_ops", "KeyError"),
        "warning",
    ),
    Fault(
        "registers more after loading",
        hook("targets", "KEPT.append(targets)", "KEPT = []")
        + "\n@hookimpl\ndef ge_before_pass(ctx):\n    KEPT[0].add(Target('late'))\n",
        ("ge_before_pass", "while the plugin is loaded"),
    ),
)

METADATA: Final = (
    Fault("is for another API", GOOD, ("API 2",), "warning", group="ge_core.plugins.v2"),
    Fault(
        "calls itself with a name that is no name",
        GOOD,
        ("'ac me'", "is no name for a plugin"),
        "warning",
        entry=("ac me", "{module}"),
    ),
    Fault(
        "calls itself ge, so that its options would look like GE's",
        GOOD,
        ("'ge'", "is no name for a plugin"),
        "warning",
        entry=("ge", "{module}"),
    ),
    Fault(
        "has an entry point that names no module",
        GOOD,
        ("names no module",),
        "warning",
        entry=("acme", "1 + 1"),
    ),
)

FAULTS = (*IMPORT, *HOOKS, *METADATA)
