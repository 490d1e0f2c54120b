"""Effects: ops with side effects occur exactly once and in their order."""

from __future__ import annotations

from ge_core.ir import Node
from ge_core.proof.frames import Frame
from ge_core.proof.names import Names
from ge_core.proof.result import Findings

Effects = list[tuple[Frame, Node]]


def check_effects(
    original: Effects,
    compiled: Effects,
    names: Names,
    findings: Findings,
    *,
    ordered_before: list[bool] | None,
    ordered_now: list[bool] | None,
) -> None:
    """Compare the sequences of ops with effects.

    Args:
        ordered_before, ordered_now: per op but the first, whether streams and events put it behind
            the one in front of it; None where one stream does so for all.
    """
    before = [_identity(frame, node, names) for frame, node in original]
    after = [_identity(frame, node, names) for frame, node in compiled]
    if before != after:
        _report(before, after, findings)
        return
    for at in range(len(after) - 1):
        needs_order = ordered_before is None or ordered_before[at]
        if needs_order and ordered_now is not None and not ordered_now[at]:
            findings.add(
                "effects",
                after[at + 1],
                expected=f"to run behind {after[at]}",
                found="no stream and no event puts it there",
                about=[after[at]],
            )


def _identity(frame: Frame, node: Node, names: Names) -> str:
    """The original node instance that an effect is; a node's own where it stands for no one."""
    alike = names.alike(node)
    path = names.call(frame)
    name = alike[0] if len(alike) == 1 else node.name
    return "/".join((*(frame.call if path is None else path), name))


def _report(before: list[str], after: list[str], findings: Findings) -> None:
    counts: dict[str, int] = {}
    for name in before:
        counts[name] = counts.get(name, 0) + 1
    for name in after:
        counts[name] = counts.get(name, 0) - 1
    wrong = [name for name, count in counts.items() if count]
    for name in wrong:
        found = "a further run" if counts[name] < 0 else "no run"
        findings.add("effects", name, expected="exactly one run", found=found)
    if not wrong:
        at = next(at for at, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1)
        findings.add(
            "effects", after[at], expected=f"{before[at]} at this place", found="another order"
        )
