"""The pipeline of a compile: asked for, configured, or that of the target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ge_core.errors import InputFileError, PluginError, UnknownNameError, UsageError
from ge_core.passes.overlays import Overlay
from ge_core.passes.pipeline_text import PipelineText
from ge_core.session.kernel import Kernel, forget_kernels, make_kernel
from ge_core.session.request import CompileRequest
from ge_core.session.scheduling import schedule_for
from ge_core.targets import Target

PLUGIN = """
from ge_core.api import Overlay, Target, hookimpl

@hookimpl
def ge_register_targets(targets):
    targets.add(Target("npu", pipeline="npu-best"))
    targets.add(Target("lost", pipeline="npu-bets"))

@hookimpl
def ge_register_pipelines(pipelines):
    pipelines.add(Overlay("npu-best", base="O1", target="npu"))
    pipelines.add(Overlay("other", base="O2", target="generic"))
    pipelines.add_text("short", "TensorMoveDeletePass")
"""
Make = Callable[..., Kernel]


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Make]:
    """`kernel("target = 'npu'")` -> a kernel with acme's plugin and this configuration."""
    module = f"acme_sched_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{module}.py").write_text(PLUGIN, encoding="utf-8")

    def make(config: str = "") -> Kernel:
        text = f"plugins = ['acme = {module}']\n{config}\n"
        (tmp_path / "ge.toml").write_text(text, encoding="utf-8")
        return make_kernel(folder=tmp_path, environ={})

    yield make
    forget_kernels()


def chosen(kernel: Kernel, **asked: object) -> tuple[str, str, str | None]:
    """Pipeline, level and target of a request."""
    schedule = schedule_for(kernel, CompileRequest(**asked))  # type: ignore[arg-type]
    return schedule.pipeline, schedule.level.name, schedule.target


def test_a_target_brings_its_pipeline(kernel: Make) -> None:
    """Asked for or configured; without one it is the level's."""
    assert ("npu-best", "O1", "npu") == chosen(kernel(), target="npu")
    assert ("npu-best", "O1", "npu") == chosen(kernel("target = 'npu'"))
    assert ("O3", "O3", "generic") == chosen(kernel(), target="generic")
    assert ("O3", "O3", "generic") == chosen(kernel("target = 'npu'"), target="generic")


def test_a_pipeline_that_is_given_beats_that_of_the_target(kernel: Make) -> None:
    """As a pipeline, in the configuration, or as the level."""
    assert ("other", "O2", "npu") == chosen(kernel(), target="npu", pipeline="other")
    assert "other" == chosen(kernel("pipeline = 'other'"), target="npu")[0]
    assert "other" == chosen(kernel(), target="npu", level="other")[0]
    assert "short" == chosen(kernel(), target="npu", pipeline="short")[0]


def test_an_empty_text_is_refused(kernel: Make) -> None:
    """Given or configured: the error says what runs nothing."""
    for there, asked in ((kernel(), ""), (kernel(), " "), (kernel("pipeline = ''"), None)):
        with pytest.raises(UsageError) as raised:
            schedule_for(there, CompileRequest(pipeline=asked))
        assert "the pipeline is an empty text" == raised.value.message
        assert "-O O0" in str(raised.value.hint)


def test_a_configured_target_beats_that_of_a_pipeline(kernel: Make) -> None:
    """Given or configured; only where no target is asked for, the pipeline's is used."""
    assert ("other", "O2", "npu") == chosen(kernel("target = 'npu'"), pipeline="other")
    assert ("other", "O2", "npu") == chosen(kernel("target = 'npu'\npipeline = 'other'"))
    assert ("other", "O2", "npu") == chosen(kernel("target = 'npu'"), level="other")
    assert ("other", "O2", "generic") == chosen(
        kernel("target = 'npu'"), target="generic", level="other"
    )
    assert ("other", "O2", "generic") == chosen(kernel(), pipeline="other")
    device = schedule_for(kernel("target = 'npu'"), CompileRequest(pipeline="other")).device
    assert device is not None
    assert "npu" == device.name


def test_a_target_that_is_not_there_is_told_always(kernel: Make) -> None:
    """Whatever pipeline is asked for; where it is configured, the error names the file."""
    with pytest.raises(UnknownNameError, match="no target 'npx'"):
        chosen(kernel(), target="npx", pipeline="short")
    with pytest.raises(UnknownNameError, match=r"given by: .*ge\.toml: target"):
        chosen(kernel("target = 'npx'"), pipeline="short")


def test_values_are_pipelines_and_targets(kernel: Make, tmp_path: Path) -> None:
    """In Python: overlays, texts, paths, and targets."""
    there = kernel()
    path = tmp_path / "mine.toml"
    path.write_text("base = 'O2'", encoding="utf-8")
    assert ("lab", "O1", "mine") == chosen(
        there, pipeline=Overlay("lab", base="O1"), target=Target("mine", pipeline="npu-best")
    )
    assert ("mine", "O2", None) == chosen(there, pipeline=path)
    assert "text" == chosen(there, pipeline=PipelineText(()))[0]
    path.write_text("base = 'npu'", encoding="utf-8")
    assert ("npu-best", "O1", str(path)) == chosen(there, target=path)


@pytest.mark.parametrize("field", ["pipeline", "target", "level", "assigner"])
def test_other_types_are_refused(field: str) -> None:
    """With the type, before anything runs."""
    with pytest.raises(UsageError, match=f"{field} is a list: "):
        CompileRequest(**{field: ["short"]})  # type: ignore[arg-type]


