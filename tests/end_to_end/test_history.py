"""A compiled graph leads back to the original: nodes by origin, a written model by its notes."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

import ge_core as ge
from ge_core.testing import GraphKnobs, random_graph

MODELS = Path(__file__).resolve().parents[2] / "examples" / "models"


@pytest.mark.parametrize("seed", range(40))
def test_every_node_leads_to_the_original(seed: int) -> None:
    """Whatever O4 removed or rewrote; what keeps order or protects memory stands for none."""
    graph = random_graph(seed, GraphKnobs(nodes=8 + seed % 17, streams=1 + seed % 3))
    result = ge.compile(graph, level="O4", objective="copies", prove=False)
    names = {node.name for node in result.original.all_nodes()}
    for node in result.graph.all_nodes():
        assert set() == set(node.origin) - names
        keeps_order = node.op == "NoOp" and not node.inputs and not node.outputs
        protects = node.op in ("Identity", "Assign") and node.name not in names
        assert node.origin or keeps_order or protects


def test_a_written_model_says_how_it_was_made(tmp_path: Path) -> None:
    """Level, target, copies, memory and proof stand in its metadata."""
    out = tmp_path / "small.onnx"
    ge.compile(MODELS / "gen_densenet_s.dynamo.onnx", level="O4").save(out)
    notes = {entry.key: entry.value for entry in onnx.load(out).metadata_props}
    report = json.loads(notes["ge.report"])
    assert ("O4", "generic", True) == (report["level"], report["target"], report["proof"]["ok"])
    assert 0 == report["copies"]["after"]["count"]
