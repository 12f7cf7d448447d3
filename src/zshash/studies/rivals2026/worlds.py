"""The experiments: three worlds seen by one network, and two of them by a second one."""

from collections.abc import Collection, Sequence

from zshash.hashing.registry import METHODS
from zshash.studies.experiments import About
from zshash.studies.rivals2026.coders import CODERS
from zshash.studies.rivals2026.coding import EqualBytes
from zshash.studies.rivals2026.long import show_long
from zshash.studies.rivals2026.tables import show
from zshash.studies.rivals2026.timing import SearchTime

__all__ = ["EXPERIMENTS"]

VARIANTS = '{ effort = "best" }', '{ effort = "fast" }', '{ codes = "pq" }'

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
data = "clipart"
unseen = 8
n_train = 1000
n_queries = 100
n_seen_queries = 100
k = 100
labels = ["wordnet"]
"""
PHOTOS = (
    f'data = "features/cifar10_lite0_pca256.npz"{CIFAR10}',
    f'data = "features/tiny100_lite0_pca256.npz"{TINY}',
)
DRAWINGS = (CLIPART,)
LARGER = 'extractor = "efficientnet-lite2"\n'
LITE2 = (
    f'data = "build/features/cifar10_lite2.npz"\nreduced = 256{CIFAR10}',
    f"{LARGER}{CLIPART}",
)
MAIN, SHORT = [32, 64, 128], [64]

LARGE, LARGE_BITS = "RaBitQ, whitened", 128  # its two numbers leave no byte for shorter codes
SLOW = "LSQ, whitened"  # 32 bytes take it several minutes, 64 far more
NARROW = [LARGE, "PCA signs", "PCA signs, whitened", "ITQ", "CCAITQ", "AGH", "DGH", "IMH"]
WITHOUT = {256: [SLOW], 512: [SLOW, *NARROW]}  # what can not make that many bits of 256 numbers
BLIND = 'method = ["GreedyHash"]\nparameters = [{ supervised = false }]'
RIVALS = [name for name in METHODS if name != "MTH"]


def _parts(worlds: Sequence[str], bits: Sequence[int]) -> str:
    """All coders on these worlds, each inductive and, where it can, with unlabelled pictures."""
    return "".join(
        _part(world, unlabelled, own, varied)
        for world in worlds
        for unlabelled in (False, True)
        for own, varied in _coders(unlabelled, bits)
    )


def _long_parts(world: str) -> str:
    """The coders of `_parts` on one world, and those that can make longer codes."""
    return _parts([world], MAIN) + "".join(
        _part(world, unlabelled, own, varied)
        for bits, without in WITHOUT.items()
        for unlabelled in (False, True)
        for own, varied in _coders(unlabelled, [bits], without)
    )


def _coders(
    unlabelled: bool, bits: Sequence[int], without: Collection[str] = ()
) -> list[tuple[Sequence[int], str]]:
    """Code lengths and coders of each part: MTH in its variants, methods, quantisers."""
    able = [own for own in RIVALS if METHODS[own].estimator().learns_unlabelled]
    methods = [own for own in (able if unlabelled else RIVALS) if own not in without]
    coders = [name for name, own in CODERS.items() if not (unlabelled and own.needs_labels)]
    usual = [name for name in coders if name not in {LARGE, *without}]
    long = [length for length in bits if length >= LARGE_BITS and LARGE not in without]
    variants = [f'method = ["MTH"]\nparameters = [{own}]' for own in VARIANTS]
    blind = [BLIND] if unlabelled else []
    varied = (*variants, f"method = {methods}", *blind, f"coder = {usual}")
    parts = [(bits, own) for own in varied]
    return [*parts, (long, f'coder = ["{LARGE}"]')] if long else parts


def _part(
    world: str, unlabelled: bool, bits: Sequence[int], varied: str, task: str = "equal-bytes"
) -> str:
    return f"""
[[parts]]
task = "{task}"
unlabelled = {str(unlabelled).lower()}
{world}
[parts.vary]
bits = {list(bits)}
{varied}
"""


def _runs(title: str, parts: str, seeds: int) -> str:
    return f"""
title = "{title}"
seeds = {seeds}
quick_seeds = 1

[parameters.KSH]
n_anchors = 1000
{parts}
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
method = "MTH"
bits = 32
parameters = {{ codes = "pq" }}

[[quick]]
task = "equal-bytes"
data = "digits"
unseen = 2
n_train = 300
n_queries = 50
n_seen_queries = 50
k = 100
unlabelled = true
[quick.vary]
bits = [32, 64]
coder = ["floats", "PQ", "PCA signs"]
"""


TIMES = """
[[parts]]
task = "search-time"
[parts.vary]
coding = ["bits", "bits by bits", "parts", "PQ"]
bits = [32, 64, 128, 256, 512]

[[parts]]
task = "search-time"
coding = "floats"
bits = 256
"""

EXPERIMENTS = (
    About(
        "rivals",
        _runs("Photographs, EfficientNet-Lite0", _parts(PHOTOS, MAIN), 5),
        "CIFAR-10 (each seed hides one of five categories) and 100 categories of Tiny-ImageNet "
        "(each seed hides ten), features reduced to 256 dimensions.",
        show,
        kinds=(EqualBytes,),
    ),
    About(
        "rivals-clipart",
        _runs("Drawings, EfficientNet-Lite0", _parts(DRAWINGS, MAIN), 5),
        "Drawings of the Open Clip Art Library, far from the photographs that the network was "
        "trained on: 2,242 drawings of 40 categories, of which each seed hides eight, with all "
        "1,280 features.",
        show,
        kinds=(EqualBytes,),
    ),
    About(
        "rivals-lite2",
        _runs("EfficientNet-Lite2", _parts(LITE2, SHORT), 2),
        "The same worlds through a larger network; CIFAR-10 reduced to 256 dimensions by the "
        "principal axes of the training pictures. There are no pictures of Tiny-ImageNet at hand "
        "to extract its features from.",
        show,
        kinds=(EqualBytes,),
    ),
    About(
        "rivals-long",
        _runs("From 4 to 64 bytes, and the time of a search", _long_parts(PHOTOS[1]) + TIMES, 1),
        "Codes of Tiny-ImageNet from 4 to 64 bytes, one seed. At 64 bytes those are missing that "
        "need a dimension or an anchor for each bit, and from 32 bytes on LSQ, which takes long. "
        "Searches are timed with a million clustered vectors, one thread, 64 queries at once, 100 "
        "results; the time is that of the processor. OPQ is searched by `IndexPQ` of faiss, the "
        "parts of MTH by `ProductIndex`. Features as they are take 256 numbers of 4 bytes.",
        show_long,
        kinds=(SearchTime,),
    ),
)
