"""Which names of folders say what is in the pictures, and which say when or how they came there."""

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["as_label", "is_plain_folder", "label_folders"]

YEAR = r"(?:19\d\d|20\d\d|2100)"
MONTH, DAY = r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
TIME = r"(?:[ T_-]+\d{1,2}[.:h_-]?\d{2}(?:[.:m_-]?\d{2})?)?"
MARK = r"[-_. ]"
WORD = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
DATES = (
    YEAR,
    rf"{YEAR}{MARK}{YEAR}",
    rf"{YEAR}(?:{MARK}{MONTH})?(?:{MARK}{DAY})?{TIME}",
    rf"{YEAR}(?:0[1-9]|1[0-2])(?:(?:0[1-9]|[12]\d|3[01]){TIME})?",
    rf"{DAY}{MARK}{DAY}{MARK}{YEAR}{TIME}",  # the day or the month comes first
    rf"{MONTH}{MARK}{YEAR}",
    rf"(?:{YEAR}{MARK}+)?{DAY}\.?{MARK}*{WORD}\.?(?:{MARK}*{YEAR})?",
    rf"{YEAR}{MARK}*{WORD}(?:{MARK}*{DAY})?",
    rf"{WORD}\.?{MARK}*(?:{DAY},?{MARK}*)?{YEAR}",
)
CAMERA_PREFIXES = (
    "img image imag pict dsc dscn dscf dsci dcp _mg _dsc sam sdc cimg pxl vid mvi mov gopr gx gh "
    "dji wp hpim kif"
)
CAMERAS = (
    rf"(?:{'|'.join(CAMERA_PREFIXES.split())})[-_ ]?\d{{3,}}(?:[-_~ ](?:wa)?\d+)*",
    r"p\d{7}",
    r"dcim",
    r"camera[ _](?:roll|uploads?)",
)
PROGRAMS = (
    r"(?:new|untitled)[ _]folder(?:[ _]?\(?\d+\)?)?",
    r"neuer[ _]ordner(?:[ _]?\(?\d+\)?)?",
    r"(?:nouveau[ _]dossier|nueva[ _]carpeta)(?:[ _]?\(?\d+\)?)?",
    r"untitled(?:[ _-]?\d+)?",
    r"screen[ _]?shots?",
    r"(?:saved|my)[ _]pictures",
    r"whatsapp[ _]images",
    r"photos[ _]from[ _]\d{4}",
    r"downloads?",
)
# what systems and people call the folder of all their pictures
HOMES = (
    r"(?:my|all|the)?[ _]?(?:photos|photographs|pictures|images|fotos|bilder|fotografien|imágenes|"
    r"immagini|imagens|photographies|afbeeldingen|zdjęcia|写真|照片|图片|фото|фотографии)"
    r"(?:[ _]library)?"
)
# a folder of cameras is 100 to 999 and five capitals, digits or underscores (the standard DCF);
# phones call it Camera, while a folder camera rather shows cameras
EXACT = re.compile(r"[1-9]\d\d[A-Z0-9_]{5}|Camera")
DATE = re.compile("|".join(DATES), re.IGNORECASE)
MADE = re.compile("|".join((*CAMERAS, *PROGRAMS)), re.IGNORECASE)
HOME = re.compile(HOMES, re.IGNORECASE)


def is_plain_folder(name: str) -> bool:
    """Whether a folder's name says nothing about what its pictures show.

    Such folders are named by a date, a number, a camera, a program or the system.

    Parameters
    ----------
    name : str
        Name of the folder, without the folders above it.

    Examples
    --------
    >>> dates = ["2021", "2021-08-14", "2021_08", "20210814", "14.08.2021", "August 2021"]
    >>> cameras = ["IMG_2031", "DSC00012", "100CANON", "DCIM", "Camera", "Camera Roll"]
    >>> others = ["17", "New folder (2)", "Screenshots", "Photos from 2019", "My Pictures"]
    >>> all(map(is_plain_folder, [*dates, *cameras, *others]))
    True
    >>> labels = ["Rex", "東京", "Italy 2021", "n02123045", "747", "camera", "May", "7up"]
    >>> [name for name in labels if is_plain_folder(name)]
    ['747']
    """
    name = name.strip()
    return not name or _is_marked(name) or HOME.fullmatch(name) is not None


def label_folders(names: Iterable[str], above: Iterable[str] = ()) -> set[str]:
    """The names of folders beside each other that are labels.

    Numbers are labels where all folders are numbers and none of them is a year or a date, as for
    pictures of digits, or categories that somebody numbered. They are none where one of the
    folders `above` them is named by a date, a number, a camera or a program.

    >>> sorted(label_folders(["Rex", "2021", "DCIM"])), label_folders(["2020", "2021"])
    (['Rex'], set())
    >>> sorted(label_folders(["0", "1", "10"])), label_folders(["1", "2021"])
    (['0', '1', '10'], set())
    >>> sorted(label_folders(["0", "1"], above=["digits"])), label_folders(["08"], above=["2021"])
    (['0', '1'], set())
    """
    names = set(names)
    are_numbers = all(name.isdecimal() and not DATE.fullmatch(name) for name in names)
    if are_numbers and not any(map(_is_marked, above)):
        return names
    return {name for name in names if not is_plain_folder(name)}


def as_label(name: str) -> str:
    r"""The label that a folder's name stands for, whatever system wrote the name.

    macOS writes é as e and an accent (the form NFD of Unicode); other systems write one letter,
    the form NFC, which labels have. Bytes that are no text become a question mark in a diamond.

    >>> as_label("Cafe\u0301") == "Caf\u00e9"
    True
    """
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return unicodedata.normalize("NFC", text)


def _is_marked(name: str) -> bool:
    """Whether a name is a date or a number, or was made by a camera or a program."""
    return name.isdecimal() or any(
        pattern.fullmatch(name) is not None for pattern in (EXACT, DATE, MADE)
    )
