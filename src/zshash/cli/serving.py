"""The command that serves a collection over HTTP."""

import sys
import webbrowser
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

from zshash.cli.parameters import CollectionFolder, Integer, Text
from zshash.cli.terminal import printable

__all__ = ["serve", "start_service"]

SERVICES = "zshash.services"
LOADING = (
    "The index, the network and the names are loaded now, so that no search has to wait for them; "
    "after an installation, the first start also compiles the searches, for up to a minute."
)


@click.command()
@click.argument("collection", type=CollectionFolder())
@click.option(
    "--host", default="127.0.0.1", show_default=True, type=Text(), help="Address to listen on."
)
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=Integer(0, 65535),
    help="Port to listen on; 0 takes any free port.",
)
@click.option(
    "--writable", is_flag=True, help="Let clients that have the token add and remove pictures."
)
@click.option(
    "--token",
    help="Password of at least 16 characters. Clients need it to write, and to read from other "
    "machines or through a proxy. Better set the environment variable ZSHASH_TOKEN: other users of "
    "this machine may see a command.  [default: a random token if one is needed]",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Name of a proxy on this machine, without http:// and port, whose requests are answered, "
    "too; then every request needs the token. May be repeated.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Origin, such as https://app.example.org, whose pages may ask this server from a browser. "
    "May be repeated. * allows all pages, also to read an album that needs no token to be read.",
)
@click.option(
    "--log",
    metavar="FILE",
    help="Write a line of JSON for each request to this file; - is standard output. What people "
    "search for is not in it.  [default: no log]",
)
@click.option(
    "--max-bytes",
    "bytes",
    default=20 * 2**20,
    show_default=True,
    type=Integer(1),
    help="Largest picture file that is read, in bytes.",
)
@click.option(
    "--max-pixels",
    "pixels",
    default=40_000_000,
    show_default=True,
    type=Integer(1),
    help="Largest picture that is read, in pixels.",
)
@click.option(
    "--timeout",
    "seconds",
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    type=click.FloatRange(0.1),
    help="Longest time that a request may take.",
)
@click.option(
    "--threads",
    default=2,
    show_default=True,
    type=Integer(1, 256),
    help="Number of pictures that are worked on at the same time.",
)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=Integer(1, 64),
    help="Number of processes that answer requests; they share the memory of the index. More than "
    "one is for many clients at the same time: as many as there are cores.",
)
@click.option(
    "--queue",
    "waiting",
    default=64,
    show_default=True,
    type=Integer(1, 100_000),
    help="Number of requests that may wait; more are refused.",
)
@click.option(
    "--picture-cache",
    default=256 * 2**20,
    show_default=True,
    metavar="BYTES",
    type=Integer(0),
    help="Most bytes of large pictures that are kept in your cache folder, so that they need not "
    "be made again; 0 keeps none.",
)
@click.option("--show-paths", "paths", is_flag=True, help="Tell clients the paths of the pictures.")
@click.option(
    "--show-places",
    "places",
    is_flag=True,
    help="Tell clients where pictures were taken: latitude, longitude and altitude.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
def serve(collection: Path, opens: bool, **settings: Any) -> None:
    """Serve COLLECTION over HTTP: a page to search it, and an API.

    Only this machine can reach the service, unless --host names another address; then every
    request needs the token. The printed address contains the token: treat it like a password.
    Ctrl+C ends the service.
    """
    start_service(collection, opens, **settings)


def start_service(collection: Path, opens: bool, title: str | None = None, **settings: Any) -> None:
    """Serve a collection until somebody stops it; `title` is printed in place of its path."""

    def announce(address: str) -> None:
        click.echo(f"{title or printable(str(collection))} is at {address}\nCtrl+C ends it.")
        if opens:
            webbrowser.open(address)

    if sys.stderr.isatty():
        click.echo(LOADING, err=True)
    _service("web")(collection, on_start=announce, **settings)


def _service(name: str) -> Callable[..., None]:
    """The service with this name among the entry points, as `cli` does not import `web`."""
    for point in entry_points(group=SERVICES, name=name):
        service: Callable[..., None] = point.load()
        return service
    raise click.UsageError(f"this installation has no service {name!r}: install zshash again")
