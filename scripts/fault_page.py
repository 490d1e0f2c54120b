"""The page of misbehaving plugins, from the table that the tests run."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

PARTS: Final = (
    ("at_load", "While it is loaded"),
    ("in_registries", "In what it registers"),
    ("in_passes", "In a pass at work"),
    ("in_rules", "In rules, checkers and anchor types"),
    ("in_planners", "In a memory assigner"),
    ("in_drivers", "In drivers and kernels"),
)
ENDS: Final = {
    "error": "error, exit code {code}",
    "warning": "a warning, the rest works",
    "fine": "no harm",
}
HEAD: Final = """\
# What happens when a plugin misbehaves

Each row is a plugin of the distribution `acme-dist 1.5` that a test installs and meets with the
real command. It ends in one message that names package and version, and in nothing else: no
traceback, no wrong result, no silent skip, nothing of it left behind. `GE_DISABLE_PLUGINS` runs
without it, and `ge plugins doctor` shows what it did.
"""
LIMITS: Final = """\
## What is not caught

* Code that takes for ever: a plugin runs in the process of the command and can't be stopped from
  within it. A pass that adds nodes, visits or trace steps without an end is stopped by bounds.
* A planner that ignores its budget, or answers differently each time. The conformance suite asks
  twice; a compile asks once, and what it gets is checked and proved.
* Threads that a plugin starts: that one was started is said, what it does later is not seen.
* Changing the kernel itself, or slots of nodes instead of calling the graph's methods: the proof
  judges the result, and where it fails the error lists the plugins that took part.
* Op traits and trace rules that say something untrue of an op are trusted by the proof, as it says;
  `ge run --check` compares what is computed.
* A graph of an earlier compile that a pass kept: it belongs to whoever made it.
* State of the process that can't be read back, or that lies in native libraries; output that is
  written after the command has ended.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for module, title in PARTS:
        faults: tuple[Any, ...] = import_module(f"tests.plugin.faults.{module}").FAULTS
        rows = ["| a plugin that | ends in | and says, among the rest |", "| --- | --- | --- |"]
        for fault in faults:
            says = "; ".join(f"`{words}`" for words in fault.says) or "-"
            ends = ENDS[fault.ends].format(code=fault.code_expected)
            rows.append(f"| {fault.what} | {ends} | {says} |")
        parts.append(f"## {title}\n\n" + "\n".join(rows) + "\n")
    return "\n".join([*parts, LIMITS])
