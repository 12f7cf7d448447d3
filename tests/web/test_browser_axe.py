"""Every view of the page under axe-core, which looks for what keeps people out."""

import shutil

import pytest

from tests.web.browser.album import png
from tests.web.browser.packages import MODULES
from tests.web.browser.visiting import PHONE
from tests.web.conftest import CHROMIUM
from tests.web.running import running
from zshash import LSH, Collection

AXE = MODULES / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")
CHECK = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  const told = (node) => `${node.html} ${node.failureSummary}`;
  return found.violations.map(({ id, impact, help, nodes }) =>
    ({ id, impact, help, nodes: nodes.slice(0, 5).map(told) }));
}"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None or not AXE.is_file(),
        reason="no Chromium or axe-core: make browser lets these tests run",
    ),
]

VIEWS = {
    "start": "/",
    "name": "/?name=cat",
    "filters": "/?name=cat&label=cat&where=year+%3E+2000",
    "like": "/?id=5",
    "viewer": "/?id=5#item=7",
    "map": "/?view=map",
    "duplicates": "/?view=copies",
    "nothing found": "/?name=cat&where=year+%3C+1900",
    "unknown name": "/?name=qwrtzpx",
    "error": "/?id=99999",
}
LOOKS = {
    "wide": {},
    "dark": {"color_scheme": "dark"},
    "phone": PHONE,
    "dark phone": PHONE | {"color_scheme": "dark"},
}


def grave(page):
    """What axe finds on a page that is serious or critical."""
    page.evaluate(AXE.read_text())
    return [one for one in page.evaluate(CHECK) if one["impact"] in GRAVE]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("view", VIEWS)
def test_views(client, visit, view, look):
    here = visit(client.address, **LOOKS[look]).allow(404, 422)
    here.go(VIEWS[view])
    if view == "map":
        here.until("document.getElementById('map-wait').hidden")
    if view == "viewer":
        here.page.wait_for_selector("#viewer[open]")
    here.page.wait_for_timeout(300)  # what fades in has its colours by then
    assert grave(here.page) == []


@pytest.mark.parametrize("look", ["wide", "dark phone"])
def test_a_picture_of_ones_own(client, visit, look):
    here = visit(client.address, **LOOKS[look]).go()
    here.drop(png("cat", 99))
    here.page.wait_for_selector("#grid a.frame")
    assert grave(here.page) == []


@pytest.mark.parametrize("look", LOOKS)
def test_an_empty_album(tmp_path, visit, X, look):
    folder = tmp_path / "empty"
    Collection.create(folder, LSH(n_bits=20, random_state=0).fit(X)).close()
    with running(folder) as address:
        assert grave(visit(address, **LOOKS[look]).go().page) == []


@pytest.mark.parametrize("look", LOOKS)
def test_docs(client, visit, look):
    here = visit(client.address, **LOOKS[look])
    here.page.goto(f"{client.address}/docs", wait_until="networkidle")
    assert grave(here.page) == []


@pytest.mark.parametrize("look", ["wide", "dark phone"])
def test_forms_of_a_server_that_writes(folder, tmp_path, visit, look):
    copy = shutil.copytree(folder, tmp_path / "album")
    with running(copy, writable=True, token="a-token-of-these-tests") as address:
        here = visit(address, **LOOKS[look]).allow(401).go()
        here.page.click("#add-open")
        here.page.wait_for_selector("dialog[open]")
        assert grave(here.page) == []
