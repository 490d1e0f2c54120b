"""The base of an overlay as listings have it: its own, or that of what it includes."""

from __future__ import annotations

from pathlib import Path

from ge_core.passes.overlay_files import file_text
from ge_core.passes.overlays import Overlay
from ge_core.passes.pipeline_bases import listed_base
from ge_core.passes.pipelines import PackagedOverlay, PipelineRegistry
from ge_core.session.pipeline_view import list_pipelines


def test_the_base_of_what_is_included() -> None:
    """By name or as a value; where they disagree or there is none, it isn't told."""
    pipelines = PipelineRegistry()
    pipelines.add(Overlay("one", base="O1"))
    pipelines.add(Overlay("two", include=(Overlay("inner", include=("one",)),)))
    pipelines.add(Overlay("both", include=("two", Overlay("other", base="O2"))))
    pipelines.add(Overlay("turn", include=("turn",)))
    pipelines.add(Overlay("own", base="O4", include=("one", "gone")))
    pipelines.add(Overlay("none"))
    bases = {row["name"]: row["base"] for row in list_pipelines(pipelines)}
    expected = {"one": "O1", "two": "O1", "both": None, "turn": None, "own": "O4", "none": None}
    assert expected == {name: bases[name] for name in expected}


def test_the_base_of_a_file_that_is_included(tmp_path: Path) -> None:
    """A broken one, or one that isn't there, says none."""
    (tmp_path / "base.toml").write_text("base = 'O2'", encoding="utf-8")
    for include, base in (("base.toml", "O2"), ("gone.toml", None)):
        path = tmp_path / "npu.toml"
        path.write_text(f"include = '{include}'", encoding="utf-8")
        source = file_text(path)
        overlay = PackagedOverlay("npu", source, source.table())
        assert base == listed_base(overlay, PipelineRegistry())
