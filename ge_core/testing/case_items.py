"""Case files as pytest collects them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ge_core.cases import Case, read_case, run_case
from ge_core.cases.model import Failure
from ge_core.errors import GeError
from ge_core.testing.kernels import installed_kernel


class CaseFailed(Exception):
    """Some expectations of a case don't hold."""

    def __init__(self, case: Case, failures: list[Failure]) -> None:
        super().__init__(f"case {case.id}: {len(failures)} expectations don't hold")
        self.case = case
        self.failures = failures

    def report(self) -> str:
        """What was expected and what came, one after the other."""
        lines = [f"case {self.case.id}: {self.case.path}"]
        if self.case.why:
            lines.append(f"  why: {self.case.why}")
        for failure in self.failures:
            lines += [f"  expected  {failure.expected}", f"  got       {failure.got}"]
        return "\n".join(lines)


class CaseFile(pytest.File):
    """A `*.case.json` file: one case."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its case; a file that is none fails the collection and says why."""
        try:
            case = read_case(self.path)
        except GeError as error:
            raise self.CollectError(str(error)) from None
        if case is None:
            raise self.CollectError(
                f"{self.path}: not a case file: it has no 'graph' and 'expect' (see `ge case`)"
            )
        yield CaseItem.from_parent(self, name=case.id, case=case)


class CaseItem(pytest.Item):
    """One case, run on the kernel with everything installed."""

    def __init__(self, *, case: Case, **about: Any) -> None:
        super().__init__(**about)
        self.case = case

    def runtest(self) -> None:
        """Run it; raises `CaseFailed` with everything that doesn't hold."""
        failures = run_case(self.case, installed_kernel()).failures
        if failures:
            raise CaseFailed(self.case, failures)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Expectations, not a trace of the runner."""
        if isinstance(excinfo.value, CaseFailed):
            return excinfo.value.report()
        if isinstance(excinfo.value, GeError):
            return f"case {self.case.id}: {self.case.path}\n  {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """File and name for the report."""
        return self.path, None, f"case {self.case.id}"
