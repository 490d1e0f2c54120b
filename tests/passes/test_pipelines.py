"""The registry of pipelines: names, packages' files, contests between plugins."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from ge_core.errors import GeError, InputFileError, OptionError, PluginError, UsageError
from ge_core.passes.overlays import Change, Overlay
from ge_core.passes.pipeline_text import PassUse, PipelineText, Repeat
from ge_core.passes.pipelines import PackagedOverlay, PipelineRegistry
from ge_core.passes.planning import Catalog, plan_passes
from ge_core.passes.precedence import Source
from ge_core.registry import Owner

MakeCatalog = Callable[..., Catalog]
ACME, BETA = Owner("acme", "acme-casts", "1.0"), Owner("beta", "beta-npu", "2.1")
GAMMA = Owner("gamma", "gamma-soc", "0.3")
Declare = Callable[[PipelineRegistry], None]


def merged(*plugins: tuple[Owner, Declare]) -> PipelineRegistry:
    """What plugins registered, each staged alone."""
    registry = PipelineRegistry()
    for owner, declare in plugins:
        staged = PipelineRegistry()
        declare(staged)
        forked = registry.fork()
        forked.absorb(staged, owner)
        registry = forked
    return registry


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("O3", "is called like a level of the kernel"),
        ("text", "is reserved"),
        ("default", "is reserved"),
        ("a,b", "can't be told from a text or a file"),
        ("a b", "can't be told from a text or a file"),
        ("a.toml", "can't be told from a text or a file"),
        ("", "can't be told from a text or a file"),
        (3, "can't be told from a text or a file"),
    ],
)
def test_names_that_a_pipeline_can_not_have(name: str, problem: str) -> None:
    """Users give names, texts and files in one place."""
    for declare in (
        lambda p: p.add(Overlay(name)),
        lambda p: p.add_text(name, "A"),
        lambda p: p.add_level(name, extends="O1"),
    ):
        with pytest.raises(PluginError, match=problem):
            declare(PipelineRegistry())


def test_a_pipeline_is_not_called_like_a_level_set() -> None:
    """In one plugin whichever comes second is refused."""
    pipelines = PipelineRegistry()
    pipelines.add_level("edge", extends="O1")
    pipelines.add(Overlay("npu"))
    with pytest.raises(PluginError, match="pipeline 'edge' is called like a level"):
        pipelines.add_text("edge", "A")
    with pytest.raises(PluginError, match="level 'npu' is called like a pipeline"):
        pipelines.add_level("npu", extends="O1")


def test_a_text_may_be_built_in_python() -> None:
    """The same as the text that it prints."""
    built = PipelineText((PassUse("A", repeat=Repeat(1, 3)), PassUse("B", (("n", "1"),))))
    pipelines = PipelineRegistry()
    pipelines.add_text("built", built)
    pipelines.add_text("written", "repeat{limit=3}(A),B{n=1}")
    assert pipelines.get("built") == pipelines.get("written")


# ---- contests ------------------------------------------------------------------------------------


def claims(name: str) -> list[tuple[Owner, Declare]]:
    """Three plugins that claim a name as three things, and have one of their own."""
    return [
        (ACME, lambda p: (p.add(Overlay(name, base="O1")), p.add_text("mine", "A"))[0]),
        (BETA, lambda p: p.add_text(name, "A")),
        (GAMMA, lambda p: p.add_level(name, extends="O2")),
    ]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_name_of_several_plugins_is_nobodys(order: tuple[int, ...]) -> None:
    """Whatever the order of loading; all of them are named, and the rest of them stays."""
    plugins = claims("npu")
    pipelines = merged(*(plugins[at] for at in order))
    assert (["mine"], []) == (pipelines.names(), pipelines.levels.names())
    for look in (pipelines.get, pipelines.select, pipelines.levels.working):
        with pytest.raises(PluginError, match="'npu' is contested") as raised:
            look("npu")
        assert "acme-casts 1.0, beta-npu 2.1, gamma-soc 0.3" == raised.value.owner
        assert "load one of the plugins acme, beta, gamma" in str(raised.value.hint)


def test_who_asks_for_a_contested_name_is_told(catalog: MakeCatalog) -> None:
    """As a pipeline, a level, a base, an include and a stage; others compile."""
    there = catalog({"A": {}})
    pipelines = merged(claims("npu")[0], claims("npu")[1])
    there = Catalog(there.passes, there.options, pipelines)
    plan_passes(there)
    pipelines.add(Overlay("on", base="npu"))
    pipelines.add(Overlay("with", include=("npu",)))
    for arguments in (
        {"pipeline": "npu"},
        {"sources": [Source("arguments", {"ge.oo.level": "npu"})]},
        {"pipeline": "on"},
        {"pipeline": "with"},
    ):
        with pytest.raises(PluginError, match="'npu' is contested") as raised:
            plan_passes(there, **arguments)  # type: ignore[arg-type]
        assert "acme-casts 1.0, beta-npu 2.1" == raised.value.owner


def test_two_claims_of_one_plugin_are_its_mistake() -> None:
    """It fails alone."""
    pipelines = PipelineRegistry()
    pipelines.add(Overlay("npu"))
    with pytest.raises(PluginError, match="'npu' is registered twice"):
        pipelines.add_text("npu", "A")


# ---- old names -----------------------------------------------------------------------------------


def test_old_names_lead_to_new_ones(catalog: MakeCatalog) -> None:
    """As a pipeline, level, base, include, stage and pass; each use warns, with its place."""

    def declare(pipelines: PipelineRegistry) -> None:
        pipelines.add(Overlay("npu", remove=(Change("acme.Old"),)))
        pipelines.add_text("moves", "acme.New")
        pipelines.add(Overlay("on", base="npu0"))
        pipelines.add(Overlay("with", include=("npu0",)))
        pipelines.rename("npu0", "npu", since="0.9", until="2.0")

    there = catalog({"A": {}}, acme={"New": {}}, pipelines=declare)
    there.passes.rename("acme.Old", "acme.New", since="0.9", until="2.0")
    by_level = [Source("arguments", {"ge.oo.level": "npu0"})]
    for name, sources in (("npu0", []), (None, by_level), ("on", []), ("with", []), ("npu", [])):
        schedule = plan_passes(there, sources, name)
        assert ["A"] == [step.name for step in schedule.passes]
        said = [text for text in schedule.warnings if "'npu0' is called 'npu'" in text]
        assert (0 if name == "npu" else 1) == len(said)
        assert any("'acme.Old' is called 'acme.New'" in text for text in schedule.warnings)
    schedule = plan_passes(there, pipeline="A,acme.Old")
    assert ["A", "acme.New"] == [step.name for step in schedule.passes]
    assert 1 == len(schedule.warnings)


# ---- files in packages ---------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`package(npu="base='O1'")` makes a package with these TOML files -> its name."""

    def make(**files: str) -> str:
        folder = tmp_path / f"pipes_{tmp_path.name}".replace("-", "_")
        (folder / "parts").mkdir(parents=True)
        (folder / "__init__.py").touch()
        for name, text in files.items():
            (folder / f"{name.replace('__', '/')}.toml").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        return folder.name

    return make


