"""Contents: interning, cutting, joining, and the arms of a branch, against arrays of bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ge_core.proof.contents import Content, Store, difference
from ge_core.proof.phi import phi
from ge_core.proof.segments import Segment, Segments, join, plain

Bytes = list[tuple[int, int]]

parts = st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 4), st.integers(0, 8))
segment = st.tuples(st.integers(1, 4), st.lists(parts, min_size=1, max_size=3).map(tuple))
sequences = st.lists(segment, max_size=4)


def flat(segments: Segments | list[Segment]) -> Bytes:
    """(source, offset) of each byte."""
    return [
        (source, start + turn * pitch + at)
        for count, parts in segments
        for turn in range(count)
        for source, start, row, pitch in parts
        for at in range(row)
    ]


def stocked() -> Store:
    """A store with sources 0 to 2."""
    store = Store()
    for name in "abc":
        store.source(name, name)
    return store


def of_bytes(store: Store, data: Bytes) -> Content:
    """The content with these bytes, written byte by byte."""
    return store.make(join([[plain(source, start, 1) for source, start in data]]))


@given(sequences)
def test_equal_bytes_are_one_object(pieces: list[Segment]) -> None:
    """However segments write them, equal bytes are interned as one content."""
    store = stocked()
    content = store.make(join([pieces]))
    assert of_bytes(store, flat(pieces)) is content
    assert content.length == len(flat(pieces))


@given(sequences, sequences)
def test_different_bytes_are_different_objects(one: list[Segment], other: list[Segment]) -> None:
    """Two contents are the same object exactly when their bytes are equal."""
    store = stocked()
    same = flat(one) == flat(other)
    assert (store.make(join([one])) is store.make(join([other]))) == same


@given(sequences, st.integers(0, 20), sequences)
def test_an_overlay_replaces_bytes(old: list[Segment], start: int, new: list[Segment]) -> None:
    """Writing into the middle of a content replaces those bytes and no others."""
    store = stocked()
    array, fresh = flat(old), flat(new)
    start = min(start, len(array))
    expected = array[:start] + fresh + array[start + len(fresh) :]
    result = store.overlay(store.make(join([old])), start, store.make(join([new])))
    assert result is of_bytes(store, expected)


@given(sequences, sequences)
def test_the_difference_spans_all_unequal_bytes(one: list[Segment], other: list[Segment]) -> None:
    """The reported range starts at the first unequal byte and ends behind the last."""
    store = stocked()
    a, b = flat(one), flat(other)
    size = max(len(a), len(b))
    unequal = [at for at in range(size) if a[at : at + 1] != b[at : at + 1]]
    expected = (unequal[0], unequal[-1] + 1) if unequal else (0, 0)
    assert difference(store.make(join([one])), store.make(join([other]))) == expected


@given(st.data())
def test_a_phi_commutes_with_slicing(data: st.DataObject) -> None:
    """The slice of a phi is the phi of the slices, and equal arms are no phi at all."""
    store = stocked()
    size = data.draw(st.integers(0, 24))
    arms = []
    for _ in range(data.draw(st.integers(2, 3))):
        pieces = join([data.draw(sequences)])
        content = store.part(store.make(pieces), 0, min(size, len(flat(pieces))))
        padding = [plain(2, 100, size - (content.length or 0))]
        arms.append(store.make(join([content.segments, padding])))
    whole = phi(store, "if", "if", arms)
    assert whole.length == size
    low = data.draw(st.integers(0, size))
    high = data.draw(st.integers(low, size))
    slices = [store.part(arm, low, high - low) for arm in arms]
    assert store.part(whole, low, high - low) is phi(store, "if", "if", slices)
    arrays = [flat(arm.segments) for arm in arms]
    for at, byte in enumerate(flat(whole.segments)):
        alike = {array[at] for array in arrays}
        assert (byte in alike) == (len(alike) == 1)


def test_a_phi_knows_its_condition_and_the_order_of_its_arms() -> None:
    """Other conditions, or swapped arms, are other contents."""
    store = stocked()
    a, b = store.whole(0, 8), store.whole(1, 8)
    contents = [phi(store, key, "", arms) for key, arms in (("p", [a, b]), ("q", [a, b]))]
    contents.append(phi(store, "p", "", [b, a]))
    assert len({content.id for content in contents}) == 3
    assert phi(store, "p", "", [a, b]) is contents[0]


def test_bytes_without_a_known_number_are_one_thing() -> None:
    """A content without a length is itself; a part of it with a length is the same each time."""
    store = stocked()
    content = store.whole(1, None)
    assert store.whole(1, None) is content
    assert store.part(content, 0, None) is content
    assert store.part(content, 0, 8) is store.part(content, 0, 8)
    assert store.part(content, 0, 8) is not store.part(content, 8, 8)


def test_reading_behind_the_end_is_unknown_but_steady() -> None:
    """A read longer than the content has a tail of its own, equal only to itself."""
    store = stocked()
    content = store.whole(0, 4)
    assert store.part(content, 0, 8) is store.part(content, 0, 8)
    assert store.part(content, 0, 8) is not store.part(store.whole(1, 4), 0, 8)
    assert store.part(content, 0, 8).length == 8


def test_unknown_bytes_equal_no_others() -> None:
    """Two unknown contents are never the same."""
    store = stocked()
    assert store.unknown("x", 8) is not store.unknown("x", 8)


def test_messages_name_the_first_sources() -> None:
    """A description names sources and ranges, and says how many more there are."""
    store = stocked()
    pieces = [plain(at % 2, 8 * at, 4) for at in range(5)]
    assert store.describe(store.make(join([pieces]))) == "a[0:4] + b[8:12] + a[16:20] + 2 more"
