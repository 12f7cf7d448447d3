"""How one asks on the page: suggestions, filters, keys, a server that is gone."""

import json
import re

import numpy as np
import pytest

pytest.importorskip(
    "playwright.sync_api", reason="no Playwright: pip install playwright lets these tests run"
)

from tests.web.browser.album import png
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
NAMES = [
    {"name": "truck", "text": "truck", "known": True, "items": 30},
    {"name": "trumpet.n.01", "text": "trumpet (brass)", "known": False, "items": None},
    {"name": "<b>tru</b>", "text": "<b>tru</b>", "known": False, "items": None},
    {"name": "garbage truck", "text": "garbage truck", "known": True, "items": None},
]
CLOSED = "document.getElementById('query').getAttribute('aria-expanded') === 'false'"
OPENED = "document.getElementById('query').getAttribute('aria-expanded') === 'true'"


@pytest.fixture
def server(knower):
    return knower.address


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    """A server over a collection with dates, cameras and places."""
    X = np.random.RandomState(0).randn(60, 12).astype(np.float32)
    metadata = [
        {"year": 2018 + i % 3, "month": 1 + i % 12, "camera": "Z's" if i % 2 else "X100"}
        | {"latitude": 48.1 if i % 4 else -33.9, "longitude": 11.6}
        for i in range(60)
    ]
    folder = tmp_path_factory.mktemp("dated") / "dated"
    with Collection.create(folder, LSH(n_bits=32, random_state=0).fit(X)) as collection:
        collection.add(
            X, metadata=metadata, labels=[["even"] if i % 2 == 0 else None for i in range(60)]
        )
    with running(folder, places=True) as address:
        yield address


def suggesting(here, names=NAMES):
    """Have the server complete names in one way."""
    answer = json.dumps({"names": names})
    here.page.route(
        re.compile("api/v1/names"),
        lambda route: route.fulfill(body=answer, content_type="application/json"),
    )
    return here


def chips(here, selector):
    return [text.strip("×") for text in here.page.locator(f"{selector} .chip").all_text_contents()]


def test_suggestions_by_keys(server, visit):
    here = suggesting(visit(server)).go("/")
    page = here.page
    page.focus("#query")
    page.keyboard.type("tru")
    here.until(OPENED)
    options = page.locator("#suggestions [role=option]")
    assert options.all_inner_texts()[0].split("\n") == ["truck", "30 labelled"]
    assert options.nth(2).inner_text() == "<b>tru</b>"
    assert options.nth(3).inner_text() == "garbage truck"
    assert options.nth(3).locator("b").inner_text() == "tru", "the word that is being typed"
    assert problems(page) == []
    here.shoot("suggestions")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#query", "aria-activedescendant") == "suggestion-1"
    assert options.nth(1).get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    here.until_query("name=truck$")
    assert page.locator("#suggestions").is_hidden()


def test_suggestions_close(server, visit):
    here = suggesting(visit(server)).go("/")
    page = here.page
    page.focus("#query")
    page.keyboard.type("tru")
    here.until(OPENED)
    page.keyboard.press("Escape")
    here.until(CLOSED)
    assert page.input_value("#query") == "tru"
    page.keyboard.type("c")
    here.until(OPENED)
    page.keyboard.press("Tab")
    here.until(CLOSED)


def test_a_suggestion_is_clicked_or_tapped(server, visit):
    here = suggesting(visit(server, **PHONE)).go("/")
    page = here.page
    page.tap("#query")
    page.keyboard.type("cat -tru")
    here.until(OPENED)
    page.tap("#suggestions [role=option] >> nth=0")
    here.until_query(r"\?name=cat&without=truck$")
    assert here.overflow() <= 0


def test_suggestions_never_come_after_the_search(server, visit):
    here = suggesting(visit(server)).go("/")
    here.page.focus("#query")
    here.page.keyboard.type("dog")
    here.page.keyboard.press("Enter")
    here.until_query("name=dog$")
    here.page.wait_for_timeout(300)
    assert here.page.locator("#suggestions").is_hidden()


