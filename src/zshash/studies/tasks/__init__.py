"""Kinds of tasks that several experiments share; a configuration chooses one by ``task``."""

from zshash.studies.tasks.base import MethodTask, chance
from zshash.studies.tasks.retrieval import Retrieval, ZeroShot, related_histograms, relation

__all__ = ["MethodTask", "Retrieval", "ZeroShot", "chance", "related_histograms", "relation"]
