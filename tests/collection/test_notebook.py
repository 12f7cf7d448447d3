"""What a notebook shows of matches, read by Python's own parser of HTML and by Pillow."""

import base64
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tests.collection.conftest import draw
from zshash import Collection
from zshash.collection import Found, Item, Match
from zshash.collection.notebook import MOST_SHOWN, SHARP, SIDE


class Page(HTMLParser):
    """Elements and texts of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.images, self.texts, self.open = [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "img":
            self.images.append(dict(attributes))
        else:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def pictures(self):
        """The pictures in the page, decoded."""
        heads, bodies = zip(*(own["src"].split(",") for own in self.images), strict=True)
        assert set(heads) == {"data:image/webp;base64"}
        return [Image.open(BytesIO(base64.b64decode(body, validate=True))) for body in bodies]


@pytest.fixture
def many(tmp_path, hasher, reader):
    """A collection of 21 wide pictures with thumbnails that are larger than a notebook's."""
    for seed in range(21):
        image = Image.open(draw(tmp_path / "wide" / f"{seed}.png", seed))
        image.resize((800, 400)).save(tmp_path / "wide" / f"{seed}.png")
    folder = tmp_path / "many.zshash"
    with Collection.create(folder, hasher, reader=reader, thumbnails=640) as collection:
        collection.add(tmp_path / "wide")
        yield collection


def test_matches_are_a_row_of_small_pictures(many):
    found = many.search(item=0, k=21)
    page = Page(found._repr_html_())
    assert not page.open
    assert len(page.images) == MOST_SHOWN < len(found)
    assert {image.size for image in page.pictures()} == {(SHARP * SIDE, SHARP * SIDE // 2)}
    assert page.texts[0] == "Found 21 of 21, the first 20"
    names = [match.path.rpartition("/")[2] for match in found[:MOST_SHOWN]]
    assert [own["alt"] for own in page.images] == names
    assert set(names) <= set(page.texts)
    assert f"{found[1].score:.2f}" in page.texts


def test_thumbnails_are_shown_as_they_are_kept(album, pictures):
    album.add(pictures)
    page = Page(album.search(item=0, k=3)._repr_html_())
    assert page.texts[0] == "Found 3 of 12"
    kept = [album.thumbnail(match.id) for match in album.search(item=0, k=3)]
    got = [base64.b64decode(own["src"].partition(",")[2]) for own in page.images]
    assert got == kept
    assert any(text.startswith("1.00 · ") for text in page.texts)


def test_texts_are_escaped():
    evil = '"><script>alert(1)</script>&'
    item = Item(7, b"\0", f"photos/{evil}.jpg", labels=(evil, "dog"))
    page = Page(Found([Match(item, 0.5)], total=1)._repr_html_())
    assert "script" not in page.tags
    assert not page.open
    assert f"0.50 · {evil} · dog" in page.texts


def test_items_without_pictures_and_closed_collections(photos, X, many):
    photos.add(X[:2])
    bare = Page(photos.search(X[0])._repr_html_())
    assert not bare.images
    assert {"item 0", "item 1"} <= set(bare.texts)
    found = many.search(item=3, k=2)
    many.close()
    page = Page(found._repr_html_())
    assert not page.images
    assert found[0].path.rpartition("/")[2] in page.texts


def test_nothing_found(photos):
    assert Page(photos.search(np.ones(12))._repr_html_()).texts == ["Found 0 of 0"]
    lost = Found(failure="a.jpg: it can not be read")
    assert Page(lost._repr_html_()).texts == ["Found nothing: a.jpg: it can not be read"]
    assert repr(lost) == "<Found nothing: a.jpg: it can not be read>"