def test_filters_of_an_album(dated, visit):
    here = visit(dated).go("/?id=0")
    page = here.page
    page.click("#filter-open")
    page.wait_for_selector("#facets fieldset")
    assert page.get_attribute("#filter-open", "aria-expanded") == "true"
    legends = page.locator("#facets legend").all_inner_texts()
    assert legends == ["Year", "Camera", "Place"]
    assert "33.9° S, 11.6° E" in page.inner_text("#facets")
    assert problems(page) == []
    here.shoot("filters")
    page.click("#facets button >> text=2019")
    here.until_query(r"where=year\+%3D\+2019$")
    assert len(here.ids) == 20
    page.click("#facets button >> text=2018")
    here.until_query("2018")
    assert len(here.ids) == 40, "two years are alternatives"
    page.click("#facets button >> text=Z's")
    here.until_query("camera")
    assert chips(here, "#filter-chips") == ["2019", "2018", "Z's"]
    assert len(here.ids) == 20
    page.click("#facets button >> text=January 2018")
    here.until_query("month")
    assert chips(here, "#filter-chips") == ["2019", "Z's", "January 2018"]
    page.check("#labels input")
    here.until_query("label=even")
    assert "No picture meets these filters." in page.inner_text("#count")
    page.click("#filter-chips .chip >> text=even")
    here.until("!location.search.includes('label')")
    page.click("#filter-clear")
    here.until_query(r"\?id=0$")
    assert page.locator("#filter-chips").is_hidden()
    assert page.locator("#filter-again").is_hidden(), "what is cleared is not offered again"
    page.focus("#facets button >> nth=0")
    page.keyboard.press("Escape")
    assert page.locator("#filter-panel").is_hidden()


def test_filters_can_be_taken_away_wherever_they_come_from(dated, visit):
    here = visit(dated).go("/?id=0&radius=12&k=5&where=id+%3C+50&label=even")
    assert chips(here, "#filter-chips") == [
        "even", "id < 50", "at most 12 bits apart", "only the first 5"
    ]  # fmt: skip
    for left in (3, 2, 1, 0):
        here.page.click("#filter-chips .chip >> nth=0")
        here.until(f"document.querySelectorAll('#filter-chips .chip').length === {left}")
    assert here.rest().page.url.endswith("?id=0")


def test_a_condition_is_checked_before_it_is_kept(dated, visit):
    here = visit(dated).allow(422).go("/?id=0")
    page = here.page
    page.click("#filter-open")
    page.click("#more summary")
    for text, words in (("year =", "value"), ("year = 1900", "No picture of the album")):
        page.fill("#where", text)
        page.keyboard.press("Enter")
        page.wait_for_selector("#where-error:visible")
        here.until(f"document.getElementById('where-error').textContent.includes('{words}')")
        assert page.get_attribute("#where", "aria-invalid") == "true"
        assert page.input_value("#where") == text
        assert page.url.endswith("?id=0")
        assert len(here.ids) == 60, "nothing changes"
    page.fill("#where", "year = 2019 and label = 'even'")
    page.keyboard.press("Enter")
    here.until_query("where=")
    assert page.locator("#where-error").is_hidden()
    assert chips(here, "#filter-chips") == ["year = 2019 and label = 'even'"]
    assert len(here.ids) == 10


def test_the_first_picture_is_near_for_the_keyboard(server, visit):
    here = visit(server).go("/?name=dog")
    page = here.page
    page.keyboard.press("Tab")
    assert page.inner_text(":focus") == "Skip to the pictures"
    page.keyboard.press("Enter")
    presses = 1
    while not page.evaluate("document.activeElement.matches('#grid a')"):
        page.keyboard.press("Tab")
        presses += 1
        assert presses <= 5
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    assert page.evaluate("getSelection().toString()") == "dog"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.matches('#grid a')")


def test_a_slash_can_be_typed(server, visit):
    here = visit(server).allow(422).go("/")
    here.page.focus("#query")
    here.page.keyboard.type("a/b")
    assert here.page.input_value("#query") == "a/b"


def test_a_server_that_is_gone(server, visit):
    here = visit(server).go("/?name=dog")
    page, gone = here.page, [True]

    def answer(route):
        route.abort() if gone[0] else route.continue_()

    page.route(re.compile("api/v1/|healthz"), answer)
    page.fill("#query", "ship")
    page.keyboard.press("Enter")
    page.wait_for_selector("#gone:visible")
    assert "The server does not answer." in page.inner_text("#gone")
    assert re.search(r"Trying again in \d+ second", page.inner_text("#gone-words"))
    here.shoot("gone")
    gone[0] = False
    page.click("#gone-now")
    page.wait_for_selector("#gone", state="hidden")
    assert here.rest().ids
    assert page.url.endswith("?name=ship")
    assert here.page.locator("#error").is_hidden()
    here.wrong[:] = [wrong for wrong in here.wrong if "net::ERR_FAILED" not in wrong]


