"""The map in a real browser."""

import json
import re
import urllib.request

import numpy as np
import pytest

pytest.importorskip(
    "playwright.sync_api", reason="no Playwright: pip install playwright lets these tests run"
)
pytest.importorskip("uvicorn", reason="no web service: pip install '.[web]' lets these tests run")

from tests.web.browser.album import CATEGORIES, EACH
from tests.web.browser.audit import problems
from tests.web.browser.visiting import PHONE
from tests.web.conftest import CHROMIUM
from tests.web.running import running
from zshash import LSH, Collection

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no browser: apt-get install chromium lets these tests run"
    ),
]
TOKEN = "a-token-of-these-tests"
N = EACH * len(CATEGORIES)
DATA = "document.getElementById('map').dataset"


@pytest.fixture(scope="module")
def server(client):
    return client.address


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    """A server over a collection without pictures, whose model knows no names."""
    X = np.random.RandomState(0).randn(200, 12).astype(np.float32)
    folder = tmp_path_factory.mktemp("features") / "features"
    labels = [[f"group {i % 60}", "even" if i % 2 == 0 else "odd"] for i in range(200)]
    with Collection.create(folder, LSH(n_bits=128, random_state=0).fit(X)) as collection:
        collection.add(X, labels=labels)
    with running(folder) as address:
        yield address


def painted(page):
    """A pixel of the map that a point covers, seen from the window, and how many there are."""
    return page.evaluate("""() => {
      const canvas = document.getElementById("map");
      const { width, height } = canvas;
      const copy = new OffscreenCanvas(width, height).getContext("2d");
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, width, height);
      const found = [];
      for (let i = 0; i < width * height; i++) {
        const [r, g, b, a] = data.subarray(4 * i, 4 * i + 4);
        if (a && Math.max(r, g, b) - Math.min(r, g, b) > 24) found.push(i);
      }
      const middle = found[found.length >> 1];
      const box = canvas.getBoundingClientRect();
      const scale = box.width / width;
      return {
        n: found.length, x: box.left + (middle % width) * scale,
        y: box.top + Math.floor(middle / width) * scale, columns: width,
      };
    }""")


def opened(visit, server, path="/?view=map", **options):
    """The map, when it is drawn."""
    here = visit(server, **options).go(path)
    here.page.wait_for_selector("#map[data-points]")
    return here


def test_map(server, visit):
    here = visit(server).go("/")
    page = here.page
    page.click("nav a[data-view=map]")
    page.wait_for_selector(f"#map[data-points='{N}']")
    assert page.url.endswith("?view=map")
    assert page.inner_text("h1:visible") == "Map of album"
    assert "2 of them unseen in training: truck, wolf" in page.inner_text("#atlas-summary")
    signs = page.evaluate(f"{DATA}.signs").split("|")
    assert set(signs) <= set(CATEGORIES)
    assert len(signs) >= 3
    assert problems(page) == []
    spot = painted(page)
    assert spot["n"] > 2 * N
    here.shoot("map")
    page.mouse.move(spot["x"] + 1, spot["y"])
    page.wait_for_selector("#tip:visible")
    assert page.locator("#tip strong").inner_text() in CATEGORIES
    page.mouse.wheel(0, -240)
    here.until(f"Number({DATA}.zoom) > 1.5")
    page.click("#zoom-all")
    here.until(f"{DATA}.zoom === '1.000'")


def test_legend(server, visit):
    here = opened(visit, server)
    page = here.page
    page.uncheck("#legend input >> nth=0")
    page.wait_for_selector(f"#map[data-points='{N - EACH}']")
    page.check("#legend input >> nth=0")
    page.click("#legend button >> nth=1")
    assert page.get_attribute("#legend button >> nth=1", "aria-pressed") == "true"
    here.shoot("map-highlight")
    page.click("#legend button >> nth=1")
    page.click("#legend-none")
    page.wait_for_selector("#map[data-points='0']")
    page.click("#legend-all")
    page.wait_for_selector(f"#map[data-points='{N}']")


def test_a_click_opens_an_item(server, visit):
    here = opened(visit, server)
    spot = painted(here.page)
    here.page.mouse.click(spot["x"], spot["y"])
    here.until("document.querySelector('dialog[open]') || location.search.includes('id=')")
    here.page.go_back()
    here.until("!document.querySelector('dialog[open]') && location.search === '?view=map'")
    assert here.page.locator("#map").is_visible()


