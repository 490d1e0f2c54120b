"""From one name to all names of a package, and the names that nobody may have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from ge_core.config import ProjectConfig
from ge_core.errors import UsageError
from ge_core.scaffold import Names, plugin_names
from ge_core.scaffold.names import LONGEST


def said(name: str, config: ProjectConfig | None = None) -> list[str]:
    """The lines of the error for a name."""
    with pytest.raises(UsageError) as raised:
        plugin_names(name, config)
    return str(raised.value).splitlines()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("acme", Names("acme", "acme-ge", "acme_ge", "Acme", "acme")),
        ("acme-ge", Names("acme", "acme-ge", "acme_ge", "Acme", "acme")),
        ("my_npu_2", Names("my_npu_2", "my-npu-2-ge", "my_npu_2_ge", "MyNpu2", "my-npu-2")),
        ("acme-910b", Names("acme_910b", "acme-910b-ge", "acme_910b_ge", "Acme910b", "acme-910b")),
        ("x", Names("x", "x-ge", "x_ge", "X", "x")),
    ],
)  # fmt: skip
def test_all_names_follow_from_one(given: str, expected: Names) -> None:
    """Dashes for what is installed and typed, underscores for what Python and options name."""
    assert plugin_names(given) == expected


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("Acme", "try 'acme'"),
        ("AcmeCasts", "try 'acme-casts'"),
        ("acme casts", "try 'acme-casts'"),
        ("acme.casts", "try 'acme-casts'"),
        ("acme--casts", "try 'acme-casts'"),
        ("-acme", "try 'acme'"),
        ("2fast", "try 'fast'"),
        ("../acme", "try 'acme'"),
        ("acme\n", "try 'acme'"),
        ("", "choose another name, such as your company's or your device's"),
        ("ünïcode", "try 'n-code'"),
        ("٣", "choose another name, such as your company's or your device's"),
    ],
)
def test_a_malformed_name_is_an_error_with_one_that_would_do(given: str, near: str) -> None:
    """Nothing is corrected in silence."""
    assert said(given) == [
        f"plugin name {given!r} is not lower-case letters and digits, in words joined by '-', "
        "a letter first",
        f"  {near}",
    ]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("a" * (LONGEST + 1), f"has {LONGEST + 1} letters, more than {LONGEST}"),
        ("ge", "means something else here"),
        ("default", "means something else here"),
        ("default-ge", "means something else here"),
        ("class", "is a word of Python's own"),
        ("match", "is a word of Python's own"),
        ("graph-engine-acme", "begins as the product's own packages do"),
        ("ge-core", "belongs to the product itself"),
        ("ge_core", "belongs to the product itself"),
        ("tensormove", "belongs to the product itself"),
        ("concat-notask", "belongs to the product itself"),
        ("onnx", "belongs to the product itself"),
    ],
)
def test_some_names_are_nobodys_to_take(given: str, problem: str) -> None:
    """Those of the product, of Python, and words that mean something else."""
    assert said(given)[0] == f"plugin name {given!r} {problem}"


@drawn(st.text(st.sampled_from("aZ9-_. \n/ßge"), max_size=LONGEST + 2))
def test_every_text_is_a_name_or_an_error_with_one(text: str) -> None:
    """What is accepted, and what is proposed instead, can be a package, a module and a class."""
    try:
        names = Names.of(text)
    except UsageError as error:
        found = re.fullmatch("try '(.+)'", error.hint or "")
        if found is None:
            return
        names = Names.of(found[1])
    assert re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*-ge", names.distribution)
    assert names.package == names.distribution.replace("-", "_")
    assert names.package.isidentifier()
    assert names.camel.isidentifier()
    assert names.package == f"{names.owner}_ge"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def installed(site: Path, name: str, points: str = "") -> None:
    """A distribution's metadata."""
    info = site / f"{name.replace('-', '_')}-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.1\n")
    (info / "entry_points.txt").write_text(points)


def test_the_name_of_an_installed_plugin_is_taken(site: Path) -> None:
    """However it is written; the error says whose it is."""
    installed(site, "casts-for-ge", "[ge_core.plugins.v1]\nacme_casts = nowhere\n")
    assert said("acme-casts") == [
        "plugin name 'acme-casts' is taken here",
        "  owner: casts-for-ge 2.1",
        "  choose another name, or uninstall that package first",
    ]


def test_so_is_that_of_a_plugin_for_another_api(site: Path) -> None:
    """It isn't loaded, and yet its owner would be confused with the new one's."""
    installed(site, "future", "[ge_core.plugins.v2]\nacme = nowhere\n")
    assert said("acme")[1] == "  owner: future 2.1"


def test_so_is_that_of_a_local_module(tmp_path: Path) -> None:
    """Which the project's configuration names."""
    config = ProjectConfig(plugins=("acme = my_passes",), file=tmp_path / "ge.toml")
    assert said("acme", config)[:2] == [
        "plugin name 'acme' is taken here",
        "  owner: my_passes",
    ]


def test_an_installed_distribution_is_not_replaced(site: Path) -> None:
    """One that is no plugin may have the name as well."""
    installed(site, "acme-ge")
    assert said("acme")[:2] == [
        "plugin name 'acme' makes package 'acme-ge', which is installed",
        "  owner: acme-ge 2.1",
    ]


def test_a_module_is_not_hidden(site: Path) -> None:
    """The new package's module must be the only one of its name; nothing is imported to see it."""
    (site / "acme_ge.py").write_text("raise SystemExit\n")
    assert said("acme") == [
        "plugin name 'acme' makes module 'acme_ge', which exists already",
        f"  owner: {site / 'acme_ge.py'}",
        "  choose another name",
    ]
