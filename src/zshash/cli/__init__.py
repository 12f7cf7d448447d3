"""The command line: one thin command per verb."""

import warnings

import click

from zshash.cli.collecting import (
    add,
    compact,
    create,
    duplicates,
    export,
    import_,
    reencode,
    remove,
    sync,
    verify,
)
from zshash.cli.describing import info
from zshash.cli.learning import encode, extract, fit
from zshash.cli.reproducing import reproduce
from zshash.cli.scoring import compare, demo, evaluate
from zshash.cli.searching import search
from zshash.cli.selecting import select
from zshash.cli.serving import serve
from zshash.cli.terminal import Commands, ShowWarnings

__all__ = ["main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="zshash")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Short binary codes that find pictures of categories nobody labelled."""
    ctx.with_resource(warnings.catch_warnings())
    warnings.showwarning = ShowWarnings()


main.add_section("Learning", demo, fit, encode, extract)
main.add_section("Collections", create, add, sync, remove, search, serve, duplicates)
main.add_section("Care of collections", verify, compact, reencode, export, import_)
main.add_section("Scores and facts", evaluate, compare, select, reproduce, info)
