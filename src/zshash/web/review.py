"""Groups of copies for a person to look at, found in the background and kept up to date.

A process of its own finds them. What was removed since, or is kept whole, is left out without
looking for copies again; only items that have come make the search begin anew.
"""

import json
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from zshash.collection.operations.reviewing import group_key
from zshash.web.errors import ApiError
from zshash.web.jobs import Job, JobState
from zshash.web.orders import DuplicatesQuery
from zshash.web.served import ServedCollection

__all__ = ["LEVELS", "Review"]

LEVELS = ("same", "alike")
RETRY_AFTER = 60.0  # seconds after a failure before an unchanged collection is tried again


class Review:
    """Groups of copies of a collection.

    Parameters
    ----------
    served : ServedCollection
    place : Path
        Folder that the processes of a server share.
    """

    def __init__(self, served: ServedCollection, place: Path) -> None:
        self._served, self._collection = served, served.collection
        folder = self._collection.path
        self._jobs = {
            level: Job(folder, place, f"duplicates-{level}", served.limits) for level in LEVELS
        }
        self._read: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {}
        self._mutex = threading.Lock()

    def page(self, query: DuplicatesQuery) -> dict[str, Any]:
        """State of the search for copies, and a page of groups that nobody has looked at."""
        result, state = self._latest(query.level)
        groups = self._groups(query.level, result)
        shown = groups[query.offset : query.offset + query.limit]
        words = {"idle": "computing", "running": "computing", "done": "ready"}
        return {
            "state": words.get(state.state, state.state),
            "done": state.done,
            "text": state.text,
            "total": len(groups),
            "unknown": 0 if result is None else result["unknown"],
            "offset": query.offset,
            "limit": query.limit,
            "groups": [self._portrait(group) for group in shown],
        }

    def _latest(self, level: str) -> tuple[dict[str, Any] | None, JobState]:
        """The last result, and the state of the job, which begins if the result is old."""
        job, generation = self._jobs[level], self._collection.generation
        state, result = job.state(), self._result(level)
        is_new = result is not None and self._holds_all(result)
        if is_new and state.state != "running":
            return result, JobState("done", done=1.0)
        if state.state == "running":
            return result, state
        if state.state == "failed" and state.generation == generation and self._is_recent(job):
            return result, state
        return result, job.start(generation)

    def _is_recent(self, job: Job) -> bool:
        with suppress(OSError):
            return time.time() - job.path.stat().st_mtime < RETRY_AFTER
        return False

    def _result(self, level: str) -> dict[str, Any] | None:
        """What the job has found; it is read again when the file has changed."""
        path = self._jobs[level].result
        with self._mutex, suppress(OSError, ValueError):
            status = path.stat()
            seen = status.st_ino, status.st_mtime_ns
            if level not in self._read or self._read[level][0] != seen:
                facts = json.loads(path.read_bytes())
                facts["ids"] = np.array(facts["ids"], dtype=np.int64)
                self._read[level] = seen, facts
            return self._read[level][1]
        return None

    def _holds_all(self, result: dict[str, Any]) -> bool:
        """Whether no item has come since the search."""
        return bool(np.isin(self._collection.ids, result["ids"]).all())

    def _groups(self, level: str, result: dict[str, Any] | None) -> list[dict[str, Any]]:
        """Groups without items that are gone, and without those that are kept whole."""
        if result is None:
            return []
        known, there = self._collection.reviewed(), set(self._collection.ids.tolist())
        found = []
        for group in result["groups"]:
            marks = {number: mark for number, mark in group["items"] if number in there}
            if len(marks) > 1 and list(marks.values()) not in known:
                keep = group["keep"] if group["keep"] in marks else None
                if keep is None and level == "same":
                    keep = min(marks)
                key = group_key(marks.values())
                found.append(
                    {"key": key, "level": group["level"], "keep": keep, "ids": list(marks)}
                )
        return found

    def _portrait(self, group: dict[str, Any]) -> dict[str, Any]:
        ids = np.array(group["ids"], dtype=np.int64)
        facts = {name: group[name] for name in ("key", "level", "keep")}
        return facts | {"items": self._served.portraits(ids)}

    def keep(self, key: str) -> dict[str, Any]:
        """Keep all items of a group: it is not shown again."""
        for level in LEVELS:
            for group in self._groups(level, self._result(level)):
                if group["key"] == key:
                    kept = self._collection.keep_group(group["ids"])
                    return {"key": kept}
        raise ApiError(404, f"there is no group with the key {key!r} to keep")

    def forget(self, key: str) -> dict[str, Any]:
        """Undo `keep`."""
        self._collection.forget_group(key)
        return {"key": key}

    def close(self) -> None:
        """End the search for copies."""
        for job in self._jobs.values():
            job.close()
