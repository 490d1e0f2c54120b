"""The kit for plugin authors: conformance suites, random graphs, and what else tests need.

    from ge_core.testing import pass_conformance

    test_drop_no_op_cast = pass_conformance(DropNoOpCast)

The names below are imported when they are first used: a pytest plugin lives in this package, and
must cost a run that uses nothing of it nothing. What is imported then may need pytest, hypothesis
or an installed executor.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ge_core.testing import strategies
    from ge_core.testing.assigner_suite import assigner_conformance
    from ge_core.testing.checker_suite import checker_conformance
    from ge_core.testing.choices import Choices, DrawnChoices, SeededChoices
    from ge_core.testing.compare import assert_equivalent, equivalent
    from ge_core.testing.disjoint import disjoint_plan
    from ge_core.testing.matcher import CheckError, check_text
    from ge_core.testing.odd_graphs import ODD_GRAPHS, odd_graph
    from ge_core.testing.pass_suite import pass_conformance
    from ge_core.testing.pipeline_suite import pipeline_conformance, target_conformance
    from ge_core.testing.random_graphs import RARE, GraphKnobs, OpRecipe, random_graph
    from ge_core.testing.random_problems import ProblemKnobs, random_problem
    from ge_core.testing.reduce import reduce_graph
    from ge_core.testing.trace_suite import trace_rule_conformance
    from ge_core.testing.traits_suite import OpSample, op_traits_conformance

__all__ = [
    # conformance suites, one line each
    "assigner_conformance",
    "checker_conformance",
    "op_traits_conformance",
    "pass_conformance",
    "pipeline_conformance",
    "target_conformance",
    "trace_rule_conformance",
    "OpSample",
    # graphs and memory problems
    "Choices",
    "DrawnChoices",
    "GraphKnobs",
    "ODD_GRAPHS",
    "OpRecipe",
    "ProblemKnobs",
    "RARE",
    "SeededChoices",
    "odd_graph",
    "random_graph",
    "random_problem",
    "reduce_graph",
    "strategies",
    # judging
    "CheckError",
    "assert_equivalent",
    "check_text",
    "disjoint_plan",
    "equivalent",
]

_HOMES = {
    "assigner_suite": ("assigner_conformance",),
    "checker_suite": ("checker_conformance",),
    "choices": ("Choices", "DrawnChoices", "SeededChoices"),
    "compare": ("assert_equivalent", "equivalent"),
    "disjoint": ("disjoint_plan",),
    "matcher": ("CheckError", "check_text"),
    "odd_graphs": ("ODD_GRAPHS", "odd_graph"),
    "pass_suite": ("pass_conformance",),
    "pipeline_suite": ("pipeline_conformance", "target_conformance"),
    "random_graphs": ("RARE", "GraphKnobs", "OpRecipe", "random_graph"),
    "random_problems": ("ProblemKnobs", "random_problem"),
    "reduce": ("reduce_graph",),
    "trace_suite": ("trace_rule_conformance",),
    "traits_suite": ("OpSample", "op_traits_conformance"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def _get(name: str) -> Any:
    if name == "strategies":
        return import_module("ge_core.testing.strategies")
    home = _HOME.get(name)
    if home is None:
        from ge_core.deprecation import old_names

        return old_names(__name__, stacklevel=3)(name)
    return getattr(import_module(f"ge_core.testing.{home}"), name)


if not TYPE_CHECKING:
    # Type checkers would take every name for one that exists.
    __getattr__ = _get


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
