"""The HTTP service over a collection, and its page."""

from zshash._extras import needs

with needs("web"):
    from zshash.web.app import create_app
    from zshash.web.run import serve
    from zshash.web.settings import Settings

__all__ = ["Settings", "create_app", "serve"]
