"""Expectations about the graph after the pipeline: one function per key of the case schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ge_core.cases.model import Failure
from ge_core.cases.outcome import Outcome
from ge_core.ir import InputAnchor, Node
from ge_core.ir.normalise import attr_name

Check = Callable[[Any, Outcome], Iterator[Failure]]


def _removed(names: list[str], outcome: Outcome) -> Iterator[Failure]:
    """Nodes that are gone."""
    for name in names:
        if outcome.graph.find(name) is not None:
            rules = ", ".join(outcome.rules(name)) or "no remark"
            yield Failure(f"removed {name}", f"it is still there ({rules})")


def _kept(names: list[str], outcome: Outcome) -> Iterator[Failure]:
    """Nodes that are still there."""
    for name in names:
        if outcome.graph.find(name) is None:
            yield Failure(f"kept {name}", "it is gone")


def _kept_reason(reasons: Mapping[str, str], outcome: Outcome) -> Iterator[Failure]:
    """By node, the rule that a remark gives for its staying: R3, or a check's name."""
    for name, rule in reasons.items():
        given = outcome.rules(name)
        if rule not in given:
            yield Failure(f"{name} kept by {rule}", ", ".join(given) or "no remark")


def _remarks(wanted: Mapping[str, Mapping[str, Any]], outcome: Outcome) -> Iterator[Failure]:
    """By node, facts of its last word: kind, code, reason, blame (names), bytes, hint."""
    for name, facts in wanted.items():
        final = outcome.remarks.last_word(name)
        record = {} if final is None else final.to_json()
        if final is not None:
            record["blame"] = [blame.anchor or blame.node for blame in final.blame]
        for key, value in facts.items():
            if key not in record or not _same(record[key], value):
                got = f"{record[key]!r}" if key in record else "no such remark"
                yield Failure(f"{key} of the remark on {name}: {value!r}", got)


def _edges(edges: list[list[str]], outcome: Outcome) -> Iterator[Failure]:
    """Pairs of an output and the input that it feeds, `node:index` both."""
    for source, target in edges:
        found = _input(outcome, target)
        feed = None if found is None or found.source is None else repr(found.source)
        if feed != source:
            yield Failure(f"edge {source} -> {target}", f"{target} is fed by {feed}")


def _control_edges(edges: list[list[str]], outcome: Outcome) -> Iterator[Failure]:
    """Pairs of nodes with an edge of order."""
    for before, after in edges:
        if not _has_control(outcome, before, after):
            yield Failure(f"control edge {before} -> {after}", "there is none")


def _no_control_edges(edges: list[list[str]], outcome: Outcome) -> Iterator[Failure]:
    """Pairs of nodes without one."""
    for before, after in edges:
        if _has_control(outcome, before, after):
            yield Failure(f"no control edge {before} -> {after}", "there is one")


def _attrs(wanted: Mapping[str, Mapping[str, Any]], outcome: Outcome) -> Iterator[Failure]:
    """By node, attributes and their values."""
    for name, facts in wanted.items():
        node = outcome.graph.find(name)
        for key, value in facts.items():
            got = None if node is None else node.attrs.get(attr_name(key))
            if not _same(got, value):
                yield Failure(f"{name}.{key} = {value!r}", repr(got))


def _no_attrs(unwanted: Mapping[str, list[str]], outcome: Outcome) -> Iterator[Failure]:
    """By node, attributes that it lacks."""
    for name, keys in unwanted.items():
        node = outcome.graph.find(name)
        for key in keys:
            if node is not None and attr_name(key) in node.attrs:
                yield Failure(f"{name} without {key}", repr(node.attrs[attr_name(key)]))


def _output_attrs(wanted: Mapping[str, Mapping[str, Any]], outcome: Outcome) -> Iterator[Failure]:
    """By output (`node:index`), attributes of its description and their values."""
    for port, facts in wanted.items():
        attrs = _output_desc_attrs(outcome, port)
        for key, value in facts.items():
            if not _same(attrs.get(attr_name(key)), value):
                yield Failure(f"{port}.{key} = {value!r}", repr(attrs.get(attr_name(key))))


def _no_output_attrs(unwanted: Mapping[str, list[str]], outcome: Outcome) -> Iterator[Failure]:
    """By output, attributes that its description lacks."""
    for port, keys in unwanted.items():
        attrs = _output_desc_attrs(outcome, port)
        for key in keys:
            if attr_name(key) in attrs:
                yield Failure(f"{port} without {key}", repr(attrs[attr_name(key)]))


def _isolated(inputs: list[list[Any]], outcome: Outcome) -> Iterator[Failure]:
    """Inputs (node and index) that an Identity feeds."""
    for name, at in inputs:
        feeder = _feeder(outcome, name, int(at))
        if feeder is None or feeder.op != "Identity":
            yield Failure(f"an Identity feeds {name}@{at}", f"{feeder!r} does")


def _not_isolated(inputs: list[list[Any]], outcome: Outcome) -> Iterator[Failure]:
    """Inputs that none feeds."""
    for name, at in inputs:
        feeder = _feeder(outcome, name, int(at))
        if feeder is not None and feeder.op == "Identity":
            yield Failure(f"no Identity feeds {name}@{at}", f"{feeder!r} does")


def _conflict(wanted: bool, outcome: Outcome) -> Iterator[Failure]:
    """Whether a checker, or the question of the case, found a conflict."""
    if outcome.conflict is not wanted:
        yield Failure(f"conflict {wanted}", str(outcome.conflict))


GRAPH_CHECKS: Final[Mapping[str, Check]] = {
    "removed": _removed,
    "kept": _kept,
    "kept_reason": _kept_reason,
    "remarks": _remarks,
    "edges": _edges,
    "control_edges": _control_edges,
    "no_control_edges": _no_control_edges,
    "attrs": _attrs,
    "no_attrs": _no_attrs,
    "output_attrs": _output_attrs,
    "no_output_attrs": _no_output_attrs,
    "isolated": _isolated,
    "not_isolated": _not_isolated,
    "conflict": _conflict,
}


def _same(got: Any, wanted: Any) -> bool:
    """Equal, and of one type: True is not 1."""
    return type(got) is type(wanted) and bool(got == wanted)


def _input(outcome: Outcome, port: str) -> InputAnchor | None:
    name, _, index = port.rpartition(":")
    node = outcome.graph.find(name)
    if node is None or int(index) >= len(node.inputs):
        return None
    return node.inputs[int(index)]


def _feeder(outcome: Outcome, name: str, at: int) -> Node | None:
    found = _input(outcome, f"{name}:{at}")
    return None if found is None or found.source is None else found.source.node


def _has_control(outcome: Outcome, before: str, after: str) -> bool:
    node = outcome.graph.find(after)
    return node is not None and any(other.name == before for other in node.control_inputs)


def _output_desc_attrs(outcome: Outcome, port: str) -> Mapping[str, Any]:
    name, _, index = port.rpartition(":")
    node = outcome.graph.find(name)
    if node is None or int(index) >= len(node.outputs):
        return {}
    return node.outputs[int(index)].desc.attrs
