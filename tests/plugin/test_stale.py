"""Installations that lag behind the project that they were made from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

from ge_core.plugin.stale import Stale, stale_installations

PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "acme-ge"
version = "1.0"

[project.entry-points."ge_core.plugins.v1"]
acme = "acme_ge"

[tool.setuptools]
py-modules = ["acme_ge"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The author's project."""
    folder = tmp_path / "acme"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "acme_ge.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where it is installed."""
    site = tmp_path / "site"
    site.mkdir()
    return site


def install(
    folder: Path,
    site: Path,
    *,
    points: str = "[ge_core.plugins.v1]\nacme = acme_ge\n",
    origin: object = None,
    version: str = "1.0",
) -> None:
    """The metadata that an installer leaves, editable unless an origin says otherwise."""
    info = site / "acme_ge-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-ge\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(points)
    if origin is None:
        origin = {"url": folder.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(origin if isinstance(origin, str) else json.dumps(origin))


def edit(folder: Path, old: str, new: str) -> None:
    """A change of the project that isn't installed."""
    path = folder / "pyproject.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def found(site: Path) -> list[Stale]:
    """What is stale of the distributions in one folder."""
    return stale_installations(distributions(path=[str(site)]))


def test_what_agrees_is_not_stale(folder: Path, site: Path) -> None:
    """The usual case."""
    install(folder, site)
    assert found(site) == []


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (
            'acme = "acme_ge"',
            'acme = "acme_ge.plugin"',
            "entry point 'acme' of ge_core.plugins.v1 is 'acme_ge.plugin' now",
        ),
        (
            'acme = "acme_ge"',
            'acme = "acme_ge"\nmore = "acme_ge"',
            "entry point 'more' of ge_core.plugins.v1 is new",
        ),
        ('acme = "acme_ge"', "", "entry point 'acme' of ge_core.plugins.v1 is gone"),
        ('version = "1.0"', 'version = "1.1"', "its version is 1.1 now"),
        ('name = "acme-ge"', 'name = "acme-casts"', "its name is 'acme-casts' now"),
    ],
)
def test_a_change_of_the_project_is_told(
    folder: Path, site: Path, old: str, new: str, change: str
) -> None:
    """With the command that brings the installation up to date."""
    install(folder, site)
    edit(folder, old, new)
    (stale,) = found(site)
    assert (stale.changes, stale.command) == ((change,), f"pip install -e {folder}")
    assert str(stale).splitlines() == [
        f"acme-ge 1.0 was installed before its project changed: {change}",
        f"  re-install: pip install -e {folder}",
    ]


def test_several_changes_are_told_in_order(folder: Path, site: Path) -> None:
    """By group and name."""
    install(folder, site)
    edit(folder, 'acme = "acme_ge"', 'zoo = "acme_ge"\nbar = "acme_ge"')
    edit(folder, 'version = "1.0"', 'version = "2.0"')
    (stale,) = found(site)
    assert [change.replace(" of ge_core.plugins.v1", "") for change in stale.changes] == [
        "entry point 'acme' is gone",
        "entry point 'bar' is new",
        "entry point 'zoo' is new",
        "its version is 2.0 now",
    ]


def test_a_first_entry_point_is_seen(folder: Path, site: Path) -> None:
    """The package that was just made a plugin is absent from every listing, so this must tell."""
    install(folder, site, points="")
    assert [one.changes for one in found(site)] == [
        ("entry point 'acme' of ge_core.plugins.v1 is new",)
    ]


def test_drivers_count_too(folder: Path, site: Path) -> None:
    """Every group of this product, whatever is loaded from it."""
    install(folder, site)
    edit(
        folder,
        "[tool.setuptools]",
        '[project.entry-points."ge_core.executors.v1"]\nx = "y"\n\n[tool]',
    )
    assert [one.changes for one in found(site)] == [
        ("entry point 'x' of ge_core.executors.v1 is new",)
    ]


def test_a_copy_lags_behind_as_well(folder: Path, site: Path) -> None:
    """`pip install FOLDER`, without -e: the command says so."""
    install(folder, site, origin={"url": folder.as_uri(), "dir_info": {}})
    edit(folder, 'version = "1.0"', 'version = "1.1"')
    assert [one.command for one in found(site)] == [f"pip install {folder}"]


@pytest.mark.parametrize(
    "origin",
    [
        "{not json",
        "[]",
        {"url": "https://example.invalid/acme.whl", "archive_info": {}},
        {"url": "https://example.invalid/acme.git", "dir_info": {}},
        {"dir_info": {}},
        {"url": 7, "dir_info": {}},
    ],
)
def test_other_origins_say_nothing(folder: Path, site: Path, origin: object) -> None:
    """What came from elsewhere, or can't be understood, is trusted."""
    install(folder, site, origin=origin)
    edit(folder, 'version = "1.0"', 'version = "1.1"')
    assert found(site) == []


@pytest.mark.parametrize("text", ["", "[project", "project = 1", "[tool.poetry]\nname = 'x'\n"])
def test_a_project_that_cannot_be_read_says_nothing(folder: Path, site: Path, text: str) -> None:
    """It may be in the middle of an edit, or keep its metadata elsewhere."""
    install(folder, site)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    assert found(site) == []


def test_a_project_that_is_gone_says_nothing(folder: Path, site: Path) -> None:
    """Its code may still be installed."""
    install(folder, site)
    (folder / "pyproject.toml").unlink()
    assert found(site) == []


