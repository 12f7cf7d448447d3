"""Serving a collection over HTTP."""

import webbrowser
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

from zshash.cli.terminal import CollectionFolder, printable

__all__ = ["serve", "start_service"]

SERVICES = "zshash.services"


@click.command()
@click.argument("collection", type=CollectionFolder())
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes any that is free.",
)
@click.option("--writable", is_flag=True, help="Let those with the token add and remove pictures.")
@click.option(
    "--token",
    help="What clients must know to write, and to read from other machines or through a proxy; at "
    "least 16 characters. Better given as the environment variable ZSHASH_TOKEN, because others "
    "may see a command.  [default: a random one, where one is needed]",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Name, without http:// and port, of a proxy on this machine whose requests are answered, "
    "too; then every request needs the token. May be given several times.",
)
@click.option(
    "--max-bytes",
    "bytes",
    default=20 * 2**20,
    show_default=True,
    type=click.IntRange(1),
    help="Largest file of a picture, in bytes.",
)
@click.option(
    "--max-pixels",
    "pixels",
    default=40_000_000,
    show_default=True,
    type=click.IntRange(1),
    help="Largest picture, in pixels.",
)
@click.option(
    "--timeout",
    "seconds",
    default=30.0,
    show_default=True,
    type=click.FloatRange(0.1),
    help="Seconds that a request may take.",
)
@click.option(
    "--threads",
    default=2,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Pictures that are worked on at a time.",
)
@click.option(
    "--queue",
    "waiting",
    default=64,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="Requests that may wait; more are turned away.",
)
@click.option("--show-paths", "paths", is_flag=True, help="Tell clients where pictures are.")
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
def serve(collection: Path, opens: bool, **settings: Any) -> None:
    """Serve COLLECTION over HTTP: a page to search it, and an API.

    Listens on this machine alone unless --host says otherwise; then every request needs the
    token. The address that is printed holds it: treat it like a password. Ctrl+C ends it.
    """
    start_service(collection, opens, **settings)


def start_service(collection: Path, opens: bool, title: str | None = None, **settings: Any) -> None:
    """Serve a collection until somebody stops it; a title is printed in place of its path."""

    def announce(address: str) -> None:
        click.echo(f"{title or printable(str(collection))} is at {address}\nCtrl+C ends it.")
        if opens:
            webbrowser.open(address)

    _service("web")(collection, on_start=announce, **settings)


def _service(name: str) -> Callable[..., None]:
    """A service that an entry point of the package names; the command line knows none itself."""
    for point in entry_points(group=SERVICES, name=name):
        service: Callable[..., None] = point.load()
        return service
    raise click.UsageError(f"this installation has no service {name!r}: install zshash anew")
