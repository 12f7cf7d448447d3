"""Collections: pictures with their codes in a folder."""

from pathlib import Path
from typing import Any

import click

from zshash.cli.options import (
    existing_file,
    json_option,
    output_file,
    reading_options,
    where_option,
)
from zshash.cli.terminal import count, keep_inputs, literal, plain, print_json, printable
from zshash.collection import Added, Collection
from zshash.collection.exchange import export_codes, import_codes
from zshash.images import PictureReader

__all__ = [
    "add",
    "compact",
    "create",
    "duplicates",
    "export",
    "import_",
    "reencode",
    "remove",
    "sync",
    "verify",
]

collection_argument = click.argument(
    "collection", type=click.Path(exists=True, file_okay=False, path_type=Path)
)


@click.command()
@click.argument("collection", type=click.Path(path_type=Path))
@click.option("--model", "-m", required=True, type=existing_file, help="Model that fit wrote.")
@click.option(
    "--labels",
    "semantics",
    multiple=True,
    metavar="SOURCE",
    help="Where the vectors of names come from, for search --name: wordnet, or the file of word "
    "vectors that the model was trained with.  [default: what the model says]",
)
@click.option(
    "--keep-features",
    is_flag=True,
    help="Keep the features, so that reencode needs no pictures; 5 KB an item of the default "
    "network.",
)
@click.option(
    "--thumbnails",
    default=128,
    show_default=True,
    type=click.IntRange(0, 1024),
    help="Longer side of the small pictures to keep, 0 for none.",
)
@reading_options
@json_option
def create(
    collection: Path,
    model: Path,
    semantics: tuple[str, ...],
    keep_features: bool,
    thumbnails: int,
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Make an empty COLLECTION, a folder, for pictures that MODEL can hash."""
    made = Collection.create(
        collection,
        model,
        semantics=list(semantics) or None,
        keep_features=keep_features,
        thumbnails=thumbnails,
        reader=reader,
    )
    with made:
        facts = made.info()
    if as_json:
        print_json(facts)
    else:
        click.echo(f"{printable(str(collection))}: {facts['method']}, {facts['bits']} bits, empty")


@click.command()
@collection_argument
@click.argument("data", nargs=-1, required=True)
@click.option("--label", "labels", multiple=True, metavar="NAME", help="Label for all of DATA.")
@click.option(
    "--meta",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Say something about all of DATA that --where can ask for, for instance --meta year=2024.",
)
@reading_options
@json_option
def add(
    collection: Path,
    data: tuple[str, ...],
    labels: tuple[str, ...],
    settings: tuple[str, ...],
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Add pictures or features (DATA as for fit) to COLLECTION.

    What is there already, judged by content and not by name, is skipped. What is interrupted goes
    on when the same command is given again.
    """
    metadata = _metadata(settings)
    with Collection.open(collection, reader=reader) as opened:
        done = []
        for source in data:
            items = reader.open(source)
            words = [list(labels)] * len(items) if labels else None
            done.append(opened.add(items, labels=words, metadata=[metadata] * len(items)))
        total = len(opened)
    _report_added(collection, done, total, as_json)


def _metadata(settings: tuple[str, ...]) -> dict[str, Any]:
    """What NAME=VALUE says."""
    metadata = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"{setting!r}: write NAME=VALUE", param_hint="--meta")
        metadata[name] = literal(text)
    return metadata


def _report_added(collection: Path, done: list[Added], total: int, as_json: bool) -> None:
    ids = [number for added in done for number in added.ids.tolist()]
    n_known = sum(len(added.duplicates) for added in done)
    failures = [failure for added in done for failure in added.failures]
    if as_json:
        facts = {"added": len(ids), "ids": ids, "already there": n_known, "items": total}
        print_json(facts | {"failures": failures})
        return
    parts = [f"{len(ids)} added"]
    parts += [f"{n_known} already there"] if n_known else []
    parts += [f"{len(failures)} not readable"] if failures else []
    click.echo(f"{printable(str(collection))}: {', '.join(parts)}, {total} in all")


@click.command()
@collection_argument
@click.argument("ids", nargs=-1, type=int)
@where_option("Remove the items that meet this condition.")
@json_option
def remove(collection: Path, ids: tuple[int, ...], where: str | None, as_json: bool) -> None:
    """Remove items from COLLECTION: those under IDS, or those that meet a condition.

    The pictures themselves stay where they are.
    """
    if bool(ids) == (where is not None):
        raise click.UsageError("say which items to remove: their IDS, or --where")
    with Collection.open(collection) as opened:
        n = opened.remove(list(ids) if where is None else opened.find(where))
        total = len(opened)
    if as_json:
        print_json({"removed": n, "items": total})
    else:
        click.echo(f"{printable(str(collection))}: {n} removed, {total} left")


