"""Draws the arena of a real plan: steps from left to right, addresses upwards, in SVG."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

import ge_core as ge
from ge_core.api import ARENA, Plan, PlanTensor

MODEL: Final = Path(__file__).resolve().parents[1] / "examples/models/gen_densenet_s.dynamo.onnx"
SHOWN: Final = "a DenseNet of 64x64 images"

WIDTH, HEIGHT = 420, 300
LEFT, TOP, GAP = 20, 46, 40
COLOURS: Final = {
    "yours": ("#c8ccd4", "inputs and outputs"),
    "run": ("#e08a3c", "pieces of a join without a task"),
    "own": ("#5b8fc9", "other tensors"),
}


def picture() -> str:
    """Two panels: every tensor in bytes of its own, and the plan that is compiled."""
    apart = ge.compile(MODEL, level="O0", assigner="bump", prove=False)
    planned = ge.compile(MODEL, level="O4", objective="copies", prove=False)
    before, after = apart.plan, planned.plan
    ratio = _bytes(before) / _bytes(after)
    bodies = [
        *_panel(0, before, f"no reuse: {_size(_bytes(before))}", mark=_bytes(after)),
        *_panel(
            WIDTH + GAP,
            after,
            f"planned: {_size(_bytes(after))}, drawn {ratio:.0f} times as high",
        ),
        *_legend(),
    ]
    width, height = 2 * LEFT + 2 * WIDTH + GAP, TOP + HEIGHT + 58
    about = f"The arena of {SHOWN}: steps from left to right, addresses from bottom to top"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="sans-serif" font-size="13">\n<title>{about}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n'
        f'<text x="{LEFT}" y="18">{about}</text>\n'
    )
    return head + "\n".join(bodies) + "\n</svg>\n"


def _panel(left: int, plan: Plan, title: str, mark: int | None = None) -> Iterator[str]:
    """One plan; `mark` is a height in bytes to compare with."""
    total = _bytes(plan)
    tensors = [t for t in plan.tensors if t.pool == ARENA and t.bytes and t.alias_of is None]
    # Constants are listed first and compute nothing: the picture begins where they end.
    start = min(tensor.life[0] for tensor in tensors if tensor.io is None) - 1
    end = max(tensor.life[1] for tensor in tensors) + 1
    yield f'<g transform="translate({LEFT + left},{TOP})">'
    yield f'<text y="-8">{escape(title)}</text>'
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#f5f6f8"/>'
    for tensor in tensors:
        yield _box(tensor, start, WIDTH / (end - start), HEIGHT / total)
    if mark is not None:
        y = HEIGHT - HEIGHT * mark / total
        yield (
            f'<path d="M0 {y:.1f}H{WIDTH}" stroke="#222" stroke-dasharray="5 4"/>'
            f'<text x="6" y="{y - 6:.1f}">the size of the other plan</text>'
        )
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>'
    yield "</g>"


def _box(tensor: PlanTensor, start: int, across: float, up: float) -> str:
    first, last = max(tensor.life[0], start) - start, tensor.life[1] - start
    height = max((tensor.end - tensor.offset) * up, 0.4)
    kind = "yours" if tensor.io else "run" if tensor.run else "own"
    return (
        f'<rect x="{first * across:.1f}" y="{HEIGHT - tensor.offset * up - height:.1f}" '
        f'width="{(last + 1 - first) * across:.1f}" height="{height:.1f}" '
        f'fill="{COLOURS[kind][0]}" fill-opacity=".8" stroke="#fff" stroke-width=".4"/>'
    )


def _legend() -> Iterator[str]:
    x = LEFT
    y = TOP + HEIGHT + 24
    for colour, words in COLOURS.values():
        yield f'<rect x="{x}" y="{y}" width="14" height="14" fill="{colour}" fill-opacity=".8"/>'
        yield f'<text x="{x + 20}" y="{y + 12}">{words}</text>'
        x += 60 + 7 * len(words)


def _bytes(plan: Plan) -> int:
    return plan.pools[ARENA].bytes


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count / 2**10:.0f} KiB"
