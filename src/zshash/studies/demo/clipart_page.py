"""The part of the page on clip art: rows of pictures for names and for pictures."""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from zshash.collection import Found, Item, Match
from zshash.studies.demo.clipart import ClipArt

__all__ = ["clipart_part"]

NOTHING = "“Nothing here looks much like it”, says zshash."
HOW = """<h2 id="how">How this works</h2>
<p>No drawing has a label, and nobody looked at the names of files. A network that was trained on
photographs of 1,000 categories (EfficientNet-Lite0) looks at each drawing, and zshash learns from
these drawings alone which yes-or-no questions tell them apart best. A word is one of the
categories (dog), stands above some of them (bird), or its place among them is guessed from WordNet
(horse). The answers to the questions are all that a search compares.</p>
<p class="soft small">The words are everyday words of which there are at least five
drawings, and no row was left out because it failed. As the drawings are few, the fit also uses the
mean and the covariance of the network’s features over general pictures, which come with zshash;
clip art of the same library is among them, without labels. The drawings are from the Open Clip Art
Library; their authors gave them to the public domain.</p>
"""


def clipart_part(shown: ClipArt, summary: str) -> str:
    """Heading, summary, what happened, a row for each name, and a row for each picture."""
    names = "".join(_named(name, found) for name, found in shown.names.items())
    examples = "".join(_example(item, found, shown.n_bits) for item, found in shown.examples)
    return f"""<h1>{shown.n} drawings, no label, found by name</h1>
<p class="lead">In {shown.seconds:.0f} seconds they became an album, {shown.n_bytes} bytes
each. Words and drawings find others in it.</p>
{summary}<h2 id="names">Found by name</h2>
<p class="soft small">Under each drawing: how likely zshash takes it to show what the word
means.</p>
{names}<h2 id="pictures">Found by picture</h2>
<p class="soft small">The first drawing of each of the first rows, searched for in its turn. These
are drawings that zshash was sure of; others find less. Under each drawing: how many of
{shown.n_bits} bits differ.</p>
{examples}{HOW}"""


def _named(name: str, found: Found) -> str:
    """A row of pictures for a name; zshash says itself if nothing looks like it."""
    is_nothing = found.reading is not None and found.reading.nothing
    remark = f'<p class="soft small">{NOTHING}</p>' if is_nothing else ""
    tiles = (_tile(match.item, f"{100 * match.score:.0f} %") for match in found)
    return _row(f"<h3>{escape(name)}</h3>{remark}", tiles)


def _example(item: Item, found: Sequence[Match], n_bits: int) -> str:
    """A row of pictures for a picture."""
    tiles = (_tile(match.item, f"{match.bits} of {n_bits}") for match in found)
    return _row(_picture(item, "tile query"), tiles)


def _row(asked: str, tiles: Iterable[str]) -> str:
    return (
        f'<section class="found"><div class="asked">{asked}</div>'
        f'<ul class="tiles">{"".join(tiles)}</ul></section>\n'
    )


def _tile(item: Item, caption: str) -> str:
    return f"<li>{_picture(item, 'tile')}<small>{escape(caption)}</small></li>"


def _picture(item: Item, role: str) -> str:
    """A picture; the page holds its file."""
    path = Path(item.source or "")
    data = base64.b64encode(path.read_bytes()).decode()
    return (
        f'<img class="{role}" alt="drawing {escape(path.stem)}" '
        f'src="data:image/webp;base64,{data}">'
    )
