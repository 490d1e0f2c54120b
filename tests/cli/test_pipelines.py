"""`ge pipelines`, `ge pipeline show|diff`, and what other commands say of pipelines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ge_core.session.kernel import forget_kernels

from .conftest import Ge

PLUGIN = """
from dataclasses import dataclass

from ge_core.api import (
    Graph, GraphPass, Level, Overlay, PassContext, Stage, Target, hookimpl, read_overlay
)


@dataclass(frozen=True)
class DropNoOpCast(GraphPass, codes=("NOOP",)):
    '''Nothing.'''

    limit: int | None = None

    def run(self, graph: Graph, ctx: PassContext) -> None:
        pass


@hookimpl
def ge_register_passes(passes):
    passes.add(DropNoOpCast, levels=Level.O4.and_above(), stage=Stage.OPTIMIZE_STAGE2)


@hookimpl
def ge_register_targets(targets):
    targets.add(Target("npu", pipeline="acme-npu"))


@hookimpl
def ge_register_pipelines(pipelines):
    pipelines.add(read_overlay('''
name = "acme-npu"
summary = "what the npu likes"
base = "O3"
target = "npu"
[[add]]
pass = "acme.DropNoOpCast"
before = "ConcatNotaskPass"
[[remove]]
pass = "PackNotaskPass"
[set]
"acme.DropNoOpCast.limit" = 100
"ge.exec.inputReuseMemIndexes" = "0"
''', "acme-npu.toml"))
    pipelines.add_text("moves", "TensorMoveDeletePass")
    pipelines.add_level("edge", extends="O1")
"""
BETA = """
from ge_core.api import Overlay, hookimpl

