import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from zshash.images import Categories, extractor
from zshash.images.pixels import pixel_extractor

IDS = ("n02123045", "", "n02084071", "n04467665")
NAMES = ("tabby", "unicorn", "dog", "truck")


def categories(**changes):
    rng = np.random.RandomState(0)
    fields = {
        "ids": IDS,
        "names": NAMES,
        "directions": rng.randn(4, 3).astype(np.float32),
        "biases": rng.randn(4).astype(np.float32),
    }
    return Categories(**fields | changes)


def test_what_it_says_of_itself():
    known = categories()
    assert len(known) == 4
    assert repr(known) == "<4 categories in 3 dimensions>"
    assert known.directions.dtype == known.biases.dtype == np.float32


def test_numbers_are_copied_and_fixed():
    directions = np.ones((4, 3))
    known = categories(directions=directions)
    before = known.fingerprint
    directions[0] = 7
    assert (known.directions == 1).all()
    assert categories(directions=np.ones((4, 3))).fingerprint == before
    with pytest.raises(ValueError, match="read-only"):
        known.directions[0] = 7
    with pytest.raises(ValueError, match="read-only"):
        known.biases[0] = 7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ids": IDS[:3]}, r"different lengths: \[3, 4, 4, 4\]"),
        ({"names": (*NAMES, "more")}, r"different lengths: \[4, 5, 4, 4\]"),
        ({"directions": np.ones((5, 3))}, r"different lengths: \[4, 4, 5, 4\]"),
        ({"biases": np.ones(0)}, r"different lengths: \[4, 4, 4, 0\]"),
        ({"biases": np.ones((4, 1))}, r"biases must have 1 axes, got an array of shape \(4, 1\)"),
        ({"directions": np.ones(4)}, r"directions must have 2 axes"),
        ({"directions": np.full((4, 3), np.nan)}, "directions must be finite numbers"),
        ({"directions": np.full((4, 3), 1e300)}, "directions must be finite numbers"),
        ({"biases": np.full(4, -np.inf)}, "biases must be finite numbers"),
    ],
)
def test_parts_that_do_not_fit(changes, message):
    with pytest.raises(ValueError, match=message):
        categories(**changes)


@pytest.mark.parametrize("changes", [{"ids": "abcd"}, {"names": ("a", "b", "c", 5)}])
def test_what_is_no_list_of_strings(changes):
    with pytest.raises(TypeError, match="must be a list of strings"):
        categories(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"ids": (*IDS[:3], "")},
        {"names": ("tab", "byunicorn", *NAMES[2:])},
        {"ids": NAMES, "names": IDS},
        {"directions": categories().directions + np.float32(1e-6)},
        {"directions": categories().directions[:, :2]},
        {"directions": categories().directions[::-1]},
        {"biases": categories().biases[::-1]},
    ],
)
def test_anything_that_differs_changes_the_fingerprint(changes):
    same = categories().fingerprint
    assert len(same) == 64
    assert categories().fingerprint == same
    assert categories(**changes).fingerprint != same


@given(
    ids=st.lists(st.sampled_from([*IDS, "n00000001"]), max_size=12),
    hidden=st.sets(st.sampled_from([*IDS, "n00000002"])),
)
def test_without_keeps_the_order_of_the_others(ids, hidden):
    names = [f"name {row}" for row in range(len(ids))]
    numbers = np.arange(len(ids), dtype=np.float32)
    known = Categories(tuple(ids), tuple(names), np.outer(numbers, [1, 2]), numbers)
    left = known.without(hidden)
    rows = [row for row, each in enumerate(ids) if not each or each not in hidden]
    assert left.ids == tuple(ids[row] for row in rows)
    assert left.names == tuple(names[row] for row in rows)
    assert_array_equal(left.biases, rows)
    assert_array_equal(left.directions, np.outer(rows, [1, 2]))
    assert (left.fingerprint == known.fingerprint) == (len(left) == len(known))


def test_without_takes_no_single_id():
    with pytest.raises(TypeError, match="ids must be a list of strings"):
        categories().without("n02123045")


def test_extractors_know_nothing_unless_they_say_so(colours):
    for network in (colours, pixel_extractor(8)):
        assert network.categories is None
        assert network.text is None
    assert extractor("efficientnet-lite0").text is None
    colours.categories = categories()
    assert colours.categories.names == NAMES
