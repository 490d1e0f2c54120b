"""R0: copies that somebody reserved."""

from __future__ import annotations

from ge_core.api import Keep
from ge_tensormove.candidate import Candidate


class Reserved:
    """Keeps copies with a mark against deletion, or with any mark about constant folding."""

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        attrs = copy.copy.attrs
        if attrs.get("_cannot_be_deleted"):
            return Keep("R0_CANNOT_BE_DELETED")
        # By presence: false reserves as well.
        if "no_need_constant_folding" in attrs:
            return Keep("R0_NO_CONSTANT_FOLDING")
        return None
