"""Examples of rules: each gets the remark that it shows, and what its hint says is true."""

from __future__ import annotations

import pytest

from ge_core.api import InputKind, OutputKind
from ge_core.session.kernel import default_kernel
from ge_core.testing.rule_examples import failures_of, hint_failures, remark_of
from scripts.registry_pages import registries
from scripts.rule_examples import MATRIX, TRACES, all_examples, examples, named_examples
from scripts.rules_page import UNTOLD, declared

EXAMPLES = examples()
EVERY = all_examples()
HINTED = [key for key, example in EXAMPLES.items() if remark_of(example)[1]["hint"]]


@pytest.mark.parametrize("key", EXAMPLES, ids="/".join)
def test_an_example_gets_its_remark(key: tuple[str, str]) -> None:
    """From its pass, with its code, blaming two nodes where there are two."""
    example = EXAMPLES[key]
    name, code = key
    assert (example.id, example.pipeline[-1], remark_of(example)[1]["code"]) == (code, name, code)
    assert [] == failures_of(example, default_kernel())


@pytest.mark.parametrize("key", HINTED, ids="/".join)
def test_what_a_hint_says_frees_the_copy(key: tuple[str, str]) -> None:
    """Where it is a change that can be made; a sentence is the reader's to understand."""
    assert hint_failures(EXAMPLES[key], default_kernel()) in (None, [])


@pytest.mark.parametrize("key", EVERY, ids="/".join)
def test_an_example_says_what_it_protects_and_what_ge_does(key: tuple[str, str]) -> None:
    """In a sentence each."""
    example = EVERY[key]
    assert example.why.endswith(".")
    assert str(example.extra.get("ge", "")).endswith(".")


@pytest.mark.parametrize("key", sorted(set(EVERY) - set(EXAMPLES)), ids="/".join)
def test_examples_of_traces_and_of_the_matrix_hold(key: tuple[str, str]) -> None:
    """They are named after what they show."""
    example = EVERY[key]
    assert (key[1], []) == (example.id, failures_of(example, default_kernel()))


def test_every_trace_rule_has_an_example() -> None:
    """By its name or, where it has none, its op."""
    rules = {rule.name or rule.op for rule in registries().trace_rules}
    assert rules == set(named_examples(TRACES))


def test_every_copy_that_the_matrix_wants_has_an_example() -> None:
    """What is fine gets no copy; what can't be told is wrong whoever reads it."""
    checker = registries().checkers.make_read_write()
    wanted = {
        f"{made.value}-{read.value}"
        for made in OutputKind
        for read in InputKind
        if checker.verdict(made, read).value == "identity"
    }
    assert wanted == set(named_examples(MATRIX))


def test_every_reason_has_an_example() -> None:
    """Of the passes about copies; those without one say why."""
    reasons = {(d.name, code.name) for d in declared() for code in d.codes}
    assert set() == reasons - set(EXAMPLES) - set(UNTOLD)
    assert set() == set(EXAMPLES) & set(UNTOLD)
    assert set() == set(UNTOLD) - reasons
    assert set() == set(EXAMPLES) - reasons
