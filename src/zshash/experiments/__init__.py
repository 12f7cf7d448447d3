"""Protocols, runs and the pages that show them."""

from zshash.experiments.demo import Demo
from zshash.experiments.protocol import Protocol, Setup, run, summarize

__all__ = ["Demo", "Protocol", "Setup", "run", "summarize"]
