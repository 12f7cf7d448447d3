"""A small world for tests: pictures as features, and a network that knows what they show."""

from typing import NamedTuple

import numpy as np

from zshash.images import Categories
from zshash.learning.knowledge import learn_knowledge
from zshash.semantics import WordNet

SHOWN = {
    "n04285008": "sports car",
    "n03100240": "convertible",
    "n03770679": "minivan",
    "n03417042": "garbage truck",
    "n04461696": "tow truck",
    "n03345487": "fire engine",
    "n03673027": "ocean liner",
    "n03095699": "container ship",
    "n04147183": "schooner",
    "n02123045": "tabby",
    "n02124075": "Egyptian cat",
    "n02123394": "Persian cat",
    "n02088364": "beagle",
    "n02088238": "basset",
    "n02106030": "collie",
    "n02114367": "timber wolf",
    "n02114548": "white wolf",
    "n02012849": "crane (n02012849)",
    "n02007558": "flamingo",
    "n04120489": "running shoe",
    "n03680355": "Loafer",
    "n03047690": "clog",
    "n07753592": "banana",
    "n07747607": "orange",
    "n07749582": "lemon",
    "n04536866": "violin",
    "n02992211": "cello",
    "n02676566": "acoustic guitar",
    "n09428293": "seashore",
    "n09332890": "lakeside",
}
ABSENT = {  # what the network knows besides, and no picture shows
    "n03126707": "crane (n03126707)",
    "n01629819": "European fire salamander",
    "n01644373": "tree frog",
    "n01847000": "drake",
    "n02319095": "sea urchin",
    "n02410509": "bison",
    "n02640242": "sturgeon",
    "n02795169": "barrel",
    "n03016953": "chiffonier",
    "n03376595": "folding chair",
    "n03492542": "hard disc",
    "n03584254": "iPod",
    "n03775071": "mitten",
    "n03868863": "oxygen mask",
    "n04204238": "shopping basket",
    "n04317175": "stethoscope",
    "n04532670": "viaduct",
    "n07754684": "jackfruit",
    "n12267677": "acorn",
    "n04487394": "trombone",
    "n03967562": "plow",
    "n03032252": "cinema",
}
IDS = (*SHOWN, *ABSENT)
NAMES = (*SHOWN.values(), *ABSENT.values())
DIMENSION, SHARPNESS, RARE, EACH = 32, 25.0, 3.0, 20
TABBY, BEAGLE, WOLF = (NAMES.index(name) for name in ("tabby", "beagle", "timber wolf"))


class World(NamedTuple):
    """Features, codes of −1 and 1, what the network knows, and what each picture shows."""

    X: np.ndarray
    signs: np.ndarray
    network: Categories
    y: np.ndarray


def make_world(n_bits=48, each=EACH, seed=0, noise=0.6):
    """Pictures of all things that are shown, around centres that follow from their names."""
    vectors = WordNet(basis=IDS).embed(IDS).astype(np.float64)
    rng = np.random.RandomState(0)
    centres = vectors @ rng.randn(vectors.shape[1], DIMENSION)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    planes = rng.randn(DIMENSION, n_bits)
    biases = np.where(np.arange(len(IDS)) < len(SHOWN), 0.0, -RARE)
    network = Categories(IDS, NAMES, SHARPNESS * centres, biases)
    y = np.repeat(np.arange(len(SHOWN)), each)
    moves = np.random.RandomState(seed + 1).randn(len(y), DIMENSION) / np.sqrt(DIMENSION)
    X = (centres[y] + noise * moves).astype(np.float32)
    signs = np.where((X - centres.mean(axis=0)) @ planes >= 0, 1.0, -1.0).astype(np.float32)
    return World(X, signs, network, y)


def learn(world, labelled=None):
    return learn_knowledge(world.X, world.signs, world.network, labelled)
