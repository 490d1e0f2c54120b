r"""Checks in the manner of LLVM's FileCheck: what a printed graph must and must not contain.

    check_text(print_graph(graph), '''
        CHECK: start = Relu(x:0)
        CHECK-NOT: TensorMove
        CHECK-NEXT: end = Exp([[ANY:\w+]]:0)
        CHECK: NetOutput([[ANY]]:0)
    ''')

Lines that begin with no directive are comments. Runs of blanks count as one. `{{...}}` is a regular
expression, `[[NAME:...]]` one whose match is remembered, `[[NAME]]` what was remembered.

    CHECK       somewhere after the last match, in a later line
    CHECK-NEXT  in the line right after it
    CHECK-SAME  later in the line of it
    CHECK-NOT   nowhere between the matches around it
    CHECK-DAG   somewhere after the last CHECK; several in any order
    CHECK-COUNT-n  n times, one line after the other
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_DIRECTIVE = re.compile(
    r"^\s*CHECK(?P<kind>-NEXT|-SAME|-NOT|-DAG|-COUNT-(?P<n>\d+))?:\s?(?P<text>.*)$"
)
_LIKE = re.compile(r"^\s*CHECK[-\w]*:")
_PART = re.compile(r"\{\{(?P<regex>.+?)\}\}|\[\[(?P<name>\w+)(?::(?P<made>.+?))?\]\]")


class CheckError(AssertionError):
    """A check that doesn't hold, with the lines where it should have."""


@dataclass(frozen=True)
class _Check:
    kind: str
    text: str
    line: int
    count: int = 1

    def __str__(self) -> str:
        return f"CHECK{self.kind}: {self.text} (check in line {self.line})"


def check_text(text: str, checks: str) -> dict[str, str]:
    """Hold a text against checks; what was remembered by name.

    Raises:
        CheckError: a check doesn't hold: says which, and shows the lines around the last match.
        ValueError: a check can't be read, or there is none.
    """
    found = _parsed(checks)
    return _Matching(text).run(found)


def _parsed(checks: str) -> list[_Check]:
    found = []
    for number, line in enumerate(checks.splitlines(), 1):
        match = _DIRECTIVE.match(line)
        if match is None:
            if _LIKE.match(line):
                raise ValueError(f"line {number}: {line.strip()!r} is no check that there is")
            continue
        kind, count = match["kind"] or "", int(match["n"] or 1)
        if not match["text"].strip():
            raise ValueError(f"line {number}: a check without a text")
        found.append(_Check(kind.rstrip("0123456789"), match["text"].strip(), number, count))
    if not found:
        raise ValueError("there is no check: lines begin with 'CHECK:'")
    if found[0].kind in ("-NEXT", "-SAME"):
        raise ValueError(f"line {found[0].line}: CHECK{found[0].kind} follows no match")
    return found


class _Matching:
    """One text, and how far it has been matched."""

    def __init__(self, text: str) -> None:
        self.lines = [" ".join(line.split()) for line in text.splitlines()]
        self.line, self.column = -1, 0
        self.names: dict[str, str] = {}
        self.unwanted: list[tuple[_Check, int, int]] = []
        self.group = -1
        """The line of the last match that is no DAG."""
        self.reached = -1
        """The furthest line that DAG checks have matched since."""

    def run(self, checks: list[_Check]) -> dict[str, str]:
        for check in checks:
            if check.kind == "-NOT":
                self.unwanted.append((check, self.line, self.column))
            elif check.kind == "-DAG":
                self._dag(check)
            else:
                self._leave_group()
                self._match(check)
        self._leave_group()
        self._refuse(len(self.lines), 0)
        return self.names

    def _match(self, check: _Check) -> None:
        for turn in range(check.count):
            at, match = self._find(check, first=turn == 0)
            self._refuse(at, match.start())
            self._remember(match)
            self.line, self.column = at, match.end()
        self.group = self.reached = self.line

    def _find(self, check: _Check, *, first: bool) -> tuple[int, re.Match[str]]:
        pattern = self._pattern(check)
        if check.kind == "-SAME":
            match = pattern.search(self.lines[self.line], self.column)
            where = [(self.line, match)] if match else []
        elif check.kind == "-NEXT":
            where = self._in(pattern, self.line + 1, self.line + 2)
        else:
            where = self._in(pattern, self.line + 1, len(self.lines))
        if not where:
            later = " again" if not first else ""
            raise CheckError(f"{check} is not found{later}\n{self._around()}")
        return where[0]

    def _dag(self, check: _Check) -> None:
        where = self._in(self._pattern(check), self.group + 1, len(self.lines))
        if not where:
            raise CheckError(f"{check} is not found\n{self._around()}")
        at, match = where[0]
        self._remember(match)
        self.reached = max(self.reached, at)

    def _leave_group(self) -> None:
        if self.reached > self.line:
            self.line, self.column = self.reached, len(self.lines[self.reached])
            self.group = self.reached

    def _in(self, pattern: re.Pattern[str], low: int, high: int) -> list[tuple[int, re.Match[str]]]:
        for at in range(low, min(high, len(self.lines))):
            match = pattern.search(self.lines[at])
            if match:
                return [(at, match)]
        return []

    def _refuse(self, end: int, column: int) -> None:
        """Look for what must not stand between the last match and this place."""
        for check, first, from_column in self.unwanted:
            pattern = self._pattern(check)
            for at in range(max(first, 0), min(end + 1, len(self.lines))):
                low = from_column if at == first else 0
                high = column if at == end else len(self.lines[at])
                if pattern.search(self.lines[at], low, high):
                    raise CheckError(f"{check} is found in line {at + 1}: {self.lines[at]}")
        self.unwanted.clear()

    def _pattern(self, check: _Check) -> re.Pattern[str]:
        made, at, text = "", 0, " ".join(check.text.split())
        names: set[str] = set()
        for part in _PART.finditer(text):
            made += re.escape(text[at : part.start()])
            at = part.end()
            name = part["name"]
            if part["regex"]:
                made += f"(?:{part['regex']})"
            elif part["made"]:
                made += f"(?P<{name}>{part['made']})"
                names.add(name)
            elif name in names:
                made += f"(?P={name})"
            elif name in self.names:
                made += re.escape(self.names[name])
            else:
                raise ValueError(f"line {check.line}: nothing is called {name!r} yet")
        return re.compile(made + re.escape(text[at:]))

    def _remember(self, match: re.Match[str]) -> None:
        self.names.update(match.groupdict())

    def _around(self, before: int = 2, after: int = 12) -> str:
        low, high = max(0, self.line - before), self.line + 1 + after
        shown = [
            f"{'>' if at == self.line else ' '} {at + 1:4} {line}"
            for at, line in enumerate(self.lines[low:high], low)
        ]
        more = ["  ..."] if high < len(self.lines) else []
        return "\n".join(shown + more) or "  (the text is empty)"
