"""A small collection of drawn pictures whose model knows names."""

import io
import random

from PIL import Image, ImageDraw

import zshash
from zshash import Collection
from zshash.images import PictureReader

SIDE = 96
EACH = 30
UNSEEN = ("truck", "wolf")
BACKGROUND = {
    "automobile": (30, 36, 48),
    "truck": (38, 34, 30),
    "ship": (16, 34, 58),
    "cat": (44, 30, 40),
    "dog": (28, 44, 34),
    "wolf": (34, 36, 38),
}
CATEGORIES = tuple(BACKGROUND)


def picture(category, seed):
    """A picture of a category: white shapes on something dark, never twice the same."""
    chance = random.Random(f"{category} {seed}")
    image = Image.new("RGB", (SIDE, SIDE), BACKGROUND[category])
    shift = chance.randint(-5, 5), chance.randint(-5, 5)
    ink = tuple(chance.randint(190, 255) for _ in range(3))
    SHAPES[category](ImageDraw.Draw(image), *shift, ink)
    return image


def wheels(draw, x, y, ink):
    for left in (18, 62):
        draw.ellipse((left + x, 62 + y, left + 18 + x, 80 + y), fill=ink)


def automobile(draw, x, y, ink):
    draw.rectangle((8 + x, 48 + y, 88 + x, 64 + y), fill=ink)
    draw.polygon([(24 + x, 48 + y), (34 + x, 34 + y), (62 + x, 34 + y), (72 + x, 48 + y)], fill=ink)
    wheels(draw, x, y, ink)


def truck(draw, x, y, ink):
    draw.rectangle((8 + x, 28 + y, 62 + x, 64 + y), fill=ink)
    draw.rectangle((62 + x, 44 + y, 88 + x, 64 + y), fill=ink)
    wheels(draw, x, y, ink)


def ship(draw, x, y, ink):
    draw.polygon([(8 + x, 66 + y), (88 + x, 66 + y), (74 + x, 86 + y), (22 + x, 86 + y)], fill=ink)
    draw.polygon([(48 + x, 8 + y), (48 + x, 60 + y), (80 + x, 60 + y)], fill=ink)


def head(draw, x, y, ink, ears):
    draw.ellipse((26 + x, 8 + y, 70 + x, 48 + y), fill=ink)
    for left in (26, 56):
        draw.polygon(
            [(left + x, 22 + y), (left + 7 + x, 22 - ears + y), (left + 14 + x, 22 + y)], fill=ink
        )


def cat(draw, x, y, ink):
    head(draw, x, y, ink, 20)


def dog(draw, x, y, ink):
    head(draw, x, y, ink, 0)
    draw.rectangle((10 + x, 16 + y, 26 + x, 56 + y), fill=ink)
    draw.rectangle((70 + x, 16 + y, 86 + x, 56 + y), fill=ink)


def wolf(draw, x, y, ink):
    dog(draw, x, y, ink)
    draw.polygon([(36 + x, 40 + y), (60 + x, 40 + y), (48 + x, 68 + y)], fill=ink)


SHAPES = {
    "automobile": automobile,
    "truck": truck,
    "ship": ship,
    "cat": cat,
    "dog": dog,
    "wolf": wolf,
}


def png(category, seed):
    """The bytes of a picture's file."""
    file = io.BytesIO()
    picture(category, seed).save(file, "PNG")
    return file.getvalue()


def make_album(folder):
    """A collection in ``folder/album`` of pictures in ``folder/pictures``."""
    pictures = folder / "pictures"
    for category in CATEGORIES:
        (pictures / category).mkdir(parents=True)
        for seed in range(EACH):
            (pictures / category / f"{category}{seed}.png").write_bytes(png(category, seed))
    reader = PictureReader("pixels:8", cache=False)
    model = zshash.fit(
        pictures, reader=reader, unseen=UNSEEN, method="ZSH", n_bits=48, n_anchors=40
    )
    files = sorted(pictures.rglob("*.png"))
    with Collection.create(folder / "album", model, reader=reader) as album:
        album.add(
            [str(file) for file in files],
            labels=[file.parent.name for file in files],
            metadata=[{"year": 2000 + i % 20, "drawn": {"by": "hand"}} for i in range(len(files))],
        )
    return folder / "album"
