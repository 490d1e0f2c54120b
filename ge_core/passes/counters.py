"""Counters: what a pass counts while it works, declared with the class and reported per run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ge_core.errors import PassError, near_matches

CounterSpec: TypeAlias = "Iterable[str] | Mapping[str, str]"
"""How counters are written down: names, or name -> what is counted."""


def read_counters(spec: CounterSpec) -> dict[str, str]:
    """Counters from the forms that authors write; `TypeError` for others.

    A counter without a text is explained by its own name.
    """
    if isinstance(spec, str):
        raise TypeError(f"counters={spec!r}: a string is not a list; write ({spec!r},)")
    listed = list(spec.items()) if isinstance(spec, Mapping) else [(name, "") for name in spec]
    found: dict[str, str] = {}
    for name, text in listed:
        if not isinstance(name, str) or not name.isidentifier():
            raise TypeError(f"{name!r} is not a counter; counters look like nodes_visited")
        if name in found:
            raise TypeError(f"counter {name!r} is declared twice")
        found[name] = text or name.replace("_", " ")
    return found


class Counters:
    """The counts of one run of a pass, all its graphs together.

    Attributes:
        values: by name, in the order of the declaration; a counter that was never touched is 0.
    """

    def __init__(self, declared: Iterable[str], pass_name: str, owner: str) -> None:
        self.values = dict.fromkeys(declared, 0)
        self._pass = pass_name
        self._owner = owner

    def declare(self, names: Iterable[str]) -> None:
        """Take over what a class declares beyond its lazy registration."""
        for name in names:
            self.values.setdefault(name, 0)

    def add(self, name: str, n: int) -> None:
        """Count.

        Raises:
            PassError: nobody declared the counter, or `n` is no count.
        """
        if name not in self.values:
            cls = self._pass.rpartition(".")[2]
            raise PassError(
                f"pass {self._pass!r} counts {name!r}, which it has not declared",
                near=near_matches(name, self.values),
                owner=self._owner,
                hint=f"declare it: class {cls}(..., counters=({name!r},))",
            )
        if type(n) is not int or n < 0:
            raise PassError(
                f"pass {self._pass!r} counts {name!r} up by {n!r}, which is no count",
                owner=self._owner,
            )
        self.values[name] += n
