"""Another model in the middle of a search: every answer is that of one model.

In each test somebody re-encodes all items after the queries were encoded and before they are
ranked. Answers are compared with sums over all bits in NumPy.
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from tests.collection.conftest import draw
from zshash import LSH, ZSH, Collection
from zshash.cli import main
from zshash.codes import unpack
from zshash.collection import Query
from zshash.collection.operations import searching
from zshash.collection.operations.queries import samples_of
from zshash.datasets import Dataset
from zshash.hashing import save
from zshash.images import PictureReader
from zshash.semantics import WordNet

SEEN = ["cat", "dog", "truck", "ship"]
N = 80


@pytest.fixture(scope="module")
def rows():
    labels = np.repeat(np.arange(4), N // 4)
    noise = np.random.RandomState(0).randn(N, 12)
    return (np.eye(12)[labels] * 4 + noise).astype(np.float32)


@pytest.fixture(scope="module")
def models(rows, tmp_path_factory):
    """Two models of the same length that know names, and one of another length."""
    folder, made = tmp_path_factory.mktemp("models"), []
    vectors = WordNet(basis=SEEN).embed(SEEN)[np.repeat(np.arange(4), N // 4)]
    for seed, n_bits in [(0, 16), (5, 16), (7, 24)]:
        hasher = ZSH(n_bits=n_bits, n_anchors=20, random_state=seed).fit(rows, vectors)
        save(hasher, folder / str(seed), notes={"labels": ["wordnet"], "seen": SEEN})
        made.append((folder / str(seed), hasher))
    return made


@pytest.fixture
def album(tmp_path, models, rows):
    with Collection.create(tmp_path / "album", models[0][0], keep_features=True) as made:
        made.add(rows, labels=["odd" if i % 2 else "even" for i in range(N)])
    return tmp_path / "album"


@pytest.fixture(params=[1, 2], ids=["same length", "other length"])
def changing(request, album, models, monkeypatch):
    """Another model, which the collection gets in the middle of the next search."""
    path, hasher = models[request.param]
    own, calls = searching.ask, []

    def ask(*args):
        asked = own(*args)
        calls.append(asked.model.checksum)
        if len(calls) == 1:
            with Collection.open(album) as other:
                assert other.reencode(path) == N
        return asked

    monkeypatch.setattr(searching, "ask", ask)
    yield hasher
    assert len(calls) == 2
    assert calls[0] != calls[1]


def signs(hasher, rows):
    return 2.0 * hasher.transform(rows) - 1


def by_values(hasher, rows, values, ids):
    """Ids and scores by real values, best first."""
    values = np.asarray(values, dtype=np.float64)
    products = signs(hasher, rows[ids]) @ values / np.linalg.norm(values)
    scores = products / np.sqrt(len(values))
    order = np.lexsort((ids, -scores.round(9)))
    return [ids[place] for place in order], scores[order]


def by_bits(hasher, rows, query, ids):
    """Ids and numbers of bits, nearest first."""
    bits = (signs(hasher, rows[ids]) != signs(hasher, query[None])).sum(axis=1)
    order = np.lexsort((ids, bits))
    return [ids[place] for place in order], bits[order].tolist()


def assert_real(found, hasher, rows, query, ids=range(N)):
    values = hasher.project(query[None])[0]
    expected, scores = by_values(hasher, rows, values, list(ids))
    np.testing.assert_allclose([m.score for m in found], scores[: len(found)], rtol=1e-5)
    assert {m.id for m in found} <= set(expected)
    bits = (signs(hasher, rows) != signs(hasher, query[None])).sum(axis=1)
    assert [m.bits for m in found] == [bits[m.id] for m in found]
    assert found[0].bits == 0  # each query is an item


def assert_bits(found, hasher, rows, query, radius=None, ids=range(N)):
    expected, bits = by_bits(hasher, rows, query, list(ids))
    n = len(found) if radius is None else sum(own <= radius for own in bits)
    assert [(m.id, m.bits) for m in found] == list(zip(expected[:n], bits[:n], strict=True))
    assert found[0].bits == 0


def scores_of_name(hasher, rows, name):
    source = WordNet(basis=SEEN)
    meanings = signs(hasher, rows) @ (hasher.mapping_ @ hasher.rotation_.T)
    meanings /= np.linalg.norm(meanings, axis=1, keepdims=True)
    own = meanings @ source.embed([name])[0]
    return own - 0.6 * (meanings @ source.embed(SEEN).T).max(axis=1)


def assert_name(found, hasher, rows, name):
    best = np.sort(scores_of_name(hasher, rows, name))[::-1]
    np.testing.assert_allclose([m.score for m in found], best[: len(found)], rtol=1e-4, atol=1e-6)


def test_features(album, changing, rows):
    with Collection.open(album) as photos:
        assert_real(photos.search(rows[7], k=9), changing, rows, rows[7])


def test_many_features(album, changing, rows):
    with Collection.open(album) as photos:
        for query, found in zip(rows, photos.search(rows, k=9), strict=True):
            assert_real(found, changing, rows, query)


def test_bits(album, changing, rows):
    with Collection.open(album) as photos:
        found = photos.search(rows, k=9, distance="bits")
    for query, own in zip(rows, found, strict=True):
        assert_bits(own, changing, rows, query)


def test_a_radius(album, changing, rows):
    with Collection.open(album) as photos:
        found = photos.search(rows, radius=4)
    for query, own in zip(rows, found, strict=True):
        assert_bits(own, changing, rows, query, radius=4)


def test_a_condition(album, changing, rows):
    with Collection.open(album) as photos:
        found = photos.search(rows[7], k=9, where="label = 'odd'", distance="bits")
    assert_bits(found, changing, rows, rows[7], ids=range(1, N, 2))


def test_an_item(album, changing, rows):
    with Collection.open(album) as photos:
        for number, found in enumerate(photos.search(item=range(N), k=9)):
            assert_real(found, changing, rows, rows[number])
            assert found[0].id == number


def test_a_name(album, changing, rows):
    with Collection.open(album) as photos:
        assert_name(photos.search(name="lorry", k=9), changing, rows, "lorry")


def test_pictures_and_names_of_one_command_are_of_one_model(album, changing, rows):
    queries = [Query(sample=own, k=9) for own in samples_of(Dataset(rows[:5]))]
    with Collection.open(album) as photos:
        found = photos.search_each([*queries, Query(name="lorry", k=9), Query(item=3, k=9)])
    assert len({own.model for own in found}) == 1
    for query, own in zip(rows[:5], found[:5], strict=True):
        assert_real(own, changing, rows, query)
    assert_name(found[5], changing, rows, "lorry")
    assert_real(found[6], changing, rows, rows[3])


def run(*arguments):
    done = CliRunner().invoke(main, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


@pytest.mark.parametrize(
    "how", [[], ["--distance", "bits"], ["--radius", "4"], ["--where", "label = 'odd'"]]
)
def test_the_command_line_with_several_queries(album, changing, rows, tmp_path, how):
    np.save(tmp_path / "rows.npy", rows)
    ids = list(range(1, N, 2)) if "--where" in how else list(range(N))
    for number, answer in enumerate(run("search", album, tmp_path / "rows.npy", *how)):
        near = answer["neighbours"]
        values = changing.project(rows[number : number + 1])[0]
        if how and "--where" not in how:
            expected, bits = by_bits(changing, rows, rows[number], ids)
            found = [(one["id"], one["bits"]) for one in near]
            assert found == list(zip(expected, bits, strict=True))[: len(near)]
        else:
            _, scores = by_values(changing, rows, values, ids)
            shown = [one["score"] for one in near]
            np.testing.assert_allclose(shown, scores[: len(near)], rtol=1e-5)


def test_the_command_line_with_a_name(album, changing, rows, tmp_path):
    np.save(tmp_path / "rows.npy", rows[:3])
    *answers, named = run("search", album, tmp_path / "rows.npy", "--name", "lorry")
    best = np.sort(scores_of_name(changing, rows, "lorry"))[::-1][:10]
    shown = [one["score"] for one in named["neighbours"]]
    np.testing.assert_allclose(shown, best, rtol=1e-4, atol=1e-6)
    assert [answer["neighbours"][0]["bits"] for answer in answers] == [0, 0, 0]


def test_pictures_are_read_again_by_the_network_of_the_new_model(
    tmp_path, pictures, reader, monkeypatch
):
    X = np.random.RandomState(1).randn(60, 12).astype(np.float32)
    with Collection.create(
        tmp_path / "c", LSH(n_bits=16, random_state=0).fit(X), reader=reader
    ) as photos:
        photos.add(str(pictures))
        notes = photos.model.notes
    other = LSH(n_bits=16, random_state=9).fit(X)
    save(other, tmp_path / "other", notes=notes)
    own, calls = searching.ask, []

    def ask(*args):
        asked = own(*args)
        calls.append(asked.codes.copy())
        if len(calls) == 1:
            with Collection.open(tmp_path / "c", reader=reader) as elsewhere:
                assert elsewhere.reencode(tmp_path / "other") == 12
        return asked

    queries = [draw(tmp_path / "q" / f"{i}.png", i) for i in (0, 10, 20)]
    monkeypatch.setattr(searching, "ask", ask)
    with Collection.open(tmp_path / "c", reader=reader) as photos:
        found = photos.search(queries, k=12)
        codes = unpack(photos.index.codes, 16)
    assert len(calls) == 2
    features = PictureReader(extractor=reader.extractor).network.extract(queries)
    assert [match.code for match in found] == [code.tobytes() for code in other.encode(features)]
    for values, own in zip(other.project(features), found, strict=True):
        best = np.sort((2.0 * codes - 1) @ values.astype(np.float64))[::-1]
        scores = best / (4 * np.linalg.norm(values))
        np.testing.assert_allclose([match.score for match in own], scores, rtol=1e-5)


def test_why(album, models, rows):
    """An item's code is explained by the model that made it, whoever re-encodes meanwhile."""
    with Collection.open(album) as photos:
        before = [photos.explain_code(item=number) for number in range(0, N, 9)]
        with Collection.open(album) as other:
            other.reencode(models[1][0])
        after = [photos.explain_code(item=number) for number in range(0, N, 9)]
    for (_, hasher), answers in zip(models[:2], (before, after), strict=True):
        meanings = signs(hasher, rows[::9]) @ (hasher.mapping_ @ hasher.rotation_.T)
        meanings /= np.linalg.norm(meanings, axis=1, keepdims=True)
        cosines = meanings @ WordNet(basis=SEEN).embed(SEEN).T
        for own, near in zip(cosines, answers, strict=True):
            expected = [own[SEEN.index(one.name)] for one in near if one.seen]
            shown = [one.cosine for one in near if one.seen]
            np.testing.assert_allclose(shown, expected, rtol=1e-4, atol=1e-6)
