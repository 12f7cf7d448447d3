"""A client of `zshash serve`: the collection on a server, searched as one on the disk."""

from zshash.client.client import Client
from zshash.client.connections import ServerError

__all__ = ["Client", "ServerError"]
