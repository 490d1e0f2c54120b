"""Runs the fenced blocks of the documentation, and refreshes the outputs that they show.

    python -m scripts.doc_snippets            # say which blocks are not true any more
    python -m scripts.doc_snippets --write    # put in what really comes out

The blocks of one document run in order, in one temporary folder that holds `model.onnx` (the first
model of the demo) and `examples/`:

* `python`: is executed; the blocks of a document share one namespace. A `text` block marked
  `output` right behind it is what it prints.
* `console`: lines that begin with `$ ` are commands, the others are what they print. A command
  that ends with `# exit code N` must end so; others end with 0.
* any block with `title="NAME"`: becomes the file NAME.

In expected outputs `...` stands for anything, on a line of its own for any number of lines. Blocks
in other languages, `sh` among them, are only read.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
DOCUMENTS: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
PROJECT: Final = "/home/you/project"
"""What stands in outputs for the folder that the snippets run in."""

FENCE: Final = re.compile(r"^```(\w+)[ \t]*([^\n]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
TITLE: Final = re.compile(r'title="([^"]+)"')
EXIT: Final = re.compile(r"\s+# exit code (\d+)$")
ANYTHING: Final = "..."


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, what stands behind that, its text and where it is."""

    language: str
    info: str
    text: str
    line: int
    span: tuple[int, int]

    @property
    def lines(self) -> range:
        """The lines that it takes, its fences among them."""
        return range(self.line, self.line + self.text.count("\n") + 2)

    @property
    def title(self) -> str | None:
        """The file that it becomes."""
        found = TITLE.search(self.info)
        return None if found is None else found.group(1)

    @property
    def is_output(self) -> bool:
        """Whether it shows what the block before it prints."""
        return self.language == "text" and self.info.strip() == "output"


@dataclass
class Problem:
    """A block that is not true: what it shows, and what comes out."""

    line: int
    what: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}\nexpected:\n{self.expected}\ngot:\n{self.got}"


@dataclass
class Run:
    """What came of a document: its problems, and its text with true outputs."""

    problems: list[Problem] = field(default_factory=list)
    text: str = ""


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document."""
    return [
        Block(m[1], m[2], m[3], text.count("\n", 0, m.start()) + 1, m.span(3))
        for m in FENCE.finditer(text)
    ]


def run_document(path: Path, folder: Path) -> Run:
    """Run a document's blocks in an empty folder."""
    text = path.read_text(encoding="utf-8")
    run = Run()
    pieces: list[str] = []
    at = 0
    with _inside(folder):
        runner = _Runner(path, folder, run.problems)
        for block in blocks(text):
            pieces += [text[at : block.span[0]], runner.run(block)]
            at = block.span[1]
    run.text = "".join([*pieces, text[at:]])
    return run


class _Runner:
    def __init__(self, path: Path, folder: Path, problems: list[Problem]) -> None:
        self.path = path
        self.folder = folder
        self.problems = problems
        self.namespace: dict[str, Any] = {"__name__": "snippet"}
        self.printed = ""

    def run(self, block: Block) -> str:
        """Run one block; its text with true outputs."""
        if block.title is not None:
            target = self.folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
            _forget_modules(self.folder)  # what was imported may be what was just replaced
        elif block.language == "python":
            self.printed = self._python(block)
        elif block.is_output:
            return self._compare(block.line, "output of the block above", block.text, self.printed)
        elif block.language == "console":
            return "".join(self._console(block))
        return block.text

    def _python(self, block: Block) -> str:
        # The file's name and the blank lines make tracebacks point into the document.
        code = compile("\n" * block.line + block.text, str(self.path), "exec")
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            exec(code, self.namespace)  # noqa: S102  (the documentation's own code)
        return self._clean(stream.getvalue())

    def _console(self, block: Block) -> Iterator[str]:
        for line, command, expected in commands_of(block):
            plain = EXIT.sub("", command)
            wanted = EXIT.search(command)
            code, printed = self._command(shlex.split(plain, comments=True))
            yield f"$ {command}\n"
            if code != (0 if wanted is None else int(wanted[1])):
                self.problems.append(Problem(line, f"$ {plain}", command, f"exit code {code}"))
            yield self._compare(line, f"$ {plain}", expected, self._clean(printed))

    def _command(self, words: list[str]) -> tuple[int, str]:
        if words[0] == "ge":
            return _ge(words[1:])
        if words == ["make", "demo"]:
            return _demo()
        if words[0] == "cat":
            return 0, "".join((self.folder / name).read_text() for name in words[1:])
        if words[0] == "python":
            words[0] = sys.executable
        done = subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        return done.returncode, done.stdout

    def _clean(self, printed: str) -> str:
        lines = printed.replace(str(self.folder), PROJECT).splitlines()
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def _compare(self, line: int, what: str, expected: str, got: str) -> str:
        """The expected text where it is true, else the true one."""
        if _pattern(expected).fullmatch(got):
            return expected
        self.problems.append(Problem(line, what, expected, got))
        return _shortened(expected, got)


