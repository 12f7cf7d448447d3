import hashlib
from collections import deque
from importlib.resources import files

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from zshash.semantics import Source, UnknownNames, WordNet
from zshash.semantics.nouns import nouns

N_SYNSETS = 82_115
ROWS = st.integers(0, N_SYNSETS - 1)
PAPER_NAMES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship"]


@pytest.fixture(scope="module")
def archive():
    with np.load(str(files("zshash.semantics") / "data" / "nouns.npz")) as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def parents(archive):
    starts, hypernyms = archive["hypernym_starts"].tolist(), archive["hypernyms"].tolist()
    return [hypernyms[starts[row] : starts[row + 1]] for row in range(len(starts) - 1)]


@pytest.fixture(scope="module")
def children(parents):
    below = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            below[parent].append(child)
    return below


@pytest.fixture(scope="module")
def ids(archive):
    return [f"n{offset:08d}" for offset in archive["offsets"]]


@pytest.fixture(scope="module")
def some(ids):
    return [ids[row] for row in np.random.default_rng(0).choice(len(ids), 200, replace=False)]


def distances(start, *neighbours):
    found, waiting = {start: 0}, deque([start])
    while waiting:
        row = waiting.popleft()
        for lists in neighbours:
            for other in lists[row]:
                if other not in found:
                    found[other] = found[row] + 1
                    waiting.append(other)
    return found


@pytest.fixture(scope="module")
def full(some, ids, parents, archive):
    rows = np.array([full_vector(ids.index(synset), parents, archive) for synset in some])
    return rows[:, rows.any(axis=0)]


def full_vector(row, parents, archive):
    """Ancestor vector over all synsets, by its definition."""
    vector = np.zeros(len(parents))
    for i in distances(row, parents):
        vector[i] = np.log(len(parents) / archive["below"][i])
    return vector / np.linalg.norm(vector)


def test_the_package_has_all_nouns(archive, parents):
    assert len(parents) == len(archive["offsets"]) == N_SYNSETS
    assert archive["lemmas"].tobytes().count(b"\n") + 1 == 117_798
    assert (np.diff(archive["offsets"].astype(int)) > 0).all()


def test_numbers_of_synsets_at_or_below(archive, children):
    below = [len(distances(row, children)) for row in range(len(children))]
    assert archive["below"].tolist() == below


def test_names_of_synsets():
    assert WordNet().name("n02123045") == "tabby"
    assert WordNet().name("n02085620") == "Chihuahua"
    assert WordNet().name("domestic dog") == "dog"


def test_ancestors_are_ordered_from_near_to_far(ids, parents):
    row = ids.index("n02123045")
    distance = distances(row, parents)
    found = WordNet().ancestors("tabby")
    assert found == [ids[i] for i in sorted(distance, key=lambda i: (distance[i], i))][1:]
    assert WordNet().ancestors("entity") == []


def test_hops_of_known_pairs():
    source = WordNet()
    assert source.hops("cat", "dog") == 4
    assert source.hops("cat", "dog", via="any") == 3
    assert source.hops("cat", "n02121620") == 0
    assert source.hops("tabby", "cat") == 2


def test_hops_through_an_ancestor_against_all_ancestors(some, ids, parents):
    up = [distances(ids.index(synset), parents) for synset in some[:70]]
    expected = [[min(a[i] + b[i] for i in a.keys() & b.keys()) for b in up] for a in up]
    assert WordNet().hops_matrix(some[:70]).tolist() == expected


def test_hops_on_any_path_against_a_plain_search(some, ids, parents, children):
    rows = [ids.index(synset) for synset in some]
    for start in range(3):
        found = distances(rows[start], parents, children)
        hops = WordNet().hops_matrix([some[start]], some, via="any")[0]
        assert hops.tolist() == [found[row] for row in rows]


def test_hops_on_any_path_against_scipy(some, ids, archive):
    graph = sp.csr_array(
        (np.ones(len(archive["hypernyms"])), archive["hypernyms"], archive["hypernym_starts"]),
        shape=(N_SYNSETS, N_SYNSETS),
    )
    rows = [ids.index(synset) for synset in some]
    expected = dijkstra(graph, directed=False, unweighted=True, indices=rows[:3])[:, rows]
    assert (WordNet().hops_matrix(some[:3], some, via="any") == expected).all()
    assert (WordNet().hops_matrix(some, some[:3], via="any") == expected.T).all()


