"""A ZSH fit and its codes on one GPU, against the best that the device could do.

    python benchmarks/gpu.py [--quick] [--features FILE.npz]

Features in clusters lie on the device in float16. The floor of a fit counts its matrix products at
the rate of a large product in float16, and the passes over Φ at the rate of a copy, both measured
in the same run: X Aᵀ (2·n·d·m operations), half of ΦᵀΦ (n·m²), and two readings of Φ (2·n·m bytes
each) an iteration, and one more for the first ΦᵀB. The floor of encoding is X Aᵀ. What the host
does alone (drawing anchors and codes, the rotation) has no floor. Agreement compares the fit on the
device with NumPy's, from the same seed. Without a GPU, or with --quick, small sizes are run on
whatever there is.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from zshash import ZSH, scale
from zshash.scale.device.samples import DeviceSamples

STEPS = ("take", "squares_from", "use", "gram", "solver", "start", "measure", "update", "codes")


def clustered(n: int, d: int, n_classes: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Vectors of about unit length in clusters, float16, and the cluster of each."""
    rng = torch.Generator(device).manual_seed(0)
    centers = torch.randn((n_classes, d), generator=rng, device=device)
    labels = torch.randint(0, n_classes, (n,), generator=rng, device=device)
    X = torch.empty((n, d), dtype=torch.float16, device=device)
    for part in torch.arange(n, device=device).split(2**17):
        noise = torch.randn((len(part), d), generator=rng, device=device)
        X[part] = ((centers[labels[part]] + noise) / (2 * d) ** 0.5).half()
    return X, labels


