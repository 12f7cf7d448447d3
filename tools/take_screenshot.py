"""Take a screenshot of the top of a page.

    python tools/take_screenshot.py ADDRESS FILE.png [--dark] [--palette]

ADDRESS is the address of a running `zshash serve`, with a search in it, or of a page on the disk
(file:///…/zshash-demo.html). Needs Playwright and Chromium.
"""

import argparse
import shutil

from PIL import Image
from playwright.sync_api import sync_playwright

WIDTH, HEIGHT, SCALE = 1240, 940, 1.5


def main() -> None:
    """Open the address, wait until nothing moves, and write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("file")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--palette", action="store_true", help="256 colours, for a smaller file")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            device_scale_factor=SCALE,
            color_scheme="dark" if options.dark else "light",
        )
        page.goto(options.address)
        page.wait_for_load_state("networkidle")
        page.mouse.click(WIDTH - 5, HEIGHT - 5)  # away from the search field
        page.wait_for_timeout(1500)
        page.screenshot(path=options.file)
        browser.close()
    if options.palette:
        with Image.open(options.file) as image:
            image.convert("RGB").quantize(256).save(options.file, optimize=True)


if __name__ == "__main__":
    main()
