import base64
import re
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from zshash.evaluation.report.document import (
    NOT,
    NOT_RUN,
    PARTLY,
    REPRODUCED,
    Claim,
    Claims,
    Code,
    Document,
    Gallery,
    GalleryRow,
    Items,
    Line,
    Lines,
    Picture,
    Plot,
    Section,
    Table,
    Text,
)
from zshash.evaluation.report.page import png, to_html
from zshash.evaluation.report.plots import draw

HOSTILE = "<script>alert(1)</script>\"'&<b>"


class Page(HTMLParser):
    """Tags with their attributes, and the text that a reader sees."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.open = [], "", []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "truck.png"
    path.write_bytes(png(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)))
    return path


@pytest.fixture(scope="module")
def text(picture):
    """A page with every kind of block and a hostile name in every place."""
    plots = [
        Plot(name, [Lines(HOSTILE, "bits", "MAP", [Line(HOSTILE, [16, 32], [0.1, 0.2])])], HOSTILE)
        for name in ("map", "map-2")
    ]
    found = [Picture(picture, HOSTILE, True), Picture(picture, "cat", False, HOSTILE)]
    verdicts = (REPRODUCED, PARTLY, NOT, NOT_RUN)
    blocks = [
        Table([HOSTILE, "MAP"], [[HOSTILE, f"**{HOSTILE}**"]], HOSTILE),
        Items([f"`{HOSTILE}`", "[ok](https://example.org/?a&b)", "[bad](javascript:alert)"]),
        Code(HOSTILE),
        Gallery(HOSTILE, [GalleryRow(HOSTILE, Picture(picture, HOSTILE), found)]),
        Claims([Claim(HOSTILE, verdict, HOSTILE) for verdict in verdicts]),
    ]
    sections = [Section(HOSTILE, plots, "plots"), Section("Others", blocks, "others")]
    document = Document(HOSTILE, [Text(HOSTILE)], sections)
    return to_html(document, {plot.name: draw(plot) for plot in plots})


def test_names_can_not_write_html(text):
    page = Page(text)
    assert not page.all("script")
    assert not page.all("b")
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)
    assert page.text.count(HOSTILE) >= 15
    assert [svg["aria-label"] for svg in page.all("svg")] == [HOSTILE] * 2


def test_the_page_asks_nothing_of_anyone(text):
    page = Page(text)
    for tag, attributes in page.tags:
        for key in {"src", "href", "xlink:href"} & set(attributes):
            allowed = "#" if key != "src" else "data:image/png;base64,"
            assert attributes[key].startswith(allowed) or tag == "a"
    assert not re.search(r"url\((?!#)|@import", text)
    assert not page.all("link")
    addresses = [a["href"] for a in page.all("a")]
    assert addresses == ["#summary", "#plots", "#others", "https://example.org/?a&b"]


def test_ids_are_unique_and_every_reference_has_its_own(text):
    page = Page(text)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    references = re.findall(r'(?:url\(#|href="#)([^)"]+)', text)
    assert len(references) > 20
    assert set(references) <= set(ids)


def test_plots_are_pictures_to_a_screen_reader(text):
    assert [svg["role"] for svg in Page(text).all("svg")] == ["img", "img"]
    assert "<?xml" not in text
    assert text.lower().count("<!doctype") == 1


def test_verdicts_are_words_and_colours(text):
    badges = re.findall(r'<span class="badge (\w+)">([^<]+)</span>', text)
    assert [word for _, word in badges] == [REPRODUCED, PARTLY, NOT, NOT_RUN]
    assert len({colour for colour, _ in badges}) == 4


def test_pictures_are_inside_the_page(text, picture):
    images = Page(text).all("img")
    assert [image["class"] for image in images] == ["query", "right", "wrong"]
    data = {base64.b64decode(image["src"].partition(",")[2]) for image in images}
    assert data == {picture.read_bytes()}


def test_missing_pictures_leave_their_marks(tmp_path):
    found = [Picture(path, "cat", right) for path, right in ((None, True), (tmp_path, False))]
    gallery = Gallery("Cats", [GalleryRow("ZSH", Picture(tmp_path / "no.png", "a cat"), found)])
    page = Page(to_html(Document("T", [gallery], []), {}))
    assert not page.all("img")
    assert page.text.split("Cats")[1].strip() == "ZSH 1 of 2 righta cat✓✗"


def test_png_in_colours_is_read_by_others():
    image = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    assert np.array_equal(np.asarray(Image.open(BytesIO(png(image)))), image)
    assert np.array_equal(np.asarray(Image.open(BytesIO(png(image[:, :, 0])))), image[:, :, 0])
