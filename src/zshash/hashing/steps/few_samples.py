"""What is said where a method gets fewer samples than it needs.

Most hash functions look along the directions that the training samples span, and n samples span
n − 1 of them. With a handful of samples, their codes tell hardly anything else apart.
"""

import numpy as np

from zshash._warnings import warn_user

ENOUGH = 16  # samples; with fewer, learned codes were seen to find far less than random ones
NEARLY = 0.8  # numbers are close where their ratio lies between this and its inverse
OTHERS = "MTH, ITQ or LSH, which work with few samples"


def check_amount(samples, least, *, method, n_bits, refuse):
    """Warn where there are fewer than `least` different samples, or raise ValueError."""
    n = number_different(samples, least)
    if n < least:
        bits, fewer = ("", "") if least == ENOUGH else (f" for n_bits={n_bits}", " or fewer bits")
        needs = f"{method} needs {least} different samples{bits}, and there are {n}"
        cure = f"more samples{fewer}, or {OTHERS}"
        if refuse:
            raise ValueError(f"{needs}: use {cure}")
        warn_user(f"{needs}: its codes may find little more than chance. Use {cure}")


def number_different(samples, enough):
    """Number of different rows, counted among a few of them, or all if these are not `enough`."""
    found = 0
    for most in (enough, 10 * enough):  # evenly spread, since copies often lie side by side
        numbers = np.linspace(0, len(samples) - 1, min(most, len(samples))).astype(np.int64)
        found = max(found, len(np.unique(samples.take(numbers), axis=0)))
        if found >= enough:
            break
    return found


def warn_of_noise(n, n_features, *, method, parameter):
    """Warn where a regression with a small penalty has about as many samples as features.

    Its solution then follows the noise of each sample: with fewer samples or more of them, the
    codes are better.
    """
    if NEARLY <= n / n_features <= 1 / NEARLY:
        warn_user(
            f"{method} has {n} samples of {n_features} features: where these numbers are close, "
            f"it learns noise. Raise {parameter}, or use more samples, or {OTHERS}"
        )
