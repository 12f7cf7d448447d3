"""The page in Firefox: search by name, the viewer, a picture of one's own, the keyboard."""

import json
import shutil
import subprocess

import pytest

from tests.web.browser.album import CATEGORIES, png
from tests.web.browser.packages import MODULES, PLACES

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
NODE = shutil.which("node")
PUPPETEER = MODULES / "puppeteer-core"
SECONDS = 300

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        FIREFOX is None or NODE is None or not PUPPETEER.is_dir(),
        reason="no Firefox, Node.js or puppeteer-core: make browser lets these tests run",
    ),
]


@pytest.fixture(scope="module")
def found(client, tmp_path_factory):
    """What Firefox found on the page, by task; the browser is started once."""
    picture = tmp_path_factory.mktemp("firefox") / "own.png"
    picture.write_bytes(png("cat", 99))
    entry = json.loads((PUPPETEER / "package.json").read_text())["exports"]["."]["import"]
    order = {
        "module": (PUPPETEER / entry).as_uri(),
        "firefox": FIREFOX,
        "address": f"{client.address}/",
        "places": json.loads(PLACES.read_text()),
        "picture": str(picture),
        "name": next(iter(CATEGORIES)),
    }
    script = PLACES.with_name("firefox.mjs")
    done = subprocess.run(
        [str(NODE), str(script), json.dumps(order)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def whole(found, task):
    """What a task found, if nothing went wrong in it."""
    assert "error" not in found[task], found[task]
    assert found[task]["wrong"] == []
    return found[task]


def test_search_by_name(found):
    told = whole(found, "search")
    assert told["results"] > 5
    assert next(iter(CATEGORIES)) in told["title"].lower()
    assert told["wide"] <= 0


def test_viewer(found):
    told = whole(found, "viewer")
    assert (told["first"].split()[0], told["second"].split()[0]) == ("1", "2")
    assert told["open"] == 0


def test_upload(found):
    assert whole(found, "upload")["results"] > 5


def test_keyboard(found):
    told = whole(found, "keyboard")
    assert told["field"]
    assert told["tabs"] <= 5
    assert told["moved"]
