"""What there is to run, a class for each kind."""

from zshash.experiments.reproduction.tasks.alignment import Alignment
from zshash.experiments.reproduction.tasks.base import Record, Task
from zshash.experiments.reproduction.tasks.convergence import Convergence
from zshash.experiments.reproduction.tasks.exemplars import Exemplars
from zshash.experiments.reproduction.tasks.naming import Naming
from zshash.experiments.reproduction.tasks.retrieval import Retrieval
from zshash.experiments.reproduction.tasks.transfer import Transfer

__all__ = [
    "TASKS",
    "Alignment",
    "Convergence",
    "Exemplars",
    "Naming",
    "Record",
    "Retrieval",
    "Task",
    "Transfer",
]

TASKS: dict[str, type[Task]] = {
    task.kind: task for task in (Retrieval, Convergence, Naming, Alignment, Transfer, Exemplars)
}
"""Kinds of tasks, by the name that a configuration gives them."""
