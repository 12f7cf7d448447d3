from hypothesis import given
from hypothesis import strategies as st

from zshash.collection.operations import fields
from zshash.collection.storage.rows import (
    Item,
    blob_checksum,
    content_of,
    is_whole,
    row_checksum,
    to_item,
)

SOURCES = st.none() | st.text(min_size=1).filter(lambda text: "\0" not in text)
INTEGERS = st.none() | st.integers(-(2**63), 2**63 - 1)
WORDS = st.text(min_size=1).map(str.strip).filter(lambda word: word and "\0" not in word)
LABELS = st.lists(WORDS, max_size=3, unique=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
ITEMS = st.builds(
    Item,
    st.integers(0, 2**63 - 1),
    st.binary(max_size=4),
    SOURCES,
    st.none() | st.binary(min_size=1, max_size=4),
    LABELS.map(tuple),
    st.dictionaries(st.text(), JSON, max_size=3),
    INTEGERS,
    INTEGERS,
)


def to_row(item):
    (source,) = fields.check_sources([item.source], 1)
    (labels,) = fields.check_labels([list(item.labels)], 1)
    (metadata,) = fields.check_metadata([item.metadata], 1)
    (content,) = fields.check_contents([item.content], 1)
    row = (item.id, item.code, source, content, labels, metadata, item.size, item.mtime_ns)
    return (*row, row_checksum(*row))


@given(ITEMS)
def test_items_come_back_from_their_rows(item):
    row = to_row(item)
    assert is_whole(row)
    assert to_item(row) == item


@given(ITEMS, ITEMS)
def test_rows_that_differ_have_other_checksums(one, other):
    a, b = to_row(one), to_row(other)
    if a[:8] != b[:8]:
        assert a[8] != b[8]


@given(ITEMS, st.integers(0, 7), st.sampled_from([None, 5, -1, "x", b"x", 0.5, "", b""]))
def test_a_field_that_is_another_is_noticed(item, place, value):
    row = list(to_row(item))
    if type(row[place]) is type(value) and row[place] == value:
        return
    row[place] = value
    assert not is_whole(row)


def test_text_does_not_move_from_field_to_field():
    rows = [
        (1, b"ab", "c", b"d", "[]", "{}", None, 0),
        (1, b"a", "bc", b"d", "[]", "{}", None, 0),
        (1, b"ab", "c[", b"d", "]", "{}", None, 0),
        (1, b"ab", "c", b"d", "[]{", "}", None, 0),
        (1, b"abd", "c", b"", "[]", "{}", None, 0),
        (1, b"ab", b"c", b"d", "[]", "{}", None, 0),
        (1, b"ab", "c", b"d", "[]", "{}", 0, None),
        (1, b"abd", "c", None, "[]", "{}", None, 0),
    ]
    assert len({row_checksum(*row) for row in rows}) == len(rows)


def test_checksums_and_contents_belong_to_what_they_are_of():
    assert blob_checksum(1, b"x") != blob_checksum(2, b"x")
    assert content_of(b"a", b"b") == content_of(b"ab") != content_of(b"b")
    assert len(content_of(b"")) == 16
