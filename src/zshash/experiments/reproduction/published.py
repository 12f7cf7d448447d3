"""Figures that the paper states, beside which ours are put.

Yang Yang, Weilun Chen, Yadan Luo, Fumin Shen, Jie Shao and Heng Tao Shen: *Zero-Shot Hashing via
Transferring Supervised Knowledge*, ACM Multimedia 2016. Its plots come without numbers; what its
text and its table state is here.
"""

__all__ = [
    "FIRST_OBJECTIVE",
    "LENGTHS",
    "MIRFLICKR_LEAD",
    "MIRFLICKR_MAP",
    "PRECISION_RELATED",
    "RIVALS",
    "SIMILARITY_AND_MAP",
    "SUPERVISED",
]

LENGTHS = (16, 32, 64, 96, 128)
"""Bits of the codes that it compares."""

RIVALS = ("COSDISH", "SDH", "KSH", "LFH", "IMH")
"""The methods that the paper compares ZSH with."""

SUPERVISED = RIVALS[:4]
"""Those of them that it compares with on ImageNet."""

SIMILARITY_AND_MAP = {
    "airplane": (0.2191, 0.2791),
    "automobile": (0.1567, 0.2603),
    "bird": (0.3565, 0.3751),
    "cat": (0.3661, 0.3621),
    "deer": (0.2981, 0.2912),
    "dog": (0.3826, 0.3467),
    "frog": (0.3485, 0.2991),
    "horse": (0.3015, 0.3125),
    "ship": (0.1663, 0.2987),
    "truck": (0.3358, 0.3120),
}
"""Average cosine to the other categories, and MAP of ZSH with the category unseen, CIFAR-10."""

PRECISION_RELATED = {32: 0.3262, 64: 0.2636, 96: 0.2129}
"""Precision in related categories of ZSH on ImageNet, by bits."""

MIRFLICKR_MAP = {128: 0.2488}
"""MAP of ZSH on MIRFlickr, by bits."""

MIRFLICKR_LEAD = 0.19
"""By how much that is above COSDISH."""

FIRST_OBJECTIVE = 30_000
"""Roughly the objective at the start, with 30,000 samples of ImageNet."""
