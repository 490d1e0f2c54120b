"""The default kernel: remembered, and made anew when what it has read changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_core.session.kernel import default_kernel


def test_it_is_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same folder and configuration give the same object."""
    monkeypatch.chdir(tmp_path)
    assert default_kernel() is default_kernel()


def test_an_edited_configuration_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook that edits ge.toml, there or in a folder above, gets what it says now."""
    folder = tmp_path / "inner"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert default_kernel().config.level is None
    (tmp_path / "ge.toml").write_text('level = "O1"\n')
    assert "O1" == default_kernel().config.level
    (folder / "ge.toml").write_text('level = "O4"\n')
    assert "O4" == default_kernel().config.level
    (folder / "ge.toml").unlink()
    assert "O1" == default_kernel().config.level


def test_another_environment_is_another_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Options from the environment are read again when it changes."""
    monkeypatch.chdir(tmp_path)
    before = default_kernel()
    monkeypatch.setenv("GE_OPTION_ge__oo__level", "O1")
    (source,) = default_kernel().sources
    assert {"ge.oo.level": "O1"} == source.options
    assert before.sources == ()