def test_a_packages_overlay_is_read_when_it_is_used(package: Callable[..., str]) -> None:
    """Listing knows its base; a wrong form is an error that names the owner, file and line."""
    name = package(good="name='npu'\nbase='O1'\ninclude='parts/c.toml'", parts__c="", bad="\nbas=1")

    def declare(pipelines: PipelineRegistry) -> None:
        pipelines.add_toml(name, "good.toml")
        pipelines.add_toml(name, "bad.toml")

    pipelines = merged((ACME, declare))
    (bad, npu) = (entry.value for entry in pipelines.entries())
    assert isinstance(npu, PackagedOverlay) and isinstance(bad, PackagedOverlay)
    assert ("O1", None) == (npu.text("base"), npu.text("target"))
    overlay = pipelines.get("npu")
    assert isinstance(overlay, Overlay)
    assert ("npu", ACME, f"{name}/good.toml") == (overlay.name, overlay.owner, overlay.origin)
    (inner,) = overlay.include
    assert isinstance(inner, Overlay)
    assert (ACME, f"{name}/parts/c.toml") == (inner.owner, inner.origin)
    with pytest.raises(PluginError) as raised:
        pipelines.get("bad")
    assert (
        f"pipeline 'bad' can't be read: {name}/bad.toml:2: field 'bas': is no key of a pipeline"
        == raised.value.message
    )
    assert (("base",), "acme-casts 1.0") == (raised.value.near, raised.value.owner)


