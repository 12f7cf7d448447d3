"""Matches as a row of small pictures, the way a notebook shows them.

The page is plain HTML without scripts. It takes its colours from the notebook, so it is readable on
a dark background, too. Every text in it is escaped: labels and names of files come from anywhere.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zshash.collection.results import Match

__all__ = ["MOST_SHOWN", "as_page"]

MOST_SHOWN = 20
SIDE = 160  # of a picture, in pixels of the page
SHARP = 2  # pixels of fine screens for each of these
LINE = "overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
FRAME = f"width:{SIDE}px;height:{SIDE}px;display:flex;align-items:center;justify-content:center"
EDGE = "border:1px solid rgba(128,128,128,.4);border-radius:4px;box-sizing:border-box"


def as_page(title: str, matches: Iterable["Match"], thumbnails: Mapping[int, bytes]) -> str:
    """HTML of matches with their thumbnails by id; a match without one gets an empty frame."""
    figures = "".join(_figure(match, thumbnails.get(match.id)) for match in matches)
    row = f'<div style="display:flex;flex-wrap:wrap;gap:8px">{figures}</div>'
    return f'<div><p style="margin:4px 0">{escape(title)}</p>{row}</div>'


def _figure(match: "Match", small: bytes | None) -> str:
    """HTML of one match: its picture, and below it the score, the labels and the file's name."""
    name = PurePath(match.path).name if match.path else f"item {match.id}"
    facts = " · ".join([f"{match.score:.2f}", *match.labels])
    hint = f"item {match.id}: {match.path or 'no path'}"
    lines = "".join(f'<div style="{LINE}">{escape(text)}</div>' for text in (facts, name))
    return (
        f'<figure style="margin:0;width:{SIDE}px;font-size:12px" title="{escape(hint)}">'
        f'<div style="{FRAME};{EDGE}">{_picture(small, name)}</div>'
        f"<figcaption>{lines}</figcaption></figure>"
    )


def _picture(small: bytes | None, name: str) -> str:
    if small is None:
        return ""
    small = _at_most(small, SHARP * SIDE)
    data = f"data:{_media_type(small)};base64,{b64encode(small).decode()}"
    style = "max-width:100%;max-height:100%"
    return f'<img src="{data}" alt="{escape(name)}" style="{style}">'


def _media_type(small: bytes) -> str:
    return "image/webp" if small[8:12] == b"WEBP" else "image/jpeg"


def _at_most(small: bytes, side: int) -> bytes:
    """A thumbnail, made smaller if one of its sides is longer than `side` pixels."""
    try:
        from zshash.images.decoding import PictureError, decode
        from zshash.images.thumbnails import size_of, thumbnail
    except ImportError:  # the browser makes it smaller
        return small
    if max(size_of(small) or (0, 0)) <= side:
        return small
    try:
        return thumbnail(decode(small, side=side // 2), side)
    except PictureError:
        return small
