"""The command line: one thin command per verb."""

import warnings

import click

from zshash.cli.describing import info
from zshash.cli.learning import encode, extract, fit, search
from zshash.cli.scoring import compare, demo, evaluate
from zshash.cli.terminal import Commands, ShowWarnings

__all__ = ["main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="zshash")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Short binary codes that find pictures of categories nobody labelled."""
    ctx.with_resource(warnings.catch_warnings())
    warnings.showwarning = ShowWarnings()


for command in (demo, fit, encode, extract, search, evaluate, compare, info):
    main.add_command(command)
