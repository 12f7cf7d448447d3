"""Commands that look after a collection: pictures with their codes in a folder."""

from datetime import datetime
from pathlib import Path

import click

from zshash.cli.creating import report_added
from zshash.cli.keeping import keeping, keeping_file, telling
from zshash.cli.listing import line_of
from zshash.cli.options import (
    codes_file,
    dry_run_option,
    existing_file,
    force_option,
    json_option,
    reading_options,
    where_option,
)
from zshash.cli.parameters import CollectionFolder, Integer, ModelFile, Text
from zshash.cli.terminal import count, meant_items, print_json, printable
from zshash.collection import Collection, Removal
from zshash.collection.errors import DamagedError
from zshash.collection.exchange.exchange import export_codes, export_to_server, import_codes
from zshash.collection.operations.verifying import verify_tables
from zshash.collection.results import Verified
from zshash.images import PictureReader

__all__ = [
    "compact",
    "export",
    "import_",
    "reencode",
    "remove",
    "restore",
    "verify",
]

MOST_SHOWN = 20  # items that a dry run names
collection_argument = click.argument("collection", type=CollectionFolder())


@click.command()
@collection_argument
@click.argument("ids", nargs=-1, type=Integer(0, 2**63 - 1))
@where_option("Remove the items that meet this condition.")
@click.option(
    "--for-good", is_flag=True, help="Keep nothing of the items, so that nothing can be restored."
)
@dry_run_option
@json_option
def remove(
    collection: Path,
    ids: tuple[int, ...],
    where: str | None,
    for_good: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Remove items from COLLECTION, by their IDS or by a condition.

    The pictures themselves stay where they are. zshash restore undoes a removal, until compact
    frees its space.
    """
    if bool(ids) == (where is not None):
        raise click.UsageError("say which items to remove: their IDS, or --where CONDITION")
    with Collection.open(collection) as opened:
        meant = meant_items(opened, where, "nothing was removed") if where else sorted(set(ids))
        if dry_run:
            _show_meant(opened, meant, as_json)
            return
        removed = opened.remove(meant, undo=not for_good)
        total = len(opened)
    if as_json:
        print_json({"removed": int(removed), "items": total, "undo": removed.key})
        return
    album = printable(str(collection))
    click.echo(f"{album}: {removed} removed, {total} left")
    if removed.key:
        click.echo(f"zshash restore {album} {removed.key} undoes this")


@click.command()
@collection_argument
@click.argument("key", type=Text(), required=False)
@click.option("--last", is_flag=True, help="Undo the last removal.")
@json_option
def restore(collection: Path, key: str | None, last: bool, as_json: bool) -> None:
    """Undo a removal from COLLECTION: its items come back under their ids.

    KEY is what remove has printed. Without KEY and --last, the removals that can be undone are
    listed. compact frees their space, and the first ones are forgotten when more than 100,000 items
    are kept.
    """
    if key and last:
        raise click.UsageError("give a KEY or --last, not both")
    with Collection.open(collection) as opened:
        known = opened.removals()
        if last:
            if not known:
                raise click.UsageError("there is no removal that can be undone")
            key = known[0].key
        if key is None:
            _list_removals(collection, known, as_json)
            return
        ids, total = opened.restore(key), len(opened)
    if as_json:
        print_json({"restored": ids.tolist(), "items": total})
    else:
        news = count(len(ids), "item", " is", "s are")
        click.echo(f"{printable(str(collection))}: {news} there again, {total} in all")


def _list_removals(collection: Path, known: list[Removal], as_json: bool) -> None:
    if as_json:
        print_json([removal._asdict() for removal in known])
        return
    for removal in known:
        when = datetime.fromtimestamp(removal.time).isoformat(" ", "minutes")
        click.echo(f"{removal.key}\t{when}\t{count(removal.items, 'item', '', 's')}")
    if not known:
        click.echo(f"{printable(str(collection))}: there is no removal that can be undone")


def _show_meant(opened: Collection, ids: list[int], as_json: bool) -> None:
    """Print which items would be removed."""
    n = len(opened.items(ids))  # an unknown id is an error
    if as_json:
        print_json({"removed": 0, "would remove": ids, "items": len(opened)})
        return
    for item in opened.items(ids[:MOST_SHOWN]):
        click.echo(line_of(opened, item))
    more = f" ({n - MOST_SHOWN} more are not shown)" if n > MOST_SHOWN else ""
    click.echo(f"would remove {count(n, 'item', '', 's')}{more}; nothing was changed")


@click.command()
@collection_argument
@click.option(
    "--model", "-m", required=True, type=ModelFile(), help="The new model, a file that fit wrote."
)
@reading_options
@json_option
def reencode(collection: Path, model: Path, reader: PictureReader, as_json: bool) -> None:
    """Encode all items of COLLECTION again, with another MODEL.

    Either all items get new codes, or none does. Features come from the collection if it keeps
    them (see create --keep-features), else from the pictures.
    """
    with (
        Collection.open(collection, reader=reader) as opened,
        keeping(opened, "all items have new codes"),
    ):
        n, bits, total = opened.reencode(model), opened.n_bits, len(opened)
    if as_json:
        print_json({"items": n, "bits": bits})
        return
    news = f"{count(n, 'item', ' has', 's have')} codes of {bits} bits now"
    if total and not n:
        news = "the collection has this model already, so nothing was done"
    click.echo(f"{printable(str(collection))}: {news}")


@click.command()
@collection_argument
@click.option(
    "--deep",
    is_flag=True,
    help="Also encode a random sample of items again, and compare their codes.",
)
@json_option
def verify(collection: Path, deep: bool, as_json: bool) -> None:
    """Check every file, row and checksum of COLLECTION; exit status 1 if something is wrong."""
    problems, total = _problems(collection, deep)
    again = {"encoded": problems.encoded, "not encoded": problems.not_encoded} if deep else {}
    if as_json:
        print_json({"items": total, "problems": problems, **again})
    elif problems:
        click.echo("\n".join(map(printable, problems)))
    else:
        fine = "as it was" if total == 1 else "all as they were"
        number = count(total or 0, "item", "", "s")
        click.echo(f"{printable(str(collection))}: {number}, {fine} written")
    if deep and not as_json:
        click.echo(_encoded_again(problems))
    if problems:
        raise SystemExit(1)


def _encoded_again(problems: Verified) -> str:
    """How many items were encoded again, and how many could not be."""
    left = ", which have neither features here nor an unchanged picture"
    said = f"{count(problems.encoded, 'item', '', 's')} encoded again to compare the codes"
    lost = problems.not_encoded
    return f"{said}; {lost} could not be{left}" if lost else said


def _problems(collection: Path, deep: bool) -> tuple[Verified, int | None]:
    """What is wrong, and how many items there are, as far as that can be told."""
    try:
        with Collection.open(collection) as opened:
            return opened.verify(deep), len(opened)
    except DamagedError as error:  # so much that it can not be opened
        return Verified(dict.fromkeys([str(error), *verify_tables(collection)])), None


@click.command()
@collection_argument
@json_option
def compact(collection: Path, as_json: bool) -> None:
    """Free the disk space of items that were removed from COLLECTION."""
    with Collection.open(collection) as opened:
        facts = opened.compact()
    if as_json:
        print_json(facts)
        return
    before, after = facts["bytes before"], facts["bytes after"]
    news = f"{after} bytes, {before - after} less" if after < before else "nothing to give back"
    busy = (
        "; another process reads it: compact again later to free more"
        if facts["log in use"]
        else ""
    )
    click.echo(f"{printable(str(collection))}: {news}{busy}")


@click.command()
@collection_argument
@click.argument("file", type=codes_file, required=False)
@force_option
@click.option(
    "--to",
    "address",
    type=Text(),
    metavar="ADDRESS",
    help="Milvus server that gets the codes in place of FILE, milvus://host:port/name; a Milvus "
    "collection of this name is made there.",
)
@json_option
def export(collection: Path, file: Path | None, address: str | None, as_json: bool) -> None:
    """Write the codes of COLLECTION to FILE, for other programs.

    The suffix of FILE decides the format: .faiss (an IndexBinaryFlat), .parquet or .npz (with ids,
    paths, labels and metadata), .npy (codes alone). A Milvus server gets ids and codes.
    """
    if (file is None) == (address is None):
        raise click.UsageError("say where the codes go: to a FILE, or --to ADDRESS of a server")
    if file and collection.resolve() in file.resolve().parents:
        raise click.BadParameter(
            f"{str(file)!r} lies inside the collection: choose another folder", param_hint="FILE"
        )
    with (
        Collection.open(collection, reader=PictureReader(progress=not as_json)) as opened,
        keeping_file(file) if file else telling(lambda: f"{address} may have a part of the codes."),
    ):
        facts = export_codes(opened, file) if file else export_to_server(opened, str(address))
    if as_json:
        print_json(facts)
        return
    number = count(facts["n"], "code", "", "s")
    kinds = {"ids": "ids", "sha256": "checksums"}
    beside = [f"; {kinds[key]} in {printable(facts[key])}" for key in kinds if key in facts]
    click.echo(f"{printable(facts['output'])}: {number} of {facts['bits']} bits{''.join(beside)}")


@click.command("import")
@collection_argument
@click.argument("file", type=existing_file)
@json_option
def import_(collection: Path, file: Path, as_json: bool) -> None:
    """Add the codes in FILE to COLLECTION, whose model must have made them.

    FILE was written by export or encode, or is an IndexBinaryFlat of faiss. Codes that export
    wrote to .parquet or .npz are skipped if their pictures are in the collection already; all
    other codes are added.
    """
    with Collection.open(collection) as opened, keeping(opened):
        added = import_codes(opened, file)
        total = len(opened)
    report_added(collection, [added], total, as_json)
