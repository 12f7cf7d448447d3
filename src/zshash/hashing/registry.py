"""The methods there are: whose they are, what they learn from, and what is worth trying.

A grid lists values of the parameters that matter. Choose among them with seen categories only,
some of them held out as if they were unseen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zshash import _extras
from zshash.hashing.agh import AGH
from zshash.hashing.bihalf import BiHalf
from zshash.hashing.cnnh import CNNH
from zshash.hashing.cosdish import COSDISH
from zshash.hashing.csq import CSQ
from zshash.hashing.dgh import DGH
from zshash.hashing.dpn import DPN
from zshash.hashing.greedyhash import GreedyHash
from zshash.hashing.hasher import Hasher
from zshash.hashing.imh import IMH
from zshash.hashing.itq import CCAITQ, ITQ
from zshash.hashing.ksh import KSH
from zshash.hashing.lfh import LFH
from zshash.hashing.lsh import LSH
from zshash.hashing.mlh import MLH
from zshash.hashing.mth import MTH
from zshash.hashing.orthohash import OrthoHash
from zshash.hashing.sdh import SDH
from zshash.hashing.smmh import SMMH
from zshash.hashing.spectral import SpectralHashing
from zshash.hashing.ssh import SSH
from zshash.hashing.steps.heads import EXTRA
from zshash.hashing.zsh import ZSH

UNSUPERVISED, PAIRWISE, LABEL, SEMANTIC = "unsupervised", "pairwise", "label", "semantic"
LATER = {"codes": "bits"}
"""Parameters that came after runs were published, and the value that the methods had until then."""


@dataclass(frozen=True)
class Method:
    """One hashing method.

    Attributes
    ----------
    estimator : type
        Its class.
    year : int
    kind : {"unsupervised", "pairwise", "label", "semantic"}
        What it learns from: nothing but features, which samples share a label, the labels
        themselves, or what the labels' names mean.
    citation : str
    grid : mapping
        Values worth trying, by parameter.
    extra : str
        The extra of zshash that a fit needs, or "". A fitted one needs nothing.
    """

    estimator: type[Hasher]
    year: int
    kind: str
    citation: str
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    extra: str = ""

    @property
    def name(self) -> str:
        """The name of its class, under which it is known everywhere."""
        return self.estimator.__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters with their defaults."""
        parameters: dict[str, Any] = self.estimator().get_params()
        return parameters

    @property
    def is_available(self) -> bool:
        """Whether all that a fit needs is installed."""
        return not self.extra or _extras.is_installed(self.extra)

    def check(self) -> None:
        """Raise MissingExtra, before any work, if a package that a fit needs is not installed."""
        if self.extra:
            _extras.check(self.extra)


def methods() -> dict[str, Method]:
    """All methods by name, the zero-shot ones first and then from the newest to the oldest.

    Examples
    --------
    >>> import zshash
    >>> [name for name, method in zshash.methods().items() if method.kind == "label"]
    ['OrthoHash', 'CSQ', 'DPN', 'GreedyHash', 'SDH', 'SMMH', 'CCAITQ']
    >>> zshash.methods()["KSH"].parameters["n_anchors"]
    300
    """
    return dict(METHODS)


