"""The paper's experiments, re-run: configuration → tasks → results → report."""

from zshash.experiments.reproduction.configuration import (
    NAMES,
    Changes,
    Experiment,
    read_experiment,
)
from zshash.experiments.reproduction.data import Sources
from zshash.experiments.reproduction.reproduction import Reproduction
from zshash.experiments.reproduction.running import available_cores

__all__ = [
    "NAMES",
    "Changes",
    "Experiment",
    "Reproduction",
    "Sources",
    "available_cores",
    "read_experiment",
]
