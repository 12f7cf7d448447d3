"""A server that sends the same bytes whatever it is asked."""

import socket
import threading

import pytest

__all__ = ["BUSY", "GOOD", "canned"]

GOOD = b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"items":3}'
BUSY = b"HTTP/1.1 429 Busy\r\nRetry-After: 0\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture
def canned():
    """Starts a server with the answers of each of its connections, which end with the last one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def start(*connections):
            def serve():
                for answers in connections:
                    connection, _ = listener.accept()
                    with connection:
                        for answer in answers:
                            if not connection.recv(65536):
                                break
                            connection.sendall(answer)

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            return f"http://127.0.0.1:{listener.getsockname()[1]}"

        yield start
