"""The index: what is installed, from which package, and what will be loaded, without importing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ge_core.config import ProjectConfig
from ge_core.errors import InputFileError
from ge_core.plugin import Candidate, PluginIndex, Status, index_plugins

Install = Callable[..., str]
EXPLODES = "raise AssertionError('imported')"


def found(index: PluginIndex, *names: str) -> dict[str, Candidate]:
    """Candidates of these names by distribution."""
    return {c.distribution: c for c in index.candidates if c.name in names}


def statuses(index: PluginIndex, *names: str) -> list[tuple[str, str]]:
    """(distribution, status) of the candidates of these names, in order."""
    return [(c.distribution, str(c.status)) for c in index.candidates if c.name in names]


def index(environ: dict[str, str] | None = None, **config: Any) -> PluginIndex:
    """The index with this configuration, in a file ge.toml."""
    return index_plugins(ProjectConfig(file=Path("/p/ge.toml"), **config), environ or {})


def test_a_plugin_is_found_with_package_and_version(install: Install) -> None:
    """And not imported."""
    module = install("acme", "acme-casts", EXPLODES, version="2.5")
    (candidate,) = found(index(), "acme").values()
    assert {
        "name": "acme",
        "distribution": "acme-casts",
        "version": "2.5",
        "api": "1",
        "status": "indexed",
        "error": None,
    } == candidate.to_json()
    assert module not in sys.modules


def test_candidates_are_sorted_by_api_name_and_distribution(install: Install) -> None:
    """Whatever the order of installation."""
    install("zeta", "a-dist", EXPLODES)
    install("beta", "z-dist", EXPLODES)
    install("beta", "B_dist", EXPLODES)
    install("alpha", "old", EXPLODES, group="ge_core.plugins.v0")
    names = ("alpha", "beta", "zeta")
    assert ["old", "B_dist", "z-dist", "a-dist"] == [d for d, _ in statuses(index(), *names)]


@pytest.mark.parametrize("api", ["0", "2", "1x", ""])
def test_another_api_is_incompatible(install: Install, api: str) -> None:
    """By its group's number alone."""
    install("acme", "acme-casts", EXPLODES, group=f"ge_core.plugins.v{api}")
    (candidate,) = found(index(), "acme").values()
    assert (Status.INCOMPATIBLE, f"is for plugin API {api}, this kernel has 1") == (
        candidate.status,
        candidate.reason,
    )


def test_a_contested_name_is_nobodys(install: Install) -> None:
    """Both claims are refused, each naming all claimants and what to do."""
    install("acme", "acme-casts", EXPLODES)
    install("acme", "acme-other", EXPLODES, version="3")
    refused = found(index(), "acme")
    assert {Status.DUPLICATE} == {candidate.status for candidate in refused.values()}
    assert (
        "has a contested name (acme-casts 1.0, acme-other 3); choose with [tool.ge] prefer"
    ) == refused["acme-casts"].reason
    assert [] == [c for c in index().loadable() if c.name == "acme"]


def test_prefer_settles_a_contest(install: Install) -> None:
    """The other is switched off; names are compared as packaging does."""
    install("acme", "acme-casts", EXPLODES)
    install("acme", "acme-other", EXPLODES)
    settled = index(prefer={"acme": "Acme_Other"})
    assert [("acme-casts", "disabled"), ("acme-other", "indexed")] == statuses(settled, "acme")


def test_a_claim_on_a_built_in_name_is_a_contest(install: Install) -> None:
    """A stranger's package can't take tensormove's place, nor its bare names."""
    install("tensormove", "stranger", EXPLODES)
    refused = found(index(), "tensormove")
    assert {Status.DUPLICATE} == {candidate.status for candidate in refused.values()}
    assert (True, False) == (
        refused["graph-engine-tensormove"].owner.builtin,
        refused["stranger"].owner.builtin,
    )


def test_a_package_called_like_ours_is_a_third_party(install: Install) -> None:
    """The list of first-party distributions is closed."""
    install("more", "graph-engine-more", EXPLODES)
    (candidate,) = found(index(), "more").values()
    assert not candidate.owner.builtin


def test_plugins_are_disabled_by_name_or_all_third_parties_at_once(install: Install) -> None:
    """GE_DISABLE_PLUGINS takes names with commas or blanks; * leaves the built-in ones."""
    install("acme", "acme-casts", EXPLODES)
    names = ("acme", "tensormove")
    by_name = index({"GE_DISABLE_PLUGINS": "tensormove, other"})
    everything = index({"GE_DISABLE_PLUGINS": "*"})
    assert ["indexed", "disabled"] == [s for _, s in statuses(by_name, *names)]
    assert ["disabled", "indexed"] == [s for _, s in statuses(everything, *names)]
    assert ("GE_DISABLE_PLUGINS names plugin 'other', which is not installed",) == by_name.warnings
    assert () == everything.warnings


def test_a_disabled_claimant_contests_nothing(install: Install) -> None:
    """With the allow-list as well: what isn't loaded claims nothing."""
    install("acme", "acme-casts", EXPLODES)
    install("other", "other-dist", EXPLODES)
    allowed = index(plugins=("acme", "ghost"))
    assert ["indexed", "disabled"] == [s for _, s in statuses(allowed, "acme", "other")]
    assert ["indexed"] == [s for _, s in statuses(allowed, "onnx")]
    assert ("/p/ge.toml lists plugin 'ghost', which is not installed",) == allowed.warnings


def test_a_local_module_is_code_that_will_run_and_is_said_so() -> None:
    """It is listed like a plugin, under its module's name."""
    local = index(plugins=("mine = my_passes:plugin",))
    (candidate,) = found(local, "mine").values()
    assert ("my_passes:plugin", "my_passes", Path("/p")) == (
        candidate.value,
        candidate.distribution,
        candidate.folder,
    )
    assert (
        "plugin 'mine' runs code of the project: my_passes:plugin (/p/ge.toml)",
    ) == local.warnings


def test_a_local_module_contests_an_installed_name(install: Install) -> None:
    """As any other claim."""
    install("acme", "acme-casts", EXPLODES)
    contested = index(plugins=("acme", "acme = my_passes"))
    assert [("acme-casts", "duplicate"), ("my_passes", "duplicate")] == statuses(contested, "acme")


def test_a_malformed_local_module() -> None:
    """An error that names the file and the key."""
    with pytest.raises(InputFileError, match=r"ge\.toml: field 'plugins': 'a = b c' is neither"):
        index(plugins=("a = b c",))


def test_a_preference_for_something_not_installed_is_said() -> None:
    """It may be a misspelling."""
    assert ("/p/ge.toml prefers 'acme-cast' for plugin 'acme', which is not installed",) == index(
        prefer={"acme": "acme-cast"}
    ).warnings
