"""The frozen packages and files are what they were."""

from __future__ import annotations

import hashlib

from .conftest import HERE

FROZEN = ("vendor_acme_v1", "files", "project")


def test_nothing_was_edited() -> None:
    """Every file has its checksum, none was added, none is missing.

    They stand for what others have, who won't edit theirs when we change the kernel. A change here
    would hide a broken promise: change the kernel instead, or retire what you remove by the rules
    of docs/stability.md. Further examples belong into folders of their own.
    """
    listed = dict(
        reversed(line.split("  ", 1)) for line in (HERE / "frozen.txt").read_text().splitlines()
    )
    found = {
        path.relative_to(HERE).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in FROZEN
        for path in sorted((HERE / folder).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert listed == found
