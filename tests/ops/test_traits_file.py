"""Op traits from TOML files: what may be said, and what is said of mistakes."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from ge_core.cli.documents import json_schema
from ge_core.errors import InputFileError
from ge_core.ops import ALL, KINDS, OpRegistry, OpTraits, register_builtin_ops
from ge_core.ops.traits_file import add_statements, read_traits
from ge_core.ops.traits_model import OpTable

FULL = """
schema = "ge-op-traits/1"

[[op]]
type = "Everything"
domain = "com.acme"
kind = "compute"
writes = [0]
scribbles = [1]
aliases = [[0, 0]]
inplace = [[1, 2]]
shape-only = [3]
atomic = true
collective = true
side-effect = true
nondeterministic = true
strided-in = true
strided-out = true
expansion = "acme.rules:expand"

[[op]]
type = "Scratch"
source = "ge"
scribbles = "all"
"""


@pytest.fixture
def write(tmp_path: Path) -> Path:
    """Where a test puts its file."""
    return tmp_path / "ops.toml"


def test_every_trait_can_be_said(write: Path) -> None:
    """The traits come out as an author would have declared them, marked as a user's word."""
    write.write_text(FULL)
    first, second = read_traits(write, "ops.toml")
    assert (
        OpTraits(
            "com.acme::Everything",
            owner="ops.toml:4",
            writes=(0,),
            scribbles=(1,),
            aliases=((0, 0),),
            inplace=((1, 2),),
            shape_only=(3,),
            atomic=True,
            collective=True,
            side_effect=True,
            nondeterministic=True,
            strided_in=True,
            strided_out=True,
            expansion="acme.rules:expand",
            vouched=True,
        )
        == first.traits
    )
    assert ("onnx", False, f"{write}:4") == (first.source, first.override, first.place)
    assert OpTraits("Scratch", owner="ops.toml:21", scribbles=(ALL,), vouched=True) == second.traits


def test_the_keys_are_the_fields_of_op_traits() -> None:
    """A trait that is added later can be said in a file too."""
    fields = {field.name for field in dataclasses.fields(OpTraits)}
    stamped = {"op", "owner", "known", "vouched"}
    assert fields - stamped == set(OpTable.model_fields) - {"type", "domain", "source", "override"}


def test_underscores_are_as_good_as_dashes(write: Path) -> None:
    """`shape_only` and `shape-only` are one key, as in the configuration."""
    write.write_text('[[op]]\ntype = "A"\nsource = "*"\nshape_only = [1]\n')
    assert (1,) == read_traits(write)[0].traits.shape_only


def test_the_schema_accepts_what_is_read(write: Path) -> None:
    """The JSON schema is a valid one, and knows the kinds."""
    import tomllib

    schema = json_schema("op-traits-file")
    Draft202012Validator.check_schema(schema)
    assert [] == list(Draft202012Validator(schema).iter_errors(tomllib.loads(FULL)))
    assert list(KINDS) == schema["$defs"]["OpTable"]["properties"]["kind"]["enum"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            'type = "A"\nsource = "ge"\nwrite = [0]',
            4,
            "field 'op.0.write': is nothing that can be said of an op\n  near: writes",
        ),
        (
            'type = "A"\nsource = "ge"\nkind = "jion"',
            4,
            "field 'op.0.kind': there is no kind 'jion'\n  near: join",
        ),
        ('type = "A"\nsource = "ge"\nwrites = [-1]', 4, "field 'op.0.writes.0': input should be"),
        (
            'type = "A"\nsource = "ge"\nwrites = 0',
            4,
            "field 'op.0.writes': input should be a valid",
        ),
        ('type = "A"\nsource = "ge"\nscribbles = "al"', 4, "field 'op.0.scribbles': input should"),
        ('type = "A"\nsource = "ge"\naliases = [[0]]', 4, "field 'op.0.aliases.0': list should"),
        (
            'type = "A"\nsource = "ge"\natomic = 1',
            4,
            "field 'op.0.atomic': input should be a valid",
        ),
        ('type = "A"\nsource = "gee"', 3, "field 'op.0.source': input should be 'ge', 'onnx' or"),
        ('type = ""\nsource = "ge"', 2, "field 'op.0.type': string should have at least 1"),
        ('source = "ge"', 1, "field 'op.0.type': field required"),
        ('type = "A"\nsource = "ge"\nexpansion = "x"', 4, "field 'op.0.expansion': string should"),
        ('type = "A"', 2, "field 'op.0.type': needs `domain = \"...\"`, or `source"),
        ('type = "A"\ndomain = "x"\nsource = "ge"', 3, "field 'op.0.domain': ops of a domain are"),
        (
            'type = "x::A"\ndomain = "x"',
            3,
            "field 'op.0.domain': ops of a domain are named without",
        ),
        ('type = "Concat"\ndomain = "ai.onnx"', 3, "field 'op.0.domain': standard ops have no"),
        (
            'type = "A"\nsource = "ge"\naliases = [[0, 0], [0, 1]]',
            4,
            "field 'op.0.aliases': output 0 can't be the memory of inputs 0 and 1",
        ),
        (
            'type = "A"\nsource = "ge"\naliases = [[0, 0]]\ninplace = [[0, 1]]',
            5,
            "field 'op.0.inplace': output 0 is an input's memory by `aliases`",
        ),
        (
            'type = "A"\nsource = "ge"\nwrites = [0]\nscribbles = [0]',
            5,
            "field 'op.0.scribbles': input 0 is either updated (`writes`) or used up",
        ),
    ],
)
def test_mistakes_in_an_op(write: Path, text: str, line: int, words: str) -> None:
    """Each names file, line and field, and what is near."""
    write.write_text(f"[[op]]\n{text}\n")
    with pytest.raises(InputFileError) as caught:
        read_traits(write)
    assert str(caught.value).startswith(f"{write}:{line}: {words}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ops = []", ":1: field 'ops': is no key of such a file\n  near: op"),
        ("op = 3", ":1: field 'op': input should be a valid list (got 3)"),
        ('schema = "ge-op-traits/2"\nop = []', ":1: field 'schema': input should be"),
        ("", ":1: field 'op': field required"),
        ("[[op", ": is not TOML: "),
    ],
)
def test_mistakes_in_a_file(write: Path, text: str, words: str) -> None:
    """Likewise."""
    write.write_text(text)
    with pytest.raises(InputFileError) as caught:
        read_traits(write)
    assert str(caught.value).startswith(f"{write}{words}")


