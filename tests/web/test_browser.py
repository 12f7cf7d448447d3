"""The page in a real browser over a real collection."""

import re
import shutil
import urllib.request
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip(
    "playwright.sync_api", reason="no Playwright: pip install playwright lets these tests run"
)
pytest.importorskip("uvicorn", reason="no web service: pip install '.[web]' lets these tests run")

import zshash.web
from tests.web.browser.album import CATEGORIES, EACH, make_album, png
from tests.web.browser.audit import problems
from tests.web.browser.visiting import PHONE, PICTURES
from tests.web.conftest import CHROMIUM
from tests.web.running import running
from zshash import LSH, Collection

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no browser: apt-get install chromium lets these tests run"
    ),
]
STATIC = Path(zshash.web.__file__).parent / "static"
TOKEN = "a-token-of-these-tests"
N = EACH * len(CATEGORIES)
SHIFTED = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 100);
})"""


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    return make_album(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def server(album):
    with running(album) as address:
        yield address


@pytest.fixture
def writable(album, tmp_path):
    copy = shutil.copytree(album, tmp_path / "album")
    with running(copy, writable=True, token=TOKEN) as address:
        yield address


def test_start(server, visit):
    here = visit(server).go("/")
    page = here.page
    assert page.title() == "album"
    assert page.inner_text("h1:visible") == "Find pictures in album"
    lead = page.inner_text("#lead")
    assert lead.startswith("Type what you are looking for, or drop in a picture to find others")
    assert f"There are {N} pictures." in lead
    cards = page.locator("#example-names .offer")
    assert set(cards.all_inner_texts()) == set(CATEGORIES), "names that find something here"
    assert page.locator("#example-names img").count() == len(CATEGORIES)
    assert page.get_attribute("#query", "placeholder") == "What to look for, such as “automobile”"
    shown = page.inner_text("main")
    assert not re.search(r"bits|codes?\b|unseen|cosine|vector", shown)
    assert "codes of 48 bits" not in page.inner_text("footer")
    page.click("footer summary")
    assert "codes of 48 bits" in page.inner_text("footer")
    assert 12 <= page.locator("#mosaic img").count() <= 24
    page.wait_for_selector("#mini.drawn", state="attached")
    here.shoot("start")
    page.hover("#mosaic .tile >> nth=5")
    page.click("#mosaic a.like >> nth=5")
    here.until_query("id=")
    assert here.distances[0] == 0


def test_search_with_a_picture_that_is_dropped(server, visit):
    here = visit(server).go("/")
    assert here.drop(png("ship", 900)) is True
    here.until_query(r"\?values=[\w-]{128}&model=[0-9a-f]{12}$")
    assert here.labels[:8] == ["ship"] * 8
    assert here.page.locator("#drop").is_hidden()
    preview = here.page.locator("#asked-picture img")
    assert preview.get_attribute("src").startswith("blob:")
    assert preview.evaluate("image => image.naturalWidth") > 0
    assert here.page.locator("#technical-body").is_hidden()
    here.page.click("#technical summary")
    assert here.page.locator("#technical-body svg").count() == 1
    here.shoot("dropped")


def test_search_with_a_picture_that_is_pasted(server, visit):
    here = visit(server).go("/")
    here.paste(png("cat", 901))
    here.until_query("values=")
    assert here.labels[:8] == ["cat"] * 8
    here.shoot("pasted")


def test_search_with_a_file_that_is_chosen(server, visit, tmp_path):
    file = tmp_path / "mine.png"
    file.write_bytes(png("dog", 902))
    here = visit(server).go("/")
    with here.page.expect_file_chooser() as chooser:
        here.page.click("#pick")
    chooser.value.set_files(file)
    here.until_query("values=")
    assert set(here.labels[:8]) <= {"dog", "wolf"}
    here.shoot("chosen")


def test_what_is_no_picture_leaves_everything_as_it_was(server, visit):
    here = visit(server).allow(422).go("/?name=cat")
    before = here.ids
    here.drop(b"this is no picture", "a.png")
    here.page.wait_for_selector("#error:visible")
    assert here.page.inner_text("#error").endswith(".")
    assert here.ids == before
    assert here.page.locator("#filter-open, #count").filter(visible=True).count() == 2
    assert here.page.url.endswith("?name=cat")
    here.drop(b"text", "a.txt", kind="text/plain")
    assert here.page.inner_text("#error") == "That is no picture."
    here.search("ship")
    assert here.page.locator("#error").is_hidden()


def test_name_of_an_unseen_category(server, visit):
    here = visit(server).go("/").search("truck")
    assert here.page.url.endswith("?name=truck")
    assert len(here.ids) == 60
    assert set(here.labels[:20]) <= {"truck", "automobile"}
    assert "truck" in here.labels
    assert here.distances == sorted(here.distances, reverse=True)
    assert here.page.inner_text("h1:visible") == "truck"
    assert here.page.locator("#grid .barcode").count() == 0
    because = here.page.locator("#because")
    here.until("document.getElementById('because').textContent.includes('“automobile”')")
    assert "unseen" not in because.inner_text()
    technical = here.page.locator("#technical")
    assert technical.locator(".bars").is_hidden()
    technical.locator("summary").click()
    assert technical.locator(".bars .name").first.inner_text() == "automobile"
    assert technical.locator(".status").inner_text() != ""
    here.shoot("unseen-name")


def test_unknown_name(server, visit):
    here = visit(server).allow(422).go("/?label=cat&name=cat").search("trukc")
    assert "trukc" in here.page.inner_text("#error")
    assert here.page.input_value("#query") == "trukc"
    assert here.ids == []
    assert here.page.url.endswith("?name=trukc"), "another search begins without filters"
    assert here.page.inner_text("#filter-again") == "Use the filters again: cat"
    here.shoot("unknown-name")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/?id=abc", "There is no item “abc”: items have numbers."),
        ("/?code=zz", "“zz” is no code of this collection: a code has 12 hexadecimal digits."),
    ],
)
def test_address_that_asks_for_nonsense(server, visit, path, words):
    here = visit(server).go(path)
    assert here.page.inner_text("#error") == words
    assert here.page.inner_text("h1:visible") == "Find pictures in album"
    assert here.search("ship").ids
    assert here.page.locator("#error").is_hidden()


def test_address_beyond_the_limits(server, visit):
    here = visit(server).go("/?id=5&k=99999999")
    assert here.page.locator("#error").is_hidden()
    assert len(here.ids) == 60


def test_picture_that_is_too_large(album, visit):
    with running(album, bytes=2_500) as address:
        here = visit(address).go("/")
        here.drop(bytes(2_501), "a.png")
        expected = "The picture is too large: the server takes files of up to 2.5 kB."
        assert here.page.inner_text("#error") == expected
        here.page.close()  # before the server goes, which may still owe it a picture


def test_more_like_a_result(server, visit):
    here = visit(server).go("/?name=ship&label=ship")
    chosen = here.ids[3]
    here.page.hover("#grid .tile >> nth=3")
    here.page.click("#grid a.like >> nth=3")
    here.until_query(f"id={chosen}")
    assert here.page.url.endswith(f"?id={chosen}"), "another search begins without filters"
    assert here.distances[here.ids.index(chosen)] == 0
    assert here.distances == sorted(here.distances)
    here.page.click("#technical summary")
    assert here.page.locator("#technical-body svg[role=img]").count() == 1
    why = here.page.locator("#technical-body .bars li").first
    why.wait_for()
    assert re.search(r"[01]\.\d\d", why.inner_text())
    here.shoot("more-like-this")
    here.page.click("#filter-again")
    here.until_query(f"id={chosen}&label=ship$")
    assert set(here.labels) == {"ship"}


def test_shared_address(server, visit):
    here = visit(server).go("/")
    here.drop(png("ship", 903))
    here.until_query("values=")
    here.go(f"{here.page.url.removeprefix(server)}&label=ship&label=cat&k=12")
    assert len(here.ids) == 12
    assert set(here.labels) == {"ship"}
    there = visit(server, locale="en-GB").go(here.page.url.removeprefix(server))
    assert there.ids == here.ids
    assert there.distances == here.distances
    assert there.page.inner_text("h1:visible") == "Like a picture"
    here.context.grant_permissions(["clipboard-read", "clipboard-write"])
    here.page.click("#copy")
    here.page.wait_for_selector("#toast.shown")
    assert here.page.evaluate("navigator.clipboard.readText()") == here.page.url


def test_filter_by_label(server, visit):
    here = visit(server).go("/?id=0")
    here.page.click("#filter-open")
    here.page.check("#labels input[value=dog]")
    here.until_query("label=dog")
    assert set(here.labels) == {"dog"}
    assert len(here.ids) == EACH
    here.page.check("#labels input[value=wolf]")
    here.until_query("label=wolf")
    assert set(here.labels) == {"dog", "wolf"}
    chips = here.page.locator("#filter-chips .chip")
    assert [text.strip("×") for text in chips.all_text_contents()] == ["dog", "wolf"]
    here.shoot("labels")
    here.page.uncheck("#labels input[value=dog]")
    here.until("!location.search.includes('dog')")
    assert set(here.rest().labels) == {"wolf"}


def test_only_the_newest_search_counts(server, visit):
    here = visit(server).go("/?name=dog")
    held = []
    here.page.route(re.compile("search.*name=cat"), lambda route: held.append(route))
    here.page.fill("#query", "cat")
    here.page.keyboard.press("Enter")
    here.until("location.search === '?name=cat'")
    here.search("ship")
    assert len(held) == 1
    assert here.page.inner_text("h1:visible") == "ship"
    assert here.labels[0] == "ship"


def test_busy_server(server, visit):
    here = visit(server).allow(429).go("/")
    answers = iter([True])

    def turn_away(route):
        if next(answers, False):
            route.fulfill(status=429, headers={"Retry-After": "1"}, body='{"detail": "busy"}')
        else:
            route.continue_()

    here.page.route(re.compile("api/v1/search"), turn_away)
    here.page.fill("#query", "ship")
    here.page.keyboard.press("Enter")
    here.page.wait_for_selector("#toast.shown")
    assert "busy" in here.page.inner_text("#toast")
    here.page.wait_for_selector("#grid .tile")
    assert here.labels[0] == "ship"


def test_keyboard_only(server, visit):
    here = visit(server).go("/")
    page = here.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.type("ship")
    page.keyboard.press("Enter")
    here.until_query("name=ship")
    ids = here.ids
    page.focus("#copy")
    page.keyboard.press("Tab")
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.parentElement.dataset.id") == str(ids[1])
    here.shoot("keyboard")
    page.keyboard.press("Tab")  # to the check mark
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    here.until_query(f"id={ids[1]}")
    assert here.ids[0] == ids[1] or here.distances[0] == 0
    page.focus("#grid .frame >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector("#viewer[open]")


@pytest.mark.parametrize("path", ["/", "/?id=3", "/?name=truck", "/?view=map"])
def test_everybody_can_read_it_and_nothing_jumps(server, visit, path):
    here = visit(server, color_scheme="light").go(path)
    if path.endswith("map"):
        here.page.wait_for_selector("#map[data-points]")
    here.until(PICTURES)
    assert here.page.evaluate(SHIFTED) < 0.05
    assert problems(here.page) == []
    here.page.emulate_media(color_scheme="dark")
    assert problems(here.page) == []


def test_dark(server, visit):
    here = visit(server, color_scheme="dark").go("/?id=30")
    colour = here.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in re.findall(r"\d+", colour)) < 40
    here.shoot("dark")
    here.go("/").shoot("dark-start")


def test_phone(server, visit):
    here = visit(server, **PHONE).go("/")
    page = here.page
    assert here.overflow() <= 0
    here.shoot("phone-start")
    page.fill("#query", "truck")
    page.tap("#search button[type=submit]")
    here.until_query("name=truck")
    assert here.overflow() <= 0
    here.shoot("phone-name")
    here.go("/?id=30")
    assert here.overflow() <= 0
    here.shoot("phone-results")
    page.tap("#filter-open")
    page.tap("#more summary")
    for control in ("#labels input >> nth=0", "#where", "#where-form button"):
        page.locator(control).scroll_into_view_if_needed()
        box = page.locator(control).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    page.tap("#technical summary")
    page.locator("#technical-body .bars li").first.wait_for()
    assert here.overflow() <= 0
    here.shoot("phone-refine")
    page.locator("#grid .frame >> nth=0").tap()
    page.wait_for_selector("#viewer[open]")
    here.rest()
    assert here.overflow() <= 0
    here.shoot("phone-viewer")


def test_adding_and_removing(writable, visit, tmp_path):
    files = {"new.png": png("ship", 950), "known.png": png("cat", 3), "broken.png": b"nothing"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    here = visit(writable, locale="en-GB").go(f"/#token={TOKEN}")
    page = here.page
    assert "token" not in page.url
    page.click("#add-open")
    page.set_input_files("#adding-files", [tmp_path / "new.png", tmp_path / "known.png"])
    here.drop(files["broken.png"], "broken.png", onto="#adding-area")
    assert "3 pictures" in page.inner_text("#adding-chosen")
    page.fill("#adding-labels", "ship, <b>bold</b>")
    page.click("#adding-send")
    page.wait_for_selector("#adding-report .good")
    report = page.inner_text("#adding-report")
    assert "1 picture added" in report
    assert "1 already there" in report
    assert page.locator(".failures li").inner_text().startswith("broken.png")
    here.shoot("adding")
    assert problems(page) == []
    page.keyboard.press("Escape")
    here.go(f"/?id={N}")
    assert here.ids[0] == N or N in here.ids
    tags = page.locator(f"#grid [data-id='{N}'] .tag .name").all_text_contents()
    assert tags == ["ship", "<b>bold</b>"]
    page.click(f"#grid [data-id='{N}'] .frame")
    page.click("#viewer-remove")
    page.wait_for_selector("#undo:visible")
    here.shoot("removing")
    assert N not in here.ids
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{writable}/api/v1/items/{N}")


def test_token_is_asked_for(writable, visit):
    here = visit(writable, locale="en-GB").allow(401).go("/?id=30")
    page = here.page
    gone = here.ids[5]
    page.click("#grid .frame >> nth=5")
    page.click("#viewer-remove")
    page.wait_for_selector("#token[open]")
    for wrong in ("東京の合言葉ではない合言葉", "not the token of this server"):
        page.fill("#token-value", wrong)
        page.keyboard.press("Enter")
        page.wait_for_selector("#token-error >> text=That is not the right token.")
        page.evaluate("document.getElementById('token-error').textContent = ''")
    page.keyboard.press("Enter")
    page.wait_for_selector("#token-error:visible")
    here.shoot("token")
    page.fill("#token-value", TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_selector("#undo:visible")
    assert gone not in here.rest().ids
    cookies = here.context.cookies()
    assert [cookie["httpOnly"] for cookie in cookies] == [True]


def test_all_modules_are_fetched_at_once(server):
    with urllib.request.urlopen(f"{server}/") as answer:
        named = set(re.findall(r'"static/([\w-]+\.js)"', answer.read().decode()))
    of_docs = {file.name for file in STATIC.glob("docs*.js")}
    of_others = {"zshash.js"}  # the client of other programs
    assert named == {file.name for file in STATIC.glob("*.js")} - of_docs - of_others


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    """A server over a collection without pictures, whose model knows no names."""
    X = np.random.RandomState(0).randn(200, 12).astype(np.float32)
    folder = tmp_path_factory.mktemp("features") / "features"
    labels = [[f"group {i % 20}", "even" if i % 2 == 0 else "odd"] for i in range(200)]
    with Collection.create(folder, LSH(n_bits=128, random_state=0).fit(X)) as collection:
        collection.add(X, labels=labels)
    with running(folder) as address:
        yield address


def test_items_without_pictures_and_names(features, visit):
    here = visit(features).allow(422).go("/")
    page = here.page
    assert page.locator("#pick").is_hidden()
    assert page.locator("#examples").is_hidden()
    assert 12 <= page.locator("#mosaic .pattern").count() <= 24
    assert here.drop(png("cat", 1)) is False
    here.search("cat")
    assert "can not be searched by words" in page.inner_text("#error")
    here.search("#7")
    assert here.ids[0] == 7
    assert page.locator("#grid .pattern").count() == 60
    assert page.locator("#grid .is-unseen").count() == 0
    here.shoot("patterns")
    page.click("#filter-open")
    page.fill("#label-filter", "nobody has this")
    assert page.inner_text("#labels") == "No label has these letters."
    page.fill("#label-filter", "group 17")
    page.check("#labels input")
    here.until_query("label=group")
    assert set(here.labels) == {"group 17"}


@pytest.fixture
def distrustful(album):
    """A server that believes to be on a network."""
    with running(album, host="0.0.0.0", token=TOKEN) as address:
        yield address


def test_server_that_asks_everybody_for_the_token(distrustful, visit):
    here = visit(distrustful, locale="en-GB").allow(401)
    here.page.goto(f"{distrustful}/?name=ship")
    here.page.wait_for_selector("#token[open]")
    assert problems(here.page) == ["0 titles", "no footer"], "nothing is shown yet"
    here.page.click("#token-cancel")
    here.page.wait_for_selector("#error:visible")
    assert "Load the page again" in here.page.inner_text("#error")
    here.page.reload()
    here.page.wait_for_selector("#token[open]")
    here.page.fill("#token-value", TOKEN)
    here.page.keyboard.press("Enter")
    assert here.rest().labels[0] == "ship"
    there = visit(distrustful, locale="de-DE")
    there.page.goto(f"{distrustful}/?name=ship#token={TOKEN}")
    assert there.rest().ids == here.ids
    assert there.page.url == f"{distrustful}/?name=ship"
