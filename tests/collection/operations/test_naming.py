import numpy as np
import pytest

from zshash import MTH, ZSH, Collection, CollectionError, fit
from zshash.codes import unpack
from zshash.collection import Query
from zshash.collection.operations import naming, searching
from zshash.hashing import save
from zshash.semantics import UnknownNames, WordNet

SEEN = ["cat", "dog", "truck", "ship"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    rng = np.random.RandomState(0)
    labels = np.repeat(np.arange(4), 20)
    X = (np.eye(12)[labels] * 4 + rng.randn(80, 12)).astype(np.float32)
    vectors = WordNet(basis=SEEN).embed(SEEN)
    hasher = ZSH(n_bits=16, n_anchors=20, random_state=0).fit(X, vectors[labels])
    path = tmp_path_factory.mktemp("model") / "model"
    save(hasher, path, notes={"labels": ["wordnet"], "seen": SEEN})
    return path, X, labels


def test_items_that_fit_a_name(folder, model):
    path, X, labels = model
    with Collection.create(folder, path) as photos:
        assert photos.search(name="cat") == []
        photos.add(X, labels=[SEEN[label] for label in labels])
        hasher = photos.model.hasher
        source = WordNet(basis=SEEN)
        y = source.embed(["lorry"])[0]
        bits = 2.0 * unpack(photos.index.codes, 16) - 1
        meanings = bits @ (hasher.mapping_ @ hasher.rotation_.T)
        meanings /= np.linalg.norm(meanings, axis=1, keepdims=True)
        others = source.embed(SEEN)
        scores = meanings @ y - 0.6 * (meanings @ others.T).max(axis=1)
        order = np.lexsort((np.arange(80), -scores.round(6)))
        found = photos.search(name="lorry", k=10)
        np.testing.assert_allclose([match.score for match in found], scores[order[:10]], rtol=1e-4)
        assert sum(match.item.labels == ("truck",) for match in found) > 7
        among = photos.search(name="lorry", k=3, where="label = 'ship'")
        assert {match.item.labels for match in among} == {("ship",)}
        with pytest.raises(UnknownNames):
            photos.search(name="xyzzyx")


def test_names_that_a_network_knows(folder, model):
    _, X, labels = model
    source = WordNet(basis=SEEN)
    alone = {"averaging": 0, "shrinkage": 0.021}  # the rule is tested, not what neighbours teach
    hasher = MTH(n_bits=16, n_steps=60, n_units=32, random_state=0, **alone)
    hasher.fit(X, source.embed(SEEN)[labels])
    path = folder.parent / "network"
    save(hasher, path, notes={"labels": ["wordnet"], "seen": SEEN})
    with Collection.create(folder, path) as photos:
        photos.add(X, labels=[SEEN[label] for label in labels])
        meanings = (2.0 * unpack(photos.index.codes, 16) - 1) @ hasher.mapping_
        meanings /= np.linalg.norm(meanings, axis=1, keepdims=True)
        scores = meanings @ source.embed(["lorry"])[0]
        scores -= 0.6 * (meanings @ source.embed(SEEN).T).max(axis=1)
        found = photos.search(name="lorry", k=10)
        np.testing.assert_allclose(
            [match.score for match in found], np.sort(scores)[:-11:-1], rtol=1e-4
        )
        assert sum(match.item.labels == ("truck",) for match in found) > 7


def test_models_that_know_no_names(tmp_path, photos, X):
    with pytest.raises(CollectionError, match="LSH does not learn what names mean"):
        photos.search(name="cat")
    bare = ZSH(n_bits=16, n_anchors=20, random_state=0).fit(X, np.arange(60) % 3)
    with (
        Collection.create(tmp_path / "a", bare) as photos,
        pytest.raises(CollectionError, match="not trained with the meanings of names"),
    ):
        photos.search(name="cat")


def test_a_model_that_was_learned_without_labels(tmp_path, X):
    model = fit(X, effort="fast", n_steps=2, n_bits=16)
    with (
        Collection.create(tmp_path / "a", model) as photos,
        pytest.raises(CollectionError, match="from pictures without labels, so it knows no names"),
    ):
        photos.search(name="cat")


def test_other_vectors_than_those_of_the_training(tmp_path, model):
    words = tmp_path / "words.txt"
    words.write_text("".join(f"{name} 1 {i}\n" for i, name in enumerate(SEEN)))
    with (
        Collection.create(tmp_path / "a", model[0], semantics=words) as photos,
        pytest.raises(CollectionError, match="these have 2: name the same sources"),
    ):
        photos.search(name="cat")
    words.unlink()
    with (
        Collection.open(tmp_path / "a") as photos,
        pytest.raises(CollectionError, match=r"words\.txt is not there"),
    ):
        photos.search(name="dog")


SAME_AS = {"cat": "cat", "motortruck": "truck"}


def brute_scores(photos, name):
    """How well each code fits a name, in the order of the ids."""
    y = WordNet(basis=SEEN).embed([name])[0].astype(np.float64)
    bits = 2.0 * unpack(photos.index.codes, 16) - 1
    meanings = bits @ (photos.model.hasher.mapping_ @ photos.model.hasher.rotation_.T)
    meanings /= np.linalg.norm(meanings, axis=1, keepdims=True)
    others = WordNet(basis=SEEN).embed([own for own in SEEN if own != SAME_AS.get(name)])
    return meanings @ y - 0.6 * (meanings @ others.T).max(axis=1)


def check_name(photos, name, k, where=None):
    """A search by name against looking at every item."""
    scores = dict(zip(photos.ids.tolist(), brute_scores(photos, name), strict=True))
    ids = photos.ids if where is None else photos.find(where)
    best = sorted((scores[number] for number in ids.tolist()), reverse=True)[:k]
    found = photos.search(name=name, k=k, where=where)
    np.testing.assert_allclose([match.score for match in found], best, rtol=1e-4, atol=1e-6)
    own = [scores[match.id] for match in found]
    np.testing.assert_allclose(own, best, rtol=1e-4, atol=1e-6)
    ranks = [(-match.score, match.id) for match in found]
    assert ranks == sorted(ranks)
    assert len({match.id for match in found}) == len(found) == min(k, len(ids))
    return found


@pytest.fixture
def filled(folder, model):
    path, X, labels = model
    with Collection.create(folder, path) as photos:
        photos.add(X, labels=[SEEN[label] for label in labels], metadata=[
            {"row": i} for i in range(80)])  # fmt: skip
        yield photos


@pytest.mark.parametrize("name", ["cat", "motortruck", "lorry", "wolf"])
@pytest.mark.parametrize("k", [1, 7, 80, 500])
def test_names_against_every_item(filled, name, k):
    check_name(filled, name, k)
    check_name(filled, name, k, "label in ('cat', 'ship') and row > 5")
    assert filled.search(name=name, k=k, where="row > 1000") == []


def test_equal_scores_come_in_the_order_of_the_ids(filled):
    filled.add_codes(np.repeat(filled.index.get([3]), 30, axis=0))
    for k in (1, 5, 20, 110):
        check_name(filled, "cat", k)
    twins = [match.id for match in filled.search(name="cat", k=110) if match.id >= 80]
    assert twins == list(range(80, 110))


def test_names_after_adds_and_removes(filled):
    for where in (None, "row < 60"):
        check_name(filled, "lorry", 20, where)
    filled.remove(filled.ids[10:30])
    for where in (None, "row < 60"):
        check_name(filled, "lorry", 20, where)
    rng = np.random.RandomState(1)
    filled.add(rng.randn(20, 12).astype(np.float32), metadata=[{"row": i} for i in range(20)])
    for where in (None, "row < 60"):
        check_name(filled, "lorry", 20, where)
    with Collection.open(filled.path) as other:  # as many as before, but others
        other.remove(other.ids[:5])
        other.add(rng.randn(5, 12).astype(np.float32), metadata=[{"row": i} for i in range(5)])
    for where in (None, "row < 60"):
        check_name(filled, "lorry", 20, where)


def test_a_name_while_the_model_changes(folder, model, tmp_path, monkeypatch):
    path, X, labels = model
    vectors = WordNet(basis=SEEN).embed(SEEN)
    other = ZSH(n_bits=16, n_anchors=20, random_state=5).fit(X, vectors[labels])
    save(other, tmp_path / "other", notes={"labels": ["wordnet"], "seen": SEEN})
    with Collection.create(folder, path, keep_features=True) as photos:
        photos.add(X)
    own, calls = searching.ask, []

    def change_first(*args):
        asked = own(*args)
        calls.append(1)
        if len(calls) == 1:
            with Collection.open(folder) as elsewhere:
                assert elsewhere.reencode(tmp_path / "other") == 80
        return asked

    with Collection.open(folder) as photos:
        monkeypatch.setattr(searching, "ask", change_first)
        found = photos.search(name="lorry", k=10)
        assert len(calls) == 2
        assert photos.model.hasher.random_state == 5
        best = np.sort(brute_scores(photos, "lorry"))[::-1][:10]
        np.testing.assert_allclose([match.score for match in found], best, rtol=1e-4)


def test_pages_of_a_name(filled):
    whole = filled.search(name="lorry", k=50)
    for most, offset, k in [(50, 10, 7), (50, 45, 20), (50, 60, 5), (30, 0, 30)]:
        query = Query(name="lorry", most=most, offset=offset, k=k)
        (found,) = filled.search_each([query])
        assert found.total == most
        assert found == whole[:most][offset : offset + k]
        assert filled.search(name="lorry", k=k, offset=offset)[: most - offset] == found
    assert filled.search(name="lorry", k=500).total == 80
    assert filled.search(name="lorry", k=3).total == 80


def test_what_a_name_means(filled):
    basis = [*SEEN, "lorry"]
    vectors = WordNet(basis=basis).embed(basis).astype(np.float64)
    cosines = vectors[:4] @ vectors[4]
    meaning = filled.explain_name("lorry")
    assert (meaning.name, meaning.seen) == ("lorry", False)
    assert [near.name for near in meaning.nearest] == [SEEN[i] for i in np.argsort(-cosines)]
    np.testing.assert_allclose([near.cosine for near in meaning.nearest], np.sort(cosines)[::-1])
    assert meaning.nearest[0].name == "truck"
    assert meaning.forecast.similarity == meaning.nearest[0].cosine
    for name in ("cat", "Cat", " cat "):
        seen = filled.explain_name(name)
        assert seen.seen
        assert seen.forecast.verdict == "seen"
        assert np.isnan(seen.forecast.rank)
        assert seen.nearest[0].cosine == pytest.approx(1)
    with pytest.raises(UnknownNames, match="did you mean"):
        filled.explain_name("trukc")


def test_what_a_code_means(filled):
    filled.add_codes(np.zeros((3, 2), np.uint8), labels=["lorry", "xyzzyx", ["wolf", "cat"]])
    names = [*SEEN, "lorry", "wolf"]
    vectors = WordNet(basis=SEEN).embed(names).astype(np.float64)
    A = filled.model.hasher.mapping_ @ filled.model.hasher.rotation_.T
    for number in (0, 30, 79):
        code = filled.index.get([number])[0]
        meaning = (2.0 * unpack(code[None], 16)[0] - 1) @ A
        cosines = vectors @ meaning / np.linalg.norm(meaning)
        expected = sorted(zip(-cosines, names, strict=True))
        found = filled.explain_code(code)
        assert [near.name for near in found] == [name for _, name in expected]
        np.testing.assert_allclose(
            [near.cosine for near in found], [-cosine for cosine, _ in expected], rtol=1e-5
        )
        assert {near.name for near in found if not near.seen} == {"lorry", "wolf"}
        assert found[0].name == filled[number].labels[0]
        assert filled.explain_code(code, n=2) == found[:2]
    with pytest.raises(ValueError, match="code"):
        filled.explain_code(np.zeros(3, np.uint8))


def test_who_knows_names(filled, photos_without_names):
    assert filled.knows_names
    assert filled.model.seen == tuple(SEEN)
    assert not photos_without_names.knows_names
    with pytest.raises(CollectionError, match="LSH does not learn what names mean"):
        photos_without_names.explain_name("cat")
    with pytest.raises(CollectionError, match="LSH does not learn what names mean"):
        photos_without_names.search(name="cat")
    with pytest.raises(CollectionError, match="LSH does not learn what names mean"):
        photos_without_names.explain_code(np.zeros(2, np.uint8))


@pytest.fixture
def photos_without_names(tmp_path, hasher):
    with Collection.create(tmp_path / "without", hasher) as photos:
        assert photos.model.seen == ()
        yield photos


def test_models_of_vectors_that_mean_nothing_know_no_names(tmp_path, model):
    _, X, labels = model
    for notes in ({"labels": ["onehot"], "seen": SEEN}, {"labels": ["wordnet"]}, {"seen": SEEN}):
        vectors = WordNet(basis=SEEN).embed(SEEN)
        hasher = ZSH(n_bits=16, n_anchors=20, random_state=0).fit(X, vectors[labels])
        save(hasher, tmp_path / "m", notes=notes)
        place = tmp_path / f"c{len(str(notes))}"
        with Collection.create(place, tmp_path / "m") as photos:
            assert not photos.knows_names


def test_what_is_remembered_is_of_the_same_items(filled):
    store, model = filled._store, filled.model
    query = model.names().query("lorry")
    for ids in (filled.ids[:40], filled.ids[40:]):  # as many, and of the same generation
        part = filled.index.subset(ids)
        found, _ = naming.best_by_name(
            store, model, query, part, filled.generation, "a condition", 5
        )
        scores = dict(zip(filled.ids.tolist(), brute_scores(filled, "lorry"), strict=True))
        best = sorted((scores[number] for number in ids.tolist()), reverse=True)[:5]
        np.testing.assert_allclose(found, best, rtol=1e-4, atol=1e-6)
