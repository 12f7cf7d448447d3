"""Pictures per second of decoding, of the networks and of both; and memory for many pictures.

    python benchmarks/extract.py [--quick]

The peer is ONNX Runtime alone, on tensors that are ready, in the best of several ways to use all
cores. Decoding, the peer and the pipeline take turns several times in one run; the median of the
ratios counts. No pipeline on the same cores can do better than the bound, at which decoding and
network together leave no core idle. Pictures are those of the data folder (ZSHASH_DATA), or else
random ones. Memory is the peak of a separate process, without the loaded network and the final
table of features.
"""

import argparse
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from fit import memory
from PIL import Image

from zshash._threads import all_cores, map_blocks
from zshash.datasets import Pictures, read_folder
from zshash.evaluation.standard import data_folder
from zshash.images import PictureReader, extractor
from zshash.images.decoding import decode
from zshash.images.efficientnet import LITE0, LITE2, Variant, graph
from zshash.images.onnx_runtime import onnxruntime
from zshash.images.pipeline import extract_batches, slices


def draw(folder: Path, n: int, size: tuple[int, int]) -> list[Path]:
    """Pictures of blurred noise, as JPEG files."""
    folder.mkdir()
    rng = np.random.RandomState(0)
    paths = []
    for number in range(n):
        coarse = rng.randint(0, 256, size=(9, 12, 3), dtype=np.uint8)
        pixels = np.asarray(Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC))
        grain = rng.randint(-12, 13, size=pixels.shape)
        noisy = np.clip(pixels.astype(np.int64) + grain, 0, 255).astype(np.uint8)
        paths.append(folder / f"{number}.jpg")
        Image.fromarray(noisy).save(paths[-1], quality=90)
    return paths


def kinds(folder: Path, quick: bool) -> Iterator[tuple[str, Any]]:
    """Pictures to time: pixels in memory, small files, large files."""
    pixels = np.random.RandomState(0).randint(0, 256, size=(64, 32, 32, 3), dtype=np.uint8)
    yield "pixels 32 × 32", pixels
    images = data_folder() / "images"
    if images.is_dir() and not quick:
        yield "JPEG files 64 × 64", list(read_folder(images / "tiny").sources)
        yield "JPEG files 500 × 375", list(read_folder(images / "full").sources)
    else:
        yield "JPEG files 64 × 64", draw(folder / "small", 32, (64, 64))
        yield "JPEG files 500 × 375", draw(folder / "large", 16, (500, 375))


def rate(work: Callable[[], object], n: int, seconds: float) -> float:
    """Pictures per second of a function that handles n pictures, over at least `seconds`."""
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        work()
        done += n
    return done / (time.perf_counter() - start)


def session(n_threads: int, network: Variant = LITE0) -> Any:
    """A network by itself, the default one unless another is given."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(graph(network), options, providers=["CPUExecutionProvider"])


def peers(tensors: Any, n_threads: int) -> dict[str, Callable[[], object]]:
    """Ways to run the network alone on all cores."""
    one, many = session(1), session(n_threads)
    pool = ThreadPoolExecutor(n_threads)

    def run(network: Any, size: int, batches: Callable[..., Any]) -> Callable[[], object]:
        def batch(start: int) -> None:
            network.run(None, {network.get_inputs()[0].name: tensors[start : start + size]})

        return lambda: list(batches(batch, range(0, len(tensors), size)))

    ways: dict[str, Callable[[], object]] = {}
    for size in (1, 4, 16):
        ways[f"{n_threads} callers, batches of {size}"] = run(one, size, pool.map)
        ways[f"{n_threads} threads inside, batches of {size}"] = run(many, size, map)
    return ways


def compare(name: str, sources: Any, seconds: float, repeats: int) -> None:
    """Print the rates of one kind of pictures."""
    network = extractor()
    with all_cores() as (_, n_threads):
        pass
    batches = list(slices(len(sources), network.batch_size))

    def prepare(row: int) -> Any:
        return network.prepare(decode(sources[row], side=network.side))

    tensors = np.stack([prepare(row % len(sources)) for row in range(32)])
    ways = peers(tensors, n_threads)
    best = max(ways, key=lambda way: rate(ways[way], 32, seconds / 2))
    decoded, alone, whole = [], [], []
    n = len(sources)
    for _ in range(repeats):
        decoded.append(rate(lambda: list(map_blocks(prepare, range(n))), n, seconds))
        alone.append(rate(ways[best], 32, seconds))
        whole.append(rate(lambda: list(extract_batches(network, sources, batches)), n, seconds))
    ratio = statistics.median(a / b for a, b in zip(whole, alone, strict=True))
    bound = statistics.median(d / (a + d) for d, a in zip(decoded, alone, strict=True))
    print(
        f"{name:<21} decode {statistics.median(decoded):6.0f}/s   "
        f"network {statistics.median(alone):5.0f}/s ({best})   "
        f"together {statistics.median(whole):5.0f}/s   ratio {ratio:.2f}   bound {bound:.2f}",
        flush=True,
    )


def compare_networks(seconds: float, repeats: int) -> None:
    """Print pictures per second of the networks alone, on one thread, in turns."""
    runs = []
    for network in (LITE0, LITE2):
        shape = (4, 3, network.size, network.size)
        tensors = np.random.RandomState(0).uniform(-1, 1, shape).astype(np.float32)
        runs.append(partial(session(1, network).run, None, {"pixels": tensors}))
    small, large = [], []
    for _ in range(repeats):
        small.append(rate(runs[0], 4, seconds))
        large.append(rate(runs[1], 4, seconds))
    ratio = statistics.median(b / a for a, b in zip(small, large, strict=True))
    print(
        f"one thread: {LITE0.name} {statistics.median(small):.0f}/s   "
        f"{LITE2.name} {statistics.median(large):.0f}/s   ratio {ratio:.2f}",
        flush=True,
    )


def peak(folder: str, n: int) -> float:
    """MiB beyond the loaded network and the table of features, for n pictures."""
    paths = tuple(sorted(Path(folder).iterdir())[:n])
    with TemporaryDirectory() as cache:  # its own, so that the network runs before the count
        os.environ["ZSHASH_CACHE"] = cache
        reader = PictureReader()
        reader.features(Pictures(paths[:64]))
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = memory("VmRSS")
        table = reader.features(Pictures(paths)).X
        return memory("VmHWM") - before - table.nbytes / 2**20


def print_memory(sources: Sequence[Path], sizes: Sequence[int]) -> None:
    """Print the peaks at several numbers of pictures."""
    with TemporaryDirectory() as folder:
        for number in range(max(sizes)):
            shutil.copy(sources[number % len(sources)], f"{folder}/{number:06d}.jpg")
        for n in sizes:
            with get_context("spawn").Pool(1) as pool:
                print(f"{n:6d} pictures: {pool.apply(peak, (folder, n)):5.0f} MiB", flush=True)


def main() -> None:
    """Compare rates, then memory."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    quick = parser.parse_args().quick
    print(f"{os.cpu_count()} cores, ONNX Runtime {onnxruntime.__version__}")
    with TemporaryDirectory() as name:
        folder = Path(name)
        for kind, sources in kinds(folder, quick):
            compare(kind, sources, *((0.2, 1) if quick else (6.0, 5)))
        compare_networks(*((0.2, 1) if quick else (3.0, 9)))
        small = draw(folder / "tiny", 100, (64, 64))
        print_memory(small, (64, 256) if quick else (1_000, 20_000))


if __name__ == "__main__":
    main()
