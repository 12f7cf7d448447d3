"""Pictures on the page: rows, the viewer, scrolling on, and what is done with several of them."""

import itertools
import json
import re
import shutil
import urllib.request

import numpy as np
import pytest

pytest.importorskip(
    "playwright.sync_api", reason="no Playwright: pip install playwright lets these tests run"
)

from PIL import Image

import zshash
from tests.web.browser.audit import problems
from tests.web.browser.visiting import PHONE
from tests.web.conftest import CHROMIUM, TOKEN
from tests.web.running import running
from zshash import Collection
from zshash.images import PictureReader

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no browser: apt-get install chromium lets these tests run"
    ),
]
SIZES = [
    (300, 200), (200, 300), (400, 400), (1000, 50), (50, 1000), (64, 64), (32, 32), (640, 360),
    (1200, 400), (900, 600), (600, 900), (500, 375),
]  # fmt: skip
EACH = 40
BOXES = """() => [...document.querySelectorAll("#grid .tile")].map((tile) => {
  const frame = tile.querySelector(".frame").getBoundingClientRect();
  const image = tile.querySelector(".frame").firstElementChild.getBoundingClientRect();
  const box = ({ left, top, width, height }) => ({ left, top: top + scrollY, width, height });
  return { id: Number(tile.dataset.id), frame: box(frame), image: box(image) };
})"""


@pytest.fixture
def server(client):
    return client.address


@pytest.fixture(scope="module")
def shaped(tmp_path_factory):
    """A server over pictures of many shapes, some of them large, small or thin."""
    folder = tmp_path_factory.mktemp("shaped")
    pictures = folder / "pictures"
    pictures.mkdir()
    chance = np.random.RandomState(0)
    for number in range(EACH * len(SIZES)):
        colours = chance.randint(0, 256, (3, 3, 3)).astype(np.uint8)
        size = SIZES[number % len(SIZES)]
        image = Image.fromarray(colours).resize(size, Image.Resampling.BICUBIC)
        image.save(pictures / f"{number:03}.jpg")
    reader = PictureReader("pixels:8", cache=False)
    model = zshash.fit(pictures, reader=reader, method="LSH", n_bits=32)
    with Collection.create(folder / "album", model, reader=reader) as album:
        album.add(pictures)
    with running(folder / "album") as address:
        yield address


@pytest.fixture
def writable(copied):
    with running(copied, writable=True, token=TOKEN) as address:
        yield address


@pytest.fixture
def writing(writable, visit):
    """A page of somebody who may change the collection."""
    here = visit(writable, locale="en-GB").go(f"/#token={TOKEN}")
    here.rest()
    return here


def size_of(item):
    return SIZES[item % len(SIZES)]


def shown(page):
    """The number of the picture in the viewer."""
    found = re.search(r"#item=(\d+)$", page.url)
    return None if found is None else int(found[1])


@pytest.mark.parametrize("options", [{}, PHONE], ids=["wide", "phone"])
def test_rows_keep_shapes_and_fill_the_width(shaped, visit, options):
    here = visit(shaped, **options).allow(422).go("/?id=0")
    width = here.page.evaluate("document.getElementById('grid').clientWidth")
    boxes = here.page.evaluate(BOXES)
    assert len(boxes) >= 60
    rows = {}
    for box in boxes:
        rows.setdefault(box["frame"]["top"], []).append(box["frame"])
    *full, last = [rows[top] for top in sorted(rows)]
    left = full[0][0]["left"]
    for row in full:
        assert row[0]["left"] == pytest.approx(left, abs=1)
        assert row[-1]["left"] + row[-1]["width"] == pytest.approx(left + width, abs=1)
        assert 60 < row[0]["height"] < 420
    for row in [*full, last]:
        assert len({box["height"] for box in row}) == 1
        for one, other in itertools.pairwise(row):
            assert one["left"] + one["width"] <= other["left"] - 2
    tops = sorted(rows)
    for above, below in itertools.pairwise(tops):
        assert above + rows[above][0]["height"] <= below - 2
    for box in boxes:
        wide, high = size_of(box["id"])
        frame, image = box["frame"], box["image"]
        assert image["width"] <= 2.6 * max(wide, high)
        if 1 / 3 <= wide / high <= 3.2:
            assert image["width"] / image["height"] == pytest.approx(wide / high, rel=0.02)
        if 1 / 3 <= wide / high <= 3.2 and high >= 200:
            assert image == pytest.approx(frame, abs=2), "it fills its place"


