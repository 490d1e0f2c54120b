"""`python -m benchmarks [NAME...]`: run the named measurements, all by default."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = ("scale", "models", "plugins", "moves", "decoder", "joins", "concat")


def main(names: list[str]) -> None:
    """Run measurements one after the other."""
    for name in names or NAMES:
        if name not in NAMES:
            sys.exit(f"no benchmark {name!r}; there are: {', '.join(NAMES)}")
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
