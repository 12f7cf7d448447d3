"""Whole pictures of every kind, and hypothesis strategies that damage and forge them."""

import lzma
import zlib
from functools import cache

import numpy as np
from hypothesis import strategies as st
from PIL import Image

from tests.images.camera_files import MAKERS
from tests.images.picture_files import (
    RGB,
    bmp,
    chunk,
    encoded,
    exif,
    gif,
    mpo,
    noise,
    png,
    smooth,
    tiff,
    tiff_of,
)

KINDS = ["jpeg", "png", "gif", "webp", "tiff", "bmp", "ppm", "avif", "heif", "raw"]


@cache
def bases():
    """Whole pictures, of every kind and in many ways."""
    colours, layer = smooth(40, 56), np.dstack([smooth(40, 56), noise(40, 56)])
    image, clear = Image.fromarray(colours), Image.fromarray(layer)
    others = [image.rotate(90), image.rotate(180)]
    frames = {"save_all": True, "append_images": others}
    indices = image.quantize(16)
    rows = [row.tobytes() for row in colours]
    known = {
        "jpeg": encoded(image, "JPEG", exif=exif(6)),
        "jpeg progressive": encoded(image, "JPEG", progressive=True, comment=b"words"),
        "jpeg inks": encoded(image.convert("CMYK"), "JPEG"),
        "jpeg grey": encoded(image.convert("L"), "JPEG", restart_marker_rows=1),
        "jpeg several": mpo(encoded(image, "JPEG"), encoded(others[0], "JPEG")),
        "png": encoded(image, "PNG", exif=exif(3)),
        "png alpha": encoded(clear, "PNG", icc_profile=b"profile" * 20),
        "png palette": encoded(indices, "PNG", transparency=b"\0\x80"),
        "png one bit": encoded(image.convert("1"), "PNG"),
        "png sixteen": encoded(Image.fromarray(noise(40, 56).astype(np.uint16) * 257), "PNG"),
        "png frames": encoded(image, "PNG", **frames),
        "png words": png(
            (56, 40), 8, RGB, rows, chunk(b"zTXt", b"a\0\0" + zlib.compress(b"b" * 99))
        ),
        "gif": encoded(image, "GIF", comment=b"words"),
        "gif frames": encoded(indices, "GIF", disposal=2, transparency=1, **frames),
        "gif small frame": gif((20, 20), (3, 4, 10, 5), [1] * 50, noise(3, 3), b"!\xfe\2ab\0"),
        "webp": encoded(image, "WEBP", exif=exif(8)),
        "webp alpha": encoded(clear, "WEBP"),
        "webp lossless": encoded(clear, "WEBP", lossless=True),
        "webp frames": encoded(image, "WEBP", **frames),
        "tiff": encoded(image, "TIFF", tiffinfo={274: 6, 305: "words"}),
        "tiff big endian": tiff_of(colours, ">", t274=[5]),
        "tiff deflate": tiff_of(colours, ">", zlib.compress),
        "tiff lzma": tiff_of(colours, compress=lzma.compress, t259=[34925]),
        "tiff sixteen": tiff_of(layer.astype(np.uint16) * 257, compress=zlib.compress, t338=[2]),
        "tiff floats": tiff_of(noise(40, 56).astype(np.float32)),
        "tiff pages": encoded(image, "TIFF", **frames),
        "tiff large": encoded(image, "TIFF", big_tiff=True),
        "tiff tiles": tiled(colours[..., 0], 1),
        "tiff tiles deflate": tiled(colours[..., 0], 8),
        "tiff group4": encoded(image.convert("1"), "TIFF", compression="group4"),
        "tiff lab": tiff_of(colours, t262=[8]),
        "bmp": encoded(image, "BMP"),
        "bmp runs": bmp((4, 2), 8, bytes([4, 1, 0, 0, 0, 4, 1, 0, 1, 0, 0, 1]), 1, bytes(8)),
        "ppm": encoded(image, "PPM"),
        "ppm sixteen": b"P5 4 2 1000\n" + bytes(16),
        "ppm words": b"P3 # so\n2 1 255 1 2 3 4 5 6",
        "ppm floats": encoded(image.convert("F"), "PPM"),
        "avif": encoded(image, "AVIF", exif=exif(6)),
        "avif alpha": encoded(clear, "AVIF", xmp=b"<words/>"),
        "avif grey": encoded(image.convert("L"), "AVIF"),
        "avif frames": encoded(image, "AVIF", **frames),
        "heif": encoded(image, "HEIF", exif=exif(6)),
        "heif alpha": encoded(clear, "HEIF"),
        "heif tiles": encoded(Image.fromarray(smooth(100, 140)), "HEIF", tile_size=64),
        "heif small one": encoded(Image.fromarray(smooth(80, 100)), "HEIF", thumbnails=[32]),
    }
    known |= {f"raw {name}": maker() for name, maker in MAKERS.items()}
    for name in ("tiff_lzw", "packbits", "jpeg"):
        known[f"tiff {name}"] = encoded(image, "TIFF", compression=name)
    return known


