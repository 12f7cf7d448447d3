"""Protocols, runs and the pages that show them."""

from zshash.evaluation.protocol import Protocol, Setup, run, summarize
from zshash.evaluation.selection import RetrievalScorer, Selection, select, select_on

__all__ = [
    "Protocol",
    "RetrievalScorer",
    "Selection",
    "Setup",
    "run",
    "select",
    "select_on",
    "summarize",
]