def names(n_classes: int, p: int) -> np.ndarray[Any, Any]:
    """A unit vector for the name of each cluster."""
    vectors = np.random.RandomState(1).standard_normal((n_classes, p))
    unit: np.ndarray[Any, Any] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def wait() -> None:
    """Wait until the device has finished its work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def seconds(function: Callable[[], Any], repeats: int = 5) -> float:
    """Median wall time of a call until the device has finished, after two warm-up calls."""
    times = []
    for _ in range(repeats + 2):
        wait()
        start = time.perf_counter()
        function()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Seconds in each method of the samples, waiting for the device after each call."""
    spent: dict[str, float] = defaultdict(float)
    before = {name: getattr(DeviceSamples, name) for name in STEPS}

    def timed(name: str) -> Callable[..., Any]:
        @wraps(before[name])
        def method(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            result = before[name](*args, **kwargs)
            wait()
            spent[name] += time.perf_counter() - start
            return result

        return method

    for name in STEPS:
        setattr(DeviceSamples, name, timed(name))
    try:
        yield spent
    finally:
        for name in STEPS:
            setattr(DeviceSamples, name, before[name])


def ceilings(device: str, size: int) -> tuple[float, float]:
    """Operations per second of a float16 product, and bytes per second of a copy."""
    A = torch.randn((size, size), device=device).half()
    B = torch.randn((size, size), device=device).half()
    rate = 2 * size**3 / seconds(lambda: A @ B)
    block = torch.zeros(size * size * 8, dtype=torch.float16, device=device)
    copy = torch.empty_like(block)
    return rate, 2 * block.nbytes / seconds(lambda: copy.copy_(block))


def compare_fit(X: torch.Tensor, labels: torch.Tensor, hasher: ZSH, p: int, best: Any) -> None:
    """Print the median fit, its floor, and where the time goes."""
    vectors = names(int(labels.max()) + 1, p)
    rows = labels.cpu().numpy()

    def fit() -> Any:
        return scale.fit(clone(hasher), X, rows, vectors=vectors)

    elapsed = seconds(fit)
    with watched() as spent:
        start = time.perf_counter()
        fitted = fit()
        total = time.perf_counter() - start
    rate, bandwidth = best
    (n, d), m = X.shape, len(fitted.anchors_)
    floor = (2 * n * d * m + n * m**2) / rate
    floor += (2 * fitted.n_iter_ + 1) * 2 * n * m / bandwidth
    print(
        f"fit of {n:,} × {d} in float16, {m:,} anchors, {hasher.n_bits} bits, "
        f"{fitted.n_iter_} iterations, label vectors of {p}:"
    )
    print(f"  {elapsed * 1e3:.1f} ms, floor {floor * 1e3:.1f} ms, ratio {elapsed / floor:.2f}")
    spent["elsewhere, on the host"] = total - sum(spent.values())
    parts = ", ".join(f"{name} {1e3 * value:.1f}" for name, value in spent.items())
    print(f"  step by step, {1e3 * total:.1f} ms in all: {parts}\n")


def compare_encode(X: torch.Tensor, labels: torch.Tensor, hasher: ZSH) -> None:
    """Print the rate of encoding and that of its matrix product alone."""
    vectors = names(int(labels.max()) + 1, 50)
    fitted = scale.fit(clone(hasher), X, labels.cpu().numpy(), vectors=vectors)
    anchors = torch.as_tensor(fitted.anchors_, device=X.device).to(X.dtype).T.contiguous()
    encode = scale.frozen(fitted, X.device)
    own, bare = seconds(lambda: encode(X)), seconds(lambda: X @ anchors)
    print(
        f"encoding: {own * 1e3:.2f} ms, {len(X) / own / 1e6:.0f} million a second; its matrix "
        f"product alone {bare * 1e3:.2f} ms: {bare / own:.2f} of that rate"
    )
    once = seconds(lambda: scale.encode(fitted, X))
    print(f"with what it needs made anew each time: {once * 1e3:.2f} ms\n")


def compare_results(X: np.ndarray[Any, Any], y: np.ndarray[Any, Any], device: str, n: int) -> None:
    """Print the difference between fits on the device and in NumPy."""
    vectors = names(int(y.max()) + 1, 50)
    for bits in (32, 64, 128):
        hasher = ZSH(bits, graph=None, n_anchors=min(1000, n // 4), normalize=False, random_state=0)
        inside = clone(hasher).fit(X[:n], vectors[y[:n]])
        outside = scale.fit(clone(hasher), X[:n], y[:n], vectors=vectors, device=device)
        length = min(inside.n_iter_, outside.n_iter_)
        gap = np.abs(outside.objective_[:length] / inside.objective_[:length] - 1).max()
        equal = 1 - np.unpackbits(inside.encode(X[n:]) ^ outside.encode(X[n:])).mean()
        codes = scale.encode(outside, X[n:], device=device)
        same = 1 - np.unpackbits(codes ^ outside.encode(X[n:])).mean()
        print(
            f"against NumPy, {n:,} samples, {bits} bits: objective {gap:.1e} apart, {equal:.3%} of "
            f"held-out bits equal; encoded on the device and in NumPy: {same:.3%}"
        )


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--features", help="a table of real features for the agreement")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    small = options.quick or device == "cpu"
    n, d, m, c, size = (4096, 64, 100, 20, 256) if small else (1_280_000, 1280, 1000, 1000, 8192)
    what = torch.cuda.get_device_name() if device == "cuda" else "no GPU"
    rate, bandwidth = best = ceilings(device, size)
    print(f"{what}, PyTorch {torch.__version__}: {rate / 1e12:.3g} TFLOP/s in float16, "
          f"{bandwidth / 1e12:.3g} TB/s\n")  # fmt: skip
    X, labels = clustered(n, d, c, device)
    hasher = ZSH(64, n_anchors=m, graph=None, normalize=False, random_state=0)
    for p in (50, 300):
        compare_fit(X, labels, hasher, p, best)
    compare_encode(X, labels, hasher)
    if options.features:
        given = np.load(options.features)
        order = np.random.RandomState(0).permutation(len(given["X"]))[:28_000]
        compare_results(given["X"][order].astype(np.float32), given["y"][order], device, 20_000)
    else:
        rows = min(len(X), 28_000)
        table = X[:rows].float().cpu().numpy(), labels[:rows].cpu().numpy()
        compare_results(*table, device, rows * 5 // 7)


if __name__ == "__main__":
    main()
