"""What all conformance suites are made of: classes that pytest collects under the user's name.

A suite is a class with a test per aspect, made for one subject. `test_x = some_conformance(...)`
binds it to a name that no class usually has; pytest collects it for its `__test__` mark. What the
tests share lives in one subject object, computed when the first of them asks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import pytest

from ge_core.errors import GeError


class Suite:
    """Base of the suites; each derives its aspects as `test_...` methods."""

    __test__: ClassVar[bool] = False


def make_suite(base: type[Suite], name: str, subject: object) -> type[Any]:
    """The suite of one subject, ready to be bound to a `test_...` name."""
    words = "".join(part if part.isidentifier() else "_" for part in name)
    return type(
        f"{base.__name__}_{words}",
        (base,),
        {"__test__": True, "__doc__": base.__doc__, "subject": subject},
    )


def fail(*lines: str) -> NoReturn:
    """Fail the running test with these lines, and no trace of the suite's own code."""
    __tracebackhide__ = True
    pytest.fail("\n".join(lines), pytrace=False)


def skip(reason: str) -> NoReturn:
    """Leave the running test out; the reason shows in the report."""
    __tracebackhide__ = True
    pytest.skip(reason)


def plainly(test: Callable[..., None]) -> Callable[..., None]:
    """A test in which the kit's own complaints (an unknown pass, say) read as plain failures."""

    @functools.wraps(test)
    def run(self: Any, *args: Any, **keywords: Any) -> None:
        __tracebackhide__ = True
        try:
            test(self, *args, **keywords)
            return
        except GeError as error:
            said = str(error)
        # Outside of the handler, so that the report shows the words and no chain of errors.
        fail(said)

    return run


def indented(text: str, by: str = "    ") -> str:
    """A text as a block inside a message."""
    return "\n".join(by + line for line in text.rstrip().splitlines())
