"""Questions that other passes have about layout; nothing is edited, and no copy is counted as one.

`exists_conflict` takes any table of memories, also a hypothetical one: join two memories in it,
inside a transaction of the graph, ask, and roll back. Removal of copies asks about two memories
only (`LayoutChecks.first_clash`). For branches and loops see `ends.control_flow_conflict`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ge_core.api import (
    AliasClasses,
    Anchor,
    Clash,
    InputAnchor,
    LayoutChecks,
    Node,
    OpRegistry,
    OutputAnchor,
    is_free_join,
    ref_of,
)


def exists_conflict(
    classes: AliasClasses, checks: LayoutChecks, among: Iterable[Anchor] | None = None
) -> Clash | None:
    """The first clash inside a memory, None for none; what the pass would skip counts.

    Args:
        among: one anchor of each memory to be looked at, all of them by default.
    """
    for memory in list(classes.classes() if among is None else among):
        for clash in checks.clashes(classes, memory):
            return clash
    return None


def upwards(reader: InputAnchor, ops: OpRegistry) -> Iterator[OutputAnchor]:
    """What an input reads, and what that is the memory of, up to who made it."""
    seen: set[OutputAnchor] = set()
    source = reader.source
    while source is not None and source not in seen:
        seen.add(source)
        yield source
        at = ref_of(source, ops)
        inputs = source.node.inputs
        source = inputs[at].source if at is not None and 0 <= at < len(inputs) else None


def downwards(output: OutputAnchor, ops: OpRegistry) -> Iterator[InputAnchor]:
    """Who reads an output, and who reads what hands it on, nearest first."""
    seen = {output}
    waiting = [output]
    for found in waiting:
        for reader in found.readers:
            yield reader
            for handed in reader.node.outputs:
                if handed not in seen and ref_of(handed, ops) == reader.index:
                    seen.add(handed)
                    waiting.append(handed)


def any_upwards(
    reader: InputAnchor, ops: OpRegistry, holds: Callable[[OutputAnchor], bool]
) -> bool:
    """Whether something holds for what an input reads, or for what that is the memory of."""
    return any(holds(output) for output in upwards(reader, ops))


def any_downwards(
    output: OutputAnchor, ops: OpRegistry, holds: Callable[[InputAnchor], bool]
) -> bool:
    """Whether something holds for a reader of an output, or of what hands it on."""
    return any(holds(reader) for reader in downwards(output, ops))


def final_join(reader: InputAnchor, ops: OpRegistry) -> Node | None:
    """The last join without a task on the way of an operand; None for what is no operand.

    A join's result is the memory of its first operand: that one goes on to a join that reads the
    result, through views or at once, and a later operand ends where it is.
    """
    found: Node | None = None
    seen: set[Node] = set()
    at: InputAnchor | None = reader
    while at is not None and _is_join(at.node) and at.node not in seen:
        found = at.node
        seen.add(found)
        at = None if at.index else _operand_ahead(found, ops)
    return found


def _operand_ahead(join: Node, ops: OpRegistry) -> InputAnchor | None:
    """The operand of another join that a join's result is."""
    for output in join.outputs:
        for reader in downwards(output, ops):
            if _is_join(reader.node):
                return reader
    return None


def _is_join(node: Node) -> bool:
    return len(node.inputs) > 1 and is_free_join(node)
