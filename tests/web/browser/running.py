"""A server in a thread."""

import socket
import threading
import time
from contextlib import contextmanager

from zshash.web import Settings, create_app


@contextmanager
def running(folder, **settings):
    """The address of a server over a collection, for as long as it is needed."""
    import uvicorn  # not everybody has it

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        app = create_app(folder, Settings(port=port, **settings))
        config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(20)
