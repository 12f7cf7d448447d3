"""Small pictures for people to look at: shrunk, in sRGB, without notes, as WebP or JPEG."""

import struct
from io import BytesIO

from zshash._extras import needs
from zshash.images.colours import to_srgb
from zshash.images.formats.sizes import upright_size
from zshash.images.formats.stripping import kind_of

with needs("images"):
    from PIL import Image

__all__ = ["MOST_BYTES", "SIDE", "encode", "fitted", "media_type", "shrunk", "size_of", "thumbnail"]

SIDE = 320  # pixels of the longer side of a thumbnail
MOST_BYTES = 15_000  # of a thumbnail of that side
QUALITY = 70
COARSER = {50: 0.8, 40: 0.7, 30: 0.6, 20: 0.5, 10: 0.36, 0: 0.2}
"""Lower qualities, and about which part of the bytes for `QUALITY` files have with each."""
SMALL, FINEST = 160 * 160, 90  # pixels of a picture that needs few bytes even when it is fine
THIN = 10  # the shorter side keeps at least this part of the longer one that was asked for
LONGEST = 16383  # pixels of a side of a WebP file
EFFORT = 0  # of the encoder, 0 to 6: as fine as 1, a little larger, and one in six faster
HEAD = 1024  # bytes in which files of ours tell their size

Size = tuple[int, int]


def fitted(width: int, height: int, side: int) -> Size:
    """Size of a picture whose longer side is shrunk to `side` pixels, never enlarged.

    A picture that is long and thin gets more, so that its shorter side keeps a tenth of `side`, or
    all that it has. It never has more pixels than a square would.

    >>> fitted(4000, 3000, 320), fitted(64, 64, 320), fitted(4000, 3, 320), fitted(40, 4000, 320)
    ((320, 240), (64, 64), (4000, 3), (32, 3200))
    """
    longer, shorter = max(width, height), min(width, height)
    wanted = max(side / longer, min(1, side // THIN / shorter))
    scale = min(1, wanted, side / (width * height) ** 0.5, LONGEST / longer)
    return max(1, round(width * scale)), max(1, round(height * scale))


def shrunk(image: Image.Image, side: int) -> Image.Image:
    """A picture of the size that `fitted` tells, in sRGB, without notes."""
    size = fitted(*image.size, side)
    if size == image.size:
        small = image.copy()
    else:
        small = image.resize(size, Image.Resampling.HAMMING, reducing_gap=2.0)
    small.info = {"icc_profile": image.info.get("icc_profile")}
    turned = to_srgb(small)
    turned.info = {}
    return turned


def encode(image: Image.Image, kind: str, quality: int, effort: int = EFFORT) -> bytes:
    """File of a picture, as "WEBP" or "JPEG"."""
    file = BytesIO()
    if kind == "WEBP":
        image.save(file, kind, quality=quality, method=effort)
    else:
        image.save(file, kind, quality=quality, progressive=True, optimize=True)
    return file.getvalue()


def thumbnail(image: Image.Image, side: int = SIDE) -> bytes:
    """WebP file of a picture, as `shrunk` makes it, of at most `MOST_BYTES` for 320 pixels."""
    small, most = shrunk(image, side), MOST_BYTES * max(1, side / SIDE) ** 2
    first = FINEST if small.width * small.height <= SMALL else QUALITY
    content = encode(small, "WEBP", first)
    expected = len(content)
    for quality, share in COARSER.items():
        if len(content) <= most:
            break
        if share * expected <= most:
            content = encode(small, "WEBP", quality)
    # noise fits in no other way than with fewer pixels
    return content if len(content) <= most else thumbnail(image, side * 3 // 4)


def media_type(content: bytes) -> str:
    """Media type of a thumbnail: WebP, or JPEG in albums of earlier versions.

    >>> media_type(b"RIFF....WEBP"), media_type(b"not known")
    ('image/webp', 'image/jpeg')
    """
    return "image/webp" if kind_of(memoryview(content)) == "WEBP" else "image/jpeg"


def size_of(content: bytes) -> Size | None:
    """Width and height of a thumbnail, from the first bytes of its file; None if unknown."""
    view = memoryview(content)[:HEAD]
    kind = kind_of(view)
    if kind not in ("WEBP", "JPEG"):
        return None
    try:
        size = upright_size(view, kind, 1)
    except (ValueError, IndexError, struct.error):
        return None
    return size if size and min(size) > 0 else None
