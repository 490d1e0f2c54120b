"""What a new package shows is what the kernel declares: names, hooks, arguments, stages, levels."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

from ge_core.errors import GeError
from ge_core.passes import Level, Stage
from ge_core.plugin import specs
from ge_core.scaffold import KINDS, Names, package_files
from ge_core.scaffold.declarations import further, hook_arguments, hook_source, registration
from ge_core.scaffold.registering import ABOUT

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ("ge_core", "ge_core.api", "ge_core.testing")
NAMES = Names.of("acme")


def trees(kinds: tuple[str, ...] = KINDS) -> Iterator[tuple[str, ast.Module]]:
    """Every module of a package."""
    for name, text in package_files(NAMES, kinds).items():
        if name.endswith(".py"):
            yield name, ast.parse(text)


def test_only_public_names_are_used() -> None:
    """Each is in the `__all__` of one of the three public modules, and is really there."""
    used = {
        (node.module, alias.name)
        for _, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ge_core"
        for alias in node.names
    }
    assert used
    private = sorted(
        f"{module}.{name}"
        for module, name in used
        if module not in PUBLIC
        or name not in import_module(module).__all__
        or not hasattr(import_module(module), name)
    )
    assert private == []


def test_the_kernel_is_imported_by_no_other_way() -> None:
    """`import ge_core as ge` is the only plain import."""
    plain = {
        alias.name
        for _, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.split(".")[0] == "ge_core"
    }
    assert plain == {"ge_core"}


@pytest.mark.parametrize("kind", KINDS)
def test_hooks_have_the_arguments_of_the_specs(kind: str) -> None:
    """Names and types, in their order."""
    tree = dict(trees((kind,)))["src/acme_ge/__init__.py"]
    shown = {
        node.name: {
            arg.arg: None if arg.annotation is None else ast.unparse(arg.annotation)
            for arg in node.args.args
        }
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
    assert shown
    declared = {
        hook: {
            one.name: one.annotation
            for one in inspect.signature(getattr(specs, hook)).parameters.values()
        }
        for hook in shown
    }
    assert shown == declared


def test_stages_and_levels_exist() -> None:
    """Every `Stage.X` and `Level.X` of the registrations."""
    tree = dict(trees())["src/acme_ge/__init__.py"]
    found = {
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("Stage", "Level")
    }
    enums = {"Stage": Stage.__members__, "Level": Level.__members__}
    assert found
    assert [name for enum, name in sorted(found) if name not in enums[enum]] == []


def test_a_hook_that_is_gone_is_an_error() -> None:
    """And not a template that shows what can't be loaded."""
    with pytest.raises(GeError, match="no hook 'ge_register_passses'"):
        hook_source("ge_register_passses", "About.", [])


@pytest.mark.parametrize(
    ("values", "named", "words"),
    [
        (("X",), {"levels": "ALWAYS"}, "missing a required argument: 'stage'"),
        (("X",), {"levels": "ALWAYS", "stage": "S", "level": "L"}, "unexpected keyword argument"),
        (("X", "Y"), {"levels": "ALWAYS", "stage": "S"}, "too many positional arguments"),
    ],
)
def test_so_is_a_call_that_a_registry_would_refuse(
    values: tuple[str, ...], named: dict[str, str], words: str
) -> None:
    """The shown call is bound to the method's signature."""
    with pytest.raises(GeError, match=words):
        registration("ge_register_passes", "add", *values, **named)


def test_so_is_a_method_that_a_registry_has_not() -> None:
    """By the registry that the hook is given."""
    with pytest.raises(GeError, match="no method 'declare'"):
        registration("ge_register_targets", "declare", "NPU")


def test_further_arguments_are_the_rest_of_the_signature() -> None:
    """A comment names every one that isn't shown, so authors see what else there is."""
    assert further("ge_register_memory_assigners", "add") == "# Further arguments: about."
    with pytest.raises(GeError, match="takes no argument 'levels'"):
        further("ge_register_memory_assigners", "add", "levels")


def test_a_change_of_a_declaration_reaches_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new argument of a hook is in what is written, without a template's being touched."""

    def ge_after_pass(ctx: object, changed: bool, seconds: float, nodes: int) -> None: ...

    monkeypatch.setattr(specs, "ge_after_pass", specs.hookspec(ge_after_pass))
    assert "nodes" in hook_arguments("ge_after_pass")
    assert (
        "watching.after_pass(ctx, changed, seconds, nodes)"
        in (package_files(NAMES, ["instrument"])["src/acme_ge/__init__.py"])
    )


def test_every_hook_that_is_told_about_exists() -> None:
    """The sentences about hooks know no others."""
    assert [hook for hook in ABOUT if not hasattr(specs, hook)] == []


def test_every_kind_is_told_about() -> None:
    """By the command's help, and on the page for authors."""
    from ge_core.cli.new import plugin_command

    (flag,) = (one for one in plugin_command.params if one.name == "kinds")
    told = str(getattr(flag, "help", "")).replace("(the default)", "")
    assert tuple(re.findall(r"\w+", told.partition(":")[2].partition(";")[0])) == KINDS
    page = (ROOT / "docs" / "new-plugin.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == KINDS


def test_every_template_is_used() -> None:
    """By some kind, or by all."""
    folder = files("ge_core.scaffold").joinpath("templates")
    present = sorted(path.name for path in folder.iterdir())
    texts = package_files(NAMES, KINDS)
    # The two that are made without a template: the hooks, and the marker for type checkers.
    assert len(present) == len(texts) - 2