_ALL = (
    Method(
        ZSH,
        2016,
        SEMANTIC,
        "Y. Yang, W. Chen, Y. Luo, F. Shen, J. Shao, H. T. Shen: Zero-Shot Hashing via "
        "Transferring Supervised Knowledge. ACM Multimedia 2016",
        {"alpha": (1e-5, 1e-3, 1e-1), "gamma": (0.0, 1e-6, 1e-4), "lam": (1e-2, 1.0)},
    ),
    Method(
        MTH,
        2026,
        SEMANTIC,
        "The authors of zshash: Metric-Transfer Hashing. Documentation of zshash, 2026",
        {
            "shrinkage": (0.02, 0.2, 2.0),
            "imaginary": (0.0, 0.25, 0.5),
            "novelty": (0.0, 0.03, 0.1),
        },
    ),
    Method(
        OrthoHash,
        2021,
        LABEL,
        "J. T. Hoe, K. W. Ng, T. Zhang, C. S. Chan, Y.-Z. Song, T. Xiang: One Loss for All: Deep "
        "Hashing with a Single Cosine Similarity based Learning Objective. NeurIPS 2021",
        {"rate": (3e-4, 1e-3, 3e-3), "margin": (0.0, 0.2, 0.5), "n_units": (0, 1024)},
        EXTRA,
    ),
    Method(
        BiHalf,
        2021,
        UNSUPERVISED,
        "Y. Li, J. van Gemert: Deep Unsupervised Image Hashing by Maximizing Bit Entropy. AAAI "
        "2021",
        {"rate": (3e-4, 1e-3, 3e-3), "gamma": (0.1, 1.0, 6.0), "n_units": (0, 1024)},
        EXTRA,
    ),
    Method(
        CSQ,
        2020,
        LABEL,
        "L. Yuan, T. Wang, X. Zhang, F. E. Tay, Z. Jie, W. Liu, J. Feng: Central Similarity "
        "Quantization for Efficient Image and Video Retrieval. CVPR 2020",
        {"rate": (3e-4, 1e-3, 3e-3), "lam": (1e-4, 1e-2, 1.0), "n_units": (0, 1024)},
        EXTRA,
    ),
    Method(
        DPN,
        2020,
        LABEL,
        "L. Fan, K. W. Ng, C. Ju, T. Zhang, C. S. Chan: Deep Polarized Network for Supervised "
        "Learning of Accurate Binary Hashing Codes. IJCAI 2020",
        {"rate": (3e-4, 1e-3, 3e-3), "adaptive": (False, True), "n_units": (0, 1024)},
        EXTRA,
    ),
    Method(
        GreedyHash,
        2018,
        LABEL,
        "S. Su, C. Zhang, K. Han, Y. Tian: Greedy Hash: Towards Fast Optimization for Accurate "
        "Hash Coding in CNN. NeurIPS 2018",
        {"rate": (3e-4, 1e-3, 3e-3), "alpha": (0.1, 1.0, 10.0), "n_units": (0, 1024)},
        EXTRA,
    ),
    Method(
        COSDISH,
        2016,
        PAIRWISE,
        "W.-C. Kang, W.-J. Li, Z.-H. Zhou: Column Sampling Based Discrete Supervised Hashing. "
        "AAAI 2016",
        {"n_columns": (None, 128), "solver": ("greedy", "exact"), "ridge": (1.0, 100.0)},
    ),
    Method(
        SDH,
        2015,
        LABEL,
        "F. Shen, C. Shen, W. Liu, H. T. Shen: Supervised Discrete Hashing. CVPR 2015",
        {"nu": (1e-5, 1e-4, 1e-3, 1e-2), "mu": (1e-2, 1.0), "loss": ("l2", "hinge")},
    ),
    Method(
        CNNH,
        2014,
        PAIRWISE,
        "R. Xia, Y. Pan, H. Lai, C. Liu, S. Yan: Supervised Hashing for Image Retrieval via Image "
        "Representation Learning. AAAI 2014",
        {"classes": (False, True), "n_steps": (500, 2000), "rate": (1e-3, 3e-3)},
    ),
    Method(
        DGH,
        2014,
        UNSUPERVISED,
        "W. Liu, C. Mu, S. Kumar, S.-F. Chang: Discrete Graph Hashing. NIPS 2014",
        {"rho": (0.01, 0.1, 1.0), "init": ("agh", "rotated"), "n_nearest": (2, 3, 5)},
    ),
    Method(
        LFH,
        2014,
        PAIRWISE,
        "P. Zhang, W. Zhang, W.-J. Li, M. Guo: Supervised Hashing with Latent Factor Models. "
        "SIGIR 2014",
        {"lam": (0.01, 0.1, 1.0), "n_columns": (None, 128), "beta": (None, 1.0, 30.0)},
    ),
    Method(
        SMMH,
        2014,
        LABEL,
        "F. Wu, Z. Yu, Y. Yang, S. Tang, Y. Zhang, Y. Zhuang: Sparse Multi-Modal Hashing. IEEE "
        "Transactions on Multimedia 16 (2), 2014",
        {
            "sparsity": (0.1, 0.3, 0.5, 0.8),
            "smoothness": (0.3, 3.0, 10.0),
            "threshold": ("support", "median"),
        },
    ),
    Method(
        IMH,
        2013,
        UNSUPERVISED,
        "F. Shen, C. Shen, Q. Shi, A. van den Hengel, Z. Tang: Inductive Hashing on Manifolds. "
        "CVPR 2013",
        {"embedding": ("tsne", "le"), "n_nearest": (3, 5), "perplexity": (5.0, 10.0, 20.0)},
    ),
    Method(
        KSH,
        2012,
        PAIRWISE,
        "W. Liu, J. Wang, R. Ji, Y.-G. Jiang, S.-F. Chang: Supervised Hashing with Kernels. "
        "CVPR 2012",
        {"n_anchors": (300, 1000), "n_labeled": (2000, 5000)},
    ),
    Method(
        SSH,
        2012,
        PAIRWISE,
        "J. Wang, S. Kumar, S.-F. Chang: Semi-Supervised Hashing for Large-Scale Search. IEEE "
        "Transactions on Pattern Analysis and Machine Intelligence 34 (12), 2012",
        {"eta": (0.3, 1.0, 3.0, 10.0), "alpha": (0.3, 1.0)},
    ),
    Method(
        AGH,
        2011,
        UNSUPERVISED,
        "W. Liu, J. Wang, S. Kumar, S.-F. Chang: Hashing with Graphs. ICML 2011",
        {"n_nearest": (2, 3, 5), "n_anchors": (300, 600), "n_layers": (1, 2)},
    ),
    Method(
        ITQ,
        2011,
        UNSUPERVISED,
        "Y. Gong, S. Lazebnik: Iterative Quantization: A Procrustean Approach to Learning Binary "
        "Codes. CVPR 2011",
    ),
    Method(
        CCAITQ,
        2011,
        LABEL,
        "Y. Gong, S. Lazebnik: Iterative Quantization: A Procrustean Approach to Learning Binary "
        "Codes. CVPR 2011",
        {"regularization": (1e-4, 1e-2, 1e-1)},
    ),
    Method(
        MLH,
        2011,
        PAIRWISE,
        "M. Norouzi, D. J. Fleet: Minimal Loss Hashing for Compact Binary Codes. ICML 2011",
        {"rho": (None, "validate"), "weight_decay": (3e-3, 1e-2, 3e-2)},
    ),
    Method(
        SpectralHashing,
        2008,
        UNSUPERVISED,
        "Y. Weiss, A. Torralba, R. Fergus: Spectral Hashing. NIPS 2008",
    ),
    Method(
        LSH,
        2002,
        UNSUPERVISED,
        "M. S. Charikar: Similarity Estimation Techniques from Rounding Algorithms. STOC 2002",
    ),
)
METHODS = {method.name: method for method in _ALL}


def recorded_parameters(hasher: Hasher) -> dict[str, Any]:
    """Parameters as records of runs name them: later ones only where they change something."""
    known = hasher.get_params()
    return {name: own for name, own in known.items() if name not in LATER or LATER[name] != own}