def commands_of(block: Block) -> Iterator[tuple[int, str, str]]:
    """(line, command, expected output) of a console block."""
    command, started, output = "", 0, ""
    for at, line in enumerate(block.text.splitlines(keepends=True), start=block.line + 1):
        if line.startswith("$ "):
            if command:
                yield started, command, output
            command, started, output = line.removeprefix("$ ").rstrip("\n"), at, ""
        else:
            output += line
    if command:
        yield started, command, output


def _pattern(expected: str) -> re.Pattern[str]:
    lines = []
    for line in expected.splitlines():
        if line.strip() == ANYTHING:
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*".join(re.escape(part) for part in line.split(ANYTHING)) + r"\n")
    return re.compile("".join(lines))


def _shortened(expected: str, got: str) -> str:
    """A true output, masked where the expected one was, and cut where that was cut."""
    shown = expected.splitlines()
    masks = [line for line in shown if ANYTHING in line and line.strip() != ANYTHING]
    cuts = [at for at, line in enumerate(shown) if line.strip() == ANYTHING]
    lines = [_masked(line, masks) for line in got.splitlines()]
    if len(cuts) == 1:
        head, tail = cuts[0], len(shown) - cuts[0] - 1
        if head + tail < len(lines):
            lines = [*lines[:head], shown[cuts[0]], *lines[len(lines) - tail :]]
    return "".join(f"{line}\n" for line in lines)


def _masked(line: str, masks: list[str]) -> str:
    return next((mask for mask in masks if _pattern(mask).fullmatch(line + "\n")), line)


# ---- commands ------------------------------------------------------------------------------------


def _ge(arguments: list[str]) -> tuple[int, str]:
    """`ge`, in this process: starting another one for each command takes longer than they do."""
    from ge_core.cli.main import main
    from ge_core.session.kernel import forget_kernels

    # A new process would read the folder's configuration anew.
    forget_kernels()
    return _captured(lambda: main(arguments))


def _demo() -> tuple[int, str]:
    """What `make demo` prints, of its first model only."""
    import json

    demo = runpy.run_path(str(ROOT / "examples" / "demo.py"))
    entry = json.loads((ROOT / "examples" / "models" / "index.json").read_text())[0]
    return _captured(lambda: None if demo["show"](entry) else sys.exit(1))


def _captured(action: Any) -> tuple[int, str]:
    import structlog

    stream = io.StringIO()
    code = 0
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            action()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        structlog.reset_defaults()
    return code, stream.getvalue()


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work in a folder that holds the model and the examples; leave nothing behind."""
    from ge_core.session.kernel import forget_kernels

    models = ROOT / "examples" / "models"
    (folder / "model.onnx").write_bytes((models / "gen_densenet_s.dynamo.onnx").read_bytes())
    (folder / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    before, width, path = Path.cwd(), os.environ.get("COLUMNS"), list(sys.path)
    os.environ["COLUMNS"] = "80"
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.pop("COLUMNS", None)
        if width is not None:
            os.environ["COLUMNS"] = width
        sys.path[:] = path
        _forget_modules(folder)
        forget_kernels()


def _forget_modules(folder: Path) -> None:
    """Have modules of a folder imported anew."""
    for name in sorted(sys.modules):
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(folder)):
            del sys.modules[name]
    importlib.invalidate_caches()


def main(arguments: list[str]) -> int:
    """Run all documents, or those named; 1 where one is not true and nothing was written."""
    write = "--write" in arguments
    named = [Path(name).resolve() for name in arguments if name != "--write"]
    wrong = 0
    for path in named or DOCUMENTS:
        with tempfile.TemporaryDirectory() as folder:
            run = run_document(path, Path(folder).resolve())
        for problem in run.problems:
            print(f"{path.relative_to(ROOT)}, {problem}\n")
        wrong += len(run.problems)
        if write and run.text != path.read_text(encoding="utf-8"):
            path.write_text(run.text, encoding="utf-8")
    return 1 if wrong and not write else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
