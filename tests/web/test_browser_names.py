"""Names on the page, over a collection whose network knows names."""

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="no Playwright: pip install playwright lets these tests run"
)

from tests.web.browser.album import png
from tests.web.browser.audit import problems
from tests.web.browser.visiting import PHONE
from tests.web.conftest import CHROMIUM

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no browser: apt-get install chromium lets these tests run"
    ),
]


@pytest.fixture
def server(knower):
    return knower.address


def texts(page, selector):
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


def kinds(here):
    """What the results were drawn as, by the ids of the items."""
    drawn = ("automobile", "truck", "ship", "cat", "dog", "wolf")
    return [drawn[number // 30] for number in here.ids]


def test_names_to_begin_with(server, visit):
    here = visit(server).go("/")
    chips = texts(here.page, "#example-names .chip")
    assert chips[:2] == ["cat", "dog"], "labels, an id of WordNet as a name"
    assert set(chips[2:]) < {
        "sports car", "garbage truck", "ocean liner", "tabby", "beagle", "timber wolf"
    }  # fmt: skip
    assert len(chips) == 6
    assert here.page.locator("#example-names .mark").count() == 0
    assert here.page.inner_text("#example-note") == ""
    here.page.click("#example-names .chip >> nth=5")
    here.until_query("name=")
    assert here.ids
    assert here.page.locator("#nothing").is_hidden()
    here.shoot("names-start")


def test_senses(server, visit):
    here = visit(server).go("/").search("crane")
    page = here.page
    assert page.inner_text("#reading .thing p") == "Taken as crane (lifting device)."
    assert texts(page, "#reading .chip")[0] == "crane (wading bird)"
    assert page.inner_text("#nothing").startswith("Nothing here looks much like crane.")
    assert len(here.ids) == 60, "what comes closest is shown nevertheless"
    assert problems(page) == []
    here.shoot("names-senses")
    page.click("#reading .chip >> text=wading bird")
    here.until_query(r"name=crane\.n\.05$")
    assert page.inner_text("h1:visible") == "crane (wading bird)"
    assert page.input_value("#query") == "crane (wading bird)"
    assert "crane.n.05" not in page.inner_text("body")
    page.click("#reading .chip >> text=other meanings of crane")
    here.until_query("name=crane$")
    assert page.inner_text("#reading .thing p") == "Taken as crane (lifting device)."


def test_many_senses_are_behind_a_button(server, visit):
    here = visit(server).go("/?name=dog")
    page = here.page
    assert page.locator("#reading a.chip").count() == 3
    page.focus("#reading .unfold")
    page.keyboard.press("Enter")
    assert page.locator("#reading .unfold").count() == 0
    assert page.locator("#reading a.chip").count() == 6
    assert page.evaluate("document.activeElement === document.querySelectorAll('#reading a')[3]")


def test_labels_come_first(server, visit):
    here = visit(server).go("/?name=dog&k=40")
    assert "First, what is labelled dog." in texts(here.page, "#reading p")
    assert kinds(here)[:30] == ["dog"] * 30
    assert here.page.locator("#nothing").is_hidden()
    assert here.page.locator("#asked-kind .badge").count() == 0


def test_ids_of_wordnet_are_shown_as_names(server, visit):
    here = visit(server).go("/?name=dog")
    page = here.page
    assert "dog" in texts(page, "#labels .name")
    assert texts(page, "#grid .tag .name")[0] == "dog"
    page.fill("#query", "")
    values = here.attributes(page.locator("#names option"), "value")
    assert "dog" in values
    assert not any(value.startswith("n0") for value in values)
    page.check("#labels input[value=n02084071]")
    here.until_query("label=n02084071")
    assert set(kinds(here)) == {"dog"}
    assert "n02084071" not in page.inner_text("body")
    assert "dog" in page.locator("#grid img").first.get_attribute("alt")
    here.go("/?view=map")
    page.wait_for_selector("#map[data-points='180']")
    assert texts(page, "#legend .name")[:2] == ["cat", "dog"]
    assert "n02084071" not in page.inner_text("body")


def test_a_phrase(server, visit):
    here = visit(server).go("/").search("a sleepy dog on a ship")
    page = here.page
    lines = texts(page, "#reading p")
    assert lines == [
        "Taken as dog (domestic animal).", "Taken as ship.", "Not understood: “sleepy”."
    ]  # fmt: skip
    page.click("#reading .unfold")
    page.click("#reading .chip >> text=sausage")
    here.until_query(r"\?name=dog\.n\.05&name=ship$")
    assert page.inner_text("h1:visible") == "dog (sausage)"
    assert texts(page, "#words .chip") == ["and ship ×"]
    assert problems(page) == []


def test_near_misses(server, visit):
    here = visit(server).allow(422).go("/").search("turck")
    page = here.page
    assert page.inner_text("#error").startswith("Nobody here knows “turck”. Did you mean")
    assert "truck" in texts(page, "#error .chip")
    assert problems(page) == []
    here.shoot("names-near-misses")
    page.click("#error .chip >> text=/^truck$/")
    here.until_query("name=truck$")
    assert page.locator("#error").is_hidden()
    assert set(kinds(here)[:20]) == {"truck"}
    here.search("東京")
    assert "Try a common English word" in page.inner_text("#error")
    assert page.locator("#error .chip").count() == 0


def test_near_misses_beside_other_names(server, visit):
    here = visit(server).allow(422).go("/?name=dog&name=shpi&without=cat")
    here.page.click("#error .chip >> text=/^ship$/")
    here.until_query(r"\?name=dog&name=ship&without=cat$")
    assert here.ids


def test_and_and_not(server, visit, pets):
    here = visit(server).go("/?name=animal")
    page = here.page
    page.fill("#word", "ship")
    page.keyboard.press("Enter")
    here.until_query(r"\?name=animal&name=ship$")
    page.fill("#word", "cat")
    page.click("#words-form button >> text=Not")
    here.until_query(r"\?name=animal&name=ship&without=cat$")
    words = {"animal": 1.0, "ship": 1.0, "cat": -1.0}
    assert here.ids == [match.id for match in pets.search(name=words, k=60)]
    assert texts(page, "#words .chip") == ["and ship ×", "not cat ×"]
    assert page.title().startswith("animal and ship not cat")
    assert problems(page) == []
    here.shoot("names-and-not")
    there = visit(server, locale="en-GB").go("/?name=animal&name=ship&without=cat")
    assert there.ids == here.ids, "the address has it all"
    page.click("#words .is-also")
    here.until_query(r"\?name=animal&without=cat$")
    assert here.ids == [match.id for match in pets.search(name="animal", without="cat", k=60)]
    page.go_back()
    here.until_query("name=ship")
    assert len(texts(page, "#words .chip")) == 2
    here.search("truck")
    assert page.url.endswith("?name=truck"), "another question begins anew"


def test_a_minus_in_the_search_field(server, visit):
    here = visit(server).go("/").search("animal -cat")
    assert here.page.url.endswith("?name=animal&without=cat")
    assert texts(here.page, "#words .chip") == ["not cat ×"]
    assert here.page.input_value("#query") == "animal"


def test_names_beside_a_picture(server, visit, pets):
    here = visit(server).go("/")
    page, content = here.page, png("cat", 901)
    here.drop(content)
    here.until_query("code=")
    page.fill("#word", "ship")
    page.click("#words-form button >> text=And")
    here.until_query("code=[0-9a-f]{12}&name=ship$")
    assert here.ids == [match.id for match in pets.search(content, name="ship", k=60)]
    assert page.inner_text("h1:visible") == "Your picture"
    assert texts(page, "#words .chip") == ["and ship ×"]
    assert page.locator("#radius-row").is_hidden()
    assert "best first" in page.inner_text("#count")
    here.shoot("names-beside-a-picture")
    there = visit(server, locale="en-GB").go(page.url.removeprefix(server))
    there.until_query("code=[0-9a-f]{12}$")
    assert "names beside it were left out" in there.page.inner_text("#toast")
    assert there.page.locator("#words-form").is_hidden(), "the picture is not at hand"
    page.click("#words .chip")
    here.until_query("code=[0-9a-f]{12}$")
    assert here.distances == sorted(here.distances)


def test_names_are_offered_only_where_they_work(client, visit):
    here = visit(client.address).go("/?name=cat")
    assert here.page.locator("#words-form").is_hidden()
    here.search("dog -cat")
    assert here.page.url.endswith("?name=dog+-cat"), "one name, as it was written"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("truck", "The network knows it by sight"),
        ("dog", "The network knows it by sight"),
        ("segway", None),
    ],
)
def test_why(server, visit, name, title):
    here = visit(server).go(f"/?name={name}")
    why = here.page.locator("#why-body")
    why.locator(".bars li").first.wait_for()
    text = why.inner_text()
    assert "never saw" not in text
    assert "(n0" not in text
    assert title is None or why.locator(".forecast strong").inner_text() == title
    assert why.locator(".forecast p").inner_text().endswith(".")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/?name=crane", "/?name=animal&name=ship&without=cat"])
def test_on_a_phone(server, visit, scheme, path):
    here = visit(server, **PHONE, color_scheme=scheme).go(path)
    assert here.overflow() <= 0
    assert problems(here.page) == []
    here.shoot(f"names-phone-{scheme}-{len(path)}")
