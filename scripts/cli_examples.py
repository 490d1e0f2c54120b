"""What the reference of commands says and shows of each, besides its declaration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Example:
    """Words about a command, files that its examples need, and the commands to show.

    Attributes:
        about: Markdown, before the examples.
        shown: console commands; what they print is filled in by `make docs`.
        files: name and text of files that are written first.
        cut: lines at the beginning and at the end that are shown of long outputs; 0, 0: all.
    """

    shown: tuple[str, ...]
    about: str = ""
    files: tuple[tuple[str, str], ...] = ()
    cut: tuple[int, int] = (0, 0)


TINY: Final = """\
{
  "schema": "ge-graph/1",
  "name": "tiny",
  "nodes": [
    {"name": "x", "op": "Data", "attrs": {"index": 0}, "outputs": [{"shape": [1, 16]}]},
    {"name": "act", "op": "Relu", "inputs": ["x:0"], "outputs": [{"shape": [1, 16]}]},
    {"name": "move", "op": "TensorMove", "inputs": ["act:0"], "outputs": [{"shape": [1, 16]}]},
    {"name": "exp", "op": "Exp", "inputs": ["move:0"], "outputs": [{"shape": [1, 16]}]},
    {"name": "out", "op": "NetOutput", "inputs": ["exp:0"]}
  ]
}
"""

CASE: Final = """\
{
  "id": "reader-behind-move",
  "pipeline": ["TensorMoveDeletePass"],
  "graph": {
    "nodes": [
      {"name": "x", "op": "Data", "attrs": {"index": 0}, "outputs": [{}]},
      {"name": "act", "op": "Relu", "inputs": ["x:0"], "outputs": [{}]},
      {"name": "move", "op": "TensorMove", "inputs": ["act:0"], "outputs": [{}]},
      {"name": "out", "op": "NetOutput", "inputs": ["move:0"]}
    ]
  },
  "expect": {"removed": ["move"], "edges": [["act:0", "out:0"]]}
}
"""

EXAMPLES: Final[dict[str, Example]] = {
    "compile": Example(
        ("ge compile tiny.json --format json",),
        "Nothing is written where the proof fails. Of the JSON document only `seconds` and the "
        "passes' own differ between runs.",
    ),
    "run": Example(
        ("ge run tiny.json --check --format json",),
        "Ops that only [a stand-in](ops.md#what-ge-run-computes) computes are named.",
    ),
    "verify": Example(
        (
            "ge compile tiny.json -o compiled.json --plan plan.json",
            "ge verify tiny.json compiled.json plan.json --format json",
        ),
        "[The proof](proof.md) alone, for plans of any origin.",
    ),
    "explain": Example(
        ("ge explain tiny.json --format json",),
        "The last word on every copy, or all that was said of one. It runs no proof. The records "
        "are [remarks](json-forms.md#remarks).",
    ),
    "case": Example(
        ("ge case a-case.json", "ge case a-case.json --format json"),
        "[Case files](case-files.md) says what they can hold and expect.",
        (("a-case.json", CASE),),
    ),
    "convert": Example(("ge convert model.onnx model.json",)),
    "passes": Example(("ge passes",)),
    "passes show": Example(("ge passes show ConcatNotaskPass --format json",), cut=(36, 10)),
    "passes why": Example(
        ("ge passes why TensorMoveDeletePass --disable TensorMoveDeletePass --format json",),
        "Every decision that led there, the strongest first.",
    ),
    "passes claims": Example(
        ("ge passes claims",),
        "What [passes may rely on](pass-authors.md#claims), and who establishes it.",
    ),
    "pipelines": Example(
        ("ge pipelines", "ge pipelines --format json"),
        "What can be given as a level or a pipeline; [pipelines](pipelines.md) says how they are "
        "made. A name that several packages claim is `contested`, and nobody's.",
        cut=(16, 2),
    ),
    "pipeline show": Example(
        ("ge pipeline show O3", "ge pipeline show O3 --text"),
        "What runs, in order, whose it is and why; `--text` prints what `--pipeline` takes.",
    ),
    "pipeline diff": Example(
        ("ge pipeline diff O3 O4", "ge pipeline diff O3 O1 --format json"),
        "`+` is only in the second, `-` only in the first, `~` in both and elsewhere or otherwise.",
        cut=(16, 2),
    ),
    "options": Example(
        ("ge options --entry-point atc", "ge options --category memory --format json"),
        "`--entry-point` lists what GE's session, IR build or ATC show, or what ours do: `python` "
        "what either of the first two shows, `command` what ATC does.",
        cut=(45, 2),
    ),
    "options show": Example(
        ("ge options show ge.topoSortingMode", "ge options show TensorMoveDeletePass"),
        "The value in force is that of the project and the environment.",
    ),
    "checkers": Example(("ge checkers --format json",), cut=(17, 2)),
    "assigners": Example(("ge assigners", "ge assigners --format json")),
    "targets": Example(("ge targets --format json",)),
    "plugins": Example(
        ("ge plugins --format json",),
        "`indexed`, `incompatible` (another API), `disabled`, or `duplicate` (a contested name).",
        cut=(11, 2),
    ),
    "plugins doctor": Example(
        ("ge plugins doctor",),
        "`loaded` or `failed`, with the traceback; drivers are loaded too. It also names packages "
        "whose project has changed since they were installed, an entry point for example: Python "
        "reads what was installed, so nothing of that is seen before they are installed again.",
    ),
    "new plugin": Example(
        (
            "ge new plugin acme --with pass,checker",
            "ge new plugin acme --with all --out everything --format json",
        ),
        "[A new plugin](new-plugin.md) says what is in it, and what comes next.",
    ),
}
"""By the words of the command."""
