"""Names of categories as vectors of unit length, and the distance between names."""

from zshash.semantics.names import Source, UnknownNames, average_similarity
from zshash.semantics.sources import combine, open_source
from zshash.semantics.vectors import WordVectors
from zshash.semantics.wordnet import WordNet

__all__ = [
    "Source",
    "UnknownNames",
    "WordNet",
    "WordVectors",
    "average_similarity",
    "combine",
    "open_source",
]
