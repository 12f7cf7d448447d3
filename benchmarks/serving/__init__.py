"""Parts of the benchmark of the server."""
