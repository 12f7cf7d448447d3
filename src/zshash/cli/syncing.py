"""The command that brings a collection up to date with the files of its pictures."""

from pathlib import Path
from typing import Any

import click

from zshash.cli.keeping import keeping
from zshash.cli.options import dry_run_option, json_option, reading_options
from zshash.cli.parameters import CollectionFolder, Data
from zshash.cli.terminal import count, print_json, printable, refuse
from zshash.collection import Collection, Relocated, Synced
from zshash.images import PictureReader

__all__ = ["sync"]

MOST_NAMED = 20  # copies, and files of a dry run
KINDS = ("added", "changed", "moved", "removed")
WORDS = {"added": "add", "changed": "change", "moved": "move", "removed": "remove"}


@click.command()
@click.argument("collection", type=CollectionFolder())
@click.argument("folder", required=False, type=Data())
@click.option(
    "--moved",
    nargs=2,
    type=click.Path(path_type=Path),
    metavar="OLD NEW",
    help="Pictures have moved to another disk: what was in folder OLD is in folder NEW now. Only "
    "paths are changed.",
)
@click.option(
    "--keep-labels",
    is_flag=True,
    help="Leave labels as they are where a picture has moved to another folder.",
)
@dry_run_option
@reading_options
@json_option
def sync(
    collection: Path,
    folder: str | None,
    moved: tuple[Path, Path] | None,
    keep_labels: bool,
    dry_run: bool,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Bring COLLECTION up to date with the pictures below FOLDER.

    New files are added, changed files are encoded again, moved files keep their ids, and items
    whose files have vanished are removed, unless FOLDER has no pictures left. Items from other
    folders are left alone. FOLDER may also be a picture or a list of pictures (.csv, .tsv,
    .parquet).

    Where a file has moved to another folder, the label that the earlier folder gave becomes that of
    the new folder; other labels stay. Files with the same bytes as another one are named.
    """
    if (folder is None) == (moved is None):
        raise click.UsageError("say what to look at: a FOLDER, or --moved OLD NEW")
    if moved:
        refuse(("keep_labels",), "with --moved: all labels stay")
    with Collection.open(collection, reader=reader) as opened, keeping(opened):
        if moved:
            places = opened.relocate(*moved, dry_run=dry_run)
        else:
            found = opened.sync(str(folder), keep_labels=keep_labels, dry_run=dry_run)
        total = len(opened)
    if moved:
        _tell_moved(collection, moved[1], places, dry_run, as_json)
    else:
        _tell(collection, found, total, dry_run, as_json)


def _tell_moved(
    collection: Path, new: Path, found: Relocated, dry_run: bool, as_json: bool
) -> None:
    """Print how many items have new paths, and which files are missing."""
    if as_json:
        print_json({"moved": found.ids.tolist(), "missing": list(found.missing)})
        return
    number = count(found.ids.tolist(), "item", "", "s") + " in " + printable(str(new))
    number = f"would find {number}" if dry_run else f"{number} now"
    _tell_some(found.missing)
    lost = f", {len(found.missing)} not there or of another size" if found.missing else ""
    click.echo(f"{printable(str(collection))}: {number}{lost}{_unchanged(dry_run)}")


def _tell(collection: Path, found: Synced, total: int, dry_run: bool, as_json: bool) -> None:
    """Print what a sync has done, or would do."""
    facts: dict[str, Any] = {name: getattr(found, name).tolist() for name in KINDS}
    if as_json:
        print_json(facts | _details(found) | {"items": total})
        return
    _tell_some([_step(*paths) for paths in found.paths.values()])
    _tell_some([f"{path} is a copy of {original}" for path, original in found.copies.items()])
    parts = [f"{len(ids)} {name}" for name, ids in facts.items()]
    if dry_run:
        parts = [f"would {WORDS[name]} {len(ids)}" for name, ids in facts.items()]
    copies = [count(len(found.copies), "cop", "y", "ies")] if found.copies else []
    parts += copies
    parts += [f"{len(found.failures)} not readable"] if found.failures else []
    click.echo(
        f"{printable(str(collection))}: {', '.join(parts)}, {total} in all{_unchanged(dry_run)}"
    )


def _details(found: Synced) -> dict[str, Any]:
    """Facts for JSON on copies, on files that can not be read, and on a dry run."""
    facts = {"failures": list(found.failures), "told before": found.told, "copies": found.copies}
    paths = {str(number): list(own) for number, own in found.paths.items()}
    return facts | ({"paths": paths} if paths else {})


def _step(before: str | None, after: str | None) -> str:
    """What a sync would do to a file.

    >>> _step("a.jpg", "b.jpg"), _step(None, "b.jpg")
    ('move a.jpg to b.jpg', 'add b.jpg')
    """
    if before is None:
        return f"add {after}"
    if after is None:
        return f"remove {before}"
    return f"change {before}" if before == after else f"move {before} to {after}"


def _tell_some(lines: list[str] | tuple[str, ...]) -> None:
    """Print the first lines, and how many there are besides."""
    for line in lines[:MOST_NAMED]:
        click.echo(f"  {printable(line)}")
    if len(lines) > MOST_NAMED:
        click.echo(f"  and {len(lines) - MOST_NAMED} more, which --json lists")


def _unchanged(dry_run: bool) -> str:
    return "; nothing was changed" if dry_run else ""
