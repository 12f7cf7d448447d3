"""Reports as one HTML page that needs no other file and no server."""

import base64
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from zshash.evaluation.report.document import (
    NOT,
    NOT_RUN,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    Block,
    Claim,
    Claims,
    Code,
    Document,
    Gallery,
    GalleryRow,
    Items,
    Picture,
    Plot,
    Section,
    Table,
    Text,
)
from zshash.evaluation.report.inline import Span, plain, spans

__all__ = ["CONTENTS", "STYLE", "png", "to_html"]

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --paper: #fbfbf9; --soft: #667; --line: #d5d7dd;
  --good: #1a8f4c; --bad: #d0342c; --curve: #2860c4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ee; --paper: #14171e; --soft: #9aa3b5;
  --line: #353b49; --good: #3fc57a; --bad: #ff6b61; --curve: #7fa8ff; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
p { max-width: 46rem; } .soft { color: var(--soft); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .9rem .35rem 0; text-align: left; border-bottom: 1px solid var(--line); }
figure { margin: 0 0 1.4rem; } figcaption { font-weight: 600; margin-bottom: .4rem; }
.row { display: flex; flex-wrap: wrap; gap: .3rem; align-items: flex-end; margin: .3rem 0; }
.row img { width: 2.6rem; height: 2.6rem; display: block; image-rendering: pixelated;
  border: 3px solid var(--line); border-radius: 4px; }
.row div:first-child { margin-right: .8rem; } .row .right { border-color: var(--good); }
.row .wrong { border-color: var(--bad); border-style: dashed; }
.row small { display: block; text-align: center; color: var(--soft); font-size: .7rem; }
svg { max-width: 100%; height: auto; }
"""
CONTENTS = """
html { scroll-padding-top: 1rem; }
.contents { position: sticky; top: 0; z-index: 1; background: var(--paper);
  border-bottom: 1px solid var(--line); }
.contents ol { display: flex; gap: .2rem; margin: 0; padding: .3rem 0; list-style: none;
  overflow-x: auto; white-space: nowrap; }
.contents a { display: block; padding: .45rem .7rem; border-radius: 6px; color: inherit;
  text-decoration: none; }
.contents a:hover { background: var(--line); }
@media (max-width: 72rem) { html { scroll-padding-top: 4rem; } }
@media (min-width: 72rem) {
  .contents { position: fixed; top: 2rem; bottom: 2rem; left: max(1rem, 50vw - 44rem);
    width: 13rem; border: 0; overflow-y: auto; font-size: .9rem; }
  .contents ol { display: block; white-space: normal; }
  .contents a { padding: .3rem .6rem; line-height: 1.35; }
}
@media print { .contents { display: none; } }
"""
"""Contents that stay in sight: beside the text, or above it where there is no room."""
REPORT_STYLE = """
@media (min-width: 72rem) {
  .report { max-width: none; margin-right: 0; margin-left: 0; box-sizing: border-box;
    padding-left: max(15rem, 50vw - 29rem); padding-right: 1rem; }
  .report > * { max-width: 62rem; } }
.scroll { overflow-x: auto; margin: 1rem 0; } caption { text-align: left; padding-bottom: .4rem; }
.number { text-align: right; white-space: nowrap; } th.number { white-space: normal; }
th, td { vertical-align: top; } td:last-child, th:last-child { padding-right: 0; }
pre { overflow-x: auto; padding: .7rem 1rem; border: 1px solid var(--line); border-radius: 6px; }
code { font-size: .9em; } a { color: var(--curve); }
.plot figcaption { font-weight: 400; } .card { background: #fff; border: 1px solid var(--line);
  border-radius: 6px; padding: .5rem; overflow-x: auto; }
.card svg { display: block; margin: 0 auto; min-width: 34rem; }
.row .mark { font-size: 1.1rem; padding: 0 .15rem; } .found { margin: .8rem 0 0; }
.mark.right { color: var(--good); } .mark.wrong { color: var(--bad); }
.badge { display: inline-block; padding: 0 .6rem; border: 2px solid; border-radius: 1rem;
  font-size: .85rem; font-weight: 600; white-space: nowrap; }
