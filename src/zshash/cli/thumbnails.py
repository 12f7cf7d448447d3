"""The command that makes the thumbnails of a collection again."""

from pathlib import Path

import click

from zshash.cli.keeping import keeping
from zshash.cli.options import json_option
from zshash.cli.parameters import CollectionFolder, Integer
from zshash.cli.terminal import count, print_json, printable
from zshash.collection import Collection, Remade
from zshash.images import PictureReader

__all__ = ["thumbnails"]

MOST_NAMED = 20  # pictures of which no thumbnail could be made


@click.command()
@click.argument("collection", type=CollectionFolder())
@click.option(
    "--side",
    default=320,
    show_default=True,
    type=Integer(1, 1024),
    help="Longer side of the thumbnails, in pixels. Long and thin pictures get more, and no "
    "picture is enlarged.",
)
@json_option
def thumbnails(collection: Path, side: int, as_json: bool) -> None:
    """Make the thumbnails of COLLECTION again, from the files of its pictures.

    Albums of earlier versions have small JPEG files, which look blurred on fine screens. What is
    WebP of this side already stays, and so do thumbnails whose picture is gone or has changed.
    Pictures that are added later get thumbnails of this side, too. After an interruption, give the
    same command again to go on.
    """
    reader = PictureReader(progress=not as_json)
    with Collection.open(collection, reader=reader) as opened, keeping(opened):
        done = opened.remake_thumbnails(side)
    if as_json:
        facts = {"made": done.made, "fine": done.fine, "kept": len(done.failures)}
        print_json(facts | {"failures": list(done.failures)})
        return
    _tell(collection, done)


def _tell(collection: Path, done: Remade) -> None:
    for reason in done.failures[:MOST_NAMED]:
        click.echo(f"  {printable(reason)}")
    if len(done.failures) > MOST_NAMED:
        click.echo(f"  and {len(done.failures) - MOST_NAMED} more, which --json lists")
    parts = [count(done.made, "thumbnail", "", "s") + " made"]
    parts += [f"{done.fine} were fine"] if done.fine else []
    parts += [f"{len(done.failures)} kept as before"] if done.failures else []
    click.echo(f"{printable(str(collection))}: {', '.join(parts)}")