def test_a_packages_overlay_stays_in_the_package(package: Callable[..., str]) -> None:
    """Neither the file nor what it includes lies outside."""
    name = package(up="include='../x.toml'", root="include='/x.toml'", gone="include='no.toml'")
    for resource in ("../up.toml", "/up.toml"):
        with pytest.raises(PluginError, match="lies outside of the package"):
            PipelineRegistry().add_toml(name, resource)
    for resource, problem in (
        ("up", "lies outside"),
        ("root", "outside"),
        ("gone", "can't be read"),
    ):
        pipelines = merged((ACME, lambda p, r=resource: p.add_toml(name, f"{r}.toml")))
        with pytest.raises(PluginError, match=problem) as raised:
            pipelines.get(resource)
        assert "acme-casts 1.0" == raised.value.owner
        assert f"included by: {name}/{resource}.toml:1" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("text", "problem"), [("name", "is not TOML"), ("name = 1", "name 1 is not a text")]
)
def test_what_is_wrong_before_the_form(
    package: Callable[..., str], text: str, problem: str
) -> None:
    """Found when it is registered: without its name it can't be."""
    name = package(x=text)
    with pytest.raises((InputFileError, PluginError), match=problem):
        PipelineRegistry().add_toml(name, "x.toml")
    with pytest.raises(PluginError, match=r"gone\.toml can't be read"):
        PipelineRegistry().add_toml(name, "gone.toml")
    with pytest.raises(PluginError, match=r"no_such_package/x\.toml can't be read"):
        PipelineRegistry().add_toml("no_such_package", "x.toml")


# ---- selecting -----------------------------------------------------------------------------------


def test_a_text_is_no_level(catalog: MakeCatalog) -> None:
    """Which a user who gives it as one is told."""
    there = catalog({"A": {}}, pipelines=lambda p: p.add_text("short", "A"))
    source = Source("arguments", {"ge.oo.level": "short"})
    with pytest.raises(OptionError, match="value 'short' for option ge.oo.level") as raised:
        plan_passes(there, [source])
    assert "short is a pipeline text (acme-casts 1.0): give it as the pipeline" in str(raised.value)


def test_the_pipeline_where_none_is_given(catalog: MakeCatalog) -> None:
    """A fallback counts after a pipeline and an overlay that is the level; decisions say whose."""
    from dataclasses import replace

    def declare(pipelines: PipelineRegistry) -> None:
        pipelines.add(Overlay("npu", remove=(Change("A"),)))
        pipelines.add(Overlay("other"))
        pipelines.add_text("short", "B")

    there = catalog({"A": {}, "B": {}}, pipelines=declare)
    for name, rule in (("npu", "explicit off"), ("short", "not written in the pipeline")):
        fallback = replace(there.pipelines.select(name), chosen="target 'npu'")
        schedule = plan_passes(there, fallback=fallback)
        because = schedule.decisions["A"].because[0]
        assert (name, f"pipeline {name} (of target 'npu')", rule) == (
            schedule.pipeline,
            because.source,
            because.rule,
        )
        assert "other" == plan_passes(there, pipeline="other", fallback=fallback).pipeline
        level = [Source("arguments", {"ge.oo.level": "other"})]
        assert "other" == plan_passes(there, level, fallback=fallback).pipeline
        level = [Source("arguments", {"ge.oo.level": "O1"})]
        assert (name, "O1") == (
            (found := plan_passes(there, level, fallback=fallback)).pipeline,
            found.level.name,
        )


def test_one_word_that_is_nothing(catalog: MakeCatalog) -> None:
    """It may be meant as a pipeline or as a pass."""
    there = catalog({"Short": {}}, pipelines=lambda p: p.add_text("shorter", "Short"))
    with pytest.raises(GeError, match="no pipeline or pass 'shorte'") as raised:
        plan_passes(there, pipeline="shorte")
    assert ("shorter (pipeline)", "Short (graph-engine-core 1.0)") == raised.value.near


def test_a_name_that_is_only_spelled_otherwise(catalog: MakeCatalog) -> None:
    """It is no text of one pass."""
    there = catalog({"A": {}}, pipelines=lambda p: p.add_text("short", "A"))
    with pytest.raises(GeError, match="no pipeline 'SHORT'"):
        there.pipelines.select("SHORT")
    with pytest.raises(UsageError, match="expected"):
        there.pipelines.select("short,")
