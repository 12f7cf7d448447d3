"""Numbers of all processes of a server together, for monitoring.

Each process writes its own numbers into a file of the folder that all of them share, a few times a
second. Whichever process is asked adds the files up. The file of a process that has died stays, so
that counts never fall.
"""

import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

__all__ = ["Totals"]

SAME = ("zshash_items", "process_start_time_seconds", "process_max_fds")  # largest, not the sum


class Totals(Collector):
    """Sums of the numbers that all processes have written.

    Parameters
    ----------
    folder : Path
        The folder that the processes share.
    own : CollectorRegistry
        The numbers of this process.
    """

    def __init__(self, folder: Path, own: CollectorRegistry) -> None:
        self._folder, self._own = folder / "counts", own
        self._folder.mkdir(mode=0o700, exist_ok=True)

    def write(self) -> None:
        """Write the numbers of this process for the others."""
        path = self._folder / f"{os.getpid()}.json"
        unfinished = path.with_suffix(f".{threading.get_ident()}")
        unfinished.write_text(json.dumps([_told(one) for one in self._own.collect()]))
        unfinished.replace(path)

    def collect(self) -> Iterator[Metric]:
        """All numbers, added up."""
        self.write()
        metrics: dict[str, Metric] = {}
        values: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
        for name, about, kind, samples in self._written():
            metrics.setdefault(name, Metric(name, about, kind))
            own = values.setdefault(name, {})
            for sample, labels, value in samples:
                key = sample, tuple(sorted(labels.items()))
                own[key] = max(own.get(key, 0), value) if name in SAME else own.get(key, 0) + value
        for name, metric in metrics.items():
            for (sample, labels), value in values[name].items():
                if not sample.endswith("_created"):
                    metric.add_sample(sample, dict(labels), value)
            yield metric

    def _written(self) -> Iterable[Any]:
        for path in sorted(self._folder.glob("*.json")):
            with suppress(OSError, ValueError):
                metrics = json.loads(path.read_bytes())
                yield from metrics if _is_alive(path) else filter(_is_count, metrics)


def _told(metric: Metric) -> list[Any]:
    samples = [[sample.name, sample.labels, sample.value] for sample in metric.samples]
    return [metric.name, metric.documentation, metric.type, samples]


def _is_count(metric: Any) -> bool:
    """Whether a metric still counts when its process has ended, unlike the memory in use."""
    return metric[2] in ("counter", "histogram")


def _is_alive(path: Path) -> bool:
    try:
        os.kill(int(path.stem), 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
