"""Effects: ops with side effects occur exactly once and in their order."""

from __future__ import annotations

from ge_core.ir import Node
from ge_core.ops.builtin import CASE_OPS
from ge_core.proof.frames import Frame
from ge_core.proof.names import Names
from ge_core.proof.result import Findings

Effects = list[tuple[Frame, Node]]
_Identity = tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]
"""Path of the original node instance, and which arm each graph on the way is."""


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
                _text(after[at + 1]),
                expected=f"to run behind {_text(after[at])}",
                found="no stream and no event puts it there",
                about=[_text(after[at])],
            )


def _identity(frame: Frame, node: Node, names: Names) -> _Identity:
    """The original node instance that an effect is; a node's own where it stands for no one."""
    alike = names.alike(node)
    path = names.call(frame)
    name = alike[0] if len(alike) == 1 else node.name
    return (*(frame.call if path is None else path), name), _arms(frame)


def _arms(frame: Frame | None) -> tuple[tuple[object, ...], ...]:
    """Which of its caller's subgraphs each graph around an effect is."""
    found: list[tuple[object, ...]] = []
    while frame is not None and frame.caller is not None:
        labels = list(frame.caller.subgraphs)
        mine = [at for at, label in enumerate(labels) if _is(frame, label)]
        # Arms of a Case count by their place, whatever they are called.
        is_case = frame.caller.op in CASE_OPS
        found.append(tuple(mine) if is_case else tuple(sorted(labels[at] for at in mine)))
        frame = frame.parent
    return tuple(found)


def _is(frame: Frame, label: str) -> bool:
    return frame.caller is not None and frame.caller.subgraphs[label] is frame.graph


def _text(identity: _Identity) -> str:
    return "/".join(identity[0])


def _report(before: list[_Identity], after: list[_Identity], findings: Findings) -> None:
    counts: dict[_Identity, int] = {}
    for one in before:
        counts[one] = counts.get(one, 0) + 1
    for one in after:
        counts[one] = counts.get(one, 0) - 1
    wrong = [one for one, count in counts.items() if count]
    for one in wrong:
        found = "a further run" if counts[one] < 0 else "no run"
        findings.add("effects", _text(one), expected="exactly one run", found=found)
    if not wrong:
        at = next(at for at, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1)
        findings.add(
            "effects",
            _text(after[at]),
            expected=f"{_text(before[at])} at this place",
            found="another order",
        )