VALUES = strategies.recursive(
    strategies.sampled_from([0, 1, -1, 7, True, 1.5, "", "A", "all", "ge", "onnx", "join", "x::A"]),
    lambda inner: strategies.lists(inner, max_size=3),
    max_leaves=4,
)
KEYS = strategies.sampled_from(
    [*(field.alias or name for name, field in OpTable.model_fields.items()), "shape_only", "odd"]
)


def toml(value: object) -> str:
    """A value as TOML writes it."""
    return json.dumps(value)


@settings(max_examples=300)
@given(strategies.lists(strategies.dictionaries(KEYS, VALUES, max_size=5), max_size=3))
def test_any_table_is_read_or_refused(tables: list[dict[str, object]]) -> None:
    """Whatever stands in a file, it is traits or one error that names the file."""
    text = "".join(
        "[[op]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in table.items())
        for table in tables
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ops.toml"
        path.write_text(text)
        error: InputFileError | None = None
        try:
            statements = read_traits(path)
        except InputFileError as caught:
            error = caught
        if error is not None:
            assert str(path) in error.message
            return
        assert len(tables) == len(statements)
        add_statements(OpRegistry(), [replace(s, override=True) for s in statements])


def test_a_key_that_is_set_twice(write: Path) -> None:
    """In two spellings: neither is ignored in silence."""
    write.write_text('[[op]]\ntype = "A"\nsource = "ge"\nshape-only = [0]\nshape_only = [1]\n')
    with pytest.raises(InputFileError, match=r":5: field 'op\.0\.shape_only': is set twice, as"):
        read_traits(write)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is an error like any other file's."""
    with pytest.raises(InputFileError, match=r"ops\.toml: can't be read: No such file"):
        read_traits(tmp_path / "ops.toml")


def registry() -> OpRegistry:
    """What the kernel declares."""
    ops = OpRegistry()
    register_builtin_ops(ops)
    return ops


def test_what_is_declared_already(write: Path) -> None:
    """An op that the kernel or a plugin speaks of is an error that names both places."""
    write.write_text('[[op]]\ntype = "Reshape"\nsource = "ge"\n')
    with pytest.raises(InputFileError) as caught:
        add_statements(registry(), read_traits(write))
    assert (
        f"{write}:1: op 'Reshape' of ge graphs has traits from the kernel\n"
        "  `override = true` in the op's table replaces them" == str(caught.value)
    )


def test_what_is_declared_as_pure(write: Path) -> None:
    """So is one of the ops that the kernel lists as pure."""
    write.write_text('[[op]]\ntype = "Relu"\nsource = "*"\nside-effect = true\n')
    with pytest.raises(InputFileError, match="op 'Relu' of ge graphs has traits from"):
        add_statements(registry(), read_traits(write))


def test_override(write: Path) -> None:
    """With `override` the file wins, for the graphs it speaks of."""
    write.write_text('[[op]]\ntype = "Relu"\nsource = "ge"\nside-effect = true\noverride = true\n')
    ops = registry()
    assert not ops.of("Relu", "ge").side_effect
    add_statements(ops, read_traits(write))
    assert (True, True) == (ops.of("Relu", "ge").side_effect, ops.of("Relu", "ge").vouched)
    assert not ops.of("Relu", "onnx").known


def test_two_files_about_one_op(tmp_path: Path) -> None:
    """The second is told where the first says it, and may override it."""
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    one.write_text('[[op]]\ntype = "A"\nsource = "ge"\n')
    two.write_text('[[op]]\ntype = "A"\nsource = "*"\n')
    with pytest.raises(InputFileError) as caught:
        add_statements(registry(), [*read_traits(one), *read_traits(two)])
    assert f"{two}:1: op 'A' of ge graphs has traits from {one}:1" == caught.value.message
    two.write_text('[[op]]\ntype = "A"\nsource = "*"\natomic = true\noverride = true\n')
    ops = registry()
    add_statements(ops, [*read_traits(one), *read_traits(two)])
    assert ops.of("A", "ge").atomic
    assert ops.of("A", "onnx").atomic
