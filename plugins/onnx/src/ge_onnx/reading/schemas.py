"""What ONNX says an op looks like, and whether a node does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from onnx import AttributeProto, NodeProto, OperatorSetIdProto, defs

from ge_core.api import InputFileError, near_matches

OLDEST_OPSET: Final = 7
NEWEST_OPSET: Final = defs.onnx_opset_version()

Opsets = Mapping[str, int]
"""Version by domain; the standard domain is the empty name."""


def domain_name(domain: str) -> str:
    """The one spelling of a domain."""
    return "" if domain == "ai.onnx" else domain


def read_opsets(imports: Iterable[OperatorSetIdProto], where: str) -> dict[str, int]:
    """The imported version per domain.

    Raises:
        InputFileError: a domain imported in two versions, or a standard version out of range.
    """
    field = f"{where}.opset_import"
    found: dict[str, int] = {}
    for entry in imports:
        domain = domain_name(entry.domain)
        if found.setdefault(domain, entry.version) != entry.version:
            raise InputFileError(f"domain {domain!r} is imported in two versions", field=field)
        check_version(domain, entry.version, field)
    return found


def check_version(domain: str, version: int, field: str) -> None:
    """Raise `InputFileError` for a version that the installed onnx package doesn't know."""
    if domain == "" and version < OLDEST_OPSET:
        raise InputFileError(
            f"opset {version} is older than {OLDEST_OPSET}, the oldest that is read",
            field=field,
            hint="convert the model with onnx.version_converter",
        )
    if domain == "" and version > NEWEST_OPSET:
        raise InputFileError(
            f"opset {version} is newer than {NEWEST_OPSET}, the newest that the installed onnx "
            "package knows",
            field=field,
            hint="upgrade the onnx package",
        )
    if not 1 <= version < 1 << 31:
        raise InputFileError(f"version {version} of domain {domain!r} doesn't exist", field=field)


@cache
def schema_of(domain: str, op: str, version: int) -> defs.OpSchema | None:
    """The schema in force at a version; None for an op that onnx doesn't define."""
    try:
        return defs.get_schema(op, version, domain)
    except defs.SchemaError:
        return None


@cache
def _domains() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for schema in defs.get_all_schemas():
        found.setdefault(schema.domain, []).append(schema.name)
    return found


def check_node(
    node: NodeProto, name: str, attributes: Mapping[str, AttributeProto], opsets: Opsets
) -> None:
    """Compare a node with its schema; an op of a domain that onnx doesn't define passes.

    Args:
        name: what to call the node in errors.
        attributes: with references to a function's attributes resolved.

    Raises:
        InputFileError: unknown op or domain, wrong number of inputs or outputs, an unknown,
            missing or mistyped attribute.
    """
    domain = domain_name(node.domain)
    version = opsets.get(domain)
    if version is None:
        raise InputFileError(
            f"domain {domain!r} of op {node.op_type!r} is not imported",
            node=name,
            field="opset_import",
        )
    schema = schema_of(domain, node.op_type, version)
    if schema is None:
        if domain in _domains():
            raise InputFileError(
                f"no op {node.op_type!r} in version {version} of domain {domain or 'ai.onnx'!r}",
                node=name,
                field="op_type",
                near=near_matches(node.op_type, _domains()[domain]),
            )
        return
    if schema.deprecated:
        raise InputFileError(
            f"op {node.op_type!r} does not exist any more in version {version}",
            node=name,
            field="op_type",
            hint="convert the model with onnx.version_converter",
        )
    _check_ports(node, name, schema)
    _check_attributes(node, name, attributes, schema)


def _check_ports(node: NodeProto, name: str, schema: defs.OpSchema) -> None:
    for what, names, fewest, most in (
        ("input", node.input, schema.min_input, schema.max_input),
        ("output", node.output, schema.min_output, schema.max_output),
    ):
        if not fewest <= len(names) <= most:
            wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
            raise InputFileError(
                f"{node.op_type} has {len(names)} {what}s, wanted are {wanted}",
                node=name,
                field=what,
            )
    for formal, given in zip(schema.inputs, node.input, strict=False):
        if not given and formal.option == defs.OpSchema.FormalParameterOption.Single:
            raise InputFileError(
                f"{node.op_type} needs its input {formal.name!r}", node=name, field="input"
            )


def _check_attributes(
    node: NodeProto, name: str, attributes: Mapping[str, AttributeProto], schema: defs.OpSchema
) -> None:
    for key in attributes:
        if key not in schema.attributes and not key.startswith("__"):
            raise InputFileError(
                f"{node.op_type} has no attribute {key!r}",
                node=name,
                field=key,
                near=near_matches(key, schema.attributes),
            )
    for key, formal in schema.attributes.items():
        given = attributes.get(key)
        if given is None:
            if formal.required:
                raise InputFileError(
                    f"{node.op_type} needs its attribute {key!r}", node=name, field=key
                )
            continue
        kind: Any = formal.type
        if given.type != kind.value:
            found = AttributeProto.AttributeType.Name(given.type)
            raise InputFileError(f"{found}, wanted is {kind.name}", node=name, field=key)
