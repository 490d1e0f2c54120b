"""`make demo`: compile real models, prove and run the results, and print what was gained."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import ge_core as ge

MODELS = Path(__file__).parent / "models"


def main() -> int:
    """Compile every model of `examples/models`; 0 where all are proved and bit-exact."""
    entries = json.loads((MODELS / "index.json").read_text())
    good = True
    for entry in entries:
        good &= show(entry)
    return 0 if good else 1


def show(entry: dict[str, Any]) -> bool:
    """One model: GE's own rules (O3), then all that the proof allows (O4)."""
    print(f"{entry['file']}  ({entry['licence']}; {entry['source']})")
    good = True
    for level in ("O3", "O4"):
        good &= show_level(entry, level)
    print()
    return good


def show_level(entry: dict[str, Any], level: str) -> bool:
    """One model at one level: figures, proof, check, and two reasons."""
    feeds = entry["feeds"]
    shapes = {name: tuple(feed["shape"]) for name, feed in feeds.items()}
    values = {name: feed["value"] for name, feed in feeds.items() if "value" in feed}
    result = ge.compile(MODELS / entry["file"], level=level, input_shapes=shapes)
    outcome = result.check(values)
    before, after, arena, proof = (
        result.before.total,
        result.after.total,
        result.arena,
        result.proof,
    )
    assert proof is not None
    assumed = f", {len(proof.assumptions)} assumptions" if proof.assumptions else ""
    print(f"  {level}  copies        {before.count} -> {after.count}")
    print(f"      copied bytes  {before.bytes:,} -> {after.bytes:,}")
    print(f"      arena         {arena.bytes:,} bytes")
    print(f"      lower bound   {arena.lower_bound:,}{' (reached)' if arena.optimal else ''}")
    print(f"      without reuse {arena.no_reuse:,}")
    print(f"      proof         {'ok' if proof.ok else 'FAILED'}{assumed}")
    print(f"      bit-exact     {'yes' if outcome.ok else 'NO'} ({len(outcome.outputs)} outputs)")
    for line in reasons(result):
        print(f"      | {line}")
    return proof.ok and outcome.ok


def reasons(result: ge.Result) -> list[str]:
    """Two reasons: of a copy that went and of one that stayed, where there are both."""
    finals = result.finals()
    went = [remark for remark in finals if remark.kind == "applied"][:1]
    stayed = [remark for remark in finals if remark.kind == "missed" and remark.bytes]
    chosen = went + stayed[: 2 - len(went)]
    if len(chosen) < 2:
        chosen = finals[:2]
    return [line for remark in chosen for line in result.explain(remark.node).splitlines()]


if __name__ == "__main__":
    sys.exit(main())
