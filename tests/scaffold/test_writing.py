"""A folder is written completely or not at all, and nothing that exists is touched."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from ge_core.errors import InputFileError, UsageError
from ge_core.scaffold import KINDS, Names, new_plugin, package_files


def tree(folder: Path) -> dict[str, str]:
    """Every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_it_is_what_was_made(tmp_path: Path) -> None:
    """All files, and no other."""
    folder = new_plugin("acme", KINDS, tmp_path / "acme")
    assert tree(folder) == dict(sorted(package_files(Names.of("acme"), KINDS).items()))
    assert os.listdir(tmp_path) == ["acme"]


def test_the_folder_is_named_after_the_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the working directory, unless another one is asked for."""
    monkeypatch.chdir(tmp_path)
    assert new_plugin("acme") == Path("acme-ge")
    assert (tmp_path / "acme-ge" / "pyproject.toml").is_file()


def test_the_order_of_kinds_does_not_count() -> None:
    """Equal requests give equal packages."""
    names = Names.of("acme")
    assert package_files(names, ["trace", "pass", "trace"]) == package_files(
        names, ["pass", "trace"]
    )


@pytest.mark.parametrize("kind", ["file", "folder", "full folder", "dangling link"])
def test_what_exists_is_left_alone(tmp_path: Path, kind: str) -> None:
    """Whatever it is."""
    out = tmp_path / "acme"
    if kind == "file":
        out.write_text("mine")
    elif kind == "dangling link":
        out.symlink_to(tmp_path / "nowhere")
    else:
        out.mkdir()
    if kind == "full folder":
        (out / "mine.py").write_text("mine")
    before = tree(tmp_path)
    with pytest.raises(UsageError, match="exists already"):
        new_plugin("acme", out=out)
    assert (tree(tmp_path), os.listdir(tmp_path)) == (before, ["acme"])


def test_the_parent_must_be_there(tmp_path: Path) -> None:
    """A misspelled path isn't made."""
    with pytest.raises(UsageError, match="is not a folder"):
        new_plugin("acme", out=tmp_path / "nowhere" / "acme")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("at", [0, 3, 8])
def test_a_failure_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Wherever it comes; the error names the folder."""
    real, count = Path.write_text, iter(range(100))

    def full(self: Path, *args: object, **named: object) -> int:
        if next(count) == at:
            raise OSError(28, "no space left on device")
        return real(self, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputFileError, match=r"acme: can't be written: no space left on device"):
        new_plugin("acme", out=tmp_path / "acme")
    assert os.listdir(tmp_path) == []


def test_so_does_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on to whoever pressed the key."""

    def interrupted(self: Path, *args: object, **named: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        new_plugin("acme", out=tmp_path / "acme")
    assert os.listdir(tmp_path) == []


def test_an_unknown_kind_is_an_error_with_near_ones() -> None:
    """And the list of all."""
    with pytest.raises(UsageError) as raised:
        package_files(Names.of("acme"), ["pass", "checkers"])
    assert str(raised.value).splitlines() == [
        "no kind of piece 'checkers'",
        "  near: checker",
        "  kinds: pass, checker, assigner, trace, op, target, pipeline, option, instrument",
    ]


def test_a_package_of_nothing_is_an_error() -> None:
    """It could not be loaded: a plugin implements some hook."""
    with pytest.raises(UsageError, match="of no kind"):
        package_files(Names.of("acme"), [])


def test_the_folder_may_be_read_by_those_who_may_read_new_folders(tmp_path: Path) -> None:
    """Temporary folders are private; this one is not."""
    plain = tmp_path / "plain"
    plain.mkdir()
    made = new_plugin("acme", out=tmp_path / "acme")
    assert [stat.S_IMODE(made.stat().st_mode)] == [stat.S_IMODE(plain.stat().st_mode)]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """`ge new plugin ...`: exit code, output, errors."""
    from ge_core.cli.main import main

    with pytest.raises(SystemExit) as end:
        main(["new", "plugin", *arguments])
    printed = capsys.readouterr()
    return int(end.value.code or 0), printed.out, printed.err


def test_the_command_prints_one_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the path of the new folder."""
    out = str(tmp_path / "acme")
    code, printed, _ = run(capsys, "acme", "--out", out, "--format", "json")
    assert (code, json.loads(printed)) == (0, {"schema": "ge-new/1", "path": out})


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], ["repeated_relu"]),
        (["--with", "checker,trace"], ["banks", "windows"]),
        (["--with", "trace", "--with", "pass, checker"], ["banks", "repeated_relu", "windows"]),
        (
            ["--with", "all"],
            "banks first_fit large_tensors npu repeated_relu scale watching windows".split(),
        ),
    ],
)
def test_kinds_are_given_together_or_one_by_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], expected: list[str]
) -> None:
    """A pass where none is."""
    out = tmp_path / "acme"
    code, printed, _ = run(capsys, "acme", *flags, "--out", str(out))
    modules = {path.stem for path in (out / "src" / "acme_ge").glob("*.py")} - {"__init__"}
    assert (code, sorted(modules)) == (0, expected)
    assert printed.splitlines()[0] == str(out)


@pytest.mark.parametrize(
    "arguments", [["Acme"], ["acme", "--with", "passes"], ["acme", "--with", ""]]
)
def test_a_bad_request_is_a_usage_error(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
) -> None:
    """Exit code 2, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    code, printed, errors = run(capsys, *arguments)
    assert (code, printed, os.listdir(tmp_path)) == (2, "", [])
    assert errors.startswith("error GE00002: ")
