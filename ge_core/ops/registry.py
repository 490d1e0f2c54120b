"""The op registry: traits by op type, separately for graphs from GE and from ONNX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ge_core.errors import PluginError, UsageError
from ge_core.foreign import shortened
from ge_core.ir import Node
from ge_core.ops.traits import OpTraits
from ge_core.registry import Owner, check_open

SOURCES = ("ge", "onnx")


class OpRegistry:
    """Traits by (source, op type). A plugin's `ge_register_ops` adds to it."""

    def __init__(self) -> None:
        self.closed = False
        self._table: dict[tuple[str, str], OpTraits] = {}
        self._defaults: dict[tuple[str, str], OpTraits] = {}
        self._found: dict[str, dict[str, OpTraits]] = {source: {} for source in SOURCES}
        """What was answered before, by source: passes ask hundreds of thousands of times."""

    def add(self, traits: OpTraits, source: str = "*") -> None:
        """Declare an op for graphs from "ge", "onnx" or both ("*").

        Raises:
            UsageError: the op is declared already for that source, or the source is unknown.
        """
        if not isinstance(traits, OpTraits):
            raise PluginError(f"{shortened(traits)} is not an OpTraits")
        check_open(self.closed, "op", traits.op)
        if source != "*" and source not in SOURCES:
            raise UsageError(f"op {traits.op!r}: source {source!r} is none of ge, onnx, *")
        for name in SOURCES if source == "*" else (source,):
            self._found[name].pop(traits.op, None)
            known = self._table.setdefault((name, traits.op), traits)
            if known is not traits:
                raise UsageError(
                    f"op {traits.op!r} of {name} graphs is declared twice",
                    owner=known.owner or None,
                )

    def add_default(self, traits: OpTraits, source: str) -> None:
        """Say what holds for an op unless somebody declares more of it with `add`."""
        check_open(self.closed, "op", traits.op)
        self._found[source].pop(traits.op, None)
        self._defaults.setdefault((source, traits.op), traits)

    def vouch(self, traits: OpTraits, source: str) -> None:
        """Let a user's word on an op count, whatever the kernel or a plugin declares."""
        for name in SOURCES if source == "*" else (source,):
            self._found[name].pop(traits.op, None)
            self._table[name, traits.op] = traits

    def declared(self, op: str, source: str) -> OpTraits | None:
        """What is declared of an op type, None where nothing is."""
        return self._table.get((source, op)) or self._defaults.get((source, op))

    def traits(self, node: Node) -> OpTraits:
        """The traits of a node's op; of an undeclared one: an ordinary reader."""
        graph = node.graph
        assert graph is not None
        # Asked a dozen times of every node: found at once where it was found before.
        return self._found[graph.source].get(node.op) or self.of(node.op, graph.source)

    def of(self, op: str, source: str) -> OpTraits:
        """The traits of an op type."""
        found = self._found[source].get(op)
        if found is None:
            found = self.declared(op, source) or OpTraits(op, known=False)
            self._found[source][op] = found
        return found

    def kind(self, node: Node) -> str:
        """Short for `traits(node).kind`."""
        return self.traits(node).kind

    def __iter__(self) -> Iterator[tuple[str, OpTraits]]:
        """(source, traits), sorted."""
        for source, op in sorted({**self._defaults, **self._table}):
            yield source, self.of(op, source)

    def __len__(self) -> int:
        return len({**self._defaults, **self._table})

    def fork(self) -> OpRegistry:
        """A registry with the same entries, for staging a plugin's additions."""
        twin = OpRegistry()
        twin._table.update(self._table)
        twin._defaults.update(self._defaults)
        return twin

    def absorb(self, staged: OpRegistry, owner: Owner) -> None:
        """Take over what one plugin declared, stamped with its owner.

        Op types are the graph's words, so they get no prefix. Raises `PluginError` for an op that
        is declared already for the same source.
        """
        for (source, op), traits in sorted(staged._table.items(), key=lambda item: item[0]):
            taken = self._table.get((source, op))
            if taken is not None:
                raise PluginError(
                    f"op {op!r} of {source} graphs is declared twice",
                    owner=f"{taken.owner or 'the kernel'}, {owner}",
                )
            self._table[source, op] = replace(traits, owner=str(owner))
            self._found[source].pop(op, None)
        for (source, op), traits in staged._defaults.items():
            self._defaults.setdefault((source, op), replace(traits, owner=str(owner)))
            self._found[source].pop(op, None)
