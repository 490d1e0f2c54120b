"""Targets: what they answer, how plugins and files declare them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ge_core.errors import InputFileError, PluginError, UnknownNameError
from ge_core.registry import Owner
from ge_core.targets import GENERIC, Target, TargetRegistry, builtin_targets, odd_pools

ACME = Owner("acme", "acme-npu", "1.0")


@pytest.fixture
def targets() -> TargetRegistry:
    """The kernel's, and npu of acme."""
    registry, staged = builtin_targets(), TargetRegistry()
    staged.add(Target("npu", 512, 32, {"HBM": 1024}, {"float16": 32}, strided=True))
    registry.absorb(staged, ACME)
    return registry


def test_the_generic_target_assumes_least() -> None:
    """64-byte buffers, pieces at the size of their elements, no limits, nothing strided."""
    assert (64, 2, None, None, False) == (
        GENERIC.align(1),
        GENERIC.piece_align(2),
        GENERIC.capacity("HBM"),
        GENERIC.block_width("float16"),
        GENERIC.strided,
    )


@pytest.mark.parametrize(("size", "aligned"), [(0, 0), (1, 512), (512, 512), (513, 1024)])
def test_sizes_are_rounded_up(targets: TargetRegistry, size: int, aligned: int) -> None:
    """To the alignment of separate buffers."""
    assert aligned == targets.get("npu").align(size)


def test_what_a_target_says(targets: TargetRegistry) -> None:
    """Run alignment, capacities and block widths where it names them."""
    npu = targets.get("npu")
    assert (32, 1024, None, 32) == (
        npu.piece_align(2),
        npu.capacity("HBM"),
        npu.capacity("P2P"),
        npu.block_width("float16"),
    )


def test_a_target_keeps_the_name_that_users_type(targets: TargetRegistry) -> None:
    """npu, not acme.npu; the owner is remembered."""
    assert ["generic", "npu"] == targets.names()
    assert "acme-npu 1.0" == str(targets.entry("npu").owner)
    with pytest.raises(UnknownNameError) as raised:
        targets.select("npx")
    assert ("npu (acme-npu 1.0)",) == raised.value.near


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        ({"align_bytes": 48}, "align_bytes 48 is not a power of two"),
        ({"run_align": 0}, "run_align 0 is not a power of two"),
        ({"pools": {"HBM": -1}}, "pool 'HBM' has capacity -1"),
        ({"block_widths": {"int8": 0}}, "block width 0 for 'int8'"),
        ({"block_widths": {"int9": 32}}, "block width for unknown dtype 'int9'"),
    ],
)
def test_impossible_targets(about: dict[str, Any], problem: str) -> None:
    """Refused when they are made."""
    with pytest.raises(ValueError, match=problem):
        Target("x", **about)


def test_only_targets_are_registered() -> None:
    """A dictionary, say, is none."""
    with pytest.raises(PluginError, match="is not a Target"):
        TargetRegistry().add({"name": "x"})  # type: ignore[arg-type]  # that is the point


def test_a_target_from_a_file(targets: TargetRegistry, tmp_path: Path) -> None:
    """Properties that it doesn't name are those of its base; the file gives the name."""
    path = tmp_path / "small.toml"
    path.write_text(
        "base = 'npu'\nrun_align = 0\n[pools]\nHBM = 4096\n[block_widths]\nint8 = 16\n",
        encoding="utf-8",
    )
    assert Target("small", 512, None, {"HBM": 4096}, {"int8": 16}, strided=True) == targets.select(
        str(path)
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("align_byte = 1", "field 'align_byte': is no property of a target\n  near: align_bytes"),
        ("align_bytes = '64'", "field 'align_bytes': '64' is not a whole number"),
        ("strided = 1", "field 'strided': 1 is not true or false"),
        ("name = 1", "field 'name': 1 is not a text"),
        ("pools = 3", "field 'pools': 3 is not a table"),
        ("[pools]\nHBM = true", "field 'pools': {'HBM': True} is not a table"),
        ("align_bytes = 3", "target 'x': align_bytes 3 is not a power of two"),
        ("x", "is not TOML"),
    ],
)
def test_malformed_target_files(
    targets: TargetRegistry, tmp_path: Path, text: str, problem: str
) -> None:
    """One error that names file and field."""
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputFileError) as raised:
        targets.select(str(path))
    assert str(raised.value).startswith(f"{path}: {problem}")


