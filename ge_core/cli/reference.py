"""What click's declarations have no place for: arguments in words, exit codes, the JSON document.

The reference of commands is made from both; tests hold every command to having an entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

EXIT_CODES: Final[Mapping[int, str]] = MappingProxyType(
    {
        0: "fine",
        1: "a check failed, or no plan fits",
        2: "the command line can't be understood or met",
        3: "a file is not what it should be",
        4: "a plugin is needed and missing or broken",
        5: "the proof failed",
    }
)
"""What exit codes mean; they are the same for all commands."""

_ALWAYS: Final = (0, 2, 4)
_FILES: Final = (0, 2, 3, 4)
_COMPILING: Final = (0, 1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Facts:
    """About one command.

    Attributes:
        exits: the exit codes that it can end with.
        arguments: what each argument is, by the name that its usage shows.
        document: the `schema` of what `--format json` prints.
        failure: what exit code 1 means here, where it says more than the common text.
    """

    exits: tuple[int, ...] = _ALWAYS
    arguments: Mapping[str, str] = field(default_factory=dict)
    document: str | None = None
    failure: str | None = None


_MODEL: Final = "the model: `.onnx`, or `.json` for a `ge-graph/1` file"

FACTS: Final[Mapping[str, Facts]] = {
    "compile": Facts(_COMPILING, {"MODEL": _MODEL}, "ge-compile/1", "no plan fits the target"),
    "run": Facts(
        _COMPILING,
        {"MODEL": _MODEL},
        "ge-run/1",
        "`--check` found a difference, or no plan fits the target",
    ),
    "verify": Facts(
        (0, 2, 3, 4, 5),
        {
            "MODEL": "the original, in any format that can be read",
            "COMPILED": "the compiled graph, a `ge-graph/1` file",
            "PLAN": "its plan, a `ge-plan/1` file of any origin",
        },
        "ge-verify/1",
    ),
    "explain": Facts(
        (0, 1, 2, 3, 4),
        {
            "MODEL": _MODEL,
            "NODE": "a node of it; by default every copy, and what passes changed or kept",
        },
        "ge-explain/1",
        "no plan fits the target",
    ),
    "case": Facts(
        (0, 1, 2, 3, 4),
        {"PATHS": "case files, and folders of them"},
        "ge-case/1",
        "a case failed, or there was none",
    ),
    "convert": Facts(
        _FILES, {"IN": "the file to read", "OUT": "the file to write; suffixes say the formats"}
    ),
    "passes": Facts(document="ge-passes/1"),
    "passes show": Facts(
        arguments={"NAME": "the pass, with its plugin's prefix"}, document="ge-pass/1"
    ),
    "passes why": Facts(
        _FILES, {"NAME": "the pass, with its plugin's prefix"}, document="ge-why/1"
    ),
    "passes claims": Facts(document="ge-claims/1"),
    "pipelines": Facts(document="ge-pipelines/1"),
    "pipeline show": Facts(
        _FILES,
        {"PIPELINE": "a level, a name, an overlay file or a text; by default what runs here"},
        "ge-pipeline/1",
    ),
    "pipeline diff": Facts(
        (0, 1, 2, 3, 4),
        {
            "BASE": "what to compare with: a level, a name, an overlay file or a text",
            "OTHER": "what to compare",
        },
        "ge-pipeline-diff/1",
        "`--exit-code` was given, and they differ",
    ),
    "options": Facts(document="ge-options/1"),
    "options show": Facts(
        _FILES,
        {"NAME": "an option, a pass (its own switch), or an option of a pass"},
        "ge-option/1",
    ),
    "checkers": Facts(document="ge-checkers/1"),
    "assigners": Facts(document="ge-assigners/1"),
    "targets": Facts(document="ge-targets/1"),
    "plugins": Facts((0, 2, 3), document="ge-plugins/1"),
    "plugins doctor": Facts(
        (0, 1, 2, 3, 4),
        document="ge-plugins/1",
        failure="something is wrong with a plugin or driver",
    ),
    "new plugin": Facts(
        (0, 2, 3), {"NAME": "the plugin's name, prefix of what it registers"}, "ge-new/1"
    ),
}
"""By the words of the command."""