@hookimpl
def ge_register_pipelines(pipelines):
    pipelines.add(Overlay("moves"))
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A project with acme's plugin -> what its owner is called."""
    module = f"acme_pipes_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{module}.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / f"beta_{module}.py").write_text(BETA, encoding="utf-8")
    (tmp_path / "ge.toml").write_text(f"plugins = ['acme = {module}']\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    forget_kernels()
    yield module
    forget_kernels()


DIFF = """\
- PackNotaskPass (OPTIMIZE_STAGE2)
+ acme.DropNoOpCast{limit=100} (OPTIMIZE_STAGE2), after SplitNotaskPass
+ ge.exec.inputReuseMemIndexes=0
+ target npu
"""


def test_the_list(ge: Ge, project: str) -> None:
    """Levels first; of others owner, kind, base, target, origin, summary."""
    items = ge("pipelines", "--format", "json").json["items"]
    assert ["O0", "O1", "O2", "O3", "O4", "acme-npu", "edge", "moves"] == [i["name"] for i in items]
    assert {
        "name": "acme-npu",
        "owner": project,
        "version": "",
        "kind": "overlay",
        "base": "O3",
        "target": "npu",
        "origin": "acme-npu.toml",
        "summary": "what the npu likes",
        "contested": [],
        "error": None,
    } == items[5]
    assert [("level", "O1"), ("text", None)] == [(i["kind"], i["base"]) for i in items[6:]]
    ran = ge("pipelines")
    assert any(line.split()[:3] == ["acme-npu", "overlay", "O3"] for line in ran.out.splitlines())


def test_a_contested_name_is_listed(ge: Ge, project: str, tmp_path: Path) -> None:
    """With all who claim it; asked for, it is one error."""
    (tmp_path / "ge.toml").write_text(
        f"plugins = ['acme = {project}', 'beta = beta_{project}']\n", encoding="utf-8"
    )
    forget_kernels()
    (item,) = [i for i in ge("pipelines", "--format", "json").json["items"] if i["name"] == "moves"]
    assert ("contested", [project, f"beta_{project}"]) == (item["kind"], item["contested"])
    assert f"{project} and beta_{project}" in ge("pipelines").out
    ran = ge("pipeline", "show", "moves")
    assert 4 == ran.code
    assert f"pipeline 'moves' is contested: {project} and beta_{project} register it" in ran.err


def test_what_a_pipeline_runs(ge: Ge, project: str) -> None:
    """In order, with options, owners and reasons; what it switched off and set."""
    ran = ge("pipeline", "show", "acme-npu")
    assert 0 == ran.code, ran.err
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["acme-npu:", "overlay,", project] == lines[0]
    assert ["level", "O3"] in lines and ["target", "npu"] in lines
    (step,) = [line for line in lines if line[0].startswith("acme.Drop")]
    why = [
        "pipeline",
        "acme-npu:",
        "explicit",
        "on:",
        "acme-npu.toml:6:",
        "add",
        "acme.DropNoOpCast",
    ]
    assert ["acme.DropNoOpCast{limit=100}", project, *why] == step
    off = lines.index(["switched", "off"])
    assert "PackNotaskPass" == lines[off + 1][0]
    assert "ge.exec.inputReuseMemIndexes=0" == lines[lines.index(["options"]) + 1][0]


def test_the_document_of_a_pipeline(ge: Ge, project: str) -> None:
    """The same for programs, and its text."""
    document = ge("pipeline", "show", "acme-npu", "--format", "json").json
    assert ("ge-pipeline/1", "acme-npu", "overlay", "O3", "npu") == tuple(
        document[key] for key in ("schema", "name", "kind", "level", "target")
    )
    (step,) = [s for s in document["passes"] if s["name"] == "acme.DropNoOpCast"]
    assert ({"limit": "100"}, None, "OPTIMIZE_STAGE2", project) == tuple(
        step[key] for key in ("options", "repeat", "stage", "owner")
    )
    assert ["PackNotaskPass"] == [o["name"] for o in document["off"]]
    assert ge("pipeline", "show", "acme-npu", "--text").out == document["text"] + "\n"


@pytest.mark.parametrize("what", ["O0", "O3", "O4", "edge", "acme-npu", "moves"])
def test_the_text_gives_the_same_again(ge: Ge, what: str) -> None:
    """`--text` of a text is that text."""
    text = ge("pipeline", "show", what, "--text").out.strip()
    assert text == ge("pipeline", "show", text, "--text").out.strip()


def test_flags_of_a_compile_count(ge: Ge) -> None:
    """Switches, options, a level where the pipeline is none, a target that brings a pipeline."""
    shown = ge(
        *("pipeline", "show", "acme-npu", "--disable", "TensorMoveDeletePass"),
        *("--set", "acme.DropNoOpCast.limit=3", "--enable", "PackNotaskPass", "--text"),
    )
    assert "TensorMove" not in shown.out and "limit=3" in shown.out and "Pack" in shown.out
    assert "O1" == ge("pipeline", "show", "moves", "-O", "O1", "--format", "json").json["level"]
    by_target = ge("pipeline", "show", "--target", "npu", "--format", "json").json
    assert ("acme-npu", "npu") == (by_target["name"], by_target["target"])
    assert "O3" == ge("pipeline", "show", "--format", "json").json["name"]
    ran = ge("pipeline", "show", "O3", "-O", "O1")
    assert (2, True) == (ran.code, "level 'O1' is asked for, and 'O3' is to be shown" in ran.err)


def test_a_repeat_is_shown(ge: Ge) -> None:
    """With its bound; the pass stands below it."""
    lines = ge("pipeline", "show", "repeat{limit=3}(TensorMoveDeletePass)").out.splitlines()
    at = lines.index("  until nothing changes, at most 3 times")
    assert lines[at + 1].startswith("    TensorMoveDeletePass")


def test_the_difference_between_two(ge: Ge) -> None:
    """Passes, options and target; nothing between equals, in either direction."""
    assert DIFF == ge("pipeline", "diff", "O3", "acme-npu").out
    assert "no difference\n" == ge("pipeline", "diff", "O3", "O3").out
    text = ge("pipeline", "show", "acme-npu", "--text").out.strip()
    back = ge("pipeline", "diff", "acme-npu", text).out
    assert "- ge.exec.inputReuseMemIndexes=0\n- target npu\n" == back


def test_exit_codes_of_a_difference(ge: Ge) -> None:
    """0, or with `--exit-code` 1 where there is one."""
    assert [0, 1, 0] == [
        ge("pipeline", "diff", "O3", "acme-npu").code,
        ge("pipeline", "diff", "O3", "acme-npu", "--exit-code").code,
        ge("pipeline", "diff", "O3", "O3", "--exit-code").code,
    ]


def test_the_document_of_a_difference(ge: Ge) -> None:
    """What changed, of which kind, before and after."""
    document = ge("pipeline", "diff", "O3", "acme-npu", "--format", "json").json
    assert (False, "O3", "acme-npu") == (document["same"], document["base"], document["other"])
    assert [
        ("removed", "pass", "PackNotaskPass", None),
        ("added", "pass", "acme.DropNoOpCast", "SplitNotaskPass"),
        ("added", "option", "ge.exec.inputReuseMemIndexes", None),
        ("added", "target", "target", None),
    ] == [(i["change"], i["kind"], i["name"], i["where"]) for i in document["items"]]
    assert [
        ("PackNotaskPass (OPTIMIZE_STAGE2)", None),
        (None, "acme.DropNoOpCast{limit=100} (OPTIMIZE_STAGE2)"),
        (None, "0"),
        (None, "npu"),
    ] == [(i["before"], i["after"]) for i in document["items"]]


def test_an_overlay_file_with_a_mistake(ge: Ge, tmp_path: Path) -> None:
    """One error with file, line and field, exit code 3; unknown things end with 2."""
    (tmp_path / "mine.toml").write_text("base = 'O3'\n[[ad]]\npass = 'A'\n", encoding="utf-8")
    ran = ge("pipeline", "show", "mine.toml")
    assert 3 == ran.code
    assert "mine.toml:2: field 'ad': is no key of a pipeline\n  near: add" in ran.err
    for what, problem in (("acme-nup", "near: acme-npu (pipeline)"), ("A(B)", "no stage 'A'")):
        ran = ge("pipeline", "show", what)
        assert (2, True) == (ran.code, problem in ran.err)


def test_a_level_is_no_pipeline_of_a_compile(ge: Ge, graph_file: Path) -> None:
    """The error says how it is given; one that is near a level names that."""
    for what, said in (("O3", "O3 is a level: give it as -O O3"), ("OO3", "near: O3 (level)")):
        ran = ge("compile", graph_file, "--pipeline", what)
        assert (2, True) == (ran.code, said in ran.err)


def test_what_a_text_leaves_out_is_not_listed(ge: Ge) -> None:
    """What is switched off besides is."""
    out = ge("pipeline", "show", "moves", "--disable", "PackNotaskPass").out
    off = out.splitlines()
    assert ["PackNotaskPass"] == [line.split()[0] for line in off[off.index("switched off") + 1 :]]
    assert "switched off" not in ge("pipeline", "show", "moves").out


def test_a_file_is_shown_with_its_place(ge: Ge, tmp_path: Path) -> None:
    """Where a name would show its package."""
    (tmp_path / "mine.toml").write_text("base = 'acme-npu'\n", encoding="utf-8")
    document = ge("pipeline", "show", "mine.toml", "--format", "json").json
    assert ("mine", "overlay", "mine.toml", "npu") == tuple(
        document[key] for key in ("name", "kind", "origin", "target")
    )


def test_the_target_is_the_one_that_compiles(ge: Ge, tmp_path: Path) -> None:
    """Asked for, of a file, or the pipeline's; one that isn't there is told, in `why` too."""
    (tmp_path / "small.toml").write_text("base = 'npu'\n", encoding="utf-8")
    for flags, target in (((), "npu"), (("--target", "generic"), "generic")):
        shown = ge("pipeline", "show", "acme-npu", *flags, "--format", "json").json
        assert target == shown["target"]
    shown = ge("pipeline", "show", "--target", "small.toml", "--format", "json").json
    assert ("acme-npu", "overlay", "small") == tuple(shown[k] for k in ("name", "kind", "target"))
    for asked in (("pipeline", "show", "O3"), ("passes", "why", "PackNotaskPass")):
        ran = ge(*asked, "--target", "npx")
        assert (2, True) == (ran.code, "no target 'npx'" in ran.err)


def test_a_compile_says_which_pipeline_ran(ge: Ge, graph_file: Path) -> None:
    """In its first line and its document; none where the level decides."""
    assert " on npu, pipeline acme-npu\n" in ge("compile", graph_file, "-O", "acme-npu").out
    for flags, name in (((), None), (("--pipeline", "TensorMoveDeletePass"), "text")):
        assert name == ge("compile", graph_file, *flags, "--format", "json").json["pipeline"]


def test_a_pipeline_of_a_plugin_that_is_not_loaded(
    ge: Ge, graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says so, as that of a target does."""
    monkeypatch.setenv("GE_DISABLE_PLUGINS", "acme")
    for flag in ("--pipeline", "--target"):
        ran = ge("compile", graph_file, flag, "zzz-lab")
        assert (2, True) == (ran.code, "not loaded: plugin 'acme'" in ran.err)


def test_why_with_a_pipeline_and_a_target(ge: Ge) -> None:
    """The pipeline is named, and the target that brought it."""
    asked = ("passes", "why", "acme.DropNoOpCast")
    assert "does not run" in ge(*asked).out
    assert (
        "acme.DropNoOpCast runs\n"
        "  pipeline acme-npu: explicit on: acme-npu.toml:6: add acme.DropNoOpCast\n"
        "  level: level: O3; on at O4\n"
    ) == ge(*asked, "--pipeline", "acme-npu").out
    assert "  pipeline acme-npu (of target 'npu'): explicit on" in ge(*asked, "--target", "npu").out


def test_a_compile_prints_its_pipeline(ge: Ge, graph_file: Path) -> None:
    """And does nothing else: the model isn't even read."""
    asked = ("compile", graph_file, "--pipeline", "acme-npu")
    text = ge(*asked, "--print-pipeline").out
    assert ge("pipeline", "show", "acme-npu", "--text").out == text
    gone = graph_file.with_name("gone.json")
    assert text == ge("compile", gone, "--target", "npu", "--print-pipeline").out


def test_a_compile_uses_the_pipeline_of_its_target(ge: Ge, graph_file: Path) -> None:
    """The passes that ran are the pipeline's, the target is the one asked for."""
    document = ge("compile", graph_file, "--target", "npu", "--format", "json").json
    assert "npu" == document["target"]
    assert "acme.DropNoOpCast" in [ran["name"] for ran in document["passes"]]


def test_listing_imports_nothing_heavy(project: str, tmp_path: Path) -> None:
    """Neither pydantic nor numpy, also where a package brings an overlay file."""
    import subprocess
    import sys

    package = tmp_path / "pipes_pkg"
    package.mkdir()
    (package / "npu.toml").write_text("base = 'O1'", encoding="utf-8")
    (package / "__init__.py").write_text(
        "from ge_core.api import hookimpl\n@hookimpl\ndef ge_register_pipelines(pipelines):\n"
        "    pipelines.add_toml('pipes_pkg', 'npu.toml')\n",
        encoding="utf-8",
    )
    (tmp_path / "ge.toml").unlink()
    code = """
import sys
from ge_core.plugin import index_plugins, load_plugins
from ge_core.config import ProjectConfig
from ge_core.session.pipeline_view import list_pipelines
from pathlib import Path
config = ProjectConfig(plugins=("pipes = pipes_pkg",), file=Path("ge.toml").absolute())
rows = list_pipelines(load_plugins(config=config).registries.pipelines)
print([row["name"] for row in rows][-1])
print([name for name in ("numpy", "onnx", "pydantic", "rich", "click") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "npu\n[]\n" == done.stdout


def test_doctor_finds_pipelines_that_can_not_be_used(ge: Ge, project: str, tmp_path: Path) -> None:
    """Each is planned once; whose it is and what is wrong, exit code 1."""
    assert [] == ge("plugins", "doctor", "--format", "json").json["pipelines"]
    (tmp_path / f"worse_{project}.py").write_text(
        """
from ge_core.api import Change, Overlay, Target, hookimpl

@hookimpl
def ge_register_pipelines(pipelines):
    pipelines.add(Overlay("ghost", add=(Change("TensorMoveDeletPass"),)))
    pipelines.add(Overlay("moves"))
    pipelines.add_level("low", extends="O9")
    pipelines.add_text("good", "TensorMoveDeletePass")

@hookimpl
def ge_register_targets(targets):
    targets.add(Target("lost", pipeline="gone"))
""",
        encoding="utf-8",
    )
    (tmp_path / "ge.toml").write_text(
        f"plugins = ['acme = {project}', 'worse = worse_{project}']\n", encoding="utf-8"
    )
    forget_kernels()
    ran = ge("plugins", "doctor", "--format", "json")
    assert 1 == ran.code
    worse = f"worse_{project}"
    assert [
        ("pipeline moves", project, f"pipeline 'moves' is contested: {project} and {worse}"),
        ("pipeline moves", worse, f"pipeline 'moves' is contested: {project} and {worse}"),
        ("level low", worse, "level 'low' extends 'O9', which nobody registers"),
        ("pipeline ghost", worse, "no pass 'TensorMoveDeletPass' (near: TensorMoveDeletePass"),
        ("target lost", worse, "no pipeline 'gone'"),
    ] == [
        (row["name"], row["owner"], row["error"].partition(" register ")[0].partition(" (gra")[0])
        for row in ran.json["pipelines"]
    ]
    assert f"level low ({worse}): level 'low' extends" in ge("plugins", "doctor").out
    items = ge("pipelines", "--format", "json").json["items"]
    assert ["low", "ghost"] == sorted((i["name"] for i in items if i["error"]), reverse=True)
    assert "no pass 'TensorMoveDeletPass'" in ge("pipelines").out
