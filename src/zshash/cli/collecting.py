"""Commands that make, fill and look after a collection: pictures with their codes in a folder."""

import warnings
from pathlib import Path
from typing import Any

import click

from zshash.cli.options import (
    codes_file,
    existing_file,
    force_option,
    json_option,
    model_option,
    reading_options,
    where_option,
)
from zshash.cli.parameters import CollectionFolder, Data, Folder, Integer, ModelFile, Text
from zshash.cli.terminal import count, literal, plain, print_json, printable, unknown_fields
from zshash.collection import Added, Collection, is_collection
from zshash.collection.errors import DamagedError
from zshash.collection.exchange.exchange import export_codes, export_to_server, import_codes
from zshash.collection.operations.verifying import verify_tables
from zshash.collection.results import Verified
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

collection_argument = click.argument("collection", type=CollectionFolder())
TAKEN = {
    "label": "use --label",
    "path": "choose another name",
    "id": "choose another name",
}
"""Built-in fields of --where, which --meta can not set, and what to do instead."""


@click.command()
@click.argument("collection", type=Folder())
@model_option
@click.option(
    "--labels",
    "semantics",
    multiple=True,
    type=Text(),
    metavar="SOURCE",
    help="Where search --name looks up names: wordnet, or the file of word vectors that the model "
    "was trained with.  [default: the source that the model names]",
)
@click.option(
    "--keep-features",
    is_flag=True,
    help="Keep the features, so that reencode needs no pictures. The default network's features "
    "take 5 KB for each item.",
)
@click.option(
    "--thumbnails",
    default=128,
    show_default=True,
    type=Integer(0, 1024),
    help="Longer side, in pixels, of the small pictures that are kept; 0 keeps none.",
)
@click.option(
    "--index",
    default="memory",
    type=Text(),
    show_default=True,
    metavar="WHERE",
    help="Where the codes are searched: memory, or a Milvus server, milvus://host:port/name.",
)
@json_option
def create(
    collection: Path,
    model: Path,
    semantics: tuple[str, ...],
    keep_features: bool,
    thumbnails: int,
    index: str,
    as_json: bool,
) -> None:
    """Make an empty COLLECTION, a folder for pictures and the codes that MODEL gives them."""
    if is_collection(collection):
        raise click.UsageError(f"{collection}: there is a collection already: zshash add fills it")
    made = Collection.create(
        collection,
        model,
        semantics=list(semantics) or None,
        keep_features=keep_features,
        thumbnails=thumbnails,
        index=index,
    )
    with made:
        facts = made.info()
    if as_json:
        print_json(facts)
    else:
        click.echo(f"{printable(str(collection))}: {facts['method']}, {facts['bits']} bits, empty")


@click.command()
@collection_argument
@click.argument("data", nargs=-1, required=True, type=Data())
@click.option(
    "--label",
    "labels",
    multiple=True,
    type=Text(),
    metavar="NAME",
    help="Label for all of DATA; may be repeated.",
)
@click.option(
    "--meta",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Field and value for all of DATA, for instance --meta year=2024, which search --where can "
    "ask for; may be repeated.",
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

    Pictures that are in the collection already, judged by content and not by name, are skipped and
    keep their labels and metadata. After an interruption, give the same command again to go on.
    """
    metadata = _metadata(settings)
    with Collection.open(collection, reader=reader) as opened:
        done = []
        for source in data:
            if not labels and not metadata:
                done.append(opened.add(source))
                continue
            items = reader.open(source)
            words = [list(labels)] * len(items) if labels else None
            done.append(opened.add(items, labels=words, metadata=[metadata] * len(items)))
        total = len(opened)
    _report_added(collection, done, total, as_json)


def _metadata(settings: tuple[str, ...]) -> dict[str, Any]:
    """Names and values from texts of the form NAME=VALUE."""
    metadata = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"{setting!r}: write NAME=VALUE", param_hint="--meta")
        if name in TAKEN:
            raise click.BadParameter(
                f"{name} is a built-in field: {TAKEN[name]}", param_hint="--meta"
            )
        metadata[name] = literal(text)
    return metadata


def _report_added(collection: Path, done: list[Added], total: int, as_json: bool) -> None:
    ids = [number for added in done for number in added.ids.tolist()]
    n_known = sum(len(added.duplicates) for added in done)
    failures = [failure for added in done for failure in added.failures]
    if failures and not ids and not n_known:
        raise click.UsageError(f"{collection}: nothing was added, because no picture could be read")
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
@click.argument("ids", nargs=-1, type=Integer(0, 2**63 - 1))
@where_option("Remove the items that meet this condition.")
@json_option
def remove(collection: Path, ids: tuple[int, ...], where: str | None, as_json: bool) -> None:
    """Remove items from COLLECTION, by their IDS or by a condition.

    The pictures themselves stay where they are.
    """
    if bool(ids) == (where is not None):
        raise click.UsageError("say which items to remove: their IDS, or --where CONDITION")
    with Collection.open(collection) as opened:
        n = opened.remove(list(ids) if where is None else _meant(opened, where))
        total = len(opened)
    if as_json:
        print_json({"removed": n, "items": total})
    else:
        click.echo(f"{printable(str(collection))}: {n} removed, {total} left")


def _meant(opened: Collection, where: str) -> list[int]:
    """Ids of the items that meet a condition; a misspelled field that lets items in is an error."""
    found: list[int] = opened.find(where).tolist()
    unknown = unknown_fields(opened, where)
    if found and unknown:
        raise click.UsageError(f"{unknown}; nothing was removed")
    if unknown:
        warnings.warn(unknown, UserWarning, stacklevel=2)
    return found


@click.command()
@collection_argument
@click.argument("folder", type=Folder())
@reading_options
@json_option
def sync(collection: Path, folder: Path, reader: PictureReader, as_json: bool) -> None:
    """Bring COLLECTION up to date with the pictures below FOLDER.

    New files are added, changed files are encoded again, moved files keep their ids and labels,
    and items whose files have vanished are removed, unless FOLDER has no pictures left. Items from
    other folders are left alone.
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
    with Collection.open(collection, reader=reader) as opened:
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
    "--radius",
    default=2,
    show_default=True,
    type=Integer(0),
    help="Number of bits in which codes may differ.",
)
@json_option
def duplicates(collection: Path, radius: int, as_json: bool) -> None:
    """List groups of items in COLLECTION that look alike.

    All items of a group are within the radius of its first item. A model that was trained on
    labels often gives the same code to different pictures of one category. To find copies, a model
    trained without labels is better, such as ITQ with many bits.
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
            words = [f"{item.id:>8}", printable(item.source or ""), plain(list(item.labels))]
            click.echo("  ".join(word for word in words if word))


def _facts(item: Any) -> dict[str, Any]:
    return {"id": item.id, "path": item.source, "labels": list(item.labels)}


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
    with Collection.open(collection, reader=PictureReader(progress=not as_json)) as opened:
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
    with Collection.open(collection) as opened:
        added = import_codes(opened, file)
        total = len(opened)
    _report_added(collection, [added], total, as_json)
