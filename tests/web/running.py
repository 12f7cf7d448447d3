"""Servers in a thread of their own."""

import socket
import threading
import time
from contextlib import contextmanager

import uvicorn

from zshash.web import Settings, create_app
from zshash.web.run import configured

PATIENCE = 60  # seconds; a test that pauses must not send into a connection that is being closed


@contextmanager
def running(folder, **settings):
    """The address of a server over a collection, for as long as it is needed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with listening(create_app(folder, Settings(port=port, **settings)), listener):
            yield f"http://127.0.0.1:{port}"


@contextmanager
def listening(app, listener):
    """An application answers what comes in through a socket."""
    config = configured(app)
    config.timeout_keep_alive = PATIENCE
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield
    finally:
        server.should_exit = True
        thread.join(20)
