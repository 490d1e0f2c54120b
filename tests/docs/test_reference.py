"""Everything that is declared says what it is: pages are made from declarations."""

from __future__ import annotations

import ast
import inspect

import click
import pytest

from ge_core import errors
from ge_core.cases.graph_checks import GRAPH_CHECKS
from ge_core.cases.plan_checks import PLAN_CHECKS
from ge_core.cases.registry_checks import ERROR_CHECKS, SCHEDULE_CHECKS
from ge_core.cli.documents import PRINTED
from ge_core.cli.reference import EXIT_CODES, FACTS
from ge_core.errors import GeError
from ge_core.passes.pass_options import describe_options
from ge_core.plugin import drivers, specs
from scripts.cli_examples import EXAMPLES
from scripts.cli_page import declared
from scripts.registry_pages import registries

COMMANDS = dict(declared())


def test_every_command_has_facts_and_an_example() -> None:
    """In `ge_core/cli/reference.py` and `scripts/cli_examples.py`; and no more than that."""
    assert COMMANDS.keys() == FACTS.keys()
    assert COMMANDS.keys() == EXAMPLES.keys()


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_says_what_it_and_its_parts_are(words: str) -> None:
    """The command, each flag and each argument."""
    command = COMMANDS[words]
    silent = [] if command.help else [words]
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.help:
            silent.append(parameter.opts[0])
        if isinstance(parameter, click.Argument):
            name = (parameter.metavar or str(parameter.name)).upper()
            silent += [] if FACTS[words].arguments.get(name) else [name]
    assert [] == silent


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_with_a_json_form_names_its_document(words: str) -> None:
    """And only such a command does."""
    prints_json = any(p.name == "form" for p in COMMANDS[words].params)
    assert prints_json == (FACTS[words].document in PRINTED)


def test_exit_codes_are_those_of_errors() -> None:
    """Each code that an error ends with is explained; each command's are known ones."""
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, GeError)]
    assert set() == {c.exit_code for c in classes} - EXIT_CODES.keys()
    assert set() == {code for facts in FACTS.values() for code in facts.exits} - EXIT_CODES.keys()


def test_every_registered_thing_has_a_summary() -> None:
    """Passes, their options and codes, options, anchor types, assigners, targets."""
    found = registries()
    silent = [d.name for d in found.passes if not d.summary]
    silent += [
        f"{d.name}.{o.name}" for d in found.passes for o in describe_options(d) if not o.help
    ]
    silent += [code.name for code in found.codes().all() if not code.text]
    silent += [option.name for option in found.options if not option.help]
    silent += [kind.name for kind in found.anchor_types if not kind.about]
    silent += [e.name for e in found.assigners.entries() if not e.about.get("about")]
    silent += [e.name for e in found.targets.entries() if not e.value.about]
    assert [] == silent


def test_every_expectation_of_case_files_is_explained() -> None:
    """In the docstring of its check."""
    checks = {**GRAPH_CHECKS, **PLAN_CHECKS, **SCHEDULE_CHECKS, **ERROR_CHECKS}
    assert [] == [name for name, check in checks.items() if not check.__doc__]


def test_every_error_says_what_it_means() -> None:
    """In its docstring."""
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, GeError)]
    assert [] == [c.__name__ for c in classes if not c.__doc__]


def test_every_hook_and_driver_method_is_described() -> None:
    """In its docstring."""
    tree = ast.parse(inspect.getsource(specs))
    hooks = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    tree = ast.parse(inspect.getsource(drivers))
    protocols = [n for n in tree.body if isinstance(n, ast.ClassDef) and "Protocol" in ast.dump(n)]
    methods = [m for p in protocols for m in p.body if isinstance(m, ast.FunctionDef)]
    assert hooks
    assert methods
    assert [] == [n.name for n in (*hooks, *protocols, *methods) if not ast.get_docstring(n)]
