"""What torchvision, timm and OpenCLIP have in common: names, silence and errors."""

import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

from zshash._warnings import warn_user

__all__ = ["check_known", "labelled", "quiet", "report_nothing"]

SWITCH = "HF_HUB_DISABLE_TELEMETRY"


def check_known(label: str, name: str, known: Sequence[str]) -> None:
    """Raise ValueError, with names that look alike, if a library does not have this name."""
    if name not in known:
        near = get_close_matches(name, known, n=5) or list(known)[:5]
        raise ValueError(f"{label}: no {name!r} there; some are {', '.join(near)}")


@contextmanager
def labelled(label: str) -> Iterator[None]:
    """Put the network's name in front of the messages of errors."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from error


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the libraries' messages about loading; errors are raised all the same."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def report_nothing() -> None:
    """Keep Hugging Face's client, which timm and OpenCLIP import, from reporting about its host."""
    if SWITCH in os.environ:
        return
    client = sys.modules.get("huggingface_hub.constants")  # reads the variable at its import
    if client is not None and not getattr(client, SWITCH, False):
        warn_user(
            "huggingface_hub was imported before zshash could switch its telemetry off: with each "
            "download it tells Hugging Face which software this machine runs. To prevent this, set "
            f"the environment variable {SWITCH}=1 before the program starts"
        )
    os.environ[SWITCH] = "1"