def test_what_a_backend_makes_up_is_not_compared(folder: Path, site: Path) -> None:
    """Dynamic metadata are known after a build only."""
    install(folder, site, version="1.0.dev3+g1234")
    edit(folder, 'version = "1.0"', 'dynamic = ["version", "entry-points"]')
    edit(folder, '[project.entry-points."ge_core.plugins.v1"]\nacme = "acme_ge"\n', "")
    assert found(site) == []


@pytest.mark.parametrize(
    ("written", "installed"), [("1.0", "1.0.0"), ("1.0-alpha1", "1.0a1"), ("1", "1.0")]
)
def test_a_version_may_be_spelled_anew(
    folder: Path, site: Path, written: str, installed: str
) -> None:
    """Installers normalise them."""
    install(folder, site, version=installed)
    edit(folder, 'version = "1.0"', f'version = "{written}"')
    assert found(site) == []


@pytest.mark.parametrize("broken", ["entry_points.txt", "METADATA"])
def test_broken_metadata_say_nothing(folder: Path, site: Path, broken: str) -> None:
    """And hide nobody else's."""
    install(folder, site)
    (site / "acme_ge-1.0.dist-info" / broken).write_text("[ge_core.plugins.v1]\nnonsense\n")
    edit(folder, 'acme = "acme_ge"', 'more = "acme_ge"')
    other = folder.parent / "other"
    other.mkdir()
    (other / "pyproject.toml").write_text(PROJECT.replace("acme-ge", "other"), encoding="utf-8")
    info = site / "other-0.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 0.9\n")
    (info / "direct_url.json").write_text(json.dumps({"url": other.as_uri(), "dir_info": {}}))
    assert "other" in [one.distribution for one in found(site)]


def test_a_folder_with_spaces_is_quoted(tmp_path: Path, site: Path) -> None:
    """So that the command can be pasted."""
    folder = tmp_path / "my acme"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT.replace("1.0", "1.1"), encoding="utf-8")
    install(folder, site)
    assert [one.command for one in found(site)] == [f"pip install -e '{folder}'"]


def test_packages_of_others_are_not_looked_at(folder: Path, site: Path) -> None:
    """A project without entry points of this product is none of its business."""
    install(folder, site, points="[console_scripts]\nacme = acme:main\n")
    edit(folder, '[project.entry-points."ge_core.plugins.v1"]\nacme = "acme_ge"\n', "")
    edit(folder, 'version = "1.0"', 'version = "1.1"')
    assert found(site) == []


@pytest.mark.parametrize("code", [".", "src"])
def test_metadata_beside_the_code_are_compared_too(folder: Path, code: str) -> None:
    """What a backend left there is read where the code's folder comes first on the path."""
    info = folder / code / "acme_ge.egg-info"
    info.mkdir(parents=True)
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: acme-ge\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ge_core.plugins.v1]\nacme = acme_ge\n")
    assert found(folder / code) == []
    edit(folder, 'acme = "acme_ge"', 'acme = "acme_ge.plugin"')
    assert [one.command for one in found(folder / code)] == [f"pip install -e {folder}"]
    edit(folder, 'name = "acme-ge"', 'name = "somebody-else"')
    assert found(folder / code) == []


def test_the_first_of_a_name_counts(folder: Path, site: Path, tmp_path: Path) -> None:
    """As it does for imports; the other one is hidden."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    install(folder, site)
    install(folder, hidden, points="")
    both: list[Distribution] = [
        *distributions(path=[str(site)]),
        *distributions(path=[str(hidden)]),
    ]
    assert stale_installations(both) == []


def test_doctor_says_it_of_a_real_installation(folder: Path, site: Path) -> None:
    """Installed by pip, then edited: exit code 1, and the command to run."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    (folder / "acme_ge.py").write_text(
        "from ge_core.api import hookimpl\n\n\n@hookimpl\ndef ge_register_targets(targets): ...\n",
        encoding="utf-8",
    )
    subprocess.run(
        [*pip, "--no-index", "--no-deps", "--no-build-isolation", "--target", site, folder],
        check=True,
    )
    edit(folder, 'acme = "acme_ge"', 'renamed = "acme_ge"')
    done = subprocess.run(
        [Path(sys.executable).with_name("ge"), "plugins", "doctor", "--format", "json"],
        env=_with_path(site),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    (stale,) = (one for one in json.loads(done.stdout)["stale"] if one["distribution"] == "acme-ge")
    assert stale == {
        "distribution": "acme-ge",
        "version": "1.0",
        "folder": str(folder),
        "changes": [
            "entry point 'acme' of ge_core.plugins.v1 is gone",
            "entry point 'renamed' of ge_core.plugins.v1 is new",
        ],
        "command": f"pip install {folder}",
    }


@pytest.mark.parametrize(
    ("command", "said"),
    [("passes show acme.New", True), ("compile nowhere.json", False), ("nonsense", True)],
)
def test_a_missing_name_is_explained_by_it(
    folder: Path, site: Path, command: str, said: bool
) -> None:
    """Who asks for what was just added is told to install it; other errors stay as they are."""
    install(folder, site, points="")
    done = subprocess.run(
        [Path(sys.executable).with_name("ge"), *command.split()],
        env=_with_path(site),
        capture_output=True,
        text=True,
        check=False,
    )
    told = [
        "  acme-ge 1.0 was installed before its project changed: "
        "entry point 'acme' of ge_core.plugins.v1 is new",
        f"  re-install: pip install -e {folder}",
    ]
    assert done.returncode in (2, 3)
    assert (done.stderr.splitlines()[-2:] == told) == said


def _with_path(site: Path) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path}
