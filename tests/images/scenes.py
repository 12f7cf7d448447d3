"""Pictures that look like photos to a perceptual hash, and copies of them."""

import io

import numpy as np
from PIL import Image, ImageDraw

from zshash.images.decoding import decode


def scene(seed, size=(240, 180)):
    """A picture of soft colours with some shapes; the same seed gives the same pixels."""
    rng = np.random.RandomState(seed)
    cells = rng.randint(0, 256, size=(5, 7, 3), dtype=np.uint8)
    image = Image.fromarray(cells).resize(size, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    for _ in range(12):
        x, y = rng.randint(0, size[0]), rng.randint(0, size[1])
        box = (x, y, x + rng.randint(8, 60), y + rng.randint(8, 60))
        (pen.ellipse if rng.rand() < 0.5 else pen.rectangle)(box, tuple(rng.randint(0, 256, 3)))
    return image


def saved(image, kind="JPEG", **options):
    """The bytes of a picture's file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def jpeg(image, quality=85):
    """A picture after it was saved as JPEG."""
    return decode(saved(image, quality=quality))


def cropped(image, left=0.0, top=0.0, right=0.0, bottom=0.0):
    """A picture without parts of its sides."""
    wide, high = image.size
    box = (left * wide, top * high, (1 - right) * wide, (1 - bottom) * high)
    return image.crop(tuple(map(round, box)))


def with_a_blot(image, colour="white"):
    """Another shot: something has come into the picture."""
    other = image.copy()
    x, y = image.width // 3, image.height // 3
    ImageDraw.Draw(other).ellipse((x, y, x + image.width // 8, y + image.height // 8), colour)
    return other
