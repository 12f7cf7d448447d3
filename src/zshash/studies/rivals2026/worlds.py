"""The experiments: three worlds seen by one network, and two of them by a second one."""

from zshash.hashing.registry import METHODS
from zshash.studies.experiments import About
from zshash.studies.rivals2026.coders import CODERS
from zshash.studies.rivals2026.coding import EqualBytes
from zshash.studies.rivals2026.tables import show

__all__ = ["EXPERIMENTS"]

CIFAR10 = """
unseen = ["truck", "cat", "airplane", "ship", "deer"]
in_turn = true
n_train = 10_000
n_queries = 1000
n_seen_queries = 1000
k = 5000
labels = ["words/huang2012_50d.txt"]
"""
TINY = """
unseen = 10
n_train = 10_000
n_queries = 500
n_seen_queries = 500
k = 1000
labels = ["wordnet"]
"""
CLIPART = """
unseen = 3
n_train = 2500
n_queries = 300
n_seen_queries = 300
k = 200
labels = ["wordnet"]
"""
MAIN, SHORT = "[32, 64, 128]", "[64]"
PHOTOS = {"features/cifar10_lite0_pca256.npz": CIFAR10, "features/tiny100_lite0_pca256.npz": TINY}
DRAWINGS = {"build/features/clipart_lite0_pca256.npz": CLIPART}
LITE2 = {
    "build/features/cifar10_lite2_pca256.npz": CIFAR10,
    "build/features/clipart_lite2_pca256.npz": CLIPART,
}
BEFORE_2026 = [name for name in METHODS if name != "MTH"]
POOLED = [name for name in BEFORE_2026 if METHODS[name].estimator.learns_unlabelled]


def _part(data: str, world: str, bits: str, varied: str, more: str = "") -> str:
    return f"""
[[parts]]
task = "equal-bytes"
data = "{data}"{world}{more}
[parts.vary]
bits = {bits}
{varied}
"""


def _parts(worlds: dict[str, str], bits: str) -> str:
    """All coders on these worlds, each inductive and, where it can, with unlabelled pictures."""
    texts = []
    for data, world in worlds.items():
        for unlabelled, methods in ((False, BEFORE_2026), (True, POOLED)):
            pool = f"unlabelled = {str(unlabelled).lower()}"
            for effort in ("best", "fast"):
                own = f'{pool}\nmethod = "MTH"\nparameters = {{ effort = "{effort}" }}'
                texts.append(_part(data, world, bits, "", own))
            texts.append(_part(data, world, bits, f"method = {methods}", pool))
            texts.append(_part(data, world, bits, f"coder = {list(CODERS)}", pool))
    return "".join(texts)


def _runs(title: str, worlds: dict[str, str], bits: str, seeds: int) -> str:
    return f"""
title = "{title}"
seeds = {seeds}
quick_seeds = 1

[parameters.KSH]
n_anchors = 1000
{_parts(worlds, bits)}
[[quick]]
task = "equal-bytes"
data = "digits"
unseen = 2
n_train = 300
n_queries = 50
n_seen_queries = 50
k = 100
[quick.vary]
bits = [32]
method = ["MTH", "ITQ", "LSH"]

[[quick]]
task = "equal-bytes"
data = "digits"
unseen = 2
n_train = 300
n_queries = 50
n_seen_queries = 50
k = 100
[quick.vary]
bits = [32]
coder = ["floats", "PCA signs"]
"""


EXPERIMENTS = (
    About(
        "rivals",
        _runs("Photographs, EfficientNet-Lite0", PHOTOS, MAIN, 5),
        "CIFAR-10 (each seed hides one of five categories) and 100 categories of Tiny-ImageNet "
        "(each seed hides ten), features reduced to 256 dimensions.",
        show,
        kinds=(EqualBytes,),
    ),
    About(
        "rivals-clipart",
        _runs("Drawings, EfficientNet-Lite0", DRAWINGS, MAIN, 5),
        "Drawings of the Open Clip Art Library, far from the photographs that the network was "
        "trained on; each seed hides three categories.",
        show,
        kinds=(EqualBytes,),
    ),
    About(
        "rivals-lite2",
        _runs("EfficientNet-Lite2", LITE2, SHORT, 2),
        "The same worlds through a larger network. There are no pictures of Tiny-ImageNet at hand "
        "to extract its features from.",
        show,
        kinds=(EqualBytes,),
    ),
)
