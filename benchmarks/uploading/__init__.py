"""Parts of `uploads.py`: pictures, requests with them, a client, and the server."""
