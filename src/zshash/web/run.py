"""Run a server over a collection until it is stopped: its socket, uvicorn, signals and memory.

Several processes listen on one socket: whichever is free takes the next connection.
"""

import ctypes
import gc
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import uvicorn
from threadpoolctl import threadpool_limits

from zshash._threads import n_threads
from zshash.collection import Collection
from zshash.index import HammingIndex
from zshash.web.app import create_app
from zshash.web.protocol import BoundedProtocol
from zshash.web.request_log import RequestLog
from zshash.web.settings import Settings
from zshash.web.state import SCRATCH
from zshash.web.upkeep import prepare
from zshash.web.workers import Crew

__all__ = ["configured", "serve"]

M_MMAP_THRESHOLD, LARGE_BLOCK = -3, 8 * 2**20
EVERYWHERE = ("0.0.0.0", "::")  # listen on all addresses; a browser can not open them
GRACE = 10  # seconds for running requests to finish when the server is stopped
SLACK = 5  # seconds more until a process is killed


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
        Folder of the collection.
    on_start : callable
        Called just before the server starts to answer, with the address of its page. The address
        holds the token if there is one.
    **settings
        Attributes of `zshash.web.Settings`.

    Raises
    ------
    CollectionError
        If the folder holds no collection, or one that can not be used.
    OSError
        If the server can not listen on the host and port, or can not write its log.
    """
    chosen = Settings(**settings)
    _check_log(chosen)
    _give_back_memory()
    with _ending_well(), closing(_listen(chosen)) as listener, _scratch() as scratch:
        port = listener.getsockname()[1]
        chosen = replace(chosen, port=port, scratch=scratch)

        def begin() -> None:
            on_start(_address(chosen))

        if chosen.workers == 1:
            _run(folder, chosen, listener, begin)
        else:
            _load(folder, chosen)
            work = partial(_run_one_of_many, folder, chosen, listener)
            Crew(work, chosen.workers, GRACE + SLACK).run(begin)


def _run(
    folder: str | Path,
    settings: Settings,
    listener: socket.socket,
    on_ready: Callable[[], object],
) -> None:
    """Serve in this process."""
    config = configured(create_app(folder, settings))
    _spare_the_collector()
    on_ready()
    uvicorn.Server(config).run(sockets=[listener])


def _run_one_of_many(
    folder: str | Path,
    settings: Settings,
    listener: socket.socket,
    on_ready: Callable[[], object],
) -> None:
    """Serve in one of several processes, with its part of the machine's cores."""
    threadpool_limits(max(1, n_threads() // settings.workers))
    _run(folder, settings, listener, on_ready)


def _load(folder: str | Path, settings: Settings) -> None:
    """Load and compile what several processes can share, and refuse what none of them can serve."""
    HammingIndex.compile()
    with Collection.open(folder) as collection:
        prepare(collection, settings)
    _spare_the_collector()


@contextmanager
def _scratch() -> Iterator[Path]:
    """A private folder for what all processes of a server share; it is removed at the end."""
    with TemporaryDirectory(prefix=SCRATCH, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def configured(app: Any) -> uvicorn.Config:
    """Configuration with which uvicorn runs an application."""
    return uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        proxy_headers=False,  # `guard.py` reads them, where the settings allow a proxy
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        http=BoundedProtocol,
        ws="none",
        lifespan="auto",
    )


def _spare_the_collector() -> None:
    """Exclude the objects that exist now from garbage collection, which would pause for 0.1 s."""
    gc.collect()
    gc.freeze()


@contextmanager
def _ending_well() -> Iterator[None]:
    """End with exit status 0 after Ctrl+C or SIGTERM, also before the server answers.

    uvicorn raises the signal again after it has shut down.
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
    """Make the C library return the memory of large pictures to the system when they are freed.

    Otherwise the C library of most Linux systems keeps it: a gigabyte after two pictures of the
    largest allowed size.
    """
    with suppress(OSError, AttributeError, TypeError):  # another C library has no mallopt
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)


def _check_log(settings: Settings) -> None:
    """Refuse a log that can not be written, before anything is loaded or started."""
    if settings.log is None:
        return
    try:
        RequestLog(settings.log).close()
    except OSError as error:
        reason = error.strerror or str(error)
        text = f"{reason}: choose another file for the log"
        raise OSError(error.errno, text, settings.log) from error


def _listen(settings: Settings) -> socket.socket:
    """A socket that listens on the host and port of the settings."""
    place = f"{settings.host}:{settings.port}"
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, _, _, _, address = found[0]
        listener = socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"{reason}: choose another host or port", place) from error
    listener.set_inheritable(True)
    return listener


def _address(settings: Settings) -> str:
    """Address of the page, with the token if there is one."""
    name = socket.gethostname() if settings.host in EVERYWHERE else settings.host
    host = f"[{name}]" if ":" in name else name
    token = f"#token={quote(settings.token, safe='')}" if settings.token else ""
    return f"http://{host}:{settings.port}/{token}"
