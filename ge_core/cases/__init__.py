"""Case files: read them, run them, judge them."""

from ge_core.cases.model import Case, CaseResult, Failure, find_cases, read_case
from ge_core.cases.outcome import Outcome
from ge_core.cases.registry_case import RegistryCase
from ge_core.cases.runner import run_case

__all__ = [
    "Case",
    "CaseResult",
    "Failure",
    "Outcome",
    "RegistryCase",
    "find_cases",
    "read_case",
    "run_case",
]
