"""Serving a collection until somebody stops it."""

import ctypes
import gc
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import uvicorn

from zshash.web.app import create_app
from zshash.web.protocol import BoundedProtocol
from zshash.web.settings import Settings

__all__ = ["configured", "serve"]

M_MMAP_THRESHOLD, LARGE_BLOCK = -3, 8 * 2**20
EVERYWHERE = ("0.0.0.0", "::")  # addresses that nobody can be sent to
GRACE = 10  # seconds that requests under way have when the server is stopped


def serve(
    folder: str | Path,
    *,
    on_start: Callable[[str], Any] = print,
    **settings: Any,
) -> None:
    """Serve a collection over HTTP until the process is told to end (Ctrl+C, SIGTERM).

    Parameters
    ----------
    folder : path-like
        Of the collection.
    on_start : callable
        Called with the address, which holds the token where there is one, when the server is
        about to answer.
    **settings
        As in `zshash.web.Settings`.

    Raises
    ------
    CollectionError
        If there is no collection, or it can not be used.
    OSError
        If the address can not be listened to.
    """
    chosen = Settings(**settings)
    with closing(_listen(chosen)) as listener:
        port = listener.getsockname()[1]
        chosen = Settings(**(settings | {"port": port, "token": chosen.token}))
        config = configured(create_app(folder, chosen))
        _spare_the_collector()
        _give_back_memory()
        on_start(_address(chosen))
        with _ending_well():
            uvicorn.Server(config).run(sockets=[listener])


def configured(app: Any) -> uvicorn.Config:
    """How uvicorn runs the application."""
    return uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        http=BoundedProtocol,
        ws="none",
        lifespan="auto",
    )


def _spare_the_collector() -> None:
    """Leave all that is there now out of garbage collection, which else stops all for 0.1 s."""
    gc.collect()
    gc.freeze()


@contextmanager
def _ending_well() -> Iterator[None]:
    """Let a process that is told to end do so with exit status 0.

    uvicorn tells it once more when it has ended in good order.
    """
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)) if is_main else None
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, before)


def _give_back_memory() -> None:
    """Have the memory of large pictures given back to the system once they are done with.

    The C library of most Linux systems learns from the first of them to keep it: a gigabyte, after
    two that are as large as can be.
    """
    with suppress(OSError, AttributeError, TypeError):  # of another library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)


def _listen(settings: Settings) -> socket.socket:
    """A socket at the address, or an error that says what is wrong with it."""
    place = f"{settings.host}:{settings.port}"
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, _, _, _, address = found[0]
        listener = socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"{reason}: choose another --host or --port", place) from error
    listener.set_inheritable(True)
    return listener


def _address(settings: Settings) -> str:
    name = socket.gethostname() if settings.host in EVERYWHERE else settings.host
    host = f"[{name}]" if ":" in name else name
    token = f"#token={quote(settings.token, safe='')}" if settings.token else ""
    return f"http://{host}:{settings.port}/{token}"
