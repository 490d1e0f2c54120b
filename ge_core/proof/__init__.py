"""The proof: a verifier for compiled graphs and plans of any origin.

It trusts the graph's structure and the op traits, and shares no code with passes or planners.
"""

from ge_core.proof.result import (
    Equivalence,
    ProofResult,
    Rebase,
    Rewrite,
    Violation,
)
from ge_core.proof.verify import WORK_LIMIT, compare_graphs, verify_compile

__all__ = [
    # the proof
    "WORK_LIMIT",
    "compare_graphs",
    "verify_compile",
    # its answer
    "ProofResult",
    "Violation",
    # what callers tell it
    "Equivalence",
    "Rebase",
    "Rewrite",
]
