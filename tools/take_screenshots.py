"""Take the screenshots of the page that are in docs/page.

    python tools/take_screenshots.py ADDRESS FOLDER --name guitar --picture car.png

ADDRESS is that of a running `zshash serve --writable`, with its token behind the #. Each view is
taken three times: 1280 × 800, on a phone of 390 × 844, and dark. Needs Playwright and Chromium.

Those in docs/page show the drawings of Debian's openclipart-png, which are in the public domain:
its folders animals, buildings, containers, electronics, food, people, plants, recreation, tools and
transportation, 1,500 drawings of them drawn by lot, in an album made by `zshash create`.
"""

import argparse
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

FORMS: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 800}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
        "is_mobile": True,
        "has_touch": True,
    },
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
}
QUIET = (
    "document.body.dataset.shown === location.search"
    " && document.getElementById('copies-progress').hidden"
)
PATIENCE, PAUSE = 600, 100  # steps, and milliseconds of each
MOVING = 1500  # milliseconds in which pictures come and the map settles


def rest(page: Page) -> None:
    """Wait until the page shows what was asked for."""
    for _ in range(PATIENCE):
        if page.evaluate(QUIET):
            break
        page.wait_for_timeout(PAUSE)
    page.wait_for_timeout(MOVING)


def walk(page: Page, address: str, name: str, picture: str, shoot: Callable[[str], None]) -> None:
    """Go through all views."""
    base = address.partition("#")[0]
    page.goto(address)
    rest(page)
    shoot("start")
    page.goto(f"{base}?name={name}")
    rest(page)
    shoot("name")
    page.locator("#grid a").first.click()
    page.wait_for_timeout(MOVING)
    shoot("viewer")
    page.keyboard.press("Escape")
    page.wait_for_timeout(MOVING)
    page.set_input_files("#file", picture)
    page.wait_for_url(re.compile("values="))
    rest(page)
    shoot("picture")
    for view in ("map", "copies"):
        page.goto(f"{base}?view={view}")
        rest(page)
        shoot(view)


def main() -> None:
    """Take all screenshots, with 256 colours for smaller files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", required=True, help="a name to search for")
    parser.add_argument("--picture", required=True, help="a picture to search with")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for form, device in FORMS.items():
            page = browser.new_context(**device).new_page()

            def shoot(view: str, page: Page = page, form: str = form) -> None:
                file = options.folder / f"{view}-{form}.png"
                page.screenshot(path=file)
                with Image.open(file) as image:
                    image.convert("RGB").quantize(256).save(file, optimize=True)

            walk(page, options.address, options.name, options.picture, shoot)
        browser.close()


if __name__ == "__main__":
    main()
