import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from zshash.codes import code_bytes, pack, unpack
from zshash.web import layout
from zshash.web.layout import DISC, Layout, place


@pytest.fixture
def few_landmarks(monkeypatch):
    monkeypatch.setattr(layout, "AS_THEY_COME", 200)
    monkeypatch.setattr(layout, "FAR", 50)


def clusters(n, n_clusters, n_bits=64, flipped=0.1, seed=0):
    """Codes around random centres, and the centre of each."""
    rng = np.random.RandomState(seed)
    centres = rng.rand(n_clusters, n_bits) < 0.5
    y = rng.randint(n_clusters, size=n)
    return pack(centres[y] ^ (rng.rand(n, n_bits) < flipped)), y


def share_kept(places, y):
    """How many items have the cluster of the items around them."""
    half = len(y) // 2
    return KNeighborsClassifier(10).fit(places[:half], y[:half]).score(places[half:], y[half:])


def test_clusters_are_told_apart_and_better_than_by_principal_components():
    codes, y = clusters(6000, 25)
    kept = share_kept(place(codes, 64), y)
    plain = share_kept(PCA(2, random_state=0).fit_transform(unpack(codes, 64)), y)
    assert kept >= 0.9
    assert kept > plain + 0.2


@pytest.mark.usefixtures("few_landmarks")
def test_a_small_group_far_from_all_others_has_a_place_of_its_own():
    codes, _ = clusters(8000, 1, flipped=0.25)
    group = np.bitwise_invert(codes[:1]) ^ pack(np.eye(64, dtype=bool)[:12])
    places = place(np.concatenate([codes, group]), 64)
    y = np.arange(len(places)) >= len(codes)
    near = KNeighborsClassifier(5).fit(places, y)
    assert near.predict(places[y]).all()
    assert not near.predict(places[~y]).any()


@pytest.mark.parametrize("n_bits", [8, 12, 64, 1024])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 40])
def test_any_number_of_codes_has_places_in_the_unit_square(n, n_bits):
    codes = np.zeros((n, code_bytes(n_bits)), dtype=np.uint8)
    codes[:] = pack(np.random.RandomState(n).rand(n, n_bits) < 0.5) if n else 0
    places = place(codes, n_bits)
    assert places.shape == (n, 2)
    assert places.dtype == np.float32
    assert ((places >= 0) & (places <= 1)).all()
    assert len(np.unique(places, axis=0)) == n


@pytest.mark.parametrize("n_codes", [2, 4, 6, 30])
def test_codes_that_are_all_equally_far_from_each_other_have_different_places(n_codes):
    places = place(pack(np.eye(n_codes, 64, dtype=bool)), 64)
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    assert distances[~np.eye(n_codes, dtype=bool)].min() > 0.1


def test_a_pile_is_a_disc_around_its_place():
    places = place(np.zeros((1000, 8), dtype=np.uint8), 64)
    radii = np.linalg.norm(places - 0.5, axis=1)
    assert len(np.unique(places, axis=0)) == 1000
    assert radii.max() == pytest.approx(DISC, rel=0.01)
    assert np.mean(radii < DISC / 2) == pytest.approx(1 / 4, abs=0.01)


def test_piles_are_as_large_as_the_items_in_them_are_many():
    codes = np.repeat(np.array([[0], [255]], dtype=np.uint8), [100, 400], axis=0)
    places = place(codes, 8)
    small, large = (np.ptp(part, axis=0).mean() for part in (places[:100], places[100:]))
    assert large / small == pytest.approx(2, rel=0.1)


def test_no_two_calls_differ_however_many_threads_there_are():
    codes, _ = clusters(600, 10)
    first = place(codes, 64)
    np.testing.assert_array_equal(place(codes, 64), first)
    with threadpool_limits(1):
        np.testing.assert_array_equal(place(codes, 64), first)


@pytest.mark.usefixtures("few_landmarks")
def test_another_seed_draws_other_landmarks():
    codes, _ = clusters(3000, 10)
    assert not np.array_equal(place(codes, 64, random_state=1), place(codes, 64))


@pytest.mark.usefixtures("few_landmarks")
def test_a_layout_keeps_its_places_when_items_come_and_go():
    codes, y = clusters(2000, 8)
    kept = Layout(64).fit(codes[:1000])
    all_places = kept.place(codes)
    np.testing.assert_array_equal(kept.place(codes[500:]), all_places[500:])
    near = KNeighborsClassifier(5).fit(all_places[:1000], y[:1000])
    assert near.score(all_places[1000:], y[1000:]) >= 0.9


def test_many_more_codes_than_are_placed_at_once(monkeypatch):
    codes, _ = clusters(500, 3)
    whole = place(codes, 64)
    monkeypatch.setattr(layout, "CODES_AT_ONCE", 99)
    np.testing.assert_array_equal(place(codes, 64), whole)


def test_what_can_not_be_placed_is_refused():
    with pytest.raises(ValueError, match=r"codes of 64 bits must have the shape \(n, 8\)"):
        place(np.zeros((3, 2), dtype=np.uint8), 64)
    nothing = Layout(8).fit(np.zeros((0, 1), dtype=np.uint8))
    assert nothing.place(np.zeros((0, 1), dtype=np.uint8)).shape == (0, 2)
    with pytest.raises(ValueError, match="fitted to no codes"):
        nothing.place(np.zeros((1, 1), dtype=np.uint8))
