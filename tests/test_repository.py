"""The promises that the repository makes as a whole: sizes, names, pins, entry points."""

import re
import statistics
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
MEMBERS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
CODE_MEMBERS = [member for member in MEMBERS if member.name != "all"]

BUILT = frozenset({"__pycache__", "_build", "build", "dist", "htmlcov"})
"""Folders that builds and tools leave behind, as in .gitignore."""

MOST_LINES = 800
MEDIAN_LINES = 120

# Split, so that this file doesn't name them either.
REGISTRY_HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "pypi.python" + ".org",
    "npm" + "js.org",
    "crates" + ".io",
    "ana" + "conda.org",
    "conda-" + "forge.org",
    "docker" + ".io",
    "gh" + "cr.io",
    "proxy.go" + "lang.org",
]
INDEX_OPTIONS = ["--index" + "-url", "--extra-index" + "-url", "index" + "-url ="]


def project(folder: Path) -> dict[str, Any]:
    """The [project] table of the distribution in `folder`."""
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return table


def normal(requirement: str) -> str:
    """The normalised distribution name that a requirement asks for."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def packages() -> list[Path]:
    """Every import package that a wheel carries."""
    return [
        ROOT / "ge_core",
        *(member / "src" / project_package(member) for member in CODE_MEMBERS),
    ]


def project_package(member: Path) -> str:
    """The import package of a plugin: its distribution's name, in Python's spelling."""
    return str(project(member)["name"]).replace("graph-engine-", "ge_").replace("-", "_")


def modules() -> list[Path]:
    """Every module that a wheel carries, without tests."""
    return sorted(path for package in packages() for path in package.rglob("*.py"))


def files() -> list[Path]:
    """The files of the repository as git lists them; without git, what isn't built or hidden."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        return [ROOT / name for name in filter(None, listed.stdout.decode().split("\0"))]
    return sorted(path for path in ROOT.rglob("*") if not _is_built(path.relative_to(ROOT)))


def _is_built(path: Path) -> bool:
    return any(
        part in BUILT or part.endswith(".egg-info") or (part.startswith(".") and part != ".ci")
        for part in path.parts
    )


def text_files() -> Iterator[tuple[Path, str]]:
    """The files of the repository that are text."""
    for path in files():
        if path.suffix in {".onnx", ".npz", ".npy", ".png"} or not path.is_file():
            continue
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def test_no_module_is_too_long() -> None:
    """A module over 800 lines is two modules."""
    sizes = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in modules()}
    assert {path: size for path, size in sizes.items() if size > MOST_LINES} == {}


def test_modules_are_small() -> None:
    """Half of the modules are under 120 lines."""
    sizes = [len(path.read_text().splitlines()) for path in modules()]
    assert statistics.median(sizes) < MEDIAN_LINES


def test_every_folder_of_modules_is_a_package() -> None:
    """Without an __init__.py a folder is invisible to the import contracts."""
    folders = {path.parent for path in modules()}
    loose = [folder for folder in folders if not (folder / "__init__.py").is_file()]
    assert sorted(str(folder.relative_to(ROOT)) for folder in loose) == []


def test_no_registry_is_named() -> None:
    """Where packages come from is the reader's configuration, not this repository's."""
    named = [
        (str(path.relative_to(ROOT)), word)
        for path, text in text_files()
        for word in [*REGISTRY_HOSTS, *INDEX_OPTIONS]
        if word in text
    ]
    assert named == []


def test_there_is_no_lock_file() -> None:
    """A lock file names registry hosts; constraints.txt pins instead."""
    assert not (ROOT / "uv.lock").exists() or "/uv.lock" in (ROOT / ".gitignore").read_text()


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_readme_names_the_commands(command: str) -> None:
    """The first two things to do are in the README."""
    assert command in (ROOT / "README.md").read_text()


def test_every_package_is_typed() -> None:
    """Each package ships the marker that lets type checkers read it."""
    assert [package for package in packages() if not (package / "py.typed").is_file()] == []


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_members_agree_with_the_kernel(member: Path) -> None:
    """One version, one licence, one range of Pythons for the whole workspace."""
    kernel, table = project(ROOT), project(member)
    shared = ["version", "license", "requires-python"]
    assert [table[key] for key in shared] == [kernel[key] for key in shared]
    assert (member / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert (member / "README.md").is_file()
    assert table["name"] == "graph-engine-" + member.name.replace("_", "-")


@pytest.mark.parametrize("member", CODE_MEMBERS, ids=lambda member: member.name)
def test_plugins_register_under_the_name_of_their_folder(member: Path) -> None:
    """One entry point, whose name owns what the plugin contributes."""
    points = project(member)["entry-points"]
    assert points["ge_core.plugins.v1"] == {member.name: project_package(member)}


@pytest.mark.parametrize("folder", [ROOT, *MEMBERS], ids=lambda folder: folder.name)
def test_no_requirement_names_a_stranger(folder: Path) -> None:
    """`ge-core` is somebody else's distribution; ours are bounded by this major version."""
    requirements = project(folder)["dependencies"]
    assert "ge-core" not in [normal(requirement) for requirement in requirements]
    ours = [name for name in requirements if normal(name).startswith("graph-engine-")]
    assert [name for name in ours if not name.endswith(">=1.0,<2")] == []


def test_all_means_all() -> None:
    """graph-engine-all depends on the kernel and on every plugin of the workspace."""
    wanted = {normal(requirement) for requirement in project(ROOT / "plugins/all")["dependencies"]}
    assert wanted == {project(folder)["name"] for folder in [ROOT, *CODE_MEMBERS]}


def test_make_installs_every_member() -> None:
    """The Makefile's list of plugins is the folder's."""
    found = re.search(r"^CODE_PLUGINS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert found
    assert sorted(found[1].split()) == [member.name for member in CODE_MEMBERS]


def test_every_member_has_its_layer_contracts() -> None:
    """A new plugin must join the contracts about who may import whom."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contracts = {contract["id"]: contract for contract in linter["contracts"]}
    plugins = sorted(project_package(member) for member in CODE_MEMBERS)
    assert sorted(linter["root_packages"]) == sorted(["ge_core", *plugins])
    assert sorted(contracts["kernel"]["forbidden_modules"]) == plugins
    assert sorted(contracts["plugins"]["modules"]) == plugins
    assert sorted(contracts["public"]["source_modules"]) == plugins


def test_every_requirement_is_pinned() -> None:
    """constraints.txt holds one exact version of everything that an install brings."""
    lines = [
        line
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[0-9][^ ]*", line)] == []
    pinned = {normal(line) for line in lines}
    asked = {
        normal(line)
        for line in (ROOT / "requirements-dev.txt").read_text().splitlines()
        if line and not line.startswith("#")
    }
    for folder in [ROOT, *MEMBERS]:
        table = project(folder)
        asked |= {normal(requirement) for requirement in table["dependencies"]}
        for extra in table.get("optional-dependencies", {}).values():
            asked |= {normal(requirement) for requirement in extra}
    ours = {project(folder)["name"] for folder in [ROOT, *MEMBERS]}
    assert asked - ours - pinned == set()


def test_every_target_is_explained() -> None:
    """`make help` knows each target that a person would type."""
    makefile = (ROOT / "Makefile").read_text()
    phony = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    explained = re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)
    assert sorted(name for line in phony for name in line.split()) == sorted(explained)
