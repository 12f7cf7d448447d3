"""Commands that make a collection from pictures, add to it, and learn from it again."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from zshash.cli.aliases import alias_options
from zshash.cli.keeping import AGAIN, keeping, telling
from zshash.cli.options import bits_option, json_option, reading_options
from zshash.cli.parameters import CollectionFolder, Data, Folder, Integer, ModelFile, Text
from zshash.cli.terminal import count, literal, print_json, printable, refuse
from zshash.collection import Added, Collection, is_collection
from zshash.collection.operations.making import unfinished
from zshash.datasets import Dataset, Pictures
from zshash.datasets.folders import labels_told
from zshash.hashing.files import is_model
from zshash.hashing.mth import EFFORTS
from zshash.images import PictureReader

__all__ = ["add", "create", "refit", "report_added"]

collection_argument = click.argument("collection", type=CollectionFolder())
effort_help = (
    "best learns for longer: five times as long for a thousand pictures. In our measurements it "
    "ranks pictures without labels hardly better."
)
TAKEN = {
    "label": "use --label",
    "path": "choose another name",
    "id": "choose another name",
}
"""Built-in fields of --where, which --meta can not set, and what to do instead."""


@click.command()
@click.argument("collection", type=Folder(), metavar="ALBUM")
@click.argument("pictures", nargs=-1, type=Data())
@click.option(
    "--model",
    "-m",
    type=ModelFile(),
    help="Use this model, a file that fit wrote, in place of learning from PICTURES.",
)
@bits_option
@click.option(
    "--effort",
    default="fast",
    show_default=True,
    type=click.Choice(list(EFFORTS)),
    help=f"How long to learn: {effort_help}",
)
@click.option(
    "--meanings",
    "semantics",
    multiple=True,
    type=Text(),
    metavar="SOURCE",
    help="Where names get their meanings: wordnet, or a file of word vectors.  [default: wordnet, "
    "or the source that the model names]",
)
@alias_options
@click.option(
    "--keep-features/--no-keep-features",
    default=None,
    help="Keep the features of the pictures, 2.5 KB each with the default network. refit, reencode "
    "and search --rerank use them.  [default: keep them, unless there is a --model]",
)
@click.option(
    "--thumbnails",
    default=320,
    show_default=True,
    type=Integer(0, 1024),
    help="Longer side, in pixels, of the small pictures that are kept; 0 keeps none.",
)
@click.option(
    "--exif/--no-exif",
    default=True,
    show_default=True,
    help="Store date, place, camera and size of each picture, which search --where can ask for.",
)
@click.option(
    "--index",
    default="memory",
    type=Text(),
    show_default=True,
    metavar="WHERE",
    help="Where the codes are searched: memory, or a Milvus server, milvus://host:port/name.",
)
@reading_options
@json_option
def create(
    collection: Path,
    pictures: tuple[str, ...],
    model: Path | None,
    bits: int,
    effort: str,
    semantics: tuple[str, ...],
    aliases: dict[str, str],
    reader: PictureReader,
    as_json: bool,
    **about: Any,
) -> None:
    """Make ALBUM, a folder, from PICTURES: look at them, learn from them, and add them.

    PICTURES is a folder with pictures at any depth, or anything else that fit reads. Labels are not
    needed. Names of folders are labels if they look like categories; --labels changes that. After
    an interruption, give the same command again: it goes on where it ended.

    \b
    zshash create album photos/
    zshash search album --name guitar
    zshash serve album --open

    With --model, or a model file in place of PICTURES, nothing is learned.
    """  # noqa: D301, the sign that keeps lines apart is no raw text
    if model is None and len(pictures) == 1 and is_model(Path(pictures[0])):
        model, pictures = Path(pictures[0]), ()
    about["semantics"] = list(semantics) or None
    if is_collection(collection) and not (model is None and unfinished(collection)):
        raise click.UsageError(
            f"{collection}: there is an album already: zshash add {collection} PICTURES adds to it"
        )
    if model is not None:
        refuse(("bits", "effort", "pairs", "alias_file"), "with a model, which was learned before")
        _for_model(collection, model, pictures, about, reader, as_json)
        return
    if not pictures:
        raise click.UsageError("say which PICTURES to make it from: a folder, for instance")
    with telling(lambda: _begun(collection)):
        parts = [reader.open(source) for source in pictures]
        made = Collection.create(
            collection,
            parts,
            aliases=aliases,
            reader=reader,
            progress=True,
            n_bits=bits,
            effort=effort,
            **about,
        )
    with made:
        _report_made(made, parts, as_json)


def _for_model(
    collection: Path,
    model: Path,
    pictures: Sequence[str],
    about: dict[str, Any],
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Make a collection for a model, and add pictures if there are any."""
    with Collection.create(collection, model, reader=reader, **about) as made:
        done = [made.add(source) for source in pictures]
        facts, total = made.info(), len(made)
    if done:
        report_added(collection, done, total, as_json)
    elif as_json:
        print_json(facts)
    else:
        click.echo(f"{printable(str(collection))}: {facts['method']}, {facts['bits']} bits, empty")


