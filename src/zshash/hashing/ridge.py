"""Ridge regression: the P that minimises ‖AP − T‖² + μ‖P‖², from sums over rows.

P = (AᵀA + μI)⁻¹AᵀT. Only AᵀA and AᵀT enter, so A may have any number of rows.
"""

import numpy as np
from scipy import linalg

TOO_ALIKE = (
    "the features are too alike for so small a penalty: raise it (beta / alpha of ZSH, mu of SDH, "
    "ridge of COSDISH, lam of LFH, alignment of MTH), or use fewer anchors"
)


def add_to_diagonal(M, penalty):
    """M + μI, in place."""
    M[np.diag_indices_from(M)] += penalty
    return M


def factorize(M):
    """Cholesky factor of a system that is solved again and again; M is used up."""
    try:
        return linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        raise ValueError(TOO_ALIKE) from None


def solve(factor, AtT):
    """P of a factorized system."""
    return linalg.cho_solve(factor, AtT, check_finite=False)


def inner(P, Q):
    """tr(PᵀQ), wherever both are."""
    return float((P * Q).sum())


def ridge(AtA, AtT, penalty):
    """P = (AᵀA + μI)⁻¹AᵀT, where the system is solved only once."""
    return solve(factorize(AtA + penalty * np.eye(len(AtA))), AtT)
