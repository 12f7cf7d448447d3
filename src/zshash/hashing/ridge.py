"""Ridge regression: the P that minimises ‖AP − T‖² + μ‖P‖², from sums over rows.

P = (AᵀA + μI)⁻¹AᵀT. Only AᵀA and AᵀT enter, so A may have any number of rows.
"""

import numpy as np
from scipy import linalg


def factorize(M):
    """Cholesky factor of a system that is solved again and again; M is used up."""
    try:
        return linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        raise ValueError(
            "the kernel features are too alike for these weights: raise the ridge penalty (beta of "
            "ZSH, mu of SDH) or use fewer anchors"
        ) from None


def solve(factor, AtT):
    """P of a factorized system."""
    return linalg.cho_solve(factor, AtT, check_finite=False)


def ridge(AtA, AtT, penalty):
    """P = (AᵀA + μI)⁻¹AᵀT, where the system is solved only once."""
    system = AtA + penalty * np.eye(len(AtA))
    return linalg.solve(system, AtT, assume_a="pos", check_finite=False)
