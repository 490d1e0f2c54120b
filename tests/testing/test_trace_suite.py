"""`trace_rule_conformance`: good rules pass, and each bad one fails in what it breaks."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.errors import UsageError
from ge_core.testing import trace_rule_conformance

FEW: dict[str, Any] = {"op": "Foo", "samples": 6}
_asked = 0


def good(output: Any, trace: Any) -> Any:
    """Go on with the first input that is connected."""
    first = output.node.inputs[0]
    return trace.stop("no input") if first.source is None else trace.through(first)


def raises(output: Any, trace: Any) -> Any:
    """Takes for granted that the first input is connected."""
    return trace.through(output.node.inputs[0].source.node.inputs[0])


def answers_nodes(output: Any, trace: Any) -> Any:
    """Answers where it would go on."""
    return output.node


def circles(output: Any, trace: Any) -> Any:
    """Comes back to its own readers."""
    return trace.through(output.readers[0]) if output.readers else None


def jumps(output: Any, trace: Any) -> Any:
    """Goes on somewhere else."""
    return trace.through(next(n for n in trace.root.nodes if n.inputs).inputs[0])


def counts(output: Any, trace: Any) -> Any:
    """Stops every other time."""
    global _asked
    _asked += 1
    return trace.stop("enough") if _asked % 2 else trace.source()


def edits(output: Any, trace: Any) -> Any:
    """Notes that it was here."""
    node = output.node
    node.graph.set_attr(node, "_seen", int(node.attrs.get("_seen", 0)) + 1)
    return trace.source()


def is_silent(output: Any, trace: Any) -> Any:
    """Leaves every question to others."""
    return


test_a_good_rule_is_fine = trace_rule_conformance(step=good, **FEW)


@pytest.mark.parametrize(
    ("step", "aspects", "words"),
    [
        (raises, {"test_rules_answer_steps"}, "raised "),
        (
            answers_nodes,
            {"test_rules_answer_steps", "test_there_is_something_to_step_over"},
            "trace.stop(...)",
        ),
        (circles, {"test_traces_end", "test_steps_stay_on_the_way_of_the_data"}, "in a circle"),
        (
            jumps,
            {"test_steps_stay_on_the_way_of_the_data", "test_traces_end"},
            "not on the way of the data",
        ),
        (counts, {"test_rules_are_pure"}, "when asked again"),
        (edits, {"test_rules_are_pure"}, "edited random graph"),
        (is_silent, {"test_there_is_something_to_step_over"}, "never answered"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_bad_rule_fails_in_its_aspect(
    step: Any, aspects: set[str], words: str, run_suite: Any
) -> None:
    """The message names the rule and its owner."""
    failed = run_suite(trace_rule_conformance(step=step, **FEW)).failed
    assert set(failed) - {"test_steps_stay_on_the_way_of_the_data"} <= aspects, failed
    assert failed
    assert any(words in text for text in failed.values()), failed
    for text in failed.values():
        assert "code under test" in text


def test_it_wants_something_to_test() -> None:
    """A plugin, or one rule."""
    with pytest.raises(UsageError, match="needs a plugin"):
        trace_rule_conformance(op="Foo")
