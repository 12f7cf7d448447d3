"""Names on the page, over a collection whose network knows names."""

import re

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
FOUND_WELL = "If there are pictures of this, they should be found well."


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
    cards = texts(here.page, "#example-names .offer")
    assert cards[:2] == ["cat", "dog"], "labels, an id of WordNet as a name"
    assert set(cards[2:]) < {
        "sports car", "garbage truck", "ocean liner", "tabby", "beagle", "timber wolf"
    }  # fmt: skip
    assert 4 <= len(cards) <= 6
    sources = here.attributes(here.page.locator("#example-names img"), "src")
    assert len(set(sources)) == len(cards), "a picture for each"
    assert here.page.locator("#example-names .is-whole").count() == 0
    here.page.click("#example-names .offer >> nth=3")
    here.until_query("name=")
    assert here.ids
    assert here.page.locator("#nothing").is_hidden()
    here.shoot("names-start")


def thin(route):
    """The answer to a search, with pictures that are three times as high as they are wide."""
    answer = route.fetch().json()
    for result in answer["results"]:
        result["size"] = [100, 300]
    route.fulfill(json=answer)


def test_examples_show_all_of_a_thin_picture(server, visit):
    here = visit(server)
    here.page.route(re.compile("api/v1/search"), thin)
    pictures = here.go("/").page.locator("#example-names .is-whole img")
    assert pictures.count() >= 4
    assert pictures.first.evaluate("image => getComputedStyle(image).objectFit") == "contain"


def test_senses(server, visit):
    here = visit(server).go("/").search("crane")
    page = here.page
    assert page.inner_text("#reading .thing p") == "Which crane?"
    senses = texts(page, "#reading .chip")
    assert senses[:2] == ["crane (lifting device)", "crane (wading bird)"]
    assert texts(page, "#reading .is-taken") == ["crane (lifting device)"]
    assert problems(page) == []
    here.shoot("names-senses")
    page.click("#reading .chip >> text=wading bird")
    here.until_query(r"name=crane\.n\.05$")
    assert page.inner_text("h1:visible") == "crane (wading bird)"
    assert page.input_value("#query") == "crane (wading bird)"
    nothing = "Nothing here looks much like crane (wading bird). What comes closest is shown."
    here.until("document.getElementById('nothing').textContent.includes('no picture here shows')")
    assert page.inner_text("#nothing").startswith(nothing)
    assert len(here.ids) == 60, "what comes closest is shown nevertheless"
    assert "crane.n.05" not in page.inner_text("body")
    assert texts(page, "#reading .chip") == senses, "all senses stay where they were"
    assert texts(page, "#reading .is-taken") == ["crane (wading bird)"]
    there = visit(server, locale="en-GB").go("/?name=crane.n.05").page
    there.click("#reading .chip >> text=other meanings of crane")
    there.wait_for_url("**/?name=crane")


def test_many_senses_are_behind_a_button(server, visit):
    here = visit(server).go("/?name=dog")
    page = here.page
    assert texts(page, "#reading .is-taken") == ["dog (domestic animal)"]
    assert page.locator("#reading a.chip").count() == 3
    page.focus("#reading .unfold")
    page.keyboard.press("Enter")
    assert page.locator("#reading .unfold").count() == 0
    assert page.locator("#reading a.chip").count() == 6
    assert page.evaluate("document.activeElement === document.querySelectorAll('#reading a')[3]")


def test_labels_come_first(server, visit):
    here = visit(server).go("/?name=dog&k=40")
    assert "Pictures labelled dog come first." in texts(here.page, "#reading p")
    assert kinds(here)[:30] == ["dog"] * 30
    assert here.page.locator("#nothing").is_hidden()


def test_ids_of_wordnet_are_shown_as_names(server, visit):
    here = visit(server).go("/?name=dog")
    page = here.page
    assert "dog" in texts(page, "#labels .name")
    assert texts(page, "#grid .tag .name")[0] == "dog"
    page.click("#filter-open")
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
    assert texts(page, "#reading .thing p") == ["Which dog?", "Understood:"]
    assert texts(page, "#reading .is-taken") == ["dog (domestic animal)", "ship"]
    assert "Not understood, and left out: “sleepy”." in texts(page, "#reading p")
    assert page.inner_text("#because").startswith("These fit best with everything")
    page.click("#reading .unfold")
    page.click("#reading .chip >> text=sausage")
    here.until_query(r"\?name=dog\.n\.05&name=ship$")
    assert page.inner_text("h1:visible") == "dog (sausage) and ship"
    assert texts(page, "#terms .name") == ["dog (sausage)", "ship"]
    assert problems(page) == []


def test_words_that_were_left_out_are_not_said_to_be_known(server, visit):
    here = visit(server).go("/?name=a+sleepy+dog")
    here.until("document.getElementById('because').textContent.includes('the kinds of dog that')")


def test_near_misses(server, visit):
    here = visit(server).allow(422).go("/").search("turck")
    page = here.page
    unknown = "“turck” is no word that this search knows. Did you mean"
    assert page.inner_text("#error").startswith(unknown)
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


def test_a_name_that_nobody_knows_on_the_map(server, visit):
    here = visit(server).allow(422).go("/?view=map&name=turck")
    here.page.wait_for_selector("#map-marks:visible")
    assert "“turck” is no word that this search knows." in here.page.inner_text("#map-marks")