def tiled(values, compression):
    height, width = values.shape
    padded = np.pad(values, [(0, -height % 16), (0, -width % 16)])
    corners = np.ndindex(padded.shape[0] // 16, padded.shape[1] // 16)
    tiles = [padded[16 * i : 16 * i + 16, 16 * j : 16 * j + 16].tobytes() for i, j in corners]
    tags = {256: [width], 257: [height], 258: [8], 262: [1], 277: [1], 322: [16], 323: [16]}
    pack = zlib.compress if compression == 8 else bytes
    return tiff(tags | {259: [compression]}, [pack(tile) for tile in tiles], tiled=True)


def telling(content):
    """Places whose bytes tell sizes, lengths and kinds."""
    if content[:2] == b"\xff\xd8":
        starts, n_bytes = found(content, b"\xff"), 20
    elif content[1:4] == b"PNG":
        starts, n_bytes = [place - 4 for place in found(content, *CHUNKS)], 24
    elif content[:3] == b"GIF":
        starts, n_bytes = [0, *found(content, b",", b"!\xf9", b"!\xff", b"!\xfe")], 14
    elif content[:4] == b"RIFF":
        starts, n_bytes = found(content, b"RIFF", b"VP8", b"ALPH", b"ANMF", b"ANIM", b"EXIF"), 32
    elif content[4:8] == b"ftyp":
        return range(content.index(b"mdat") + 40)
    else:
        starts, n_bytes = [0], 300
    return [i for start in starts for i in range(start, min(start + n_bytes, len(content)))]


CHUNKS = [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"eXIf", b"acTL", b"fcTL", b"fdAT", b"iCCP", b"zTXt"]


def found(content, *words):
    return [i for i in range(len(content)) if content.startswith(words, i)]


def repaired(content):
    """The same PNG file with right checksums."""
    content, place = bytearray(content), 8
    while place + 12 <= len(content):
        behind = place + 8 + int.from_bytes(content[place : place + 4], "big")
        if behind + 4 > len(content):
            break
        content[behind : behind + 4] = zlib.crc32(content[place + 4 : behind]).to_bytes(4, "big")
        place = behind + 4
    return bytes(content)


NUMBERS = [0, 1, 2, 7, 8, 9, 16, 127, 128, 255, 256, 999, 1025, 30_000, 32_767, 32_768, 65_535]
NUMBERS += [65_536, 1_000_001, 16_777_215, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]
EDITS = ["overwrite", "overwrite", "overwrite", "insert", "delete", "copy", "cut off", "flip"]


@st.composite
def words(draw):
    n_bytes = draw(st.sampled_from([1, 2, 3, 4, 8]))
    number = draw(st.sampled_from(NUMBERS)) % 2 ** (8 * n_bytes)
    return number.to_bytes(n_bytes, draw(st.sampled_from(["big", "little"])))


@st.composite
def hostile(draw, kind):
    """A picture of a kind after a few edits, most of them in sizes, lengths and kinds."""
    names = [name for name in bases() if name.split()[0] == kind]
    original = bases()[draw(st.sampled_from(names))]
    places = telling(original)
    content = bytearray(original)
    for _ in range(draw(st.integers(1, 5))):
        edit, place = draw(st.sampled_from(EDITS)), draw(st.integers(0, 2**20))
        place = places[place % len(places)] if draw(st.integers(0, 3)) else place % len(original)
        if edit == "overwrite":
            word = draw(words() | st.binary(min_size=1, max_size=4))
            content[place : place + len(word)] = word
        elif edit == "insert":
            content[place:place] = draw(st.binary(min_size=1, max_size=40))
        elif edit == "delete":
            del content[place : place + draw(st.integers(1, 40))]
        elif edit == "copy":
            start, n_bytes = draw(st.integers(0, len(original))), draw(st.integers(1, 2000))
            content[place:place] = original[start : start + n_bytes]
        elif edit == "cut off" and place > len(original) // 4:
            del content[place:]
        elif place < len(content):
            content[place] ^= 1 << draw(st.integers(0, 7))
    content = bytes(content)
    return repaired(content) if kind == "png" and draw(st.integers(0, 4)) else content
