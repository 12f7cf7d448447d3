"""Pictures of every supported format, and ways to damage them."""

import io
import struct
import zlib
from functools import cache
from random import Random

import numpy as np
import pillow_heif
from PIL import Image

__all__ = ["TYPES", "bombs", "hostile", "whole"]

TYPES = ("jpeg", "png", "gif", "webp", "tiff", "bmp", "x-portable-pixmap", "avif", "heic", "dng")
NUMBERS = (0, 1, 2, 7, 255, 256, 32_767, 65_535, 2**24 - 1, 2**31 - 1, 2**31, 2**32 - 1)


@cache
def whole() -> dict[str, bytes]:
    """Small valid pictures, by name."""
    down, across = np.mgrid[:40, :56]
    colours = np.stack([across * 4, down * 6, 255 - across - down], axis=-1).astype(np.uint8)
    image = Image.fromarray(colours)
    clear = Image.fromarray(np.dstack([colours, colours[..., 0]]))
    frames = {"save_all": True, "append_images": [image.rotate(90), image.rotate(180)]}
    return {
        "jpeg": _file(image, "JPEG"),
        "jpeg progressive": _file(image, "JPEG", progressive=True, comment=b"words"),
        "jpeg inks": _file(image.convert("CMYK"), "JPEG"),
        "png": _file(image, "PNG"),
        "png clear": _file(clear, "PNG", icc_profile=b"profile" * 20),
        "png palette": _file(image.quantize(16), "PNG", transparency=b"\0\x80"),
        "png frames": _file(image, "PNG", **frames),
        "gif": _file(image, "GIF", comment=b"words"),
        "gif frames": _file(image, "GIF", **frames),
        "webp": _file(image, "WEBP"),
        "webp lossless": _file(clear, "WEBP", lossless=True),
        "webp frames": _file(image, "WEBP", **frames),
        "tiff": _file(image, "TIFF"),
        "tiff lzw": _file(image, "TIFF", compression="tiff_lzw"),
        "tiff deflate": _file(clear, "TIFF", compression="tiff_adobe_deflate"),
        "tiff jpeg": _file(image, "TIFF", compression="jpeg"),
        "tiff pages": _file(image, "TIFF", **frames),
        "bmp": _file(image, "BMP"),
        "bmp palette": _file(image.quantize(16), "BMP"),
        "ppm": _file(image, "PPM"),
        "ppm grey": _file(image.convert("L"), "PPM"),
        "ppm words": b"P3 # so\n2 1 255 1 2 3 4 5 6",
        "avif": _file(image, "AVIF", exif=_notes()),
        "avif clear": _file(clear, "AVIF", xmp=b"<words/>"),
        "avif frames": _file(image, "AVIF", **frames),
        "heic": _heic(image, exif=_notes().tobytes()),
        "heic clear": _heic(clear),
        "heic tiles": _heic(image.resize((140, 100)), tile_size=64),
        "heic small one": _heic(image.resize((140, 100)), thumbnails=[32]),
        "dng": _dng(_file(image, "JPEG")),
        "raf": b"FUJIFILMCCD-RAW ".ljust(84, b"\0")
        + struct.pack(">II", 92, 9999)
        + _file(image, "JPEG"),
    }


