"""A model's own functions: found by name, their bodies sorted once, their expansion bounded.

Calls are expanded where they stand. What bounds that is the number of nodes that come out, counted
before anything is expanded: a short file in which each function calls the one before it twice has
no end, a long chain of calls is fine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from onnx import FunctionProto, GraphProto, NodeProto

from ge_core.api import InputFileError, LimitExceeded
from ge_onnx.reading.order import Sorter, subgraphs_of
from ge_onnx.reading.schemas import Opsets, domain_name, read_opsets

Key = tuple[str, str, str]
"""Domain, name and overload of a function."""


@dataclass(frozen=True)
class Function:
    """A function: its message, its nodes in running order, the opsets they are written in."""

    message: FunctionProto
    nodes: Sequence[NodeProto]
    opsets: Opsets


@dataclass(frozen=True)
class _Size:
    """Nodes of a body, and how often it calls which function."""

    own: int
    calls: Counter[Key]


class FunctionTable:
    """The functions of one model.

    Raises:
        InputFileError: a function defined twice, reading a name it doesn't have, or calling itself.
    """

    def __init__(self, functions: Iterable[FunctionProto], opsets: Opsets, sorter: Sorter) -> None:
        self._functions: dict[Key, Function] = {}
        for message in functions:
            key = (domain_name(message.domain), message.name, message.overload)
            label = f"function {message.name!r}"
            if key in self._functions:
                raise InputFileError(f"{label} is defined twice", field="functions")
            own = {**opsets, **read_opsets(message.opset_import, label)}
            nodes = sorter.sorted(message.node)
            self._functions[key] = Function(message, nodes, own)

    def __bool__(self) -> bool:
        return bool(self._functions)

    def __iter__(self) -> Iterator[Function]:
        return iter(self._functions.values())

    def get(self, node: NodeProto) -> Function | None:
        """The function that a node calls, or None."""
        return self._functions.get(_key(node))

    def check_expansion(self, graph: GraphProto, limit: int) -> None:
        """Refuse a graph whose calls expand to too many nodes.

        Raises:
            LimitExceeded: more than `limit`.
            InputFileError: a function that calls itself, directly or through others.
        """
        sizes: dict[Key, int] = {}
        root = self._measure(graph.node)
        total = root.own
        for key, count in root.calls.items():
            total += count * self._expanded(key, sizes)
        if total > limit:
            raise LimitExceeded(
                f"its function calls expand to {_about(total)} nodes, the limit is {limit}",
                hint="set the environment variable GE_ONNX_MAX_NODES to allow more",
            )

    def _expanded(self, start: Key, sizes: dict[Key, int]) -> int:
        """Nodes that a call expands to. Walks without recursion: chains of calls may be long."""
        stack: list[tuple[Key, _Size]] = []
        active: dict[Key, None] = {}
        pending = [start]
        while pending or stack:
            if pending:
                key = pending.pop()
                if key in sizes:
                    continue
                if key in active:
                    raise InputFileError(
                        "a function calls itself: "
                        + " -> ".join(name for _, name, _ in (*active, key)),
                        field="functions",
                    )
                active[key] = None
                size = self._measure(self._functions[key].nodes)
                stack.append((key, size))
                missing = next((k for k in size.calls if k not in sizes), None)
                if missing is not None:
                    pending.append(missing)
                continue
            key, size = stack[-1]
            missing = next((k for k in size.calls if k not in sizes), None)
            if missing is not None:
                pending.append(missing)
                continue
            sizes[key] = size.own + sum(count * sizes[k] for k, count in size.calls.items())
            stack.pop()
            del active[key]
        return sizes[start]

    def _measure(self, nodes: Iterable[NodeProto]) -> _Size:
        own = 0
        calls: Counter[Key] = Counter()
        todo = [nodes]
        while todo:
            for node in todo.pop():
                key = _key(node)
                if key in self._functions:
                    calls[key] += 1
                    continue
                own += 1
                for _, graph in subgraphs_of(node):
                    own += len(graph.input) + len(graph.initializer) + 1
                    todo.append(graph.node)
        return _Size(own, calls)


def _key(node: NodeProto) -> Key:
    return (domain_name(node.domain), node.op_type, node.overload)


def _about(count: int) -> str:
    """A number for people: counts of this kind may have hundreds of digits."""
    return str(count) if count < 10**9 else f"more than 10^{len(str(count)) - 1}"
