"""The command that shows what zshash does, on pictures that come with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from tqdm import tqdm

from zshash._extras import MissingExtra
from zshash._files import write_whole
from zshash.cli.options import bits_option, force_option, json_option, page_file, seeds_option
from zshash.cli.parameters import Folder
from zshash.cli.serving import start_service
from zshash.cli.terminal import print_json, print_scores, printable, refuse
from zshash.images import PictureReader
from zshash.studies.demo import ClipArt, Digits, make_album, make_collection, show_clipart
from zshash.studies.demo.page import render

__all__ = ["demo"]

N_METHODS = 3


@click.command()
@bits_option
@seeds_option(3)
@click.option(
    "--output",
    "-o",
    default="zshash-demo.html",
    show_default=True,
    type=page_file,
    help="HTML page to write.",
)
@force_option
@click.option(
    "--album",
    type=Folder(),
    help="Folder to keep the album of clip art in; it must not exist, or must be empty.  [default: "
    "a temporary folder]",
)
@click.option(
    "--digits",
    "only_digits",
    is_flag=True,
    help="Show the handwritten digits alone, which need no extra packages.",
)
@click.option(
    "--serve",
    "serves",
    is_flag=True,
    help="Open a page in the browser to search the album, in place of writing one.",
)
@json_option
def demo(
    bits: int,
    seeds: int,
    output: Path,
    album: Path | None,
    only_digits: bool,
    serves: bool,
    as_json: bool,
) -> None:
    """Make an album of clip art without labels, search it by names, and write a page of pictures.

    The second part of the page shows the method itself: it learns from eight handwritten digits,
    and finds two that nobody labelled.
    """
    if only_digits:
        refuse(("album",), "with --digits")
    if serves:
        refuse(("seeds", "output", "as_json"), "with --serve")
        _serve(album, bits, only_digits)
        return
    clipart = None if only_digits else _clipart(album, bits)
    digits = _digits(bits, seeds)
    write_whole(output, render(digits, clipart).encode())
    if as_json:
        print_json(_told(digits, clipart) | {"page": str(output)})
        return
    if clipart is not None:
        _print_clipart(clipart)
    _print_digits(digits)
    click.echo(f"\nPictures: {printable(str(output))}")


def _clipart(album: Path | None, bits: int) -> ClipArt:
    with _album_folder(album) as folder, _or_digits():
        return show_clipart(folder, bits, PictureReader(cache=False, progress=True))


def _serve(album: Path | None, bits: int, only_digits: bool) -> None:
    """Serve an album of clip art, or of digits, until somebody stops it."""
    with _album_folder(album) as folder:
        if only_digits:
            make_collection(folder, bits).close()
        else:
            with _or_digits():
                make_album(folder, bits, PictureReader(cache=False, progress=True)).close()
        start_service(folder, opens=True, title="The page", port=0)


@contextmanager
def _album_folder(album: Path | None) -> Iterator[Path]:
    """The folder of the album; without one, a temporary folder that is deleted afterwards."""
    if album is not None:
        yield album
        return
    with TemporaryDirectory(prefix="zshash-") as folder:
        yield Path(folder) / "album"


@contextmanager
def _or_digits() -> Iterator[None]:
    """Add to the error for a missing package what works without it."""
    try:
        yield
    except MissingExtra as error:
        raise MissingExtra(f"{error} (or show digits alone: zshash demo --digits)") from error


def _digits(bits: int, seeds: int) -> Digits:
    digits = Digits(n_bits=bits, n_seeds=seeds)
    for _ in tqdm(digits.scores(), total=N_METHODS * seeds, desc="digits", disable=None):
        pass
    return digits


def _told(digits: Digits, clipart: ClipArt | None) -> dict[str, Any]:
    shown = {} if clipart is None else {"clipart": clipart.told()}
    return shown | {"digits": {"summary": digits.summary(), "runs": digits.records}}


def _print_clipart(clipart: ClipArt) -> None:
    click.echo(
        f"{clipart.n} drawings without a label became an album in {clipart.seconds:.0f} seconds, "
        f"{clipart.n_bytes} bytes each.\nThen words were typed. How likely their best three "
        "drawings show them:\n"
    )
    for name, found in clipart.names.items():
        scores = "".join(f"{100 * match.score:>5.0f} %" for match in found[:3])
        nothing = found.reading is not None and found.reading.nothing
        click.echo(f"{name:<10}{scores}{'   nothing looks much like it' if nothing else ''}")
    click.echo("")


def _print_digits(digits: Digits) -> None:
    runs = "one run" if digits.n_seeds == 1 else f"{digits.n_seeds} runs"
    click.echo(f"Handwritten digits, {digits.n_bits} bits, two digits hidden; {runs}:\n")
    summary = [{key: row[key] for key in row if key != "map_alone"} for row in digits.summary()]
    print_scores(summary, digits.protocol.k, digits.protocol.radius)
    click.echo(
        "\nMAP: are pictures of the hidden digit ranked first, by the bits of the query, and by\n"
        "its real values? Seen queries: pictures of the other digits. Precision: what share of\n"
        "the pictures within that distance is right?"
    )
