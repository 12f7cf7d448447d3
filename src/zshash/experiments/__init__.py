"""Protocols, runs and the pages that show them."""

from zshash.experiments.demo import Demo
from zshash.experiments.protocol import Protocol, Setup, run, summarize
from zshash.experiments.selection import RetrievalScorer, Selection, select, select_on

__all__ = [
    "Demo",
    "Protocol",
    "RetrievalScorer",
    "Selection",
    "Setup",
    "run",
    "select",
    "select_on",
    "summarize",
]
