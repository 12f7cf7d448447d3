"""Choose the clip art that comes with the package, and write it with its credits.

    python tools/build_clipart.py CLIPART COPYRIGHT

CLIPART is the folder of Debian's package openclipart-png (/usr/share/openclipart/png), COPYRIGHT
the file on its licence (/usr/share/doc/openclipart-png/copyright): ``apt-get download
openclipart-png`` and ``dpkg-deb -x`` bring both. No result of a search plays a part in the
choice. The rule is:

1. Each folder of everyday things gives up to a number of drawings (`FOLDERS`).
2. A drawing is left out if it also lies in a folder of signs and the like (`SKIPPED`), or if its
   file name, title or description has a word of `UNWANTED`.
3. A drawing must have colours and surfaces, must be neither tiny nor huge nor a strip, and must
   not look like one that was taken before.
4. In a folder the drawings are taken in the order of the checksums of their paths, which is a draw
   by lot. No author has more than a part of a folder (`AUTHOR_SHARE`).

Each drawing is put on a white square. The files are numbered in the order of their checksums, so
that their names tell nothing.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from zshash.studies.demo.clipart import PICTURES

Look = NDArray[np.float64]

FOLDERS = {
    "animals/birds": 16,
    "animals/bugs": 16,
    "animals/fish": 8,
    "animals/mammals": 36,
    "buildings": 6,
    "buildings/furniture": 8,
    "buildings/homes": 14,
    "computer/hardware": 10,
    "education/books": 6,
    "electronics": 8,
    "food/beverages": 8,
    "food/breads_and_carbs": 6,
    "food/desserts": 8,
    "food/fruit": 12,
    "food/meats_and_eggs": 8,
    "food/vegetables": 6,
    "office": 8,
    "office/telephone": 8,
    "people": 10,
    "people/clothing": 10,
    "plants/flowers": 10,
    "plants/trees": 8,
    "recreation/music": 18,
    "recreation/sports": 12,
    "recreation/toys": 6,
    "signs_and_symbols/clocks": 6,
    "tools": 12,
    "transportation": 16,
    "transportation/boating": 6,
    "transportation/vehicles": 16,
}
SKIPPED_FOLDERS = """
    aiga-symbols bodypart cards flags games hazard holiday hummers logos map_symbols penguin
    religion roadsigns smilies stickmen weapons
"""
SIGNS_AND_PLANS = """
    abstract arrow banner blueprint border bw capsize certificate clef close contour crossroads
    curve diagram firewall flag heel hub icon knot label labels lane logo map menu note outline
    parking pattern points print quay reaching route router rules running sign signs silhouet
    silhouette sketch switch symbol symbols tack tacks template theory ticket track
"""
NOT_FOR_EVERYONE = """
    alien angel army bach beckham beethoveo bible bullet cannabis coltrane dead devil einstein
    gallows gun handel insecticide lady military ninja pantyhose pimp portrait pregnancy sexy
    singing skull smoke stripper tank tatoo tattoo thongs
"""
BRANDS = """
    atari blazer bmw celebirt celebrit celebrity chevrolet clie cobra dodge domo doublesight emule
    fanart gameboy garmin gnome hummer imac kexi mac macintosh mascot openoffice otto pacman
    porcinet rca rhythmbox rubik shelby skoda sony sprint toyota tux vgcats zinf
"""
NOT_WHOLE = "ii yoga"  # the package lacks a picture inside these drawings
UNWANTED = frozenset(f"{SIGNS_AND_PLANS} {NOT_FOR_EVERYONE} {BRANDS} {NOT_WHOLE}".split())
SKIPPED = frozenset(SKIPPED_FOLDERS.split())
AUTHOR_SHARE = 0.3
SIDE, MARGIN = 256, 16  # of the white square, in pixels
SMALLEST, LARGEST = 128, 20_000_000  # longer side, and number of pixels
LONGEST = 4  # longer side of a drawing, divided by the shorter one
PAPER = 243  # shades above this one are white paper
LEAST_INK, LEAST_COLOUR = 0.06, 0.08  # shares of the square, and of what is drawn
VIVID = 40  # difference between the channels of a colour that is not grey
SAME = 0.96  # cosine of small versions of two drawings that look the same
SMALL = 16  # side of these small versions
QUALITY = 80
CREDITS = """# Credits of the clip art

These drawings come from the Open Clip Art Library, release 0.18, as Debian's package
openclipart-png has them. Their authors gave them to the public domain; the text of the dedication
is in LICENSE.openclipart. `tools/build_clipart.py` has chosen them by a fixed rule, and has put
each of them on a white square. Thanks to everyone who drew them.

| file | path in the package | title | author |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Drawing:
    """A drawing on its white square, with what the package tells about it."""

    path: str
    title: str
    author: str
    image: Image.Image


def choose(root: Path) -> list[Drawing]:
    """Drawings of all folders, in the order of their lots."""
    skipped = {path.name for path in root.rglob("*.png") if SKIPPED & set(path.parts)}
    chosen: list[Drawing] = []
    looks: list[Look] = []
    for folder, n in FOLDERS.items():
        chosen += islice(different(candidates(root, folder, skipped), looks, n), n)
    return sorted(chosen, key=lambda drawing: lot(drawing.path))