def test_near_misses_beside_other_names(server, visit):
    here = visit(server).allow(422).go("/?name=dog&name=shpi&without=cat")
    here.page.click("#error .chip >> text=/^ship$/")
    here.until_query(r"\?name=dog&name=ship&without=cat$")
    assert here.ids


def test_and_and_not(server, visit, pets):
    here = visit(server).go("/?name=animal")
    page = here.page
    page.click("#add-word")
    assert texts(page, "#terms .name") == ["animal"], "what is asked becomes a chip"
    here.search("ship")
    here.until_query(r"\?name=animal&name=ship$")
    page.click("#add-not")
    assert page.inner_text("#refusing") == "not"
    here.search("cat")
    here.until_query(r"\?name=animal&name=ship&without=cat$")
    words = {"animal": 1.0, "ship": 1.0, "cat": -1.0}
    assert here.ids == [match.id for match in pets.search(name=words, k=60)]
    assert texts(page, "#terms .name") == ["animal", "ship", "cat"]
    assert texts(page, "#terms .is-without .name") == ["cat"]
    assert page.title().startswith("animal and ship, but not cat")
    assert problems(page) == []
    here.shoot("names-and-not")
    there = visit(server, locale="en-GB").go("/?name=animal&name=ship&without=cat")
    assert there.ids == here.ids, "the address has it all"
    page.click("#terms >> role=button[name='Leave out “ship”']")
    here.until_query(r"\?name=animal&without=cat&without=ship$")
    page.click("#terms >> role=button[name='Remove “not ship”']")
    here.until_query(r"\?name=animal&without=cat$")
    assert here.ids == [match.id for match in pets.search(name="animal", without="cat", k=60)]
    page.go_back()
    here.until_query("without=ship")
    assert texts(page, "#terms .name") == ["animal", "cat", "ship"]
    page.focus("#query")
    page.keyboard.press("Backspace")
    here.until_query(r"\?name=animal&without=cat$")
    page.click("#clear")
    here.until_query("/$")
    here.search("truck")
    assert page.url.endswith("?name=truck"), "another question begins anew"


def test_a_minus_in_the_search_field(server, visit):
    here = visit(server).go("/").search("animal -cat")
    assert here.page.url.endswith("?name=animal&without=cat")
    assert texts(here.page, "#terms .name") == ["animal", "cat"]
    here.search("-dog")
    assert here.page.url.endswith("?name=animal&without=cat&without=dog")
    here.page.click("#clear")
    here.until_query("/$")
    here.search("-dog")
    assert here.page.inner_text("#error").startswith("Say what to look for, too")


def test_a_name_that_is_wanted_and_refused(server, visit):
    here = visit(server).go("/?name=dog")
    before = here.ids
    here.page.click("#add-not")
    here.page.keyboard.type("Dog")
    here.page.keyboard.press("Enter")
    here.page.wait_for_selector("#error:visible")
    words = "“dog” can not be looked for and left out at the same time."
    assert here.page.inner_text("#error") == words
    assert here.page.url.endswith("?name=dog")
    assert here.ids == before


def test_names_beside_a_picture(server, visit, pets):
    here = visit(server).go("/")
    page, content = here.page, png("cat", 901)
    here.drop(content)
    here.until_query("values=")
    assert page.locator("#terms img").evaluate("image => image.naturalWidth") > 0
    here.search("ship")
    here.until_query(r"values=[\w-]+&model=\w+&name=ship$")
    assert here.ids == [match.id for match in pets.search(content, name="ship", k=60)]
    assert page.inner_text("h1:visible") == "Like your picture, with ship"
    assert texts(page, "#terms .is-wanted .name") == ["ship"]
    assert "best first" in page.inner_text("#count")
    here.shoot("names-beside-a-picture")
    page.click("#terms >> role=button[name='Remove “ship”']")
    here.until_query(r"values=[\w-]+&model=\w+$")
    assert here.ids == [match.id for match in pets.search(content, k=60)]


def test_names_are_offered_only_where_they_work(client, visit):
    here = visit(client.address).go("/?name=cat")
    assert here.page.locator("#further").is_hidden()
    here.search("dog -cat")
    assert here.page.url.endswith("?name=dog+-cat"), "one name, as it was written"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("truck", f"{FOUND_WELL} These look most like"),
        ("dog", f"{FOUND_WELL} These look most like the kinds of"),
        ("segway", None),
    ],
)
def test_why(server, visit, name, sentence):
    here = visit(server).go(f"/?name={name}")
    page = here.page
    page.click("#technical summary")
    page.locator("#technical-body .bars li").first.wait_for()
    text = page.inner_text("main")
    assert "never saw" not in text
    assert "(n0" not in text
    because = page.inner_text("#because") or page.inner_text("#nothing")
    assert because.endswith(".")
    assert sentence is None or because.startswith(sentence)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/?name=crane", "/?name=animal&name=ship&without=cat"])
def test_on_a_phone(server, visit, scheme, path):
    here = visit(server, **PHONE, color_scheme=scheme).go(path)
    assert here.overflow() <= 0
    assert problems(here.page) == []
    here.shoot(f"names-phone-{scheme}-{len(path)}")
