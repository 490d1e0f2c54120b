"""Same input, byte-identical output: in threads, in other processes, under other hash seeds."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ge_core as ge
from ge_core.ir import print_graph, structural_hash, write_graph
from ge_core.testing import GraphKnobs, random_graph

ROOT = Path(__file__).parents[2]
SEEDS = range(300, 306)


def fingerprint(seed: int, level: str = "O4") -> str:
    """A digest of everything that a compile leaves, timings apart."""
    result = ge.compile(random_graph(seed, GraphKnobs(nodes=16, streams=1 + seed % 2)), level=level)
    parts = [
        json.dumps(write_graph(result.graph)),
        json.dumps(result.plan.to_json()),
        json.dumps(result.tasks.to_json()),
        json.dumps([remark.to_json() for remark in result.remarks]),
        json.dumps(result.summary()),
        print_graph(result.graph),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def test_threads_share_a_kernel() -> None:
    """Compiles in eight threads at once give what they give one after the other."""
    alone = [fingerprint(seed) for seed in SEEDS]
    with ThreadPoolExecutor(8) as pool:
        assert alone == list(pool.map(fingerprint, SEEDS))


def test_a_compile_leaves_the_given_graph_alone() -> None:
    """`compile` works on a copy of a graph that it is handed."""
    graph = random_graph(7, GraphKnobs(nodes=16))
    before = structural_hash(graph)
    ge.compile(graph, level="O4")
    assert before == structural_hash(graph)


def test_hash_seeds_change_nothing(tmp_path: Path) -> None:
    """Every file that `ge compile` writes is the same under three hash seeds, down to the bytes."""
    model = ROOT / "examples" / "models" / "gen_densenet_s.dynamo.onnx"
    seen = []
    for seed in ("0", "1", "77"):
        folder = tmp_path / seed
        folder.mkdir()
        files = ["-o", "o.onnx", "--plan", "p.json", "--tasks", "t.json", "--remarks", "r.jsonl"]
        subprocess.run(
            [sys.executable, "-m", "ge_core.cli.main", "compile", str(model), "-O", "O4", *files],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        seen.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert {"o.onnx", "p.json", "r.jsonl", "t.json"} == set(seen[0])
    assert seen[0] == seen[1] == seen[2]