def test_small_and_thin_pictures(shaped, visit):
    here = visit(shaped).allow(422).go("/?id=0")
    for box in here.page.evaluate(BOXES):
        if size_of(box["id"]) == (32, 32):
            assert box["image"]["width"] == pytest.approx(80, abs=1)
        if size_of(box["id"]) == (1000, 50):
            assert box["image"]["width"] / box["image"]["height"] == pytest.approx(6, rel=0.05)
    rendering = "getComputedStyle(document.querySelector('#grid img')).imageRendering"
    assert here.page.evaluate(rendering) == "auto"
    here.shoot("rows")


def test_tiles_tell_names_and_no_codes(server, visit):
    here = visit(server).go("/?id=30")
    tile = here.page.locator("#grid .tile >> nth=3")
    assert tile.locator("svg.barcode").count() == 0
    text = tile.inner_text()
    assert re.search(r"(\w+)\n\1\d+\.png$", text), "its label and its file"
    assert "bits" not in text
    assert tile.locator(".caption").evaluate("one => getComputedStyle(one).opacity") == "0"
    tile.hover()
    here.until("getComputedStyle(document.querySelectorAll('#grid .caption')[3]).opacity === '1'")
    there = visit(server, **PHONE).go("/?id=30")
    caption = there.page.locator("#grid .caption >> nth=3")
    assert caption.evaluate("one => getComputedStyle(one).opacity") == "1"
    assert problems(there.page) == []


def test_viewer(server, visit):
    here = visit(server).go("/?id=30")
    page, ids = here.page, here.ids
    page.click("#grid .frame >> nth=2")
    page.wait_for_selector("#viewer[open]")
    assert page.url.endswith(f"?id=30#item={ids[2]}")
    assert page.inner_text("#viewer-position") == "3 of 180"
    assert page.locator("#viewer-spoken").text_content().startswith("3 of ")
    known = page.inner_text("#viewer-facts-side")
    assert re.search(r"\w+\d+\.png", known)
    assert "96 × 96 pixels" in known
    assert str(2000 + ids[2] % 20) in known
    assert "bits" not in known
    here.until("document.querySelector('#viewer-sheet img').naturalWidth === 96")
    assert problems(page) == []
    here.shoot("viewer")
    page.click(".exact summary")
    page.locator(".exact .bars li").first.wait_for()
    details = page.inner_text(".exact")
    assert "of 48 bits" in details
    assert '{"by":"hand"}' in details
    marks = page.locator(".exact .barcode .mark")
    n = marks.get_attribute("d").count("M") if marks.count() else 0
    assert n == here.distances[2], "marked bits are those that differ"
    page.keyboard.press("ArrowRight")
    assert shown(page) == ids[3]
    page.keyboard.press("Home")
    assert shown(page) == ids[0]
    assert page.locator("#viewer-before").is_disabled()
    page.click("#viewer-after")
    assert shown(page) == ids[1]
    page.keyboard.press("Escape")
    page.wait_for_selector("#viewer", state="hidden")
    page.wait_for_url(re.compile(r"\?id=30$"))
    assert page.evaluate("document.activeElement.parentElement.dataset.id") == str(ids[1])


def test_back_closes_the_viewer_and_a_link_opens_it(server, visit):
    here = visit(server).go("/?name=ship")
    page, ids = here.page, here.ids
    page.click("#grid .frame >> nth=4")
    address = page.url
    page.go_back()
    page.wait_for_selector("#viewer", state="hidden")
    assert page.url.endswith("?name=ship")
    page.go_forward()
    page.wait_for_selector("#viewer[open]")
    assert shown(page) == ids[4]
    there = visit(server).go("/")
    there.page.goto(address)
    there.page.wait_for_selector("#viewer[open]")
    there.page.keyboard.press("ArrowLeft")
    assert shown(there.page) == ids[3], "it is among its results"
    there.page.keyboard.press("Escape")
    there.page.wait_for_url(re.compile(r"\?name=ship$"))
    there.page.goto(f"{server}/#item=7")
    there.page.wait_for_selector("#viewer[open]")
    assert there.page.locator("#viewer-after").is_disabled(), "an item outside of results"


def test_link_to_a_picture_that_is_not_there(server, visit):
    here = visit(server).allow(404).go("/?name=ship#item=99999")
    here.page.wait_for_selector("#toast.shown")
    assert here.page.inner_text("#toast").startswith("There is no item 99999")
    assert here.page.url.endswith("?name=ship")


