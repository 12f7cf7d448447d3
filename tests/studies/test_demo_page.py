"""The page of the demonstration: whole, self-contained, and true to what was found."""

import base64
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

from zshash.collection import Found, Item, Match
from zshash.evaluation.report.page import png
from zshash.studies.demo import ClipArt, Digits
from zshash.studies.demo.clipart import PICTURES
from zshash.studies.demo.page import render

FILES = sorted(PICTURES.glob("*.webp"))


class Parser(HTMLParser):
    """Collects pictures and texts, and checks that elements are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.pictures, self.texts = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.pictures.append(dict(attrs))
        elif tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(" ".join(data.split()))


class Nothing:
    nothing = True


def matches(*numbers, bits=None):
    return [Match(Item(n, b"", source=str(FILES[n])), 0.5 - n / 100, bits) for n in numbers]


@pytest.fixture(scope="module")
def digits():
    digits = Digits(n_bits=16, n_seeds=1)
    list(digits.scores())
    found = digits.retrievals()
    digits.retrievals = lambda: found  # made once: each call learns a model
    return digits


@pytest.fixture(scope="module")
def clipart():
    names = {"drum & <b>": Found(matches(3, 4)), "igloo": Found(matches(5), reading=Nothing())}
    examples = [(matches(7)[0].item, matches(8, 9, bits=11))]
    return ClipArt(n=309, n_bits=64, seconds=9.4, names=names, examples=examples)


def test_it_is_whole_and_needs_nothing_else(digits, clipart):
    page = render(digits, clipart)
    parser = Parser(page)
    assert parser.open == []
    assert len(parser.pictures) == 6 + 4 * 13
    assert all(picture["alt"] for picture in parser.pictures)
    assert not re.search(r"(src|href)=\"(?!data:|#)|url\(|@import", page)


def test_it_holds_the_files_of_the_drawings(digits, clipart):
    parser = Parser(render(digits, clipart))
    held = [
        base64.b64decode(picture["src"].removeprefix("data:image/webp;base64,"))
        for picture in parser.pictures
        if "webp" in picture["src"]
    ]
    assert held == [FILES[n].read_bytes() for n in (3, 4, 5, 7, 8, 9)]


def test_what_it_says(digits, clipart):
    texts = Parser(render(digits, clipart)).texts
    assert "309 drawings, no label, found by name" in texts
    assert (
        "In 9 seconds they became an album, 8 bytes each. Words and drawings find others in it."
        in texts
    )
    assert "drum & <b>" in texts
    assert [text for text in texts if text.endswith(" %")] == ["47 %", "46 %", "45 %"]
    assert texts.count("11 of 64") == 2
    assert sum("says zshash" in text for text in texts) == 1
    at = next(i for i, text in enumerate(texts) if "says zshash" in text)
    assert "igloo" in texts[at - 2 : at]


def test_scores_of_digits(digits):
    texts = Parser(render(digits)).texts
    for row in digits.summary():
        assert row["name"] in texts
        assert f"{row['map']:.3f}" in texts
        assert f"{row['precision']:.3f}" in texts
    assert "One run." in render(digits)


def test_frames_say_which_digits_are_right(digits):
    parser = Parser(render(digits))
    names, labels = digits.dataset.names, digits.dataset.labels
    roles = [picture["class"].split()[1] for picture in parser.pictures]
    titles = [picture["title"] for picture in parser.pictures]
    expected = []
    for retrieval in digits.retrievals():
        own = labels[retrieval.query]
        expected += [
            "query",
            *("right" if labels[n] == own else "wrong" for n in retrieval.neighbors),
        ]
    assert roles == expected
    assert titles[0] == names[labels[digits.retrievals()[0].query]]


def test_digits_alone_are_a_page_of_their_own(digits):
    page = render(digits)
    assert "webp" not in page
    assert page.count("<h1") == 1
    assert "The method itself" in page


def test_png_holds_the_pixels():
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    data = png(image)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    size = int.from_bytes(data[33:37])
    lines = zlib.decompress(data[41 : 41 + size])
    assert np.frombuffer(lines, np.uint8).reshape(3, 5)[:, 1:].tolist() == image.tolist()
