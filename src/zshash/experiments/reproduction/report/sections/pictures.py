"""Retrieved pictures."""

from pathlib import Path

from zshash.experiments.reproduction.pictures import picture_path
from zshash.experiments.reproduction.report import statistics
from zshash.experiments.reproduction.report.document import (
    Block,
    Gallery,
    GalleryRow,
    Picture,
    Table,
)
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.tasks import Record

__all__ = ["exemplars"]


def exemplars(found: Findings, folder: Path) -> list[Block]:
    """The share of right pictures, and a gallery for each query of the first seed."""
    shown = [(result, run) for result in found.results for run in result.runs if run["seed"] == 0]
    shown = [(result, run) for result, run in shown if "queries" in run]
    if not shown:
        return []
    ranks = found.results[0].task.facts()["k"]
    shares = [
        [result.task.method, statistics.shown(result.values("precision_at"))]
        for result in found.results
    ]
    head = ["", f"right among the first {ranks}, all queries"]
    galleries: list[Block] = [Table(head, shares)]
    for place, row in enumerate(shown[0][1]["queries"]):
        name = shown[0][1]["names"][place]
        rows = [
            _row(result.task.method, run, place, folder, result.task.facts()["pictures"])
            for result, run in shown
            if run["queries"][place] == row
        ]
        galleries.append(Gallery(f"Query {place + 1}: {name}, row {row}", rows))
    return galleries


def _row(method: str, run: Record, place: int, folder: Path, data: str) -> GalleryRow:
    query = Picture(picture_path(folder, data, run["queries"][place]), run["names"][place])
    found = zip(
        run["found"][place],
        run["distances"][place],
        run["right"][place],
        run["found_names"][place],
        strict=True,
    )
    pictures = [
        Picture(picture_path(folder, data, row), name, right, str(distance))
        for row, distance, right, name in found
    ]
    return GalleryRow(method, query, pictures)