def test_more_like_this_from_the_viewer(server, visit):
    here = visit(server).go("/?name=ship")
    page, ids = here.page, here.ids
    page.click("#grid .frame >> nth=1")
    page.click("#viewer-like")
    here.until_query(rf"\?id={ids[1]}$")
    assert page.locator("#viewer").is_hidden()
    assert here.distances[0] == 0 or here.ids[0] == ids[1]
    page.go_back()
    page.wait_for_selector("#viewer[open]")
    assert shown(page) == ids[1]
    page.keyboard.press("Escape")
    page.wait_for_selector("#viewer", state="hidden")
    assert here.ids == ids


def test_zoom(shaped, visit):
    here = visit(shaped).allow(422).go("/?id=9")
    page = here.page
    page.click("#grid .frame >> nth=0")
    page.wait_for_selector("#viewer[open]")
    scale = "new DOMMatrix(getComputedStyle(document.getElementById('viewer-sheet')).transform).a"
    assert page.evaluate(scale) == 1
    page.keyboard.press("+")
    assert page.evaluate(scale) == pytest.approx(1.5)
    page.keyboard.press("0")
    assert page.evaluate(scale) == 1
    box = page.locator("#viewer-stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.wheel(0, -300)
    here.until(f"{scale} > 1.5")
    before = page.locator("#viewer-sheet").bounding_box()["x"]
    page.mouse.down()
    page.mouse.move(x + 40, y, steps=4)
    page.mouse.up()
    assert page.locator("#viewer-sheet").bounding_box()["x"] == pytest.approx(before + 40, abs=2)
    page.mouse.dblclick(x, y)
    here.until(f"{scale} === 1")
    for _ in range(9):
        page.keyboard.press("-")
    assert page.evaluate(scale) == 1


def test_fingers(shaped, visit):
    here = visit(shaped, **PHONE).allow(422).go("/?id=9")
    page, ids = here.page, here.ids
    page.locator("#grid .frame >> nth=0").tap()
    page.wait_for_selector("#viewer[open]")
    assert here.overflow() <= 0
    assert problems(page) == []
    box = page.locator("#viewer-stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    fingers = here.context.new_cdp_session(page)

    def touch(kind, *places):
        points = [{"x": a, "y": y, "id": i} for i, a in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", x + 80)
    touch("touchMove", x)
    touch("touchMove", x - 80)
    touch("touchEnd")
    here.until(f"location.hash === '#item={ids[1]}'")
    touch("touchStart", x - 20, x + 20)
    for gap in (30, 60, 90):
        touch("touchMove", x - gap, x + gap)
    touch("touchEnd")
    scale = "new DOMMatrix(getComputedStyle(document.getElementById('viewer-sheet')).transform).a"
    here.until(f"{scale} > 2")
    assert shown(page) == ids[1], "that was no swipe"
    here.shoot("phone-viewer-zoomed")


def test_original_that_is_gone(client, copied, visit):
    album = json.loads(client.get("/api/v1/items", limit=1).body)
    assert album["items"]
    gone = copied.parent / "gone"
    shutil.copytree(copied, gone)
    with running(gone) as address:
        here = visit(address).allow(404).go("/?id=3")
        here.page.route(re.compile("/picture"), lambda route: route.fulfill(status=404, body="{}"))
        here.page.click("#grid .frame >> nth=0")
        here.page.wait_for_selector("#viewer-trouble:visible")
        assert "can not be read any more" in here.page.inner_text("#viewer-trouble")
        assert here.page.locator("#viewer-sheet img").evaluate("image => image.naturalWidth") > 0


def test_scrolling_goes_on(shaped, visit):
    here = visit(shaped).allow(422).go("/?id=0")
    page = here.page
    total = EACH * len(SIZES)
    assert len(here.ids) < total
    seen, end = set(here.ids), False
    for _ in range(60):
        page.mouse.wheel(0, 1500)
        page.wait_for_timeout(60)
        seen |= set(here.ids)
        end = "That was all" in page.inner_text("#onward")
        if end and len(seen) == total:
            break
    assert len(seen) == total
    assert f"{total} results" in page.inner_text("#onward")
    assert page.locator("#onward-more").is_hidden()
    assert page.locator("#grid .tile").count() <= 302, "far ones are not on the page"
    last = page.locator("#grid .tile").last
    last.hover()
    page.wait_for_timeout(300)
    here.until("history.state?.shown === 480 && history.state.scroll === scrollY")
    where = page.evaluate("scrollY")
    assert where > 3000
    last.locator(".like").click()
    here.until("scrollY === 0")
    here.rest()
    page.go_back()
    here.until(f"Math.abs(scrollY - {where}) < 400")
    assert len(seen) == total
    page.reload()
    here.until(f"Math.abs(scrollY - {where}) < 400")


def test_of_many_pictures_only_the_best_are_listed(shaped, visit):
    page = visit(shaped).go("/?id=0&k=5").page
    total = EACH * len(SIZES)
    assert page.inner_text("#count") == f"The best 5 of {total} pictures"
    assert page.inner_text("#onward") == "These are the best 5: more are not listed."


def test_failure_on_the_way(shaped, visit):
    here = visit(shaped).allow(422, 500).go("/?id=0")
    page = here.page
    failing = [True]

    def answer(route):
        if failing:
            route.fulfill(status=500, body='{"detail": "something is wrong"}')
        else:
            route.continue_()

    page.route(re.compile(r"offset=[1-9]"), answer)
    page.mouse.wheel(0, 20000)
    here.until("document.getElementById('onward').textContent.includes('Try again')")
    assert "Something is wrong." in page.inner_text("#onward-words")
    n = len(here.ids)
    failing.clear()
    page.click("#onward-more")
    here.until(f"document.querySelectorAll('#grid .tile').length > {n}")


def test_selecting(server, visit):
    here = visit(server).go("/?id=0")
    page, ids = here.page, here.ids
    assert page.locator("#selected").is_hidden()
    page.hover("#grid .tile >> nth=1")
    page.click("#grid .check >> nth=1")
    page.click("#grid .check >> nth=4", modifiers=["Shift"])
    assert page.inner_text("#selected-count") == "4 selected"
    page.click("#grid .frame >> nth=2")
    assert page.inner_text("#selected-count") == "3 selected", "a click selects now"
    assert page.get_attribute("#grid .check >> nth=3", "aria-pressed") == "true"
    assert page.locator("#selected-remove").is_hidden(), "this server only reads"
    assert page.locator("#selected-label").is_hidden()
    assert problems(page) == []
    here.shoot("selected")
    with page.expect_download() as saved:
        page.click("#selected-export summary")
        page.click("#selected-csv")
    rows = saved.value.path().read_text().splitlines()
    assert len(rows) == 4
    assert {int(row.split(",")[0]) for row in rows[1:]} == {ids[1], ids[3], ids[4]}
    page.keyboard.press("Escape")
    assert page.locator("#selected").is_hidden()
    page.focus("#grid .frame >> nth=0")
    page.keyboard.press("Space")
    assert page.inner_text("#selected-count") == "1 selected"
    page.keyboard.press("Control+a")
    assert page.inner_text("#selected-count") == f"{len(here.ids)} selected"
    here.search("ship")
    assert page.locator("#selected").is_hidden()


def test_long_press(server, visit):
    here = visit(server, **PHONE).go("/?id=0")
    page = here.page
    page.locator("#grid .frame >> nth=0").scroll_into_view_if_needed()
    box = page.locator("#grid .frame >> nth=0").bounding_box()
    fingers = here.context.new_cdp_session(page)
    points = [{"x": box["x"] + 20, "y": box["y"] + 20}]
    fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points})
    page.wait_for_timeout(700)
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert page.inner_text("#selected-count") == "1 selected"
    page.locator("#grid .frame >> nth=1").tap()
    assert page.inner_text("#selected-count") == "2 selected"
    assert here.overflow() <= 0
    here.shoot("phone-selected")
    page.locator("#selected-clear").tap()
    assert page.locator("#selected").is_hidden()


def test_removing_and_undoing(writing, writable):
    here = writing.go("/?id=0")
    page, ids = here.page, here.ids
    page.hover("#grid .tile >> nth=3")
    page.click("#grid .check >> nth=3")
    page.click("#grid .check >> nth=5", modifiers=["Shift"])
    page.click("#selected-remove")
    page.wait_for_selector("#undo:visible")
    assert page.inner_text("#undo-words") == "3 pictures removed from the album."
    assert here.ids == [*ids[:3], *ids[6:]]
    assert page.inner_text("#count") == "177 pictures, the best first"
    assert number_of_items(writable) == 177
    here.shoot("removed")
    page.click("#undo-run")
    here.until(f"document.querySelectorAll('#grid .tile').length === {len(ids)}")
    assert here.ids == ids, "the same ids at the same places"
    assert page.inner_text("#count") == "180 pictures, the best first"
    assert number_of_items(writable) == 180
    assert page.inner_text("#selected-count") == "3 selected"


def test_undoing_after_another_search(writing):
    here = writing.go("/?id=0")
    page = here.page
    gone = here.ids[3]
    page.hover("#grid .tile >> nth=3")
    page.click("#grid .check >> nth=3")
    page.click("#selected-remove")
    page.wait_for_selector("#undo:visible")
    here.search("#40")
    assert page.inner_text("#count") == "179 pictures, the best first"
    before = here.ids
    page.click("#undo-run")
    here.until("document.getElementById('count').textContent.startsWith('180 ')")
    here.rest()
    assert here.ids != [*before[:3], gone, *before[3:]], "not at its place of the other search"
    assert [own for own in here.ids if own != gone][:50] == before[:50]
    assert page.locator("#selected").is_hidden()


def test_removing_all_that_was_found(writing):
    here = writing.go("/?id=0&where=id+in+(0,+1)")
    page = here.page
    assert page.inner_text("#onward") == "That was all: 2 results."
    page.keyboard.press("Control+a")
    page.click("#selected-remove")
    page.wait_for_selector("#undo:visible")
    assert page.inner_text("#count") == "No picture meets these filters."
    assert page.inner_text("#onward") == ""
    page.click("#undo-run")
    here.until("document.getElementById('count').textContent.startsWith('2 ')")
    assert page.inner_text("#onward") == "That was all: 2 results."


def test_removing_in_the_viewer(writing, writable):
    here = writing.allow(404).go("/?id=0")  # a picture may be asked for while its item goes
    page, ids = here.page, here.ids
    page.click("#grid .frame >> nth=1")
    page.keyboard.press("Delete")
    page.wait_for_selector("#undo:visible")
    assert shown(page) == ids[2], "the next one"
    assert problems(page) == []
    page.click("#undo-run")
    here.until(f"location.hash === '#item={ids[1]}'")
    page.keyboard.press("Escape")
    page.wait_for_selector("#viewer", state="hidden")
    assert here.ids == ids
    assert number_of_items(writable) == 180


def test_a_removal_that_is_refused_is_told_above_the_viewer(writing):
    here = writing.allow(409).go("/?id=0")
    page = here.page
    refused = json.dumps({"detail": "another process is writing"})
    page.route(re.compile("items/remove"), lambda route: route.fulfill(status=409, body=refused))
    page.click("#grid .frame >> nth=1")
    page.keyboard.press("Delete")
    page.wait_for_selector("#viewer #toast.shown >> text=Another process is writing.")
    page.keyboard.press("Escape")
    page.wait_for_selector("#viewer", state="hidden")
    page.click("#copy")
    page.wait_for_selector("body > #toast.shown")


def test_labelling(writing, writable):
    here = writing.go("/?id=0")
    page, ids = here.page, here.ids
    page.hover("#grid .tile >> nth=0")
    page.click("#grid .check >> nth=0")
    page.click("#grid .check >> nth=1")
    page.click("#selected-label")
    assert problems(page) == []
    page.click("#labelling-form .primary")
    assert page.inner_text("#labelling-error") == "Type a name first."
    page.fill("#labelling-name", "<i>old</i> timer")
    here.shoot("labelling")
    page.keyboard.press("Enter")
    page.wait_for_selector("#labelling", state="hidden")
    assert page.locator("#selected").is_hidden()
    names = page.locator(f"#grid [data-id='{ids[1]}'] .tag .name").all_text_contents()
    assert "<i>old</i> timer" in names
    assert len(names) == 2
    page.wait_for_selector("#learning >> text=2 pictures have other labels now.")
    page.click("#grid .frame >> nth=1")
    page.click("#viewer-label")
    page.fill("#labelling-name", "Ship")
    page.check("#labelling-set")
    page.keyboard.press("Enter")
    here.until("document.getElementById('viewer-title').textContent === 'ship'")
    with urllib.request.urlopen(f"{writable}/api/v1/items/{ids[1]}") as answer:
        assert json.load(answer)["labels"] == ["ship"]


def number_of_items(address):
    with urllib.request.urlopen(f"{address}/api/v1/info") as answer:
        return json.load(answer)["items"]