@click.command()
@collection_argument
@click.argument("folder", type=click.Path(path_type=Path))
@reading_options
@json_option
def sync(collection: Path, folder: Path, reader: PictureReader, as_json: bool) -> None:
    """Bring COLLECTION up to date with the pictures below FOLDER.

    New files are added, changed ones are encoded again, moved ones keep their ids, and what has
    vanished is removed. Items from elsewhere are left alone.
    """
    with Collection.open(collection, reader=reader) as opened:
        found = opened.sync(folder)
        total = len(opened)
    facts = {
        name: getattr(found, name).tolist() for name in ("added", "changed", "moved", "removed")
    }
    if as_json:
        print_json(facts | {"failures": list(found.failures), "items": total})
        return
    parts = [f"{len(ids)} {name}" for name, ids in facts.items()]
    parts += [f"{len(found.failures)} not readable"] if found.failures else []
    click.echo(f"{printable(str(collection))}: {', '.join(parts)}, {total} in all")


@click.command()
@collection_argument
@click.option("--model", "-m", required=True, type=existing_file, help="The other model.")
@reading_options
@json_option
def reencode(collection: Path, model: Path, reader: PictureReader, as_json: bool) -> None:
    """Give all items of COLLECTION the codes of another MODEL, or none of them.

    Their features come from the collection where it keeps them, else from the pictures.
    """
    with Collection.open(collection, reader=reader) as opened:
        n, bits = opened.reencode(model), opened.n_bits
    if as_json:
        print_json({"items": n, "bits": bits})
    else:
        click.echo(f"{printable(str(collection))}: {n} items have codes of {bits} bits now")


@click.command()
@collection_argument
@click.option(
    "--radius",
    default=2,
    show_default=True,
    type=click.IntRange(0),
    help="Bits in which codes may differ.",
)
@json_option
def duplicates(collection: Path, radius: int, as_json: bool) -> None:
    """List groups of items in COLLECTION that look alike.

    All of a group are within the radius of its first item. A model that was trained on labels
    gives pictures of one category the same code more often than one that was not, such as ITQ with
    many bits: that one finds copies better.
    """
    with Collection.open(collection) as opened:
        groups = [opened.items(ids) for ids in opened.duplicates(radius)]
    if as_json:
        print_json([[_facts(item) for item in group] for group in groups])
        return
    click.echo(
        f"{count(groups, 'group', '', 's')}, {sum(map(len, groups))} items that look like another"
    )
    for group in groups:
        click.echo()
        for item in group:
            click.echo(f"{item.id:>8}  {printable(item.source or '')}")


def _facts(item: Any) -> dict[str, Any]:
    return {"id": item.id, "path": item.source, "labels": list(item.labels)}


@click.command()
@collection_argument
@json_option
def verify(collection: Path, as_json: bool) -> None:
    """Check every file, row and checksum of COLLECTION; exit status 1 if something is wrong."""
    with Collection.open(collection) as opened:
        problems, total = opened.verify(), len(opened)
    if as_json:
        print_json({"items": total, "problems": problems})
    elif problems:
        click.echo("\n".join(map(printable, problems)))
    else:
        click.echo(f"{printable(str(collection))}: {total} items, all as they were written")
    if problems:
        raise SystemExit(1)


@click.command()
@collection_argument
@json_option
def compact(collection: Path, as_json: bool) -> None:
    """Give back the space of what was removed from COLLECTION."""
    with Collection.open(collection) as opened:
        facts = opened.compact()
    if as_json:
        print_json(facts)
    else:
        click.echo(f"{printable(str(collection))}: {plain(facts)}")


@click.command()
@collection_argument
@click.argument("file", type=output_file)
@json_option
def export(collection: Path, file: Path, as_json: bool) -> None:
    """Write the codes of COLLECTION to FILE, for other programs.

    The end of its name says how: .faiss (an IndexBinaryFlat), .parquet or .npz (with ids, paths,
    labels and metadata), .npy (codes alone).
    """
    keep_inputs(file, collection)
    with Collection.open(collection) as opened:
        facts = export_codes(opened, file)
    if as_json:
        print_json(facts)
        return
    beside = f"; ids in {facts['ids']}" if "ids" in facts else ""
    click.echo(f"{printable(str(file))}: {facts['n']} codes of {facts['bits']} bits{beside}")


@click.command("import")
@collection_argument
@click.argument("file", type=existing_file)
@json_option
def import_(collection: Path, file: Path, as_json: bool) -> None:
    """Add the codes in FILE to COLLECTION, whose model must have made them.

    FILE is what export or encode wrote, or an IndexBinaryFlat of faiss.
    """
    with Collection.open(collection) as opened:
        added = import_codes(opened, file)
        total = len(opened)
    _report_added(collection, [added], total, as_json)
