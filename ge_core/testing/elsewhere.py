"""Asking another process, with another hash seed: what it needs to find the code under test.

A set whose order shows in an answer gives another answer there.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ge_core.errors import PluginError, UsageError
from ge_core.testing.kernels import PluginSpec


def whereabouts(work: type[Any] | Any, label: str) -> dict[str, str | None]:
    """Where a class or function lies, in JSON; see `find`.

    Raises:
        UsageError: it can't be imported, since a function defines it.
    """
    if "<locals>" in work.__qualname__:
        raise UsageError(f"{label} is defined inside a function")
    return {"class": work.__qualname__, "module": work.__module__, "file": source_file(work)}


def find(record: Mapping[str, Any]) -> Any:
    """What `whereabouts` described, its module imported by name or from its file."""
    found: Any = _import(record["module"], record["file"])
    for part in record["class"].split("."):
        found = getattr(found, part)
    return found


def plugin_whereabouts(plugin: PluginSpec) -> dict[str, str | None]:
    """Where the module of a plugin that isn't installed lies; empty without one."""
    if plugin is None:
        return {}
    name = plugin if isinstance(plugin, str) else plugin.__name__
    module = sys.modules.get(_module_of(name))
    return {"plugin": name, "plugin_file": getattr(module, "__file__", None)}


def find_plugin(record: Mapping[str, Any]) -> str | None:
    """The plugin that `plugin_whereabouts` described, its module imported."""
    plugin: str | None = record.get("plugin")
    if plugin is not None:
        _import(_module_of(plugin), record.get("plugin_file"))
    return plugin


def ask_elsewhere(module: str, record: Mapping[str, Any], label: str) -> Any:
    """What the main function of a module prints for a record, in JSON both.

    Raises:
        PluginError: the other process failed; says with what.
    """
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-m", module],
        input=json.dumps(record),
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = "\n  ".join(done.stderr.strip().splitlines()[-3:]) or "no message"
        raise PluginError(f"{label} can't be tried in another process: {last}")
    return json.loads(done.stdout)


def _module_of(plugin: str) -> str:
    return plugin.rpartition("=")[2].strip()


def source_file(work: Any) -> str | None:
    """The file that defines a class or function; None where there is none."""
    try:
        return inspect.getsourcefile(work)
    except TypeError:
        return None


def _import(name: str, file: str | None) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        if file is None:
            raise
    # A test file, which pytest imported under a name of its own.
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
