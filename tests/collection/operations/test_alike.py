import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from zshash.codes import hamming
from zshash.collection.operations.alike import groups
from zshash.index import HammingIndex


def brute_force(codes, ids, r):
    left, found = list(np.argsort(ids)), []
    while left:
        leader = left[0]
        near = [i for i in left if hamming(codes[[leader]], codes[[i]])[0, 0] <= r]
        left = [i for i in left if i not in near]
        found.append([int(ids[i]) for i in near])
    return [group for group in found if len(group) > 1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(0, 4), st.integers(0, 2**31), st.integers(1, 7))
def test_groups_are_those_of_brute_force(n, r, seed, spread):
    rng = np.random.RandomState(seed)
    codes = rng.randint(0, 2**spread, size=(n, 2)).astype(np.uint8)
    ids = rng.permutation(3 * n)[:n]
    index = HammingIndex(16)
    index.add(codes, ids)
    assert groups(index, r) == brute_force(codes, ids, r)


def test_no_chains(photos):
    codes = np.array([[0], [1], [3], [7], [255]], dtype=np.uint8)
    photos.add_codes(np.hstack([codes, codes]))
    found = photos.duplicates("alike", r=2)
    assert [[item.id for item in group.items] for group in found] == [[0, 1], [2, 3]]
    assert {group.level for group in found} == {"alike"}
    assert photos.duplicates("alike", r=0) == []