def test_an_overlay_as_configured_level_under_another_pipeline(kernel: Make) -> None:
    """Its base is the level; the arguments can't ask for both."""
    assert ("short", "O2", None) == chosen(kernel("level = 'other'"), pipeline="short")
    with pytest.raises(UsageError, match="level 'other' is a pipeline"):
        chosen(kernel(), level="other", pipeline="short")


def test_a_configured_level_that_is_set_to_another_one(kernel: Make) -> None:
    """Told, with the file."""
    with pytest.raises(InputFileError, match="'O1' is the level here, and 'O2' by ge.oo.level"):
        kernel("level = 'O1'\n[set]\n'ge.oo.level' = 'O2'")


def test_a_file_that_is_called_like_a_level(kernel: Make, tmp_path: Path) -> None:
    """Refused: a level may be given as a pipeline."""
    path = tmp_path / "o3.toml"
    path.write_text("name = 'O3'", encoding="utf-8")
    with pytest.raises(UsageError, match="'O3' is a level's name"):
        chosen(kernel(), pipeline=str(path))


def test_a_level_changes_the_base_of_the_targets_pipeline(kernel: Make) -> None:
    """The pipeline stays: a level is no pipeline."""
    assert ("npu-best", "O4", "npu") == chosen(kernel(), target="npu", level="O4")


def test_why_says_whose_pipeline_it_is(kernel: Make) -> None:
    """The target's, with the target's name."""
    schedule = schedule_for(kernel(), CompileRequest(target="npu"))
    assert {"pipeline npu-best (of target 'npu')"} == {
        schedule.options.source("ge.oo.level"),
    }


def test_a_target_on_top_of_another_one(kernel: Make, tmp_path: Path) -> None:
    """Its file has the pipeline of its base; it stays the target."""
    path = tmp_path / "small.toml"
    path.write_text("base = 'npu'\nalign_bytes = 32\n", encoding="utf-8")
    assert ("npu-best", "O1", str(path)) == chosen(kernel(), target=str(path))


def test_a_target_whose_pipeline_is_not_there(kernel: Make) -> None:
    """The error names the target and its owner."""
    with pytest.raises(UnknownNameError) as raised:
        chosen(kernel(), target="lost")
    assert "it is the pipeline of target 'lost' (" in str(raised.value)
    assert "npu-best" in str(raised.value)


def test_a_plain_schedule_uses_no_pipeline(kernel: Make) -> None:
    """What peaks are compared with is the level's, whatever the target prefers."""
    request = CompileRequest(target="npu", pipeline="other")
    for config in ("", "pipeline = 'short'"):
        schedule = schedule_for(kernel(config), request.at_level("O1"), plain=True)
        assert ("O1", "O1") == (schedule.pipeline, schedule.level.name)


def test_a_configured_file_lies_beside_the_configuration(
    kernel: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the command runs."""
    (tmp_path / "mine.toml").write_text("base = 'O2'", encoding="utf-8")
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert ("mine", "O2", None) == chosen(kernel("pipeline = 'mine.toml'"))


def test_two_plugins_with_one_pipeline(kernel: Make, tmp_path: Path) -> None:
    """Nobody's: who asks for it is told both, others compile."""
    there = kernel()
    module = next(tmp_path.glob("acme_sched_*.py")).stem
    (tmp_path / f"beta_{module}.py").write_text(
        "from ge_core.api import Overlay, hookimpl\n@hookimpl\n"
        "def ge_register_pipelines(pipelines):\n    pipelines.add(Overlay('other'))\n",
        encoding="utf-8",
    )
    (tmp_path / "ge.toml").write_text(
        f"plugins = ['acme = {module}', 'beta = beta_{module}']\n", encoding="utf-8"
    )
    there = make_kernel(folder=tmp_path, environ={})
    with pytest.raises(PluginError, match="pipeline 'other' is contested") as raised:
        chosen(there, pipeline="other")
    assert f"{module}, beta_{module}" == raised.value.owner
    assert "npu-best" == chosen(there, pipeline="npu-best")[0]


def test_a_mistake_in_the_configured_pipeline(kernel: Make, tmp_path: Path) -> None:
    """The error names the configuration: a malformed text, an unknown name, an unknown pass."""
    for wanted, problem in (
        ("A(", "no stage 'A'"),
        ("npu-bset", "no pipeline or pass 'npu-bset'"),
        ("TensorMoveDeletePass,Gone", "no pass 'Gone'"),
    ):
        with pytest.raises(UnknownNameError, match=problem) as raised:
            chosen(kernel(f"pipeline = '{wanted}'"))
        assert f"{tmp_path / 'ge.toml'}: pipeline" in str(raised.value)


def test_the_target_of_a_pipeline_is_not_there(kernel: Make, tmp_path: Path) -> None:
    """The error names the pipeline; a target that is asked for does without."""
    path = tmp_path / "mine.toml"
    path.write_text("target = 'nup'", encoding="utf-8")
    with pytest.raises(UnknownNameError, match="no target 'nup'") as raised:
        chosen(kernel(), pipeline=str(path))
    assert "it is the target of pipeline 'mine'" in str(raised.value)
    assert "mine" == chosen(kernel(), pipeline=str(path), target="generic")[0]


def test_the_target_file_of_a_pipeline(kernel: Make, tmp_path: Path) -> None:
    """It lies beside the overlay."""
    (tmp_path / "small.toml").write_text("align_bytes = 32", encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text("target = 'small.toml'", encoding="utf-8")
    there = kernel()
    target = chosen(there, pipeline=str(path))[2]
    assert 32 == there.target(target).align_bytes
