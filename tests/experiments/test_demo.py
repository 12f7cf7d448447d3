import base64
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

from zshash.experiments import Demo
from zshash.experiments.page import png, render


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
    assert page.count("<circle") == len(demo.galleries()[0].objective)


def test_png_holds_the_pixels():
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    data = png(image)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    size = int.from_bytes(data[33:37])
    lines = zlib.decompress(data[41 : 41 + size])
    assert np.frombuffer(lines, np.uint8).reshape(3, 5)[:, 1:].tolist() == image.tolist()
    assert base64.b64encode(data)
