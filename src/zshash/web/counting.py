"""Counts of requests and their times, in the format of Prometheus, for monitoring."""

from pathlib import Path
from time import perf_counter
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.process_collector import ProcessCollector

from zshash.web.guard import App, Receive, Scope, Send
from zshash.web.request_log import RequestLog
from zshash.web.totals import Totals

__all__ = ["CONTENT_TYPE", "Counts", "Meter"]

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS")


class Counts:
    """Counts since the start of the server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "zshash_requests_total",
            "Requests by route, method and status",
            ["route", "method", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "zshash_request_seconds",
            "Time that requests took",
            ["route"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._cells: dict[tuple[str, str, int], tuple[Any, Any]] = {}
        self._totals: Totals | None = None

    def watch(self, name: str, about: str, value: Any) -> None:
        """Add a number that `value()` returns whenever the counts are read."""
        Gauge(name, about, registry=self._registry).set_function(value)

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        key = (route, method if method in METHODS else "other", status)
        cells = self._cells.get(key)
        if cells is None:
            cells = self._requests.labels(*map(str, key)), self._seconds.labels(route)
            self._cells[key] = cells
        cells[0].inc()
        cells[1].observe(seconds)

    def share(self, folder: Path) -> None:
        """Add up the counts of all processes that share a folder, whenever the counts are read."""
        self._totals = Totals(folder, self._registry)

    def tell(self) -> None:
        """Tell the processes that share the counts those of this process."""
        if self._totals is not None:
            self._totals.write()

    def text(self) -> bytes:
        """All counts, in the format of Prometheus."""
        return generate_latest(self._totals or self._registry)


class Meter:
    """ASGI layer that counts requests, and writes them to the log if there is one."""

    def __init__(self, app: App, counts: Counts, log: RequestLog | None = None) -> None:
        self._app, self._counts, self._log = app, counts, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, n_bytes = perf_counter(), 0
        status = 499  # where the client goes before an answer begins

        async def send_noted(message: Any) -> None:
            nonlocal status, n_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                n_bytes += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            seconds = perf_counter() - started
            self._counts.count(route, scope["method"], status, seconds)
            if self._log is not None:
                n_bytes = 0 if scope["method"] == "HEAD" else n_bytes
                self._log.write(scope, status, n_bytes, seconds)
