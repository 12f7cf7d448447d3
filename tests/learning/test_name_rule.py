import numpy as np
import pytest

from zshash import ZSH, Collection
from zshash.codes import unpack
from zshash.hashing import save
from zshash.learning.name_rule import OTHERS, SAME, cosines, products, query_of, scores, standing_of
from zshash.semantics import WordNet
from zshash.studies.mth2026.scoring import rankings

SEEN = ["cat", "dog", "truck", "ship"]
NAMES = ["wolf", "lorry", "cat", "motortruck", "animal"]


@pytest.fixture(scope="module")
def fitted():
    """A method that learned from names, features, and vectors of the seen and of other names."""
    rng = np.random.RandomState(0)
    labels = np.repeat(np.arange(4), 20)
    X = (np.eye(12)[labels] * 4 + rng.randn(80, 12)).astype(np.float32)
    vectors = WordNet(basis=SEEN).embed([*SEEN, *NAMES])
    hasher = ZSH(n_bits=20, n_anchors=20, random_state=0).fit(X, vectors[labels])
    return hasher, X, vectors[:4], vectors[4:]


def by_hand(hasher, codes, names, seen):
    """The rule from the places of codes among the names, with all of them at once."""
    meanings = hasher.meanings(2.0 * unpack(codes, hasher.n_bits) - 1)
    places = meanings / np.linalg.norm(meanings, axis=1, keepdims=True)
    own, others = names @ places.T, seen @ places.T
    is_other = names @ seen.T <= SAME
    best = np.stack([others[rows].max(axis=0) for rows in is_other])
    return own, own - OTHERS * best


def test_the_rule_against_its_formula(fitted):
    hasher, X, seen, names = fitted
    codes = hasher.encode(X)
    found = rankings(hasher, codes, names, seen)
    for scores_found, expected in zip(found, by_hand(hasher, codes, names, seen), strict=True):
        np.testing.assert_allclose(scores_found, expected, rtol=0, atol=1e-12)


def test_collections_and_studies_give_the_same_scores(fitted, tmp_path):
    hasher, X, seen, names = fitted
    save(hasher, tmp_path / "model", notes={"labels": ["wordnet"], "seen": SEEN})
    _, by_rule = rankings(hasher, hasher.encode(X), names, seen)
    with Collection.create(tmp_path / "album", tmp_path / "model") as album:
        album.add(X)
        for name, expected in zip(NAMES, by_rule, strict=True):
            found = album.search(name=name, k=80)
            own = [expected[match.item.id] for match in found]
            np.testing.assert_allclose([match.score for match in found], own, atol=1e-12)


def test_products_against_unpacked_bits():
    rng = np.random.RandomState(0)
    codes = np.packbits(rng.randint(0, 2, (30, 20)), axis=1)
    direction = rng.randn(20)
    expected = (2.0 * unpack(codes, 20) - 1) @ direction
    np.testing.assert_allclose(products(codes, direction), expected, atol=1e-12)


def test_the_name_of_a_seen_category_is_no_other_one(fitted):
    _, _, seen, names = fitted
    assert [query_of(name, seen).place for name in names] == [None, None, 0, 2, None]
    assert query_of(seen[3], seen).place == 3


def test_many_codes_are_looked_at_in_blocks(fitted, monkeypatch):
    hasher, X, seen, _ = fitted
    codes = hasher.encode(X)
    whole = standing_of(hasher, codes, seen)
    monkeypatch.setattr("zshash.learning.name_rule.CODES_AT_ONCE", 7)
    for part, expected in zip(standing_of(hasher, codes, seen), whole, strict=True):
        np.testing.assert_allclose(part, expected, atol=1e-12)


def test_one_seen_category_has_no_others(fitted):
    hasher, X, seen, _ = fitted
    codes = hasher.encode(X)
    standing = standing_of(hasher, codes, seen[:1])
    query = query_of(seen[0], seen[:1])
    np.testing.assert_array_equal(
        scores(hasher, codes, query, standing), cosines(hasher, codes, seen[0], standing)
    )