def test_the_page_heals_by_itself(server, visit):
    here = visit(server)
    page, gone = here.page, [True]

    def answer(route):
        route.abort() if gone[0] else route.continue_()

    page.route(re.compile("api/v1/|healthz"), answer)
    page.goto(f"{server}/?name=dog")
    page.wait_for_selector("#gone:visible")
    gone[0] = False
    assert here.rest().ids
    here.wrong[:] = [wrong for wrong in here.wrong if "net::ERR_FAILED" not in wrong]


def test_pictures_that_failed_come_when_the_server_is_back(server, visit):
    here = visit(server)
    page, gone = here.page, [True]

    def answer(route):
        route.abort() if gone[0] else route.continue_()

    page.route(re.compile("thumbnail|healthz"), answer)
    here.go("/?name=dog")
    page.wait_for_selector("#gone:visible")
    assert page.locator("#grid .pattern").count() == 0, "they are not given up"
    gone[0] = False
    page.wait_for_selector("#gone", state="hidden")
    here.until("document.querySelector('#grid img').naturalWidth > 0")
    here.wrong[:] = [wrong for wrong in here.wrong if "net::ERR_FAILED" not in wrong]


def test_an_empty_album(tmp_path, visit, X):
    folder = tmp_path / "empty"
    Collection.create(folder, LSH(n_bits=16, random_state=0).fit(X)).close()
    with running(folder) as address:
        here = visit(address).go("/")
        assert here.page.inner_text("h1:visible") == "empty is empty"
        assert "zshash add empty photos/" in here.page.inner_text("#empty")
        for part in ("#search", "#examples", "#some", ".invitation"):
            assert here.page.locator(part).is_hidden()
        assert problems(here.page) == []
        here.shoot("empty")
        here.page.close()


def test_an_empty_album_that_one_may_add_to(copied, visit):
    with Collection.open(copied) as collection:
        collection.remove(collection.ids)
    with running(copied, writable=True, token="a-token-of-these-tests") as address:
        here = visit(address).go("/")
        here.page.click("#empty-add")
        assert here.page.locator("#adding[open]").count() == 1
        here.page.close()


@pytest.mark.parametrize("path", ["/", "/?name=crane", "/?id=3", "/?name=animal&without=cat"])
def test_narrow_windows_and_large_letters(server, visit, path):
    here = visit(server, viewport={"width": 320, "height": 640}, color_scheme="dark").go(path)
    assert here.overflow() <= 0
    assert problems(here.page) == []
    here.page.set_viewport_size({"width": 640, "height": 640})
    here.page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert here.overflow() <= 0


def test_a_link_with_a_picture_ranks_the_same(server, visit, pets):
    here = visit(server).go("/")
    content = png("wolf", 905)
    here.drop(content)
    here.until_query("values=")
    assert here.ids == [match.id for match in pets.search(content, k=60)]
    there = visit(server, locale="en-GB").go(here.page.url.removeprefix(server))
    assert there.ids == here.ids
    assert there.page.inner_text("h1:visible") == "Like a picture"
    assert problems(there.page) == []


@pytest.mark.parametrize("values", ["abc", "!" * 128, "A" * 127, "A" * 129])
def test_a_link_that_was_cut(server, visit, values):
    here = visit(server).go(f"/?values={values}")
    assert here.page.inner_text("#error").startswith("This link is not complete")
    assert here.page.inner_text("h1:visible").startswith("Find pictures in")


@pytest.mark.parametrize("name", ["truck", "crane", "dog", "segway", "animal"])
def test_nobody_needs_to_know_what_a_code_is(server, visit, name):
    page = visit(server).go(f"/?name={name}").page
    shown = " ".join(
        page.inner_text(part) for part in ("#asked", "#nothing", "#filters", "#search", "#count")
    )
    assert not re.search(r"\b(bits?|codes?|cosine|unseen|vector|synset|network|n0\d+)\b", shown)


@pytest.fixture
def unlike(server, visit):
    """A page whose server says that nothing looks like a picture."""
    here = visit(server)

    def answer(route):
        given = route.fetch()
        told = given.json()
        told["query"]["nothing"] = True
        route.fulfill(response=given, json=told)

    here.page.route(re.compile(r"api/v1/search\?"), answer)
    return here


def test_nothing_looks_like_a_picture(unlike):
    unlike.go("/?id=3")
    notice = unlike.page.inner_text("#nothing")
    assert notice == "Nothing here looks much like the picture. What comes closest is shown."
    assert unlike.ids
    unlike.shoot("nothing")
