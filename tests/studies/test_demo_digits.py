from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from zshash import Collection, CollectionError
from zshash.datasets import digits as read_digits
from zshash.evaluation.protocol import fit_setup
from zshash.studies.demo import Digits, make_collection
from zshash.studies.demo.digits import setups


@pytest.fixture(scope="module")
def digits():
    digits = Digits(n_bits=32, n_seeds=2)
    list(digits.scores())
    return digits


def test_learned_codes_gather_unseen_digits(digits):
    words, one_hot, random = digits.summary()
    assert min(words["map"], one_hot["map"]) > 0.3  # one in ten by chance
    assert min(words["precision"], one_hot["precision"]) > random["precision"]


def test_retrievals_are_the_nearest_of_the_database(digits):
    split = digits.split()
    hasher, _ = fit_setup(digits.dataset, setups(32)[0], split, seed=0, unlabelled=True)
    bits = np.unpackbits(hasher.encode(digits.dataset.X), axis=1).astype(int)
    for retrieval in digits.retrievals():
        assert digits.dataset.labels[retrieval.query] in split.unseen
        away = (bits[split.database] != bits[retrieval.query]).sum(axis=1)
        order = np.lexsort((split.database, away))[:12]
        assert_array_equal(retrieval.neighbors, split.database[order])
        assert_array_equal(retrieval.distances, away[order])


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    with make_collection(tmp_path_factory.mktemp("demo") / "digits") as album:
        yield album


class TestCollection:
    """The collection of all digits, with two that its model has not seen."""

    data = read_digits()

    def rows(self, name, step):
        """Rows of some digits of a name."""
        return np.flatnonzero(self.data.labels == self.data.names.index(name))[::step].tolist()

    def right(self, matches, name):
        """How many of ten neighbours have a name."""
        assert len(matches) == 10
        return sum(match.item.labels == (name,) for match in matches)

    def file(self, row, side=200, margin=0, inverted=False):
        """A digit as PNG."""
        image = Image.fromarray(self.data.images[row]).resize(
            (side, side), Image.Resampling.NEAREST
        )
        pixels = np.pad(np.asarray(image), margin)
        content = BytesIO()
        Image.fromarray(255 - pixels if inverted else pixels).save(content, "PNG")
        return content.getvalue()

    def test_it_holds_all_digits(self, album):
        assert len(album) == len(self.data)
        items = album.items()
        assert [item.metadata["row"] for item in items] == list(range(len(items)))
        names = [self.data.names[number] for number in self.data.labels]
        assert [item.labels for item in items] == [(name,) for name in names]
        assert album.verify() == []

    def test_its_model_is_that_of_the_demonstration(self, album):
        split = replace(Digits(n_bits=64).protocol, n_seen_queries=0).split(self.data, 0)
        hasher, _ = fit_setup(self.data, setups(64)[0], split, seed=0)
        codes = np.array([np.frombuffer(item.code, np.uint8) for item in album.items()])
        assert_array_equal(codes, hasher.encode(self.data.X))
        notes = album.model.notes
        assert notes["unseen"] == [self.data.names[number] for number in split.unseen]
        assert notes["seen"] == [self.data.names[number] for number in split.seen]
        assert len(notes["unseen"]) == 2
        assert notes["labels"] == ["wordnet"]
        assert notes["extractor"]["name"] == "pixels:8"

    def test_thumbnails_are_crisp(self, album):
        for row in (0, 800, 1700):
            with Image.open(BytesIO(album.thumbnail(row))) as image:
                pixels = np.asarray(image.convert("L")).astype(int)
            large = self.data.images[row].repeat(16, axis=0).repeat(16, axis=1)
            assert pixels.shape == (128, 128)
            assert abs(pixels - large).max() <= 8  # of 255, and WebP is lossy
            assert abs(pixels - large).mean() < 1

    def test_pictures_of_hidden_digits_find_their_own_kind(self, album):
        for name, least in zip(album.model.notes["unseen"], (7.5, 4), strict=True):
            found = []
            for row in self.rows(name, step=5):
                matches = album.search(self.file(row), k=11)
                others = [match for match in matches if match.item.id != row]
                found.append(self.right(others[:10], name))
            assert np.mean(found) > least  # one by chance

    @pytest.mark.parametrize("inverted", [False, True])
    def test_an_enlarged_file_finds_itself(self, album, tmp_path, inverted):
        for row in range(3, 1797, 299):
            path = tmp_path / f"{row}.png"
            path.write_bytes(self.file(row, inverted=inverted))
            (itself,) = album.search(path, k=1, where=f"row = {row}")
            assert itself.bits == 0
            assert album.search(path, k=1)[0].bits == 0

    def test_drawings_with_margins(self, album):
        found = []
        for row in range(0, 1797, 60):
            matches = album.search(self.file(row, margin=70, inverted=True), k=10)
            found.append(self.right(matches, self.data.names[self.data.labels[row]]))
        assert np.mean(found) > 8

    def test_names(self, album):
        for name in album.model.notes["seen"]:
            assert self.right(album.search(name=name, k=10), name) >= 8
        for name in album.model.notes["unseen"]:
            scores = [match.score for match in album.search(name=name, k=10)]
            assert scores == sorted(scores, reverse=True)
            assert len(scores) == 10

    def test_opened_again_it_takes_more_pictures(self, tmp_path):
        make_collection(tmp_path / "digits", n_bits=32).close()
        (tmp_path / "new.png").write_bytes(self.file(7, margin=30))
        with Collection.open(tmp_path / "digits") as album:
            assert album.n_bits == 32
            (number,) = album.add(tmp_path / "new.png", labels=["seven"]).ids
            assert album.search(tmp_path / "new.png", where="path like '%new.png'")[0].bits == 0
            assert album[number].labels == ("seven",)

    def test_a_folder_that_is_taken(self, tmp_path):
        (tmp_path / "letter.txt").write_text("mine")
        with pytest.raises(CollectionError, match=r"letter\.txt"):
            make_collection(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
