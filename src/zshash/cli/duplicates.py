"""The command that finds copies of pictures, and clears them away if that is asked for."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from zshash.cli.copies import in_bytes, n_files, report_cleared, show_groups, show_plan
from zshash.cli.keeping import keeping
from zshash.cli.options import json_option
from zshash.cli.parameters import CollectionFolder, Integer
from zshash.cli.terminal import count, refuse
from zshash.collection import Collection
from zshash.collection.operations.choosing import KEEP, Choice
from zshash.collection.operations.duplicates import ALIKE, LEVELS, SAME
from zshash.images import PictureReader

__all__ = ["duplicates"]


@click.command()
@click.argument("collection", type=CollectionFolder())
@click.option(
    "--level",
    default=SAME,
    show_default=True,
    type=click.Choice(LEVELS),
    help="identical: files with the same bytes. same: these, and copies that are scaled, "
    "compressed, cropped by up to a tenth at each side, or a little brighter. alike: items whose "
    "codes differ in a few bits, which are often different pictures.",
)
@click.option(
    "--radius",
    default=2,
    show_default=True,
    type=Integer(0),
    help="Number of bits in which codes may differ, with --level alike.",
)
@click.option(
    "--keep",
    type=click.Choice(KEEP),
    help="Print which picture of each group would be kept and which would go, and change nothing. "
    "largest: the one with most pixels, then most bytes. oldest: the one that was taken first by "
    "the camera's clock, or else by the time of the file. A camera's raw file is kept before other "
    "files, and a picture before those that are cut out of it.",
)
@click.option(
    "--remove",
    "is_removing",
    is_flag=True,
    help="With --keep: remove the others from COLLECTION. Their files stay.",
)
@click.option(
    "--delete-files",
    is_flag=True,
    help="With --keep: remove the others from COLLECTION and delete their files.",
)
@click.option("--yes", is_flag=True, help="With --delete-files: delete without asking.")
@click.option(
    "--paths",
    is_flag=True,
    help="Print only paths, an empty line between groups; with --keep the paths that would go.",
)
@click.option(
    "--all", "is_all", is_flag=True, help="Also list groups that somebody has marked as wanted."
)
@json_option
def duplicates(
    collection: Path,
    level: str,
    radius: int,
    keep: str | None,
    is_removing: bool,
    delete_files: bool,
    yes: bool,
    paths: bool,
    is_all: bool,
    as_json: bool,
) -> None:
    """List groups of items in COLLECTION that are copies of one picture.

    Copies may have the same bytes, or be scaled, compressed in another way, turned, a little
    cropped or brighter. Different shots of one scene are no copies. Nothing is changed unless
    --keep is given together with --remove or --delete-files.

    For example: zshash duplicates album --keep largest
    """
    _check(level, keep, is_removing, delete_files, yes, paths and as_json)
    reader = PictureReader(progress=not (as_json or paths))
    with Collection.open(collection, reader=reader) as opened:
        found = opened.duplicates(level, r=radius, kept=is_all)
        if keep is None:
            show_groups(opened, found, paths, as_json)
            return
        choices = opened.choose_copies(found, keep)
        if not (is_removing or delete_files):
            show_plan(choices, paths, as_json)
            return
        if delete_files and not yes:
            _ask(choices)
        with keeping(opened, "the same command does the rest"):
            done = opened.remove_copies(choices, delete_files=delete_files)
        report_cleared(opened, done, as_json)


def _check(
    level: str, keep: str | None, is_removing: bool, delete_files: bool, yes: bool, is_both: bool
) -> None:
    """Refuse options that do not go together."""
    if is_both:
        raise click.UsageError("--paths and --json exclude each other: leave one of them out")
    if level != ALIKE:
        refuse(["radius"], f"with --level {level}: it belongs to --level alike")
    elif keep is not None:
        raise click.UsageError(
            "items that look alike may be different pictures: --keep works with --level identical "
            "or same"
        )
    if (is_removing or delete_files) and keep is None:
        raise click.UsageError(f"say which copy stays: --keep {' or --keep '.join(KEEP)}")
    if yes and not delete_files:
        raise click.UsageError("--yes has no meaning without --delete-files; leave it out")


def _ask(choices: Sequence[Choice]) -> None:
    """Ask a person whether files may be deleted; without a terminal nobody can be asked."""
    n = n_files(choices)
    if not n:
        return
    files = count(n, "file", "", "s")
    if not is_person():
        raise click.UsageError(f"{files} would be deleted: --yes deletes without asking")
    size = in_bytes(sum(choice.bytes for choice in choices))
    if not click.confirm(f"Delete {files}, {size}? They can not be brought back"):
        raise click.UsageError("nothing was changed")


def is_person() -> bool:
    """Whether somebody at a terminal can answer a question."""
    return sys.stdin.isatty()
