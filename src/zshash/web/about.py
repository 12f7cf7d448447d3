"""Facts about a collection for its clients: what it can do, its labels, and names to begin with."""

import logging
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

import zshash
from zshash.codes import unpack
from zshash.collection import Collection
from zshash.learning.model import Model
from zshash.semantics.names import normalise
from zshash.semantics.senses import senses
from zshash.web.errors import WRONG
from zshash.web.fields import MOST_K, MOST_LIMIT
from zshash.web.settings import Settings

__all__ = ["MOST_FILES", "About", "picture_network", "plain_names", "recognised"]

MOST_LABELS = 1000
MOST_FILES = 16  # pictures that one request may add
EXAMPLES = 12  # names to begin with
SAMPLED = 4096  # items that the examples are chosen for
ID = re.compile(r"n[0-9]{8}|.*\((n[0-9]{8})\)")
log = logging.getLogger("zshash.web")


class About:
    """Facts about a collection, as clients get them.

    Parameters
    ----------
    collection : Collection
    settings : Settings

    Attributes
    ----------
    is_whole : bool
        Whether the last facts lack nothing: names to begin with are missing while an index on
        another server does not answer.
    """

    def __init__(self, collection: Collection, settings: Settings) -> None:
        self._collection, self._settings = collection, settings
        self.is_whole = True
        self._examples: tuple[Model, int, list[str]] | None = None

    def facts(self, authorised: bool) -> dict[str, Any]:
        """Facts about the collection and the server, except what kinds of search there are."""
        facts, settings = self._collection.info(), self._settings
        model = self._collection.model
        return {
            "name": self._collection.path.name,
            "items": facts["items"],
            "bits": facts["bits"],
            "method": facts["method"],
            "extractor": facts["extractor"],
            "version": zshash.__version__,
            "generation": facts["generation"],
            "seen": list(model.seen),
            **self._labels(model),
            "n_unlearned": self._collection.n_unlearned,
            "examples": self._recognised(model, facts["generation"]),
            "thumbnails": bool(facts["thumbnails"]),
            "writable": settings.writable,
            "authorised": authorised,
            "limits": {
                "bytes": settings.bytes,
                "pixels": settings.pixels,
                "k": MOST_K,
                "page": MOST_LIMIT,
                "files": MOST_FILES,
            },
        }

    def _labels(self, model: Model) -> dict[str, Any]:
        """The most frequent labels, how many others there are, and what ids among names mean."""
        labels = self._collection.labels()
        unlabelled = labels.pop("", 0)
        shown = list(labels.items())[:MOST_LABELS]
        seen = set(map(normalise, model.seen))
        known = () if model.knowledge is None else model.knowledge.names
        names = plain_names([*(label for label, _ in shown), *model.seen, *known])
        return {
            "names": names,
            "labels": [
                {"label": label, "name": names.get(label, label), "items": n}
                | {"seen": normalise(label) in seen}
                for label, n in shown
            ],
            "n_labels": len(labels),
            "unlabelled": unlabelled,
        }

    def _recognised(self, model: Model, generation: int) -> list[str]:
        """Names of what the network recognises in most items, remembered until items change."""
        own = self._examples
        if own is None or own[0] is not model or own[1] != generation:
            try:
                own = self._examples = model, generation, recognised(self._collection)
            except (*WRONG, OSError) as error:  # an index on another server that does not answer
                log.warning("no names to begin with: %s", error)
                self.is_whole = False
                return []
        self.is_whole = True
        return own[2]


def recognised(collection: Collection) -> list[str]:
    """Names of known categories that items are expected to show, most items first."""
    view, ids = collection.view(), collection.ids
    knowledge = view.model.knowledge
    if knowledge is None or not len(knowledge) or not len(ids):
        return []
    codes = view.index.get(ids[:: -(-len(ids) // SAMPLED)])
    signs = 2.0 * unpack(codes, view.model.n_bits) - 1.0
    chances = signs @ knowledge.directions.T.astype(np.float64) + knowledge.intercepts
    expected = np.clip(chances, 0.0, 1.0).sum(axis=0)
    order = np.argsort(-expected, kind="stable")[:EXAMPLES]
    return [knowledge.names[i] for i in order if expected[i] >= 1.0]


def plain_names(labels: Iterable[str]) -> dict[str, str]:
    """What labels mean that are ids of WordNet, or have one in brackets behind them.

    >>> plain_names(["n02084071", "crane (n02012849)", "truck"])
    {'n02084071': 'dog', 'crane (n02012849)': 'crane (wading bird)'}
    >>> plain_names(["n02012849", "n03126707"])  # both are cranes
    {'n02012849': 'crane (wading bird)', 'n03126707': 'crane (lifting device)'}
    """
    coded = {label: found[1] or label for label in labels if (found := ID.fullmatch(label))}
    meant = {label: sense for label, id_ in coded.items() for sense in senses(id_)}
    n_called = Counter(sense.name for sense in meant.values())
    return {
        label: sense.text if label != sense.synset or n_called[sense.name] > 1 else sense.name
        for label, sense in meant.items()
    }


def picture_network(model: Model) -> tuple[bool, str]:
    """Whether there is a network for the model's features, and the reason if there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = model.picture_reader.network
    except (*WRONG, OSError) as error:
        log.warning("no search with pictures: %s", error)
        return False, "the network that made its features is not available on this server"
    if network.dimension == model.hasher.n_features_in_:
        return True, ""
    return False, "it was made from features of unknown origin"
