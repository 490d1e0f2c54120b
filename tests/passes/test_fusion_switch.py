"""Fusion-switch files: both forms, and one clear error for whatever else stands in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ge_core.errors import InputFileError
from ge_core.passes.fusion_switch import SwitchFile, read_switch_file


def read(folder: Path, text: str, *, strict: bool = True) -> SwitchFile:
    """A file with that text, read as `sw.cfg`."""
    (folder / "sw.cfg").write_text(text, encoding="utf-8")
    return read_switch_file(folder / "sw.cfg", "sw.cfg", strict=strict)


NAMES = st.text("ABCab.", min_size=1, max_size=5).filter(lambda name: name != "ALL")
SWITCHES = st.dictionaries(NAMES, st.booleans(), max_size=5)


@given(SWITCHES, st.none() | st.booleans())
@settings(max_examples=60)
def test_both_forms_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, switches: dict[str, bool], every: bool | None
) -> None:
    """What a file of lines switches, a JSON document can."""
    said = {name: "on" if on else "off" for name, on in switches.items()}
    if every is not None:
        said["ALL"] = "on" if every else "off"
    folder = tmp_path_factory.mktemp("both")
    as_json = read(folder, json.dumps({"Switch": {"GraphFusion": said}}))
    lines = "".join(f"{name}:{on}\n" for name, on in said.items())
    as_lines = read(folder, lines)
    assert (switches, every) == (as_json.switches, as_json.all)
    assert (switches, every) == (as_lines.switches, as_lines.all)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["on", "off", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "Switch GraphFusion UBFusion Priority Top ALL A ExceptionalPassOfO1Level".split()
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(st.text(max_size=40) | JSON_VALUES.map(json.dumps), st.booleans())
@example("[" * 100_000, True)
@example('{"Priority": {"GraphFusion": {"Top": {"A": ' + "9" * 5000 + "}}}}", True)
@example("\ufeffA:on\r\nB:off\r\n", True)
@settings(max_examples=200)
def test_any_text_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str, strict: bool
) -> None:
    """Never anything but a file, or an error that names it."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "sw.cfg").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert outcome(folder, strict).startswith("sw.cfg")


def outcome(folder: Path, strict: bool) -> str:
    """The path of what was read, or the error's text."""
    try:
        return read_switch_file(folder / "sw.cfg", "sw.cfg", strict=strict).path
    except InputFileError as error:
        return str(error)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """With the file's name."""
    (tmp_path / "sw.cfg").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputFileError, match=r"^sw\.cfg: is no text"):
        read_switch_file(tmp_path / "sw.cfg", "sw.cfg")


def test_a_folder_can_not_be_read(tmp_path: Path) -> None:
    """Nor can what isn't there."""
    with pytest.raises(InputFileError, match=r"^here: can't be read"):
        read_switch_file(tmp_path, "here")


def test_places_are_remembered_for_errors(tmp_path: Path) -> None:
    """A field of JSON, a line of the other form."""
    as_json = read(tmp_path, '{"Switch": {"GraphFusion": {"A": "on"}}}')
    assert "sw.cfg: field 'Switch.GraphFusion.A': no" in str(as_json.error("A", "no", (), "x"))
    as_lines = read(tmp_path, "\nA:on\n")
    assert "sw.cfg:2: no" in str(as_lines.error("A", "no", ("B",), "x"))


def test_numbers_of_priorities_may_be_texts(tmp_path: Path) -> None:
    """GE writes them so; truth values and fractions are none."""
    for good in ("200", 200):
        text = json.dumps({"Priority": {"UBFusion": {"Down": {"p": good}}}})
        assert 1 == len(read(tmp_path, text).unread)
    for bad in ("2.5", 2.5, True, None, "-1"):
        text = json.dumps({"Priority": {"UBFusion": {"Down": {"p": bad}}}})
        with pytest.raises(InputFileError, match=r"Priority\.UBFusion\.Down\.p"):
            read(tmp_path, text)
