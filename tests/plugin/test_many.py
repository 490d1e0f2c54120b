"""Many plugins: what listing imports and reads; no order of installation changes an answer."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from ge_core.plugin import index_plugins

REPOSITORY = Path(__file__).parents[2]
SECRET = "raise SystemExit('imported')\n"
LIGHT = """\
from ge_core.api import GraphPass, Level, hookimpl


class Tidy(GraphPass, codes=("DONE",)):
    '''Changes nothing.'''

    def run(self, graph, ctx):
        pass


@hookimpl
def ge_register_passes(passes):
    passes.add(Tidy, levels=Level.O1.and_above(), stage="OPTIMIZE_STAGE1")
    passes.add({heavy!r}, levels=Level.O4.and_above(), stage="OPTIMIZE_STAGE2")


@hookimpl
def ge_register_options(options):
    options.add("speed", default="1", help="How fast.")
"""


def put(site: Path, number: int, *, light: bool = True) -> str:
    """A distribution with a light registration module and a heavy one; the plugin's name."""
    name = f"many{number:03}"
    heavy = f"{name}_heavy"
    site.mkdir(exist_ok=True)
    code = LIGHT.replace("{heavy!r}", repr(f"{heavy}:Heavy"))
    (site / f"{name}.py").write_text(code if light else SECRET, encoding="utf-8")
    (site / f"{heavy}.py").write_text(SECRET, encoding="utf-8")
    info = site / f"{name}_dist-1.{number}.dist-info"
    info.mkdir()
    text = f"Metadata-Version: 2.1\nName: {name}-dist\nVersion: 1.{number}\n\n{'long ' * 100}\n"
    (info / "METADATA").write_text(text, encoding="utf-8")
    (info / "entry_points.txt").write_text(
        f"[ge_core.plugins.v1]\n{name} = {name}\n", encoding="utf-8"
    )
    return name


def ge(site: str, arguments: list[str], folder: Path, seed: str = "0") -> str:
    """Standard output of the command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "ge_core.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([site, str(REPOSITORY)]),
            "PYTHONHASHSEED": seed,
        },
    )
    return done.stdout


def imported(site: Path, command: str, folder: Path) -> list[str]:
    """Modules of the synthetic plugins that a command imports."""
    code = (
        "import sys\nfrom ge_core.cli.main import main\n"
        f"try:\n    main([{command!r}, '--format', 'json'])\nexcept SystemExit:\n    pass\n"
        "print(*sorted(n for n in sys.modules if n.startswith('many')), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(REPOSITORY)])},
    )
    return done.stderr.split()


@pytest.mark.parametrize("count", [50, 200])
def test_listing_plugins_imports_none(tmp_path: Path, count: int) -> None:
    """However many there are."""
    site = tmp_path / "site"
    names = [put(site, number) for number in range(count)]
    assert [] == imported(site, "plugins", tmp_path)
    listed = json.loads(ge(str(site), ["plugins", "--format", "json"], tmp_path))["items"]
    assert names == [item["name"] for item in listed if item["name"].startswith("many")]


@pytest.mark.parametrize("count", [50, 200])
def test_listing_passes_imports_registration_modules_only(tmp_path: Path, count: int) -> None:
    """What the references lead to stays where it is: importing it would end the process."""
    site = tmp_path / "site"
    names = [put(site, number) for number in range(count)]
    assert names == imported(site, "passes", tmp_path)


def test_one_look_at_each_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry points of all are read once, metadata once and only of packages with a plugin."""
    site = tmp_path / "site"
    for number in range(50):
        put(site, number)
    for number in range(30):
        info = site / f"other{number}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: other{number}\nVersion: 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    reads: Counter[tuple[str, str]] = Counter()
    kind = type(next(iter(Distribution.discover(path=[str(site)]))))
    original = kind.read_text

    def counted(self: Distribution, filename: str) -> str | None:
        folder = self._path.name  # type: ignore[attr-defined]  # of a folder on disk
        if folder.startswith(("many", "other")):
            reads[folder.partition("_")[0].partition("-")[0], filename] += 1
        return original(self, filename)

    monkeypatch.setattr(kind, "read_text", counted)
    index_plugins(environ={})
    assert {
        **{
            (f"many{n:03}", file): 1 for n in range(50) for file in ("entry_points.txt", "METADATA")
        },
        **{(f"other{n}", "entry_points.txt"): 1 for n in range(30)},
    } == dict(reads)


# ---- broken packages -----------------------------------------------------------------------------


