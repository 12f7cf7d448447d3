import base64
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from zshash import Collection, CollectionError
from zshash.datasets import digits
from zshash.evaluation.protocol import fit_setup
from zshash.evaluation.report.page import png
from zshash.studies.demo import Demo, make_collection, setups
from zshash.studies.demo.page import render


@pytest.fixture(scope="module")
def demo():
    demo = Demo(n_bits=32, n_seeds=2)
    list(demo.scores())
    return demo


def test_learned_codes_gather_unseen_digits(demo):
    words, one_hot, random = demo.summary()
    assert min(words["map"], one_hot["map"]) > 0.3  # one in ten by chance
    assert min(words["precision"], one_hot["precision"]) > random["precision"]


def test_galleries_are_ordered_and_leave_out_the_query(demo):
    for gallery in demo.galleries():
        for retrieval in gallery.retrievals:
            assert retrieval.query not in retrieval.neighbors
            assert (np.diff(retrieval.distances) >= 0).all()
            assert demo.dataset.labels[retrieval.query] in demo.split().unseen


class Parser(HTMLParser):
    """Collects pictures and checks that elements are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.pictures = [], []

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.pictures.append(dict(attrs))
        elif tag not in ("meta", "circle", "line", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("circle", "line", "polyline"):
            assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(demo):
    page = render(demo)
    parser = Parser()
    parser.feed(page)
    assert parser.open == []
    assert len(parser.pictures) == 3 * 6 * 16
    classes = {picture["class"] for picture in parser.pictures}
    assert classes == {"query", "right", "wrong"}
    for picture in parser.pictures:
        assert picture["src"].startswith("data:image/png;base64,")
        assert picture["alt"]
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert "near siblings in WordNet" in page
    assert page.count("<circle") == len(demo.galleries()[1].objective)


def test_png_holds_the_pixels():
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    data = png(image)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    size = int.from_bytes(data[33:37])
    lines = zlib.decompress(data[41 : 41 + size])
    assert np.frombuffer(lines, np.uint8).reshape(3, 5)[:, 1:].tolist() == image.tolist()
    assert base64.b64encode(data)


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    with make_collection(tmp_path_factory.mktemp("demo") / "digits") as album:
        yield album


class TestCollection:
    """The collection of all digits, with two that its model has not seen."""

    data = digits()

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
        demo = Demo(n_bits=64)
        split = demo.split()
        split = replace(demo.protocol, n_seen_queries=0).split(self.data, 0)
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
            assert abs(pixels - large).max() <= 4

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
