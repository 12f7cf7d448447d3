"""What programs and systems leave among pictures: small copies, bins, files of their own."""

import re

__all__ = ["is_clutter", "is_library", "is_original"]

SMALL_COPIES = (
    r"@eadir|@__thumb",  # Synology, QNAP
    r"_?thumb(?:s|nails)",  # Shotwell, Capture One, galleries on the web
    r".+\.lrdata",  # Lightroom
    r"adobe bridge cache",
    r"appdata_\w+",  # Nextcloud
)
BINS = (
    r"[#@]recycle",  # Synology, QNAP
    r"\$recycle\.bin|recycle[rd]",  # Windows
    r"trash-\d+|files_trashbin",  # disks of Linux, Nextcloud
)
OF_THE_SYSTEM = (
    r"lost\+found",  # Linux
    r"system volume information",  # Windows
    r"__macosx",  # archives of macOS
)
CLUTTER = re.compile("|".join((*SMALL_COPIES, *BINS, *OF_THE_SYSTEM)), re.IGNORECASE)
# Photos, iPhoto and Aperture of Apple; beside the originals there are copies of every size
LIBRARY = re.compile(r".*\.(?:photos|photo|migratedphoto|ap)library", re.IGNORECASE)
ORIGINALS = ("originals", "masters")


def is_clutter(name: str) -> bool:
    """Whether a folder is hidden, or holds what a program or the system left there.

    >>> [is_clutter(name) for name in ("@eaDir", "$RECYCLE.BIN", ".Trash-1000", "My.lrdata")]
    [True, True, True, True]
    >>> is_clutter("cats")
    False
    """
    return name.startswith(".") or CLUTTER.fullmatch(name) is not None


def is_library(name: str) -> bool:
    """Whether a folder is a library of Apple's programs, whose folders are named by numbers.

    >>> is_library("Photos Library.photoslibrary"), is_library("cats")
    (True, False)
    """
    return LIBRARY.fullmatch(name) is not None


def is_original(name: str) -> bool:
    """Whether a folder in a library holds pictures as they were imported, and not copies.

    >>> is_original("originals"), is_original("resources")
    (True, False)
    """
    return name.lower() in ORIGINALS
