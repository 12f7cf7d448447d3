"""Reviewing copies and learning again, in a real browser over answers that are made up."""

import json
import re

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="no Playwright: pip install playwright lets these tests run"
)
pytest.importorskip("uvicorn", reason="no web service: pip install '.[web]' lets these tests run")

from tests.web.browser.audit import problems
from tests.web.browser.visiting import PHONE
from tests.web.conftest import CHROMIUM
from tests.web.running import running

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no browser: apt-get install chromium lets these tests run"
    ),
]
TOKEN = "a-token-of-these-tests"


@pytest.fixture(scope="module")
def writable(folder):
    with running(folder, writable=True, token=TOKEN) as address:
        yield address


def item(number, width, **more):
    """An item as the API tells it."""
    facts = {"width": width, "height": width // 2, "taken": "2020-05-04T10:00:00"}
    own = {"id": number, "code": "00" * 6, "labels": [], "file": f"p{number}.png"}
    return own | {"metadata": facts, "thumbnail": True, "size": [width, width // 2]} | more


class Reviewed:
    """Answers of a server about copies; remembers what it was told to do."""

    def __init__(self, here, n=2, states=("ready",), early=False):
        self.groups = [
            {"key": f"{i:016x}", "level": "same", "keep": 3 * i + 1}
            | {"items": [item(3 * i, 200), item(3 * i + 1, 400), item(3 * i + 2, 100)]}
            for i in range(n)
        ]
        self.states, self.told, self.early = list(states), [], early
        here.page.route(re.compile("api/v1/(duplicates|items/re)"), self.answer)

    def answer(self, route):
        request = route.request
        if request.method == "POST":
            verb, body = request.url.split("/v1/")[1], request.post_data_json
            self.told.append((verb, body))
            reply = {"items/remove": {"removed": body.get("ids"), "undo": "u1"}}.get(verb, body)
            return route.fulfill(json=reply)
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        groups = self.groups if state == "ready" or self.early else []
        page = {"state": state, "done": 0.4, "text": "", "total": len(groups), "unknown": 0}
        return route.fulfill(json=page | {"offset": 0, "limit": 20, "groups": groups})


@pytest.fixture
def here(writable, visit):
    visited = visit(writable, locale="en-GB")
    visited.page.goto(f"{writable}/?view=map#token={TOKEN}")
    visited.page.wait_for_selector("#map[data-points]")
    return visited


def opened(here, **options):
    server = Reviewed(here, **options)
    here.go("/?view=copies")
    return server


def test_one_of_a_group_is_kept_and_the_others_come_back(here):
    server = opened(here)
    page = here.page
    assert page.inner_text("h1:visible") == "Copies"
    assert "2 groups" in page.inner_text("#copies-summary")
    first = page.locator(".group").first
    assert "Suggested: it has the most pixels" in first.inner_text()
    assert "400 × 200 pixels" in first.inner_text()
    assert "4 May 2020" in first.inner_text()
    assert problems(page) == []
    here.shoot("copies")
    first.locator(".is-suggested .keep").click()
    page.wait_for_selector(".group.decided")
    assert server.told == [("items/remove", {"ids": [0, 2]})]
    assert "p1.png stays. 2 copies left the album." in first.inner_text()
    assert "1 group " in page.inner_text("#copies-summary")
    here.shoot("copies-decided")
    first.locator(".way-back").click()
    page.wait_for_selector(".group.decided", state="detached")
    assert server.told[1] == ("items/restore", {"undo": "u1"})
    assert page.locator(".group .card").count() == 6


def test_all_of_a_group_are_kept(here):
    server = opened(here)
    page = here.page
    page.click(".group >> nth=1 >> .keep-all")
    page.wait_for_selector(".group.decided")
    page.click(".way-back")
    page.wait_for_selector(".group.decided", state="detached")
    key = {"key": f"{1:016x}"}
    assert server.told == [("duplicates/keep", key), ("duplicates/forget", key)]


def test_all_suggestions_are_followed_at_once(here):
    server = opened(here)
    page = here.page
    page.click("#copies-all")
    page.wait_for_selector("#copies-sure:visible")
    assert "4 pictures in 2 groups will leave the album" in page.inner_text("#copies-sure")
    assert server.told == []
    page.click("#copies-sure >> text=Cancel")
    page.wait_for_selector("#copies-sure", state="hidden")
    page.click("#copies-all")
    page.click("#copies-sure .danger")
    page.wait_for_selector("#copies-sure .way-back")
    assert server.told == [("items/remove", {"ids": [0, 2, 3, 5]})]
    page.click("#copies-sure .way-back")
    here.until("document.getElementById('copies-sure').hidden")
    assert server.told[1] == ("items/restore", {"undo": "u1"})


def test_by_keys(here):
    server = opened(here)
    page = here.page
    page.focus(".group .is-suggested .keep")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('.group').dataset.key") == f"{1:016x}"
    page.keyboard.press("Enter")
    page.wait_for_selector(".group.decided")
    assert server.told == [("items/remove", {"ids": [3, 5]})]


def test_the_page_waits_for_the_search(here):
    opened(here, states=("computing", "ready"))
    page = here.page
    page.wait_for_selector("#copies-progress:visible")
    assert "40 %" in page.inner_text("#copies-summary")
    page.wait_for_selector(".group")
    assert page.locator("#copies-progress").is_hidden()


def test_decisions_stay_while_the_server_looks_for_more(here):
    server = opened(here, states=("computing",), early=True)
    page = here.page
    page.click(".group >> nth=0 >> .keep >> nth=0")
    page.wait_for_selector(".group.decided")
    asked = [group["key"] for group in server.groups]
    server.groups = [{**server.groups[1], "key": "f" * 16}, *server.groups[1:]]
    page.wait_for_selector(f".group[data-key='{'f' * 16}']")
    assert page.locator(".group.decided").get_attribute("data-key") == asked[0]
    page.click(".way-back")
    page.wait_for_selector(".group.decided", state="detached")
    assert server.told[1] == ("items/restore", {"undo": "u1"})


def test_suggestions_that_can_not_be_followed(here):
    opened(here)
    here.allow(503)
    here.page.route(re.compile("limit=100"), lambda route: route.fulfill(status=503, body="{}"))
    here.page.click("#copies-all")
    here.until("document.getElementById('copies-summary').textContent.includes('503')")


def test_an_album_without_copies(here):
    opened(here, n=0)
    assert "No copies here" in here.page.inner_text("#copies-summary")
    assert here.page.locator("#copies-all").is_hidden()
    here.shoot("copies-none")


def test_a_search_that_fails(here):
    opened(here, states=("failed",))
    assert "could not be looked for" in here.page.inner_text("#copies-summary")


def test_a_change_that_is_refused(here):
    opened(here)
    here.allow(409)
    detail = json.dumps({"detail": "another process is writing"})
    here.page.route(
        re.compile("items/remove"), lambda route: route.fulfill(status=409, body=detail)
    )
    here.page.click(".group .keep >> nth=0")
    here.page.wait_for_selector(".group .error")
    assert here.page.inner_text(".group .error") == "Another process is writing."
    assert here.page.locator(".group .card").count() == 6


def test_servers_that_only_read_show_copies_without_buttons(client, visit):
    visited = visit(client.address)
    Reviewed(visited)
    visited.go("/?view=copies")
    page = visited.page
    assert page.locator(".group").count() == 2
    assert page.locator(".keep, .keep-all").count() == 0
    assert "--writable" in page.inner_text("#copies-read-only")


def test_copies_on_a_phone(client, visit):
    visited = visit(client.address, **PHONE)
    Reviewed(visited)
    visited.go("/?view=copies")
    assert visited.overflow() <= 0
    visited.shoot("phone-copies")


class Learned:
    """Answers of a server about learning again."""

    def __init__(self, here, states):
        self.states = list(states)
        self.begun = 0
        here.page.route(re.compile("api/v1/refit"), self.answer)
        here.page.route(re.compile("api/v1/info"), self.info)
        self.new = 12

    def answer(self, route):
        self.begun += route.request.method == "POST"
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        facts = {
            "state": state,
            "part": "looking at pictures",
            "done": 0.3,
            "n_unlearned": self.new,
        }
        text = {"done": "Learned again from 180 pictures.", "failed": "The disk is full."}
        status = 202 if route.request.method == "POST" else 200
        return route.fulfill(status=status, json=facts | {"text": text.get(state, "")})

    def info(self, route):
        answer = route.fetch().json()
        return route.fulfill(json=answer | {"n_unlearned": self.new})


def test_learning_again(here):
    server = Learned(here, ("idle", "running", "running", "done"))
    here.go("/")
    page = here.page
    page.wait_for_selector("#learning:visible")
    assert "12 pictures are new" in page.inner_text("#learning-words")
    assert problems(page) == []
    here.shoot("learning-offer")
    page.click("#learning >> text=Learn again")
    page.wait_for_selector("#learning progress")
    assert "looking at pictures" in page.inner_text("#learning-words")
    here.shoot("learning")
    server.new = 0
    page.wait_for_selector("#learning >> text=Learned again from 180 pictures.")
    assert server.begun == 1
    page.click("#learning >> text=Close")
    assert page.locator("#learning").is_hidden()


def test_learning_goes_on_after_a_reload(here):
    Learned(here, ("running", "running", "failed"))
    here.go("/")
    here.page.wait_for_selector("#learning progress")
    here.page.wait_for_selector("#learning >> text=The disk is full.")
    assert here.page.locator("#learning >> text=Try again").is_visible()


def test_learning_later(here):
    server = Learned(here, ("idle",))
    here.go("/")
    here.page.click("#learning >> text=Not now")
    assert here.page.locator("#learning").is_hidden()
    here.go("/")
    here.page.wait_for_timeout(300)
    assert here.page.locator("#learning").is_hidden()
    assert server.begun == 0
