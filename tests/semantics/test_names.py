import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zshash.semantics import UnknownNames, average_similarity
from zshash.semantics.names import (
    MAX_SUGGESTED,
    as_names,
    exact_forms,
    head_forms,
    near_misses,
    normalise,
    singular_forms,
    suggest,
    synonyms,
    unit,
)

WORDS = st.lists(st.text("abcxyz'", min_size=1, max_size=6), min_size=1, max_size=4)
SEPARATORS = st.sampled_from([" ", "_", "-", "  ", " - ", "\t", "_-_"])


def regular(_: str) -> list[str]:
    return []


@given(WORDS, SEPARATORS, SEPARATORS)
def test_every_spelling_has_one_normal_form(words, left, right):
    one = normalise(left.join(words))
    assert normalise(right.join(words).upper()) == one == " ".join(words)
    assert normalise(one) == one


@given(st.text(max_size=20))
def test_normal_form_is_stable_for_any_text(name):
    assert normalise(normalise(name)) == normalise(name)


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        (" tabby  cat ", "tabby cat"),
        ("Crème brûlée", "creme brulee"),
        ("potter\u2019s wheel", "potter's wheel"),
        ("T\u2011shirt", "t shirt"),
        ("ice\u2013cream", "ice cream"),
    ],
)
def test_accents_and_typographic_signs_are_folded(name, normal):
    assert normalise(name) == normal


def test_the_spelling_with_hyphens_comes_first():
    assert list(exact_forms("Golf-Club")) == ["golf-club", "golf club"]
    assert list(exact_forms("golf club")) == ["golf club"]


def test_synonyms_are_separated_by_commas():
    assert synonyms(" goldfish,Carassius auratus, ,") == ["goldfish", "Carassius auratus"]


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("cats", "cat"),
        ("buses", "bus"),
        ("foxes", "fox"),
        ("waltzes", "waltz"),
        ("benches", "bench"),
        ("dishes", "dish"),
        ("firemen", "fireman"),
        ("lorries", "lorry"),
        ("garbage lorries", "garbage lorry"),
        ("bottles of milk", "bottle of milk"),
    ],
)
def test_regular_plurals(plural, singular):
    assert singular in singular_forms(plural, regular)


def test_what_is_no_plural_has_no_singular():
    assert not list(singular_forms("glass", regular))
    assert not list(singular_forms("as", regular))
    assert not list(singular_forms("cat", regular))


def test_irregular_plurals_come_first():
    table = {"axes": ["ax", "axis"], "attorneys general": ["attorney general"]}

    def irregular(word):
        return table.get(word, [])

    assert list(singular_forms("axes", irregular))[:2] == ["ax", "axis"]
    assert list(singular_forms("battle axes", irregular))[:2] == ["battle ax", "battle axis"]
    assert next(singular_forms("attorneys-general", irregular)) == "attorney general"


def test_head_nouns_longest_first():
    assert list(head_forms("red garbage lorry", regular)) == ["garbage lorry", "lorry"]
    assert list(head_forms("bottle of milk", regular)) == ["bottle"]
    assert list(head_forms("bottle of", regular)) == ["of"]
    assert not list(head_forms("lorry", regular))


@pytest.mark.parametrize("name", ["class 7", "group b"])
def test_a_trailing_number_or_letter_is_no_head_noun(name):
    assert not list(head_forms(name, regular))


def test_unknown_names_say_everything_in_one_message():
    error = UnknownNames({"WordNet": {"segwya": ["segway", "segue"], "qqq": []}})
    assert isinstance(error, ValueError)
    assert error.names == ("segwya", "qqq")
    assert error.suggestions == {"segwya": ("segway", "segue"), "qqq": ()}
    assert str(error) == (
        "WordNet does not know 2 names: 'segwya' (did you mean 'segway' or 'segue'?), 'qqq'"
    )


def test_unknown_names_of_two_sources_are_merged():
    error = UnknownNames({"A": {"x": ["y"]}, "B": {"x": ["z", "y"], "w": []}})
    assert error.names == ("x", "w")
    assert error.suggestions["x"] == ("y", "z")
    assert str(error) == (
        "A does not know 'x' (did you mean 'y'?); "
        "B does not know 2 names: 'x' (did you mean 'z' or 'y'?), 'w'"
    )


def test_unknown_names_survive_another_process():
    error = UnknownNames({"WordNet": {"segwya": ["segway"]}})
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.names) == (str(error), error.names)


@pytest.mark.parametrize(
    ("names", "kind", "message"),
    [
        ("cat", TypeError, "expected a list of names, not the single string 'cat'"),
        (["cat", 7], TypeError, "name 1 is not a string but int: 7"),
        ([b"cat"], TypeError, "name 0 is not a string but bytes: b'cat'"),
        (["cat", None], TypeError, "name 1 is not a string but NoneType: None"),
        (["cat", ""], ValueError, "name 1 is empty: ''"),
        ([" ,_- "], ValueError, "name 0 is empty: ' ,_- '"),
    ],
)
def test_what_is_not_a_name(names, kind, message):
    with pytest.raises(kind) as caught:
        as_names(names)
    assert str(caught.value) == message


def test_names_may_come_from_an_array():
    names = as_names(np.array(["cat", "dog"]))
    assert names == ["cat", "dog"]
    assert type(names[0]) is str


@pytest.mark.parametrize("typo", ["segwya", "sgeway", "Segwey", "egway", "segway s"])
def test_near_misses(typo):
    assert "segway" in near_misses(typo, ["cat", "segway", "subway", "sedan"])


def test_only_some_unknown_names_get_suggestions():
    near = suggest([f"elefant{i}" for i in range(MAX_SUGGESTED + 5)], ["elephant"])
    assert len(near) == MAX_SUGGESTED + 5
    assert sum(map(bool, near.values())) == MAX_SUGGESTED


def test_unit_length_and_its_error():
    rows = unit([[1e-30, 0], [3e30, 4e30]])
    np.testing.assert_allclose(rows, [[1, 0], [0.6, 0.8]], rtol=1e-6)
    assert rows.dtype == np.float32
    with pytest.raises(ValueError, match="the vector of 'cat', 'cow' is zero"):
        unit([[0, 0], [1, 0], [0, 0]], ["cat", "dog", "cow"])
    with pytest.raises(ValueError, match="the vector of row 1 is zero"):
        unit([[1, 0], [0, 0]])


@given(st.integers(2, 8), st.integers(0, 1000))
def test_average_similarity_is_the_mean_of_the_other_cosines(n, seed):
    rows = np.random.default_rng(seed).normal(size=(n, 4))
    expected = [
        np.mean(
            [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for j, b in enumerate(rows) if j != i]
        )
        for i, a in enumerate(rows)
    ]
    np.testing.assert_allclose(average_similarity(rows), expected, atol=1e-12)


@pytest.mark.parametrize("vectors", [[[1.0, 2.0]], [1.0, 2.0], np.zeros((0, 3))])
def test_average_similarity_needs_two_rows(vectors):
    with pytest.raises(ValueError, match="a matrix of at least two rows"):
        average_similarity(vectors)