@settings(max_examples=30, deadline=None)
@given(st.tuples(ROWS, ROWS, ROWS))
def test_hops_are_a_distance(rows):
    names = [f"n{nouns().offsets[row]:08d}" for row in rows]
    hops = WordNet().hops_matrix(names, via="any")
    over = WordNet().hops_matrix(names)
    assert (hops == hops.T).all()
    assert (over == over.T).all()
    assert not np.diag(over).any()
    assert (hops[:, :, None] + hops[None] >= hops[:, None, :]).all()
    assert (over >= hops).all()


def test_hops_of_no_names():
    assert WordNet().hops_matrix([]).shape == (0, 0)
    assert WordNet().hops_matrix(["cat"], []).shape == (1, 0)
    assert WordNet().hops_matrix([], ["cat"]).shape == (0, 1)


def test_projection_by_its_definition(ids, parents, archive):
    row = ids.index("n02123045")
    expected = np.zeros(512)
    for i in distances(row, parents):
        number = int.from_bytes(hashlib.shake_256(ids[i].encode()).digest(64), "big")
        signs = [1 if number >> (511 - bit) & 1 else -1 for bit in range(512)]
        weight = np.log(N_SYNSETS / archive["below"][i])
        expected += weight * np.array(signs) / np.sqrt(512)
    expected /= np.linalg.norm(expected)
    np.testing.assert_allclose(WordNet().embed(["tabby"])[0], expected, atol=1e-7)


def test_projection_never_changes():
    vectors = WordNet().embed(["tabby", "truck"])
    digest = hashlib.sha256(np.packbits(vectors > 0).tobytes()).hexdigest()
    assert vectors.dtype == np.float32
    assert digest[:16] == "839149e1b1a18c8f"


def test_projection_keeps_cosines(some, full):
    vectors = WordNet().embed(some)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    error = vectors @ vectors.T - full @ full.T
    assert np.sqrt(np.mean(error**2)) < 0.05
    assert np.abs(error).max() < 0.25


def test_basis_keeps_the_cosines_of_seen_names(some, full):
    source = WordNet(basis=some)
    vectors = source.embed(some)
    assert source.dimension == vectors.shape[1] == full.shape[1]
    np.testing.assert_allclose(vectors @ vectors.T, full @ full.T, atol=1e-5)


def test_basis_restricts_unseen_names(ids, parents, archive):
    seen = PAPER_NAMES
    rows = [ids.index(WordNet().synset(name)) for name in seen]
    coordinates = sorted(set().union(*(distances(row, parents) for row in rows)))
    coordinates = [i for i in coordinates if archive["below"][i] < N_SYNSETS]
    full = full_vector(ids.index(WordNet().synset("truck")), parents, archive)[coordinates]
    vector = WordNet(basis=seen).embed(["truck"])[0]
    np.testing.assert_allclose(vector, full / np.linalg.norm(full), atol=1e-6)


def test_order_of_the_basis_does_not_matter():
    forth, back = WordNet(basis=PAPER_NAMES), WordNet(basis=PAPER_NAMES[::-1])
    assert np.array_equal(forth.embed(["truck"]), back.embed(["truck"]))
    assert forth.basis == tuple(PAPER_NAMES)


def test_it_is_a_source():
    assert isinstance(WordNet(), Source)
    assert WordNet().dimension == 512
    assert WordNet().embed([]).shape == (0, 512)
    assert repr(WordNet()) == "WordNet()"
    assert repr(WordNet(basis=["cat"])) == "WordNet(basis=<1 names>)"


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: WordNet().embed(["entity"]), ValueError, "no vector for 'entity': it is the root"),
        (
            lambda: WordNet(basis=["cat"]).embed(["dog", "freedom", "idea"]),
            ValueError,
            "no vector for 'freedom', 'idea': no ancestor is shared with the basis",
        ),
        (lambda: WordNet(basis=[]), ValueError, "the basis has no synset other than the root"),
        (lambda: WordNet(basis=["entity"]), ValueError, "no synset other than the root"),
        (lambda: WordNet(basis="cat"), TypeError, "not the single string 'cat'"),
        (lambda: WordNet(basis=["segwya"]), UnknownNames, "WordNet does not know 'segwya'"),
        (lambda: WordNet().embed("cat"), TypeError, "not the single string 'cat'"),
        (lambda: WordNet().embed(["cat", 7]), TypeError, "name 1 is not a string but int: 7"),
        (lambda: WordNet().embed([" "]), ValueError, "name 0 is empty: ' '"),
        (lambda: WordNet().synset(7), TypeError, "name 0 is not a string but int"),
        (lambda: WordNet().name("n00000001"), UnknownNames, "does not know 'n00000001'"),
        (
            lambda: WordNet().hops("cat", "dog", via="sea"),
            ValueError,
            "via must be 'ancestor' or 'any', not 'sea'",
        ),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)
