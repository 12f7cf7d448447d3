"""The demonstration: an album of clip art without labels, and digits that nobody labelled.

`clipart` makes the album and searches it, `digits` compares methods; `page` shows both
"""

from zshash.studies.demo.clipart import ClipArt, make_album, show_clipart
from zshash.studies.demo.digits import Digits, make_collection

__all__ = ["ClipArt", "Digits", "make_album", "make_collection", "show_clipart"]
