"""A small collection of drawn pictures whose network knows names; few of them have labels."""

import numpy as np

from tests.web.browser.album import CATEGORIES, EACH, png
from zshash import ITQ, Collection
from zshash.datasets import Pictures
from zshash.images import PictureReader
from zshash.images.categories import Categories
from zshash.learning.knowledge import learn_knowledge
from zshash.learning.model import Model

DRAWN = {  # what the network takes the drawings for
    "automobile": ("n04285008", "sports car"),
    "truck": ("n03417042", "garbage truck"),
    "ship": ("n03673027", "ocean liner"),
    "cat": ("n02123045", "tabby"),
    "dog": ("n02088364", "beagle"),
    "wolf": ("n02114367", "timber wolf"),
}
ABSENT = {  # what it knows besides, and nobody has drawn
    "n03126707": "crane (n03126707)",
    "n02012849": "crane (n02012849)",
    "n01443537": "goldfish",
    "n01629819": "European fire salamander",
    "n01644373": "tree frog",
    "n01749939": "green mamba",
    "n01847000": "drake",
    "n02319095": "sea urchin",
    "n02410509": "bison",
    "n02640242": "sturgeon",
    "n02795169": "barrel",
    "n02814533": "beach wagon",
    "n03016953": "chiffonier",
    "n03179701": "desk",
    "n03376595": "folding chair",
    "n03492542": "hard disc",
    "n03584254": "iPod",
    "n03775071": "mitten",
    "n03868863": "oxygen mask",
    "n04204238": "shopping basket",
    "n04317175": "stethoscope",
    "n04532670": "viaduct",
    "n04536866": "violin",
    "n07754684": "jackfruit",
    "n12267677": "acorn",
}
LABELS = {"cat": "cat", "dog": "n02084071"}  # all others are without a label
BITS = 48
SHARPNESS, RARE = 40.0, 5.0


def make_knowing(folder):
    """A collection in ``folder/pets`` of pictures in ``folder/drawn``."""
    drawn = folder / "drawn"
    drawn.mkdir(parents=True)
    files = []
    for category in CATEGORIES:
        for seed in range(EACH):
            files.append(drawn / f"{category}{seed}.png")
            files[-1].write_bytes(png(category, seed))
    reader = PictureReader("pixels:8", cache=False)
    X = reader.features(Pictures(tuple(files))).X
    kinds = np.repeat(np.arange(len(CATEGORIES)), EACH)
    model = _model(X, kinds, reader)
    with Collection.create(folder / "pets", model, reader=reader) as pets:
        labels = [LABELS.get(CATEGORIES[kind]) for kind in kinds]
        pets.add([str(file) for file in files], labels=labels)
    return folder / "pets"


def _model(X, kinds, reader):
    hasher = ITQ(n_bits=BITS, random_state=0).fit(X)
    signs = np.where(hasher.project(X) >= 0, 1.0, -1.0).astype(np.float32)
    knowledge = learn_knowledge(X, signs, _categories(X, kinds))
    return Model(hasher, {"extractor": reader.facts()}, reader=reader, knowledge=knowledge)


def _categories(X, kinds):
    """A last layer that tells the drawings apart, and believes in nothing that is not drawn."""
    own = [DRAWN[category] for category in CATEGORIES]
    means = np.stack([X[kinds == kind].mean(axis=0) for kind in range(len(own))])
    apart = ((means[:, None] - means) ** 2).sum(axis=-1)
    means, X = means / np.sqrt(apart.max()), X / np.sqrt(apart.max())
    rest = means[np.arange(len(ABSENT)) % len(own)] + np.random.RandomState(0).randn(
        len(ABSENT), X.shape[1]
    ) / (5 * np.sqrt(X.shape[1]))
    centres = np.concatenate([means, rest])
    biases = -SHARPNESS * (centres**2).sum(axis=1) / 2
    biases[len(own) :] -= RARE
    ids, names = zip(*own, *ABSENT.items(), strict=True)
    return Categories(ids, names, SHARPNESS * centres / np.sqrt(apart.max()), biases)
