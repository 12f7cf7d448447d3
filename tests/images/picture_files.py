"""Bytes of picture files, including files that no program would write."""

import struct
import zlib
from io import BytesIO
from itertools import accumulate

import numpy as np
import pillow_heif
from PIL import Image

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6  # PNG's numbers for colours


def noise(*shape, seed=0):
    return np.random.RandomState(seed).randint(0, 256, shape, dtype=np.uint8)


def smooth(height, width):
    """Colours that change slowly, so that a lossy format keeps them."""
    down, across = np.mgrid[:height, :width]
    red, green = 255 * across / width, 255 * down / height
    return np.stack([red, green, 255 - (red + green) / 2], axis=-1).astype(np.uint8)


def encoded(image, kind, **options):
    # copies, as an image remembers how it was saved
    image = Image.fromarray(image) if isinstance(image, np.ndarray) else image.copy()
    if "append_images" in options:
        options["append_images"] = [other.copy() for other in options["append_images"]]
    file = BytesIO()
    if kind == "HEIF":  # it is not among Pillow's formats, here as in the package
        pillow_heif.from_pillow(image).save(file, **options)
    else:
        image.save(file, kind, **options)
    return file.getvalue()


def exif(orientation, order="<"):
    """Notes of a camera (EXIF), with one tag."""
    head = b"II*\0" if order == "<" else b"MM\0*"
    return b"Exif\0\0" + head + struct.pack(f"{order}IHHHIHHI", 8, 1, 274, 3, 1, orientation, 0, 0)


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(size, depth, colour, rows, *chunks, behind=()):
    """A PNG file of packed rows, with more chunks before the pixels and behind them."""
    header = struct.pack(">IIBBBBB", *size, depth, colour, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    parts = [chunk(b"IHDR", header), *chunks, chunk(b"IDAT", pixels), *behind, chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def tiff(tags, pieces, order="<", tiled=False):
    """A TIFF file with the given numbers under each tag, and pieces of pixels."""
    place, count = (324, 325) if tiled else (273, 279)
    tags = {**tags, place: [0] * len(pieces), count: [len(piece) for piece in pieces]}
    start = len(_directory(tags, order))
    tags[place] = list(accumulate(tags[count], initial=start))[:-1]
    return _directory(tags, order) + b"".join(pieces)


def _directory(tags, order):
    entries, values = b"", b""
    start = 8 + 2 + 12 * len(tags) + 4
    for tag, numbers in sorted(tags.items()):
        short = tag not in (273, 279, 324, 325) and max(numbers) < 65536
        packed = struct.pack(f"{order}{len(numbers)}{'H' if short else 'I'}", *numbers)
        if len(packed) > 4:
            packed, values = struct.pack(f"{order}I", start + len(values)), values + packed
        entries += struct.pack(f"{order}HHI", tag, 3 if short else 4, len(numbers))
        entries += packed.ljust(4, b"\0")
    head = b"II*\0" if order == "<" else b"MM\0*"
    count = struct.pack(f"{order}H", len(tags))
    return head + struct.pack(f"{order}I", 8) + count + entries + bytes(4) + values


def tiff_of(pixels, order="<", compress=None, **more):
    """A TIFF file of one strip, of (height, width[, samples]) numbers of any kind."""
    height, width, samples = (*pixels.shape, 1)[:3]
    data = pixels.astype(pixels.dtype.newbyteorder(order)).tobytes()
    form = {"u": 1, "i": 2, "f": 3}[pixels.dtype.kind]
    tags = {256: [width], 257: [height], 258: [8 * pixels.itemsize] * samples, 277: [samples]}
    tags |= {259: [8 if compress else 1], 262: [2 if samples > 2 else 1], 278: [height]}
    tags |= {339: [form] * samples} | {int(tag[1:]): value for tag, value in more.items()}
    return tiff(tags, [compress(data) if compress else data], order)


def gif(canvas, frame, indices, palette, extensions=b""):
    """A GIF file with one frame (left, top, width, height), not compressed."""
    bits = max(1, (len(palette) - 1).bit_length())
    table = np.zeros((2**bits, 3), np.uint8)
    table[: len(palette)] = palette
    head = b"GIF89a" + struct.pack("<HHBBB", *canvas, 0x80 | bits - 1, 0, 0) + table.tobytes()
    descriptor = b"," + struct.pack("<4HB", *frame, 0)
    return head + extensions + descriptor + _lzw(indices) + b";"


def _lzw(indices):
    """Indices below 128 as codes of eight bits, started anew before the codes grow."""
    codes = []
    for i, index in enumerate(indices):
        if i % 100 == 0:
            codes.append(128)
        codes.append(index)
    stream = bytes([*codes, 129])
    blocks = [stream[i : i + 255] for i in range(0, len(stream), 255)]
    return b"\x07" + b"".join(bytes([len(block)]) + block for block in blocks) + b"\0"


def jpeg_with(content, *segments):
    """A JPEG file with more segments: the last byte of the marker, and the content of each."""
    more = [b"\xff" + bytes([m]) + struct.pack(">H", len(body) + 2) + body for m, body in segments]
    return content[:2] + b"".join(more) + content[2:]


def bmp(size, depth, body, compression=0, palette=b""):
    numbers = (*size, 1, depth, compression, len(body), 0, 0, len(palette) // 4, 0)
    head = struct.pack("<IiiHHIIiiII", 40, *numbers)
    offset = 54 + len(palette)
    return b"BM" + struct.pack("<IHHI", offset + len(body), 0, 0, offset) + head + palette + body


def mpo(*pictures):
    """Several JPEG files in one, as a phone writes them."""
    sizes = [len(picture) for picture in pictures]
    n_bytes = 16 * len(pictures)
    tags = struct.pack("<HHI4s", 0xB000, 7, 4, b"0100")
    tags += struct.pack("<HHIIHHII", 0xB001, 4, 1, len(sizes), 0xB002, 7, n_bytes, 50)
    head = b"MPF\0II*\0" + struct.pack("<IH", 8, 3) + tags + bytes(4)
    sizes[0] += len(head) + n_bytes + 4
    places = [0, *(place - 10 for place in list(accumulate(sizes))[:-1])]
    entries = zip(sizes, places, strict=True)
    index = b"".join(struct.pack("<IIIHH", 0, size, place, 0, 0) for size, place in entries)
    return jpeg_with(pictures[0], (0xE2, head + index)) + b"".join(pictures[1:])