def test_results_are_marked(server, visit):
    here = opened(visit, server, "/?view=map&name=ship")
    page = here.page
    page.wait_for_selector("#map-marks:visible")
    assert "results of “ship” marked" in page.inner_text("#map-marks")
    here.until(f"{DATA}.marked === '60'")
    assert page.get_attribute("nav a[data-view=search]", "href") == "?name=ship"
    here.shoot("map-marks")
    page.reload()
    page.wait_for_selector("#map-marks:visible")
    page.click("#map-marks button")
    page.wait_for_selector("#map-marks", state="hidden")
    here.until(f"{DATA}.marked === '0'")
    assert page.url.endswith("?view=map")


def test_names_that_nobody_knows_mark_nothing(server, visit):
    here = visit(server).allow(422).go("/?view=map&name=xqzzy")
    here.page.wait_for_selector("#map-marks:visible")
    assert "xqzzy" in here.page.inner_text("#map-marks")
    assert here.page.evaluate(f"{DATA}.marked") == "0"


def test_there_is_always_something_to_see(server, visit):
    here = opened(visit, server)
    page = here.page
    box = page.locator("#map").bounding_box()
    for x, y in [(0.02, 0.02), (0.98, 0.98), (0.5, 0.02)]:
        page.click("#zoom-all")
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        for _ in range(12):
            page.mouse.wheel(0, -240)
        page.focus("#map")
        for key in ["ArrowLeft", "ArrowUp"] * 12:
            page.keyboard.press(key)
        page.wait_for_timeout(100)
        assert painted(page)["n"] > 50


def test_without_labels_the_map_says_what_the_network_recognises(knower, visit):
    here = opened(visit, knower.address)
    assert "coloured by what the program recognises" in here.page.inner_text(
        "#atlas-summary"
    ) or "in 2 categories" in here.page.inner_text("#atlas-summary")
    names = here.page.locator("#legend .name").all_text_contents()
    assert {"cat", "dog"} < set(names)
    assert len(names) > 3
    here.shoot("map-recognised")


@pytest.mark.parametrize("dark", [False, True])
def test_colours_can_be_told_apart(server, visit, dark):
    here = visit(server).go("/")
    text = urllib.request.urlopen(f"{server}/static/palette.js").read().decode()
    lists = {
        name: re.findall(r"#[0-9a-f]{6}", body)
        for name, body in re.findall(r"const (LIGHT|DARK) = \[(.*?)\]", text, re.S)
    }
    colours = np.array([linear(one) for one in lists["DARK" if dark else "LIGHT"]])
    paper = linear("#1d2125" if dark else "#ffffff")
    light, behind = colours @ LUMINANCE, float(paper @ LUMINANCE)
    ratio = (np.maximum(light, behind) + 0.05) / (np.minimum(light, behind) + 0.05)
    assert ratio.min() >= 3
    shape = np.arange(len(colours)) % 4
    for vision in VISIONS.values():
        seen = oklab(np.clip(colours @ np.transpose(vision), 0, 1))
        far = np.linalg.norm(seen[:, None] - seen, axis=2) + 9 * np.eye(len(seen))
        assert far.min() > 0.05
        assert far[shape[:, None] == shape].min() > 0.075
    assert here.page


LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
VISIONS = {  # Machado, Oliveira and Fernandes 2009, severity 1
    "usual": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def linear(hex_code):
    """Linear red, green and blue of a colour."""
    value = np.array([int(hex_code[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    cones = rgb @ np.array([
        [0.4122214708, 0.2119034982, 0.0883024619],
        [0.5363325363, 0.6806995451, 0.2817188376],
        [0.0514459929, 0.1073969566, 0.6299787005],
    ])  # fmt: skip
    return np.cbrt(cones) @ np.array([
        [0.2104542553, 1.9779984951, 0.0259040371],
        [0.7936177850, -2.4285922050, 0.7827717662],
        [-0.0040720468, 0.4505937099, -0.8086757660],
    ])  # fmt: skip


def test_map_by_keys(server, visit):
    here = opened(visit, server)
    page = here.page
    page.focus("#map")
    for _ in range(4):
        page.keyboard.press("+")
    here.until(f"Number({DATA}.zoom) > 3")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("0")
    here.until(f"{DATA}.zoom === '1.000'")
    spot = painted(page)
    page.mouse.move(spot["x"], spot["y"])
    for _ in range(3):
        page.mouse.wheel(0, -240)
    here.until(f"{DATA}.zoom > 3")
    here.until(f"{DATA}.thumbnails > 0")
    page.wait_for_load_state("networkidle")
    here.shoot("map-thumbnails")


def test_map_on_a_phone(server, visit):
    here = opened(visit, server, **PHONE)
    page = here.page
    assert here.overflow() <= 0
    here.shoot("phone-map")
    assert page.locator("#legend").is_hidden()
    page.tap("#legend-open")
    page.wait_for_selector("#legend:visible")
    assert page.get_attribute("#legend-open", "aria-expanded") == "true"
    assert problems(page) == []
    here.shoot("phone-legend")
    page.tap("#legend-close")
    page.wait_for_selector("#legend", state="hidden")


def test_map_that_is_being_made(server, visit):
    here = visit(server)
    early = {"state": "computing", "generation": 0, "digest": "", "items": 0, "total": 150}
    states = iter([json.dumps(early | {"categories": [], "regions": []})])

    def answer(route):
        first = next(states, None)
        if first:
            route.fulfill(body=first, content_type="application/json")
        else:
            route.continue_()

    here.page.route(re.compile("api/v1/map$"), answer)
    here.page.goto(server + "/?view=map")
    here.page.wait_for_selector("#map-wait:visible")
    assert "is being drawn" in here.page.inner_text("#map-wait")
    here.page.wait_for_selector("#map[data-points]")
    assert here.page.locator("#map-wait").is_hidden()


def test_a_map_that_is_not_kept_any_more_is_asked_for_again(server, visit):
    here = visit(server).allow(404)
    refusals = iter(range(2))

    def refuse(route):
        if next(refusals, None) is None:
            return route.continue_()
        detail = '{"detail": "this map is not kept any more: ask for /api/v1/map again"}'
        return route.fulfill(status=404, body=detail, content_type="application/json")

    here.page.route(re.compile("map/points"), refuse)
    here.go("/?view=map")
    here.page.wait_for_selector(f"#map[data-points='{N}']")


def test_the_map_follows_changes_and_keeps_its_place(copied, visit):
    with running(copied, writable=True, token=TOKEN) as address:
        here = opened(visit, address).allow(404)  # a picture may be asked for while its item goes
        page = here.page
        first = page.evaluate(f"{DATA}.generation")
        page.click("#zoom-in")
        here.until(f"Number({DATA}.zoom) > 1.5")
        zoom = page.evaluate(f"{DATA}.zoom")
        for number in range(30):
            request = urllib.request.Request(
                f"{address}/api/v1/items/{number}",
                method="DELETE",
                headers={"Authorization": f"Bearer {TOKEN}"},
            )
            urllib.request.urlopen(request).close()
        here.until(f"{DATA}.points === '{N - 30}'")
        assert page.evaluate(f"{DATA}.generation") != first
        assert page.evaluate(f"{DATA}.zoom") == zoom
        assert page.locator("#legend .name").count() == len(CATEGORIES) - 1


def test_map_of_items_without_pictures(features, visit):
    here = visit(features).allow(404, 422).go("/?view=map")
    here.page.wait_for_selector("#map[data-points='200']")
    here.page.fill("#legend-filter", "group 17")
    assert here.page.locator("#legend li").count() == 1
    here.shoot("map-features")
    spot = painted(here.page)
    here.page.mouse.click(spot["x"], spot["y"])
    here.until_query("id=")


def test_two_fingers_zoom_the_map(server, visit):
    here = opened(visit, server, **PHONE)
    box = here.page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    fingers = here.context.new_cdp_session(here.page)

    def touch(kind, gap):
        points = [{"x": x - gap, "y": y, "id": 1}, {"x": x + gap, "y": y, "id": 2}]
        fingers.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": points if gap else []}
        )

    touch("touchStart", 20)
    for gap in (30, 50, 80):
        touch("touchMove", gap)
    touch("touchEnd", 0)
    here.until(f"{DATA}.zoom > 3")
    assert here.page.url.endswith("?view=map"), "that was no click"
