"""Retrieved pictures."""

from pathlib import Path

from zshash.experiments.reproduction.report.document import Block, Gallery, GalleryRow, Picture
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.tasks import Record

__all__ = ["exemplars", "picture_path"]


def picture_path(folder: Path, data: str, row: int) -> Path:
    """Where the picture of a row is kept."""
    return folder / Path(data).name / f"{row}.png"


def exemplars(found: Findings, folder: Path) -> list[Block]:
    """A gallery for each query: a row for each method."""
    shown = [(result, run) for result in found.results for run in result.runs if "queries" in run]
    if not shown:
        return []
    galleries: list[Block] = []
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
