"""Pictures of exemplars, kept beside the results so that a report needs no data."""

from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash._files import write_whole
from zshash.experiments.page import png
from zshash.experiments.reproduction.configuration import Experiment
from zshash.experiments.reproduction.data import Sources, open_pictures
from zshash.experiments.reproduction.report.sections.pictures import picture_path
from zshash.experiments.reproduction.results import Results
from zshash.experiments.reproduction.tasks import Exemplars

__all__ = ["keep_pictures"]


def keep_pictures(experiment: Experiment, results: Results, folder: Path, sources: Sources) -> None:
    """Write the pictures that an experiment's exemplars show, those that are not there yet."""
    for task in experiment.tasks:
        if isinstance(task, Exemplars):
            for run in results.read(task).runs:
                rows = {*run.get("queries", []), *chain.from_iterable(run.get("found", []))}
                _keep(task.pictures, rows, folder, sources)


def _keep(name: str, rows: set[int], folder: Path, sources: Sources) -> None:
    missing = [row for row in sorted(rows) if not picture_path(folder, name, row).exists()]
    if missing:
        pixels = _pixels(name, missing, sources)
        picture_path(folder, name, 0).parent.mkdir(parents=True, exist_ok=True)
        for row, image in zip(missing, pixels, strict=True):
            write_whole(picture_path(folder, name, row), png(image))


def _pixels(name: str, rows: list[int], sources: Sources) -> list[NDArray[np.uint8]]:
    pictures = open_pictures(name, sources).select(np.array(rows))
    if isinstance(pictures.sources, np.ndarray):
        return list(pictures.sources)
    from zshash.images.decoding import Limits, decode

    return [np.asarray(decode(path.read_bytes(), Limits(), 64)) for path in pictures.sources]
