"""Training samples as a discrete method sees them: through sums over rows.

`Samples` holds features, targets and codes in memory. `zshash.scale` has the same methods for
samples in files, on other machines or on a GPU.
"""

from functools import partial

from zshash import codes
from zshash.hashing.anchors import KernelFeatures
from zshash.hashing.dcc import measure, random_codes, update_codes
from zshash.hashing.ridge import add_to_diagonal, factorize, solve
from zshash.hashing.rows import Rows


class Samples(Rows):
    """Features X (n, d) and targets Y (n, p), then φ(X), then codes B (n, l) that are learned."""

    def __init__(self, X, targets):
        super().__init__(X)
        self.targets = targets

    @property
    def n_targets(self):
        """p."""
        return self.targets.vectors.shape[1]

    def squared_norm(self):
        """‖Y‖²."""
        return self.targets.squared_norm()

    def use(self, kernel):
        """Let φ be this kernel from now on."""
        self.features = KernelFeatures(self.X, kernel)

    def gram(self, dtype="float32"):
        """ΦᵀΦ (m + 1, m + 1): products of blocks in `dtype`, added up in float64."""
        return self.features.gram(dtype)

    def total_of_features(self, step, *args):
        """The sum of ``step(block of X, block of Φ, *args)`` over blocks of rows, in float64."""
        return self.features.total(step, *args)

    def start(self, n_bits, rng):
        """Begin with random codes; `rng` must not be used until they have been measured."""
        self.B = random_codes(len(self), n_bits, rng)

    def measure(self):
        """The sums of the codes as they are."""
        return measure(self.B, self.features, self.targets)

    def update(self, P, A, *, alpha, n_sweeps):
        """The B-step, as in `update_codes`; returns the sums of the new codes."""
        return update_codes(
            self.B, self.features, self.targets, P, A, alpha=alpha, n_sweeps=n_sweeps
        )

    def solver(self, M, penalty):
        """The function from ΦᵀB to P = (M + μI)⁻¹ΦᵀB; M is used up."""
        return partial(solve, factorize(add_to_diagonal(M, penalty)))

    def fetch(self, P):
        """P as an array of NumPy."""
        return P

    def codes(self):
        """B, packed (n, ceil(n_bits / 8))."""
        return codes.pack(self.B > 0)
