"""Packages of npm that `make browser` installs, outside of what git keeps."""

from pathlib import Path

__all__ = ["MODULES", "PLACES"]

MODULES = Path(__file__).parents[3] / "build" / "node_modules"
PLACES = Path(__file__).with_name("places.json")
"""Selectors of what the tests in Firefox look for on the page."""