def test_a_file_that_is_not_there(targets: TargetRegistry, tmp_path: Path) -> None:
    """Names the file."""
    with pytest.raises(InputFileError, match=r"gone\.toml: can't be read"):
        targets.select(str(tmp_path / "gone.toml"))


def test_the_pipeline_of_a_target(targets: TargetRegistry, tmp_path: Path) -> None:
    """A file has that of its base, another one by name, or a file beside it."""
    staged = TargetRegistry()
    staged.add(Target("soc", pipeline="acme-soc"))
    targets.absorb(staged, ACME)
    path = tmp_path / "x.toml"
    for text, pipeline in (
        ("base = 'soc'", "acme-soc"),
        ("pipeline = 'other'", "other"),
        ("pipeline = 'mine.toml'", str(tmp_path / "mine.toml")),
    ):
        path.write_text(text, encoding="utf-8")
        assert pipeline == targets.select(str(path)).pipeline
    path.write_text("pipeline = 1", encoding="utf-8")
    with pytest.raises(InputFileError, match="field 'pipeline': 1 is not a text"):
        targets.select(str(path))


def test_a_plugins_target_names_no_file() -> None:
    """Where would it lie? It names a pipeline that the plugin registers."""
    with pytest.raises(PluginError, match="target 'soc' names the file 'x.toml'") as raised:
        TargetRegistry().add(Target("soc", pipeline="x.toml"))
    assert "add_toml" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("pools", "used", "odd"),
    [
        ({"HMB": 10}, ("HBM",), ["limits pool 'HMB', in which nothing lies, and not HBM"]),
        ({"HMB": None}, ("HBM",), []),
        ({"HBM": 10, "HBM2": 10}, ("HBM",), []),
        ({"L1": 10}, ("HBM",), []),
        ({"SRMA": 10, "HBM": 5}, ("HBM", "SRAM"), ["limits pool 'SRMA', in which nothing lies,"]),
    ],
)
def test_a_limit_on_a_pool_that_nothing_lies_in(
    pools: dict[str, int | None], used: tuple[str, ...], odd: list[str]
) -> None:
    """Said where a pool that is used and not limited is called alike."""
    said = odd_pools(Target("npu", pools=pools), used)
    assert len(odd) == len(said)
    assert all(one.startswith(start) for one, start in zip(said, odd, strict=True))


def test_a_misspelled_pool_is_told_to_who_compiles() -> None:
    """The graph lies in HBM, which the target doesn't limit."""
    import ge_core as ge
    from ge_core.testing import random_graph

    result = ge.compile(random_graph(1), target=Target("npu", pools={"HMB": 1}))
    assert "target 'npu' limits pool 'HMB', in which nothing lies, and not HBM" in result.warnings


def test_a_name_that_several_packages_claim(targets: TargetRegistry) -> None:
    """It is nobody's, whoever comes third; a target of the kernel's can't be claimed."""
    for name in ("beta", "gamma"):
        staged = TargetRegistry()
        staged.add(Target("npu"))
        staged.add(Target(f"{name}-npu"))
        targets = targets.fork()
        targets.absorb(staged, Owner(name, f"{name}-ge", "1.0"))
    assert ["beta-npu", "gamma-npu", "generic"] == targets.names()
    with pytest.raises(PluginError) as raised:
        targets.select("npu")
    assert "target 'npu' is contested: acme-npu 1.0 and beta-ge 1.0 and gamma-ge 1.0" in str(
        raised.value
    )
    assert "load one of the plugins acme, beta, gamma" in str(raised.value.hint)


def test_a_target_file_whose_base_is_not_there(targets: TargetRegistry, tmp_path: Path) -> None:
    """The error names the file."""
    path = tmp_path / "small.toml"
    path.write_text("base = 'npx'", encoding="utf-8")
    with pytest.raises(UnknownNameError, match="no target 'npx'") as raised:
        targets.select(str(path))
    assert f"named by: {path}: base" in str(raised.value.hint)
