"""A browser's page that remembers everything that must not happen."""

import base64
import re
import time
from pathlib import Path

SHOTS = Path(__file__).parents[3] / "build" / "browser"
PHONE = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
PATIENCE = 10
WIDE = {"viewport": {"width": 1280, "height": 860}}

DROP = """([selector, bytes, name, type]) => {
  const raw = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([raw], name, { type }));
  const target = document.querySelector(selector);
  for (const kind of ["dragenter", "dragover", "drop"]) {
    const how = { dataTransfer: transfer, bubbles: true, cancelable: true };
    target.dispatchEvent(new DragEvent(kind, how));
    if (kind === "dragover") window.wasOffered = !document.getElementById("drop").hidden;
  }
  return window.wasOffered;
}"""
PASTE = """([bytes, name, type]) => {
  const raw = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([raw], name, { type }));
  document.activeElement.dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
}"""


PICTURES = """[...document.images].every((image) => {
  const { top, bottom } = image.getBoundingClientRect();
  return image.complete || bottom < 0 || top > innerHeight;
})"""


class Visit:
    """A page of the browser at a server's address.

    Parameters
    ----------
    context : playwright BrowserContext
    address : str
    """

    def __init__(self, context, address):
        self.address = address
        self.allowed = set()
        self.wrong = []
        self.context, self.page = context, context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("request", self._request)

    def _console(self, message):
        status = re.search(r"responded with a status of (\d+)", message.text)
        if status and int(status[1]) in self.allowed:
            return
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.type}: {message.text} {message.location}")

    def _request(self, request):
        if not request.url.startswith((self.address, "blob:", "data:")):
            self.wrong.append(f"left the server: {request.url}")

    def allow(self, *statuses):
        """Answers of the server that are no surprise in this test; browsers log them as errors."""
        self.allowed.update(statuses)
        return self

    def go(self, path="/"):
        """Open an address and wait until the page is at rest."""
        self.page.goto(self.address + path, wait_until="domcontentloaded")
        return self.rest()

    def rest(self):
        """Wait until what was asked for is there."""
        return self.until("document.body.dataset.shown === location.search")

    def until(self, expression):
        """Wait until something is true; Playwright's own way needs what the page forbids, eval."""
        end = time.monotonic() + PATIENCE
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"never came true: {expression}"
            self.page.wait_for_timeout(20)
        return self

    def until_query(self, pattern):
        """Wait until the address has something, and for the page to be at rest."""
        self.page.wait_for_url(re.compile(pattern))
        return self.rest()

    def search(self, text):
        """Type something and search for it."""
        self.page.fill("#query", text)
        self.page.keyboard.press("Enter")
        return self.rest()

    @property
    def ids(self):
        """Of the results, in their order."""
        return [int(number) for number in self._noted("data-id")]

    @property
    def labels(self):
        """The first label of each result."""
        return self.page.eval_on_selector_all(
            "#grid .tile",
            "tiles => tiles.map((tile) => tile.querySelector('.tag .name')?.textContent ?? null)",
        )

    @property
    def distances(self):
        """Of the results in bits, or their scores."""
        bits, scores = self._noted("data-bits"), self._noted("data-score")
        return [
            float(score if far is None else far) for far, score in zip(bits, scores, strict=True)
        ]

    def _noted(self, name):
        return self.attributes(self.page.locator("#grid .tile"), name)

    @staticmethod
    def attributes(locator, name):
        """An attribute of all elements."""
        return locator.evaluate_all("(all, name) => all.map((one) => one.getAttribute(name))", name)

    def drop(self, content, name="a.png", onto="#main", kind="image/png"):
        """Drop a file; whether the page offered to take it."""
        return self.page.evaluate(DROP, [onto, base64.b64encode(content).decode(), name, kind])

    def paste(self, content, name="image.png", kind="image/png"):
        """Paste a file."""
        self.page.evaluate(PASTE, [base64.b64encode(content).decode(), name, kind])

    def shoot(self, name):
        """Keep a picture of the page."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.until(PICTURES)
        self.page.screenshot(path=SHOTS / f"{name}.png")

    def overflow(self):
        """By how many pixels the page is wider than its window."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