def found(site: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """(status, reason) of the plugins of that name."""
    monkeypatch.syspath_prepend(str(site))
    return [
        (str(c.status), c.reason) for c in index_plugins(environ={}).candidates if c.name == name
    ]


def test_a_package_without_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named after its folder, and not loaded."""
    put(tmp_path, 1)
    (tmp_path / "many001_dist-1.1.dist-info" / "METADATA").unlink()
    assert [("broken", "has no Name and no Version in its metadata; install it again")] == found(
        tmp_path, "many001", monkeypatch
    )


def test_a_package_installed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two folders of metadata in one place: nobody knows which version is there."""
    put(tmp_path, 1)
    twin = tmp_path / "many001_dist-1.0.dist-info"
    twin.mkdir()
    for file in ("METADATA", "entry_points.txt"):
        text = (tmp_path / "many001_dist-1.1.dist-info" / file).read_text(encoding="utf-8")
        (twin / file).write_text(text, encoding="utf-8")
    ((status, reason),) = found(tmp_path, "many001", monkeypatch)
    assert "broken" == status
    assert "is installed 2 times in one folder (many001_dist-1.0, many001_dist-1.1)" in reason


def test_entry_points_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of some other package: plugins are found as if it weren't there."""
    put(tmp_path, 1)
    for stem, text in (("odd", b"[console_scripts]\nno value here\n"), ("bytes", b"\xff\xfe[x]")):
        info = tmp_path / f"{stem}-1.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_bytes(text)
    assert [("indexed", "")] == found(tmp_path, "many001", monkeypatch)


def test_an_entry_point_without_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without a value."""
    put(tmp_path, 1)
    path = tmp_path / "many001_dist-1.1.dist-info" / "entry_points.txt"
    path.write_text("[ge_core.plugins.v1]\nmany001 =\n", encoding="utf-8")
    assert [("broken", "has an entry point without a module")] == found(
        tmp_path, "many001", monkeypatch
    )


# ---- order of installation -----------------------------------------------------------------------


def answers(folder: Path, graph: Path, order: list[int], seed: str) -> list[str]:
    """What commands say with plugins installed in folders on the path in this order."""
    sites = []
    for number in order:
        site = folder / f"site{number}"
        if not site.exists():
            put(site, number)
        sites.append(str(site))
    shuffled = ", ".join(f'"many{number:03}"' for number in order)
    (folder / "ge.toml").write_text(f"plugins = [{shuffled}]\n", encoding="utf-8")
    path = os.pathsep.join(sites)
    said = [
        ge(path, arguments, folder, seed)
        for arguments in (["plugins"], ["passes"], ["options"], ["pipeline", "show", "O3"])
    ]
    files = [folder / name for name in ("plan.json", "remarks.jsonl", "tasks.json")]
    flags = ["--plan", str(files[0]), "--remarks", str(files[1]), "--tasks", str(files[2])]
    compiled = json.loads(
        ge(path, ["compile", str(graph), "--format", "json", *flags], folder, seed)
    )
    untimed = _without_times(compiled)
    return [*said, json.dumps(untimed), *(file.read_text(encoding="utf-8") for file in files)]


def _without_times(thing: object) -> object:
    if isinstance(thing, dict):
        return {k: _without_times(v) for k, v in thing.items() if k not in ("seconds", "timing")}
    return [_without_times(one) for one in thing] if isinstance(thing, list) else thing


def differing(folder: Path, graph: Path, orders: int, plugins: int) -> int:
    """How many different answers so many orders and hash seeds give."""
    shuffle = random.Random(7)
    seen = set()
    for turn in range(orders):
        order = list(range(plugins))
        shuffle.shuffle(order)
        seen.add(tuple(answers(folder, graph, order, str(turn))))
    return len(seen)


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """A graph with a move and a join."""
    from ge_core.ir import GraphBuilder, TensorDesc, save_graph_file

    build = GraphBuilder("sample")
    x = build.data("x", (4, 16))
    moved = build.op("TensorMove", build.op("Relu", x, name="a"), name="mv")
    wide = TensorDesc.make("float32", (8, 16))
    joined = build.op(
        "ConcatD",
        build.op("Relu", moved, name="b"),
        build.op("Relu", x, name="c"),
        name="join",
        outputs=[wide],
        attrs={"concat_dim": 0},
    )
    build.net_output(build.op("Exp", joined, name="tail"))
    save_graph_file(build.graph, tmp_path / "sample.json")
    return tmp_path / "sample.json"


def test_no_order_of_installation_changes_an_answer(tmp_path: Path, graph: Path) -> None:
    """Nor a hash seed: listings, pipeline, report (times apart), plan, remarks and tasks."""
    assert 1 == differing(tmp_path, graph, orders=2, plugins=4)


@pytest.mark.soak
def test_no_order_of_installation_changes_an_answer_at_length(tmp_path: Path, graph: Path) -> None:
    """Twenty orders, each with a hash seed of its own."""
    assert 1 == differing(tmp_path, graph, orders=20, plugins=8)
