"""What `uploads.py` is made of: pictures, requests with them, a client, and the server."""
