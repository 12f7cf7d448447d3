"""Matches as a row of small pictures, the way a notebook shows them.

The page is plain HTML without scripts. It takes its colours from the notebook, so it is readable on
a dark background, too. Every text in it is escaped: labels and names of files come from anywhere.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING

from zshash.collection.operations.portraits import make_thumbnail

if TYPE_CHECKING:
    from zshash.collection.results import Match

__all__ = ["MOST_SHOWN", "as_page"]

MOST_SHOWN = 20
SIDE = 160  # of a picture, in pixels
LINE = "overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
FRAME = f"width:{SIDE}px;height:{SIDE}px;display:flex;align-items:center;justify-content:center"
EDGE = "border:1px solid rgba(128,128,128,.4);border-radius:4px;box-sizing:border-box"


def as_page(title: str, matches: Iterable["Match"], thumbnails: Mapping[int, bytes]) -> str:
    """HTML of matches with their thumbnails by id; a match without one gets an empty frame."""
    figures = "".join(_figure(match, thumbnails.get(match.id)) for match in matches)
    row = f'<div style="display:flex;flex-wrap:wrap;gap:8px">{figures}</div>'
    return f'<div><p style="margin:4px 0">{escape(title)}</p>{row}</div>'


def _figure(match: "Match", jpeg: bytes | None) -> str:
    """HTML of one match: its picture, and below it the score, the labels and the file's name."""
    name = PurePath(match.path).name if match.path else f"item {match.id}"
    facts = " · ".join([f"{match.score:.2f}", *match.labels])
    hint = f"item {match.id}: {match.path or 'no path'}"
    lines = "".join(f'<div style="{LINE}">{escape(text)}</div>' for text in (facts, name))
    return (
        f'<figure style="margin:0;width:{SIDE}px;font-size:12px" title="{escape(hint)}">'
        f'<div style="{FRAME};{EDGE}">{_picture(jpeg, name)}</div>'
        f"<figcaption>{lines}</figcaption></figure>"
    )


def _picture(jpeg: bytes | None, name: str) -> str:
    if jpeg is None:
        return ""
    data = b64encode(_at_most(jpeg, SIDE)).decode()
    style = "max-width:100%;max-height:100%"
    return f'<img src="data:image/jpeg;base64,{data}" alt="{escape(name)}" style="{style}">'


def _at_most(jpeg: bytes, side: int) -> bytes:
    """A thumbnail, made smaller if one of its sides is longer than `side` pixels."""
    try:
        from PIL import Image
    except ImportError:  # the browser makes it smaller
        return jpeg
    with Image.open(BytesIO(jpeg)) as image:
        is_small = max(image.size) <= side
    return jpeg if is_small else make_thumbnail(jpeg, side) or jpeg
