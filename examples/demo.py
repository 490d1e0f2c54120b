"""`make demo`: compile real models, prove and run the results, and print what was gained."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import ge_core as ge
from ge_core.session.execution import execute
from ge_core.session.report import size
from ge_core.session.story import tell

MODELS = Path(__file__).parent / "models"
LEVEL = "O3"


def main() -> int:
    """Compile every model of `examples/models`; 0 where all are proved and bit-exact."""
    good = True
    for entry in json.loads((MODELS / "index.json").read_text()):
        good &= show(entry)
    return 0 if good else 1


def show(entry: dict) -> bool:
    """One model: the report, the check, and two reasons."""
    feeds = entry["feeds"]
    shapes = {name: tuple(feed["shape"]) for name, feed in feeds.items()}
    result = ge.compile(MODELS / entry["file"], level=LEVEL, input_shapes=shapes)
    values = {name: feed["value"] for name, feed in feeds.items() if "value" in feed}
    outcome = execute(result, check=True, values=values)
    proof = result.proof
    before, after, arena = result.before.total, result.after.total, result.arena
    print(f"{entry['file']}  ({entry['licence']}; {entry['source']})")
    print(f"  copies     {before.count} -> {after.count}")
    print(f"  bytes      {size(before.bytes)} -> {size(after.bytes)}")
    print(f"  arena      {size(arena.bytes)}")
    print(f"  lower bound {size(arena.lower_bound)}{'  (reached)' if arena.optimal else ''}")
    print(f"  no reuse   {size(arena.no_reuse)}")
    print(f"  proof      {'ok' if proof.ok else 'FAILED'}, {len(proof.assumptions)} assumptions")
    print(f"  bit-exact  {'yes' if outcome.ok else 'NO'}, {len(outcome.outputs)} outputs")
    finals = result.finals()
    went = [remark for remark in finals if str(remark.kind) == "applied"]
    stayed = [remark for remark in finals if str(remark.kind) == "missed" and remark.bytes]
    for remark in went[:1] + stayed[: 2 - len(went[:1])]:
        print("  | " + tell(remark).replace("\n", "\n  | "))
    print()
    return bool(proof.ok and outcome.ok)


if __name__ == "__main__":
    sys.exit(main())