.badge.yes { color: var(--good); } .badge.no { color: var(--bad); border-style: dashed; }
.badge.partly { color: var(--partly); border-style: double; border-width: 4px; }
.badge.open { color: var(--soft); border-style: dotted; }
:root { --partly: #96690a; } @media (prefers-color-scheme: dark) { :root { --partly: #e3b341; } }
"""
BADGES = {REPRODUCED: "yes", PARTLY: "partly", NOT: "no", UNDECIDED: "open", NOT_RUN: "open"}
TAGS = {"code": "code", "bold": "strong", "italic": "em"}
OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def to_html(document: Document, svgs: Mapping[str, str]) -> str:
    """The document as a page; `svgs` maps the name of each plot to its SVG picture."""
    contents = '<li><a href="#summary">Summary</a></li>' + "".join(
        f'<li><a href="#{section.name}">{escape(plain(section.title))}</a></li>'
        for section in document.sections
    )
    sections = "".join(_section(section, svgs) for section in document.sections)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(plain(document.title))}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{STYLE}{CONTENTS}{REPORT_STYLE}</style></head>
<body class="report">
<header><h1>{_inline(document.title)}</h1></header>
<nav class="contents" aria-label="Contents"><ol>{contents}</ol></nav>
<main>
<section id="summary" aria-label="Summary">
{_blocks(document.blocks, svgs)}</section>
{sections}</main>
</body></html>
"""


def _section(section: Section, svgs: Mapping[str, str]) -> str:
    heading = f"<h2>{_inline(section.title)}</h2>"
    body = _blocks(section.blocks, svgs)
    return f'<section id="{section.name}">\n{heading}\n{body}</section>\n'


def _blocks(blocks: Sequence[Block], svgs: Mapping[str, str]) -> str:
    return "".join(_block(block, svgs) + "\n" for block in blocks)


def _block(block: Block, svgs: Mapping[str, str]) -> str:
    match block:
        case Text():
            return f"<p>{_inline(block.text)}</p>"
        case Items():
            return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in block.items)}</ul>"
        case Code():
            return f"<pre><code>{escape(block.text.rstrip())}</code></pre>"
        case Table():
            rows = [[_inline(cell) for cell in row] for row in block.rows]
            return _table(block.head, rows, block.numbers_from, block.caption)
        case Plot():
            return _plot(block, svgs[block.name])
        case Gallery():
            rows_of_pictures = "".join(_gallery_row(row) for row in block.rows)
            caption = f"<figcaption>{_inline(block.title)}</figcaption>"
            return f"<figure>{caption}{rows_of_pictures}</figure>"
        case Claims():
            claims = [_claim(claim) for claim in block.claims]
            return _table(["claim", "verdict", "evidence"], claims, numbers_from=3)
        case _:
            assert_never(block)


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], numbers_from: int, caption: str = ""
) -> str:
    """A table of cells that are HTML already, in a box that scrolls if the table is too wide."""
    label = escape(plain(caption) or "Table")
    above = f"<caption>{_inline(caption)}</caption>" if caption else ""
    names = _cells("th", [_inline(cell) for cell in head], numbers_from)
    body = "".join(f"<tr>{_cells('td', row, numbers_from)}</tr>" for row in rows)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table>{above}'
        f"<thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(tag: str, cells: Sequence[str], numbers_from: int) -> str:
    return "".join(
        f'<{tag} class="number">{cell}</{tag}>'
        if column >= numbers_from
        else f"<{tag}>{cell}</{tag}>"
        for column, cell in enumerate(cells)
    )


def _claim(claim: Claim) -> list[str]:
    badge = f'<span class="badge {BADGES[claim.verdict]}">{claim.verdict}</span>'
    return [_inline(claim.statement), badge, _inline(claim.evidence)]


def _plot(plot: Plot, svg: str) -> str:
    caption = f"<figcaption>{_inline(plot.caption)}</figcaption>" if plot.caption else ""
    picture = re.sub("<[^>]*>", lambda tag: _own_ids(tag[0], plot.name), svg[svg.index("<svg") :])
    label = f'<svg role="img" aria-label="{escape(plot.alt)}"'
    card = f'<div class="card">{picture.replace("<svg", label, 1).rstrip()}</div>'
    return f'<figure class="plot">{caption}{card}</figure>'


def _own_ids(tag: str, name: str) -> str:
    """A tag of an SVG picture, with the plot's name before each id and each reference to an id.

    >>> _own_ids('<use id="b" clip-path="url(#a)"/>', "map")
    '<use id="map.b" clip-path="url(#map.a)"/>'
    """
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}.", tag)


def _gallery_row(row: GalleryRow) -> str:
    name = f'<p class="found">{escape(row.name)} <span class="soft">{row.score} right</span></p>'
    cells = [_picture(row.query, "query", row.query.label)]
    cells += [
        _picture(picture, {True: "right", False: "wrong", None: "found"}[picture.right])
        for picture in row.found
    ]
    return f'{name}<div class="row">{"".join(cells)}</div>'


def _picture(picture: Picture, role: str, mark: str = "") -> str:
    """The picture, or its mark if there is no file."""
    label = escape(picture.label)
    if picture.path is not None and picture.path.is_file():
        data = base64.b64encode(picture.path.read_bytes()).decode()
        shown = f'<img class="{role}" alt="{role}: {label}" title="{label}" '
        shown += f'src="data:image/png;base64,{data}">'
    else:
        text = escape(mark or picture.mark)
        shown = f'<span class="mark {role}" title="{label}">{text}</span>'
    return f"<div>{shown}<small>{escape(picture.caption)}</small></div>"


def _inline(text: str) -> str:
    return "".join(_span(span) for span in spans(" ".join(text.split())))


def _span(span: Span) -> str:
    if span.kind == "plain":
        return escape(span.text)
    if span.kind == "link":
        text = _inline(span.text)
        unsafe = OTHER_SCHEME.match(span.address)
        return text if unsafe else f'<a href="{escape(span.address)}">{text}</a>'
    inner = escape(span.text) if span.kind == "code" else _inline(span.text)
    return f"<{TAGS[span.kind]}>{inner}</{TAGS[span.kind]}>"


def png(image: NDArray[np.uint8]) -> bytes:
    """The bytes of a PNG file of a picture, grey (height, width) or RGB (height, width, 3)."""
    height, width = image.shape[:2]
    colour_type = 0 if image.ndim == 2 else 2
    lines = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(image))
    header = struct.pack(">2I5B", width, height, 8, colour_type, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