def candidates(root: Path, folder: str, skipped: set[str]) -> Iterator[Drawing]:
    """Wanted drawings of a folder, without subfolders that `FOLDERS` lists, too."""
    apart = tuple(f"{other}/" for other in FOLDERS if other.startswith(f"{folder}/"))
    files = [path for path in (root / folder).rglob("*.png") if path.name not in skipped]
    for path in sorted((path.relative_to(root).as_posix() for path in files), key=lot):
        if not path.startswith(apart) and (drawing := read(root, path)):
            yield drawing


def lot(path: str) -> str:
    """Checksum of a path: an order that does not depend on what is drawn."""
    return sha256(path.encode()).hexdigest()


def different(drawings: Iterator[Drawing], looks: list[Look], n: int) -> Iterator[Drawing]:
    """Drawings that look like no earlier one, with few of each author; `looks` grows."""
    authors: Counter[str] = Counter()
    for drawing in drawings:
        own = look(drawing.image)
        is_new = all(own @ other < SAME for other in looks)
        if is_new and authors[drawing.author] < AUTHOR_SHARE * n:
            authors[drawing.author] += 1
            looks.append(own)
            yield drawing


def look(image: Image.Image) -> Look:
    """A small version of a drawing as a vector of unit length, zero where the paper is white."""
    ink = 255 - np.asarray(image.resize((SMALL, SMALL))).ravel().astype(float)
    unit: Look = ink / np.linalg.norm(ink)
    return unit


def read(root: Path, path: str) -> Drawing | None:
    """The drawing in a file, or None if it is not wanted."""
    with Image.open(root / path) as file:
        texts = {key: value for key, value in file.info.items() if isinstance(value, str)}
        title, author = texts.get("Title", ""), texts.get("Author", "")
        words = " ".join([Path(path).stem, title, texts.get("Description", "")]).lower()
        is_wanted = not UNWANTED & set(re.findall("[a-z]+", words))
        image = on_square(file) if is_wanted and has_good_size(file) else None
    if image is None or not has_colours(image):
        return None
    return Drawing(path, plain(title), plain(author), image)


def has_good_size(image: Image.Image) -> bool:
    """Whether a file is neither tiny nor huge."""
    return max(image.size) >= SMALLEST and image.width * image.height <= LARGEST


def on_square(image: Image.Image) -> Image.Image | None:
    """The drawing without its margins, on a white square; None if it is a strip or empty."""
    page = Image.new("RGBA", image.size, "white")
    page.alpha_composite(image.convert("RGBA"))
    drawn = page.convert("RGB").crop(page.convert("L").point(is_ink).getbbox())
    if max(drawn.size) > LONGEST * min(drawn.size):
        return None
    scale = (SIDE - 2 * MARGIN) / max(drawn.size)
    width, height = (max(1, round(side * scale)) for side in drawn.size)
    square = Image.new("RGB", (SIDE, SIDE), "white")
    small = drawn.resize((width, height), Image.Resampling.LANCZOS)
    square.paste(small, ((SIDE - width) // 2, (SIDE - height) // 2))
    return square


def is_ink(shade: int) -> int:
    """White for shades that are not paper."""
    return 255 if shade < PAPER else 0


def has_colours(image: Image.Image) -> bool:
    """Whether a drawing has more than lines, and is not grey."""
    pixels = np.asarray(image).astype(int)
    ink = pixels.min(axis=2) < PAPER
    vivid = np.ptp(pixels, axis=2) > VIVID
    return bool(ink.mean() > LEAST_INK and vivid[ink].mean() > LEAST_COLOUR)


def plain(text: str) -> str:
    """A title or an author's name in one line, without addresses."""
    text = re.sub(r"\s*[(\[<][^)\]>]*@[^)\]>]*[)\]>]?", "", text)
    text = re.sub(r"@\S*|https?:\S*", "", text)
    return " ".join(text.replace("|", " ").split())


def write(drawings: Sequence[Drawing], dedication: str) -> None:
    """Write pictures, credits and the dedication in place of what was there."""
    for old in PICTURES.glob("*.webp"):
        old.unlink()
    rows = []
    for number, drawing in enumerate(drawings, start=1):
        name = f"{number:03}.webp"
        drawing.image.save(PICTURES / name, quality=QUALITY, method=6)
        rows.append(f"| {name} | {drawing.path} | {drawing.title} | {drawing.author} |\n")
    (PICTURES / "CREDITS.md").write_text(CREDITS + "".join(rows), encoding="utf-8")
    (PICTURES / "LICENSE.openclipart").write_text(dedication, encoding="utf-8")


def main() -> None:
    """Choose the drawings and write them into the package."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clipart", type=Path)
    parser.add_argument("copyright", type=Path)
    given = parser.parse_args()
    Image.MAX_IMAGE_PIXELS = None  # huge files are left out by their size, without reading them
    drawings = choose(given.clipart)
    _, _, dedication = given.copyright.read_text(encoding="utf-8").partition("Copyright:")
    write(drawings, f"{dedication.strip()}\n")
    size = sum(path.stat().st_size for path in PICTURES.iterdir())
    print(f"{len(drawings)} drawings in {PICTURES}, {size / 1e6:.1f} MB with their credits")


if __name__ == "__main__":
    main()
