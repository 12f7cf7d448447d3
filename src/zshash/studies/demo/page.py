"""The demonstration as one HTML page that needs no other file and no server."""

from html import escape

from zshash.evaluation.protocol import with_deviation
from zshash.evaluation.report.page import CONTENTS
from zshash.studies.demo.clipart import ClipArt
from zshash.studies.demo.clipart_page import clipart_part
from zshash.studies.demo.digits import Digits
from zshash.studies.demo.digits_page import digits_part

__all__ = ["render"]

STYLE = """
:root { color-scheme: light dark; --ink: #20242c; --paper: #faf9f6; --soft: #6b7280;
  --line: #e4e2dc; --tile: #fff; --accent: #3563b8; --good: #1a8f4c; --bad: #c8453c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e9ee; --paper: #15181e; --soft: #98a1b2;
  --line: #2c323d; --tile: #e9e8e4; --accent: #8fb2ff; --good: #3fc57a; --bad: #ff7d73; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 3rem 1.5rem 4rem; }
h1 { font-size: clamp(1.7rem, 4.5vw, 2.5rem); line-height: 1.15; letter-spacing: -.02em;
  font-weight: 650; margin: 0 0 .8rem; }
h2 { font-size: 1.35rem; letter-spacing: -.01em; margin: 4rem 0 .4rem; }
h3 { font-size: 1.1rem; font-weight: 600; margin: 0; }
p { max-width: 46rem; margin: .4rem 0 1rem; }
.lead { font-size: 1.15rem; max-width: 54rem; }
.soft { color: var(--soft); } .small { font-size: .88rem; }
.found { display: grid; grid-template-columns: 8.5rem 1fr; gap: 0 1.4rem; align-items: center;
  margin: 1.1rem 0; }
.asked p { margin: .15rem 0 0; line-height: 1.35; }
.tiles { display: grid; grid-template-columns: repeat(6, 1fr); gap: .7rem; margin: 0; padding: 0;
  list-style: none; }
.tile { display: block; width: 100%; aspect-ratio: 1; background: var(--tile);
  border: 1px solid var(--line); border-radius: 10px; }
.query { border: 2px solid var(--accent); }
small { display: block; margin-top: .1rem; font-size: .78rem; color: var(--soft);
  font-variant-numeric: tabular-nums; text-align: center; }
@media (prefers-color-scheme: dark) { .tile { filter: brightness(.93); } }
.digits { grid-template-columns: repeat(13, 1fr); gap: .35rem; margin-bottom: .6rem; }
.digits .tile { image-rendering: pixelated; border-width: 2px; border-radius: 5px; filter: none; }
.right { border-color: var(--good); } .wrong { border-color: var(--bad); border-style: dashed; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: .4rem 1.8rem .4rem 0; text-align: left; border-bottom: 1px solid var(--line);
  white-space: nowrap; } th { font-weight: 600; }
pre { overflow-x: auto; padding: .9rem 1.1rem; border: 1px solid var(--line); border-radius: 10px;
  font-size: .9rem; line-height: 1.7; }
@media (max-width: 46rem) {
  main { padding: 2rem 1.1rem 3rem; } h2 { margin-top: 3rem; }
  .found { grid-template-columns: 1fr; gap: .5rem; margin: 1.6rem 0; }
  .tiles { grid-template-columns: repeat(3, 1fr); }
  .asked .tile { width: calc((100% - 1.4rem) / 3); } .asked small { text-align: left; }
  .digits { grid-template-columns: repeat(7, 1fr); }
}
"""
BESIDE = """
.contents { padding: 0 1.1rem; } .summary { max-width: 46rem; padding-left: 1.2rem; }
@media (min-width: 72rem) { .contents { padding: 0; }
  main { margin-left: max(15rem, 50vw - 29rem); margin-right: 1rem; } }
"""
OWN = """<h2 id="own">With your own pictures</h2>
<pre><code>zshash create album photos/
zshash search album --name guitar
zshash serve album --open</code></pre>
"""


def render(digits: Digits, clipart: ClipArt | None = None) -> str:
    """The page as text; without clip art, it shows the digits alone."""
    summary = _summary(digits, clipart)
    first = "" if clipart is None else clipart_part(clipart, summary)
    last = digits_part(digits, summary if clipart is None else "")
    title = "digits that nobody labelled" if clipart is None else "pictures that nobody labelled"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>zshash: {title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{STYLE}{CONTENTS}{BESIDE}</style></head>
<body>{_contents(clipart is not None)}
<main>
{first}{last}{OWN}</main></body></html>
"""


def _contents(has_clipart: bool) -> str:
    """Links to the parts of the page, which stay in sight."""
    parts = {"names": "Found by name", "pictures": "Found by picture", "how": "How this works"}
    parts = (parts if has_clipart else {}) | {"digits": "On digits", "own": "Your own pictures"}
    links = "".join(f'<li><a href="#{name}">{text}</a></li>' for name, text in parts.items())
    return f'<nav class="contents" aria-label="Contents"><ol>{links}</ol></nav>'


def _summary(digits: Digits, clipart: ClipArt | None) -> str:
    """What the page shows, in a few sentences with the numbers that count."""
    said = []
    if clipart is not None:
        found = [own for own in clipart.names.values() if not (own.reading and own.reading.nothing)]
        said.append(
            f"{len(clipart.names)} words were typed; for {len(found)} of them, zshash says that "
            "there are such drawings."
        )
        said.append(f"Each drawing is kept as {clipart.n_bytes} bytes, which find others like it.")
    scores = ", ".join(f"{row['name']} {with_deviation(row, 'map')}" for row in digits.summary())
    said.append(f"How well digits are found that nobody labelled (MAP, 1 is perfect): {scores}.")
    return f'<ul class="summary">{"".join(f"<li>{escape(one)}</li>" for one in said)}</ul>\n'
