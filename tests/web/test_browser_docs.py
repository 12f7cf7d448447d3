"""The page about the API in a real browser."""

import re

import pytest

import zshash

pytest.importorskip(
    "playwright.sync_api", reason="no Playwright: pip install playwright lets these tests run"
)

from tests.web.browser.visiting import PHONE
from tests.web.conftest import CHROMIUM, TOKEN

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no browser: apt-get install chromium lets these tests run"
    ),
]


def opened(visit, client, **options):
    page = visit(client.address, **options).page
    page.goto(f"{client.address}/docs")
    page.wait_for_selector("article", state="attached")
    return page


def test_every_operation_is_on_the_page(visit, client):
    page = opened(visit, client)
    description = client.get("/api/v1/openapi.json").json
    n = sum(len(methods) for methods in description["paths"].values())
    assert page.locator("article").count() == n
    assert page.locator("#contents li").count() == n
    for language in ("curl", "Python", "JavaScript"):
        page.locator("#search .languages button", has_text=language).click()
        shown = page.locator("#explain .box[data-language]:visible code").inner_text()
        assert "/api/v1/why?name=segway" in shown
    assert page.locator("#removeItem .line").inner_text().endswith("needs the token or a session")


def samples(page, language):
    """Examples in one language, by the name of the operation."""
    box = f"[data-language='{language}'].box code"
    return dict(
        page.locator("article").evaluate_all(
            "(all, box) => all.map((one) => [one.id, one.querySelector(box).textContent])", box
        )
    )


def test_examples_in_python_run(visit, knower, capsys):
    found = samples(opened(visit, knower), 1)
    for text in found.values():
        compile(text, "example", "exec")
        for method in re.findall(r"album\.(\w+)\(", text):
            assert hasattr(zshash.Client, method)
    for operation in ("search", "getInfo", "completeName", "listItems"):
        assert "zshash.Client" in found[operation]
        exec(f"{found[operation]}\nalbum.close()", {})
    assert "'bits'" in capsys.readouterr().out


def test_examples_in_javascript_can_be_read(visit, client):
    page, methods = opened(visit, client), client.get("/static/zshash.js").body.decode()
    for text in samples(page, 2).values():
        for method in re.findall(r"album\.(\w+)\(", text):
            assert f" {method}(" in methods.replace("*", " ")
        page.evaluate(
            "(text) => { Object.getPrototypeOf(async () => {}).constructor(text) && 0; }",
            re.sub(r"^import .*", "", text),
        )


def test_it_fits_a_phone(visit, client):
    page = opened(visit, client, **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#contents summary").click()
    page.locator("#contents a[href='#getItem']").click()
    assert page.locator("#getItem").is_visible()
    assert not page.locator("#contents a[href='#getItem']").is_visible()


def test_it_asks_for_the_token(visit, serving):
    client = serving(token=TOKEN)
    page = visit(client.address).allow(401).page
    page.goto(f"{client.address}/docs")
    page.fill("#token-value", TOKEN)
    page.click("#token-form button")
    page.wait_for_selector("article", state="attached")
    assert not page.locator("#token-form").is_visible()
