"""An album from many pictures: its rate beside that of the network alone, memory, and kills.

    python benchmarks/create.py [FOLDER] [--count 10000] [--kills 10] [--quick]

The peer is ONNX Runtime alone on tensors that are ready, as in `extract.py`; it runs before and
after. `create` reads, hashes and decodes the files, runs the network, makes thumbnails and prints,
reads what cameras noted, writes all of it, learns a model and encodes every picture. The memory is
the peak of its process. Then a process that makes the same album is killed (SIGKILL) at random
moments and started again until it ends, and both albums are compared. Pictures are the first ones
of FOLDER, or random ones.
"""

import argparse
import random
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from extract import draw, peers, rate

from zshash import Collection
from zshash._threads import n_threads
from zshash.datasets import read_folder
from zshash.images import extractor
from zshash.images.decoding import decode

CREATE = """
import sys, time
from pathlib import Path
from zshash import Collection
from zshash.collection.operations import making
learn, spent = making.refit, []
def refit(*own):
    start = time.perf_counter()
    learn(*own)
    spent.append(time.perf_counter() - start)
making.refit = refit
start = time.perf_counter()
Collection.create(sys.argv[1], sys.argv[2]).close()
peak = next(line for line in Path("/proc/self/status").open() if line.startswith("VmHWM"))
print(time.perf_counter() - start, *spent, int(peak.split()[1]) / 1024)
"""


def pictures(folder: Path, source: Path | None, count: int) -> Path:
    """A folder with so many pictures."""
    target = folder / "pictures"
    if source is None:
        draw(target, count, (64, 64))
        return target
    target.mkdir()
    for number, path in enumerate(read_folder(source, labels="none").sources[:count]):
        shutil.copy(str(path), target / f"{number:06d}{Path(str(path)).suffix}")
    return target


def alone(paths: Sequence[Path], seconds: float) -> float:
    """Pictures per second of the network alone, in the best of several ways to use all cores."""
    network = extractor()
    tensors = np.stack([network.prepare(decode(path, side=network.side)) for path in paths[:32]])
    ways = peers(tensors, n_threads())
    best = max(ways, key=lambda way: rate(ways[way], len(tensors), seconds / 4))
    return statistics.median(rate(ways[best], len(tensors), seconds / 3) for _ in range(3))


def create(album: Path, source: Path) -> list[float]:
    """Seconds in all and of learning, and MiB at the peak, of a process that makes an album."""
    program = [sys.executable, "-c", CREATE, str(album), str(source)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def contents(album: Path) -> tuple[str, list[Any]]:
    """Checksum of the model and all items of an album, which must not be damaged."""
    with Collection.open(album) as opened:
        assert opened.verify(deep=True) == []
        items = [(item.id, item.code, item.source, item.metadata) for item in opened.items()]
        return opened.model.checksum, items


def killed(album: Path, source: Path, seconds: float, kills: int) -> list[int]:
    """Make an album although its process is killed; the numbers of its items after each kill."""
    sizes, rng = [], random.Random(0)
    program = [sys.executable, "-c", CREATE, str(album), str(source)]
    for _ in range(kills):
        process = subprocess.Popen(program, stdout=subprocess.DEVNULL)
        try:
            process.wait(rng.uniform(1, max(1.5, 2 * seconds / (kills + 1) + 3)))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        if (album / "catalogue.sqlite").exists():
            with Collection.open(album) as opened:
                sizes.append(len(opened))
    if subprocess.run(program, capture_output=True, check=False).returncode:
        with Collection.open(album) as opened:  # it was finished before the last kill
            assert opened.n_unlearned == 0
    return sizes


def main() -> None:
    """Compare rates, then look at memory and kills."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    options = parser.parse_args()
    count, kills = (40, 1) if options.quick else (options.count, options.kills)
    with TemporaryDirectory() as name:
        folder = Path(name)
        source = pictures(folder, options.folder, count)
        paths = sorted(source.iterdir())
        pause = 0.5 if options.quick else 12.0
        before = alone(paths, pause)
        seconds, learning, peak = create(folder / "album", source)
        network = (before + alone(paths, pause)) / 2
        n = len(paths)
        print(f"{n} pictures, {n_threads()} threads")
        print(f"network alone       {network:6.0f}/s")
        print(f"create              {n / seconds:6.0f}/s   ratio {n / seconds / network:.2f}")
        reading = n / (seconds - learning)
        print(f"  without learning  {reading:6.0f}/s   ratio {reading / network:.2f}")
        print(f"  learning          {learning:6.1f} s    memory {peak:.0f} MiB")
        sizes = killed(folder / "other", source, seconds, kills)
        same = contents(folder / "album") == contents(folder / "other")
        print(f"killed {kills} times, with {sizes} items: {'same' if same else 'another'} album")
        if not same:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
