"""Pictures of exemplars, kept beside the results so that a report needs no data."""

from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash._files import write_whole
from zshash.experiments.page import png
from zshash.experiments.reproduction.configuration import Experiment
from zshash.experiments.reproduction.data import Sources, open_pictures
from zshash.experiments.reproduction.results import Results
from zshash.experiments.reproduction.tasks import Exemplars

__all__ = ["keep_pictures", "picture_path"]

SIDE = 128  # at most, of a photograph


def picture_path(folder: Path, data: str, row: int) -> Path:
    """Where the picture of a row is kept."""
    return folder / Path(data).name / f"{row}.png"


def keep_pictures(experiment: Experiment, results: Results, folder: Path, sources: Sources) -> None:
    """Write the pictures that an experiment's exemplars show, those that are not there yet."""
    for task in experiment.tasks:
        if isinstance(task, Exemplars):
            for run in results.read(task).runs[:1]:  # the first seed is shown
                rows = {*run.get("queries", []), *chain.from_iterable(run.get("found", []))}
                _keep(task, rows, folder, sources)


def _keep(task: Exemplars, rows: set[int], folder: Path, sources: Sources) -> None:
    name = task.facts()["pictures"]  # by which the report looks for them
    missing = [row for row in sorted(rows) if not picture_path(folder, name, row).exists()]
    if missing:
        pixels = _pixels(task.pictures, missing, sources)
        picture_path(folder, name, 0).parent.mkdir(parents=True, exist_ok=True)
        for row, image in zip(missing, pixels, strict=True):
            write_whole(picture_path(folder, name, row), png(image))


def _pixels(name: str, rows: list[int], sources: Sources) -> list[NDArray[np.uint8]]:
    pictures = open_pictures(name, sources).select(np.array(rows))
    if isinstance(pictures.sources, np.ndarray):
        return list(pictures.sources)
    return [_small(path) for path in pictures.sources]


def _small(path: Path) -> NDArray[np.uint8]:
    from zshash.images.decoding import decode

    image = decode(path, side=SIDE)
    image.thumbnail((SIDE, SIDE))
    return np.asarray(image)