def _report_made(made: Collection, parts: Sequence[Pictures | Dataset], as_json: bool) -> None:
    """Print what an album holds now, and what to do with it."""
    facts, labels = made.info(), made.labels()
    if as_json:
        print_json(facts | {"labels": {name: n for name, n in labels.items() if name}})
        return
    name = printable(_shown(made.path))
    click.echo(f"{name}: {count(len(made), 'picture', '', 's')}, {facts['bits'] // 8} bytes each")
    for part in parts:
        if isinstance(part, Pictures):
            click.echo(printable(labels_told(part)))
    click.echo(
        f"Now try: zshash search {name} --name dog\n"
        f"         zshash search {name} PICTURE\n"
        f"         zshash serve {name} --open"
    )


def _shown(path: Path) -> str:
    """Path as a person types it here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _begun(collection: Path) -> str:
    """Sentence on what is kept of an album that is not finished."""
    if not is_collection(collection):
        return f"{collection} was not made."
    with Collection.open(collection) as opened:
        n = count(len(opened), "picture", "", "s")
    return f"{collection} has {n}; {AGAIN}."


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
    """Add pictures or features (DATA as for create) to COLLECTION.

    Pictures that are in the collection already, judged by content and not by name, are skipped and
    keep their labels and metadata. After an interruption, give the same command again to go on.
    """
    metadata = _metadata(settings)
    with Collection.open(collection, reader=reader) as opened, keeping(opened):
        done = []
        for source in data:
            if not labels and not metadata:
                done.append(opened.add(source))
                continue
            items = reader.open(source)
            words = [list(labels)] * len(items) if labels else None
            done.append(opened.add(items, labels=words, metadata=[metadata] * len(items)))
        total, new = len(opened), opened.n_unlearned
    report_added(collection, done, total, as_json)
    if new and not as_json:
        click.echo(
            f"{count(new, 'picture', ' has', 's have')} come since the album learned from its "
            f"pictures: zshash refit {printable(str(collection))} learns from all of them"
        )


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


def report_added(collection: Path, done: Sequence[Added], total: int, as_json: bool) -> None:
    """Print how many items were added, were there already, or could not be read."""
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
@click.option("--bits", type=Integer(8, 1024), help="Other length of the codes, in bits.")
@click.option(
    "--effort", type=click.Choice(list(EFFORTS)), help=f"How long to learn: {effort_help}"
)
@alias_options
@reading_options
@json_option
def refit(
    collection: Path,
    bits: int | None,
    effort: str | None,
    aliases: dict[str, str],
    reader: PictureReader,
    as_json: bool,
) -> None:
    """Learn again from all pictures and labels of COLLECTION, and encode them anew in one step.

    It pays when many pictures have come, or when labels have. Searches go on meanwhile, with the
    codes from before; either all pictures get new codes, or none does.
    """
    changes = {"n_bits": bits, "effort": effort, "aliases": aliases}
    with Collection.open(collection, reader=reader) as opened, keeping(opened):
        n = opened.refit(**{name: value for name, value in changes.items() if value})
        facts = {"items": len(opened), "changed": n, "bits": opened.n_bits}
        labels = [name for name in opened.labels() if name]
    if as_json:
        print_json(facts)
        return
    if not n:
        warnings.warn("nothing has changed since the last time", UserWarning, stacklevel=2)
    known = f" and {count(labels, 'label', '', 's')}" if labels else ""
    click.echo(
        f"{printable(str(collection))}: learned from {count(facts['items'], 'picture', '', 's')}"
        f"{known}; codes have {facts['bits']} bits"
    )
