import json
from pathlib import Path

import numpy as np
import pytest

from zshash.collection.operations.fields import (
    check_contents,
    check_labels,
    check_metadata,
    check_sources,
)


def test_labels():
    given = [" cat ", ["dog", "dog ", "pet"], None, (), np.array(["a", "b"]), np.str_("c")]
    expected = [["cat"], ["dog", "pet"], [], [], ["a", "b"], ["c"]]
    assert [json.loads(text) for text in check_labels(given, 6)] == expected
    assert check_labels(np.array(["cat", "dog"]), 2) == ['["cat"]', '["dog"]']
    assert check_labels(None, 2) == ["[]", "[]"]


@pytest.mark.parametrize("wrong", [[1], [[1]], [[""]], [["a", None]], [b"a"], ["a\0b"]])
def test_labels_that_are_none(wrong):
    with pytest.raises(ValueError, match="labels: row 0 has"):
        check_labels(wrong, 1)


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    "wrong",
    [
        {"a": float("inf")},
        {"a": {1: 2}},
        {None: 1},
        {"a": {1, 2}},
        {"a": np.float32(1)},
        {"a": 10**5000},
        nested(60),
        nested(2000),
    ],
)
def test_metadata_that_is_no_json(wrong):
    with pytest.raises(ValueError, match="metadata: row 1"):
        check_metadata([{}, wrong], 2)


def test_metadata_as_deep_as_it_goes():
    (text,) = check_metadata([nested(49)], 1)
    assert json.loads(text) == nested(49)


def test_sources():
    assert check_sources([Path("a"), "b", None, "\udcff"], 4) == ["a", "b", None, b"\xed\xb3\xbf"]
    for wrong in ("", "a\0", 3, b"x"):
        with pytest.raises(ValueError, match="sources: row 0"):
            check_sources([wrong], 1)


def test_contents():
    assert check_contents([b"x", None], 2) == [b"x", None]
    for wrong in (b"", "x", b"x" * 65):
        with pytest.raises(ValueError, match="contents: row 0"):
            check_contents([wrong], 1)