def _file(image: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def _heic(image: Image.Image, **options: object) -> bytes:
    file = io.BytesIO()
    pillow_heif.from_pillow(image).save(file, **options)
    return file.getvalue()


def _notes() -> Image.Exif:
    """Notes of a camera: the picture lies on its side, and where it was taken."""
    notes = Image.Exif()
    notes[274], notes[272] = 6, "X100"
    notes.get_ifd(34853).update({1: "N", 2: (47.0, 22.0, 7.5), 3: "E", 4: (11.0, 1.0, 2.0)})
    return notes


def _dng(preview: bytes) -> bytes:
    """The file of a camera: a directory with a preview, and behind it one of the sensor."""
    first = [(259, 3, 6), (274, 3, 6), (513, 4, 104), (514, 4, len(preview))]
    sensor = [(256, 3, 80), (257, 3, 60), (262, 3, 32803)]
    content = b"II*\0" + struct.pack("<I", 8)
    for tags, behind in ((first, 62), (sensor, 0)):
        content += struct.pack("<H", len(tags))
        content += b"".join(struct.pack("<HHII", code, kind, 1, n) for code, kind, n in tags)
        content += struct.pack("<I", behind)
    return content + preview


@cache
def bombs() -> dict[str, bytes]:
    """Small files that decode to large pictures, or claim to."""
    grey = Image.new("L", (6000, 6000))
    whole_one = _file(Image.new("L", (64, 64)), "PNG")
    words = b"zTXt" + b"a\0\0" + zlib.compress(bytes(50_000_000), 9)
    profile = b"iCCP" + b"a\0\0" + zlib.compress(bytes(50_000_000), 9)
    return {
        "png just small enough": _file(grey, "PNG"),
        "png too large": _png(60_000, 60_000, bytes(10_000_000)),
        "png too little": _png(6000, 6000, b""),
        "png too much": _png(8, 8, bytes(80_000_000)),
        "png words": whole_one[:33] + _chunk(words) + whole_one[33:],
        "png profile": whole_one[:33] + _chunk(profile) + whole_one[33:],
        "gif huge": b"GIF89a\xff\xff\xff\xff\x80\0\0" + bytes(6) + b",\0\0\0\0\xff\xff\xff\xff\0\2",
        "gif frames": _frames(3000),
        "tiff deflate": _file(grey, "TIFF", compression="tiff_adobe_deflate"),
        "webp large": _file(Image.new("RGB", (5000, 5000)), "WEBP", lossless=True, method=0),
        "jpeg large": _file(grey, "JPEG", quality=1),
        "bmp huge": b"BM"
        + struct.pack("<IIIIiiHH", 99, 0, 54, 40, 2**30, 2**30, 1, 24)
        + bytes(64),
        "ppm huge": b"P6 99999999 99999999 255\n" + bytes(100),
        "ppm digits": b"P6 " + b"9" * 100_000 + b" 1 255\n",
        "zeros": bytes(5_000_000),
        "avif large": _smaller_told(_file(grey, "AVIF", speed=10)),
        "heic large": _smaller_told(_heic(grey, enc_params={"preset": "ultrafast"})),
        "heic parts": whole()["heic"] + b"\0\0\0\x08free" * 1_000_000,
    }


def _smaller_told(content: bytes) -> bytes:
    """A picture that is larger than the boxes around it tell."""
    start = content.index(b"ispe") + 8
    return content[:start] + struct.pack(">II", 64, 64) + content[start + 8 :]


def _chunk(body: bytes) -> bytes:
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def _png(width: int, height: int, pixels: bytes) -> bytes:
    head = _chunk(b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    body = _chunk(b"IDAT" + zlib.compress(pixels, 9))
    return b"\x89PNG\r\n\x1a\n" + head + body + _chunk(b"IEND")


def _frames(n: int) -> bytes:
    one = b",\0\0\0\0\x08\0\x08\0\0\2\x0e\x8c\x8f\xa9\xcb\xed\x0f\xa3\x9c\xb4\xda\x8b\xb3>\x05\0"
    return b"GIF89a\x08\0\x08\0\x80\0\0" + bytes(6) + one * n + b";"


def hostile(rng: Random) -> tuple[str, bytes]:
    """A picture after a few random edits, and a description."""
    name = rng.choice(list(whole()))
    content = bytearray(whole()[name])
    for _ in range(rng.randint(1, 5)):
        rng.choice(EDITS)(rng, content)
    if name.startswith("png") and rng.random() < 0.7:
        _repair(content)
    return name, bytes(content)


def _place(rng: Random, content: bytearray) -> int:
    """A random place in a file, most often in its header."""
    most = min(len(content), 200) if rng.random() < 0.7 else len(content)
    return rng.randrange(most) if most else 0


def _flip(rng: Random, content: bytearray) -> None:
    for _ in range(rng.choice((1, 1, 8, 100))):
        if content:
            content[_place(rng, content)] ^= 1 << rng.randrange(8)


def _cut(rng: Random, content: bytearray) -> None:
    del content[_place(rng, content) :]


def _lengthen(rng: Random, content: bytearray) -> None:
    content += rng.choice((bytes(1000), rng.randbytes(1000), bytes(content)))


def _insert(rng: Random, content: bytearray) -> None:
    place = _place(rng, content)
    content[place:place] = rng.randbytes(rng.randint(1, 40))


def _splice(rng: Random, content: bytearray) -> None:
    other = whole()[rng.choice(list(whole()))]
    place = _place(rng, content)
    content[place:] = other[min(place, len(other)) :]


def _announce(rng: Random, content: bytearray) -> None:
    """Put a wrong number, often a larger one, into the file."""
    place, n = _place(rng, content), rng.choice((1, 2, 4))
    number = rng.choice(NUMBERS) % 2 ** (8 * n)
    content[place : place + n] = number.to_bytes(n, rng.choice(("big", "little")))


EDITS = (_flip, _flip, _cut, _lengthen, _insert, _splice, _announce, _announce)


def _repair(content: bytearray) -> None:
    """Correct the checksums of a PNG file, so that readers get to the changed parts."""
    place = 8
    while place + 12 <= len(content):
        behind = place + 8 + int.from_bytes(content[place : place + 4], "big")
        if behind + 4 > len(content):
            return
        content[behind : behind + 4] = struct.pack(">I", zlib.crc32(content[place + 4 : behind]))
        place = behind + 4
