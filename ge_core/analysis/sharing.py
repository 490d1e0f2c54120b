"""Who writes the memory of an output: asked before its readers, or others, are given another."""

from __future__ import annotations

from ge_core.analysis._alias_rules import NAME_MARK
from ge_core.analysis.aliases import AliasClasses, Anchor
from ge_core.analysis.effects import Effects
from ge_core.ir import InputAnchor, OutputAnchor


def first_writer(output: OutputAnchor, classes: AliasClasses, effects: Effects) -> Anchor | None:
    """The first anchor that may change the memory of an output, under any of its names.

    Args:
        classes: what is one memory when the graph runs (`Scheme.MEMORY`).

    Returns:
        an input whose node writes or destroys it, or an output that says by name that it is a
        variable's memory; None where nobody writes.
    """
    return next((anchor for anchor in classes.members(output) if _writes(anchor, effects)), None)


def may_share(
    output: OutputAnchor, source: OutputAnchor, classes: AliasClasses, effects: Effects
) -> bool:
    """Whether the readers of one output may read another, whose contents are the same.

    Yes where both are one memory already, or where nobody writes either. No where only the order
    of writers and readers could tell.
    """
    if classes.same(output, source):
        return True
    return all(first_writer(one, classes, effects) is None for one in (output, source))


def _writes(anchor: Anchor, effects: Effects) -> bool:
    if isinstance(anchor, InputAnchor):
        return effects.writes(anchor)
    return NAME_MARK in anchor.desc.attrs or NAME_MARK in anchor.node.attrs
