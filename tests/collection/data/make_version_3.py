"""Write version_3.zshash, a collection in format 3, which every later zshash has to read.

It is made once. Run this with the code as it was then; a later format gets a script of its own.
"""

import shutil
from pathlib import Path

import numpy as np

from zshash import LSH, Collection
from zshash.hashing import save

FOLDER = Path(__file__).parent / "version_3.zshash"


def features():
    """Forty rows of eight numbers."""
    return np.random.RandomState(0).randn(40, 8).astype(np.float32)


def main():
    """Make the collection with items of every kind."""
    X, model = features(), FOLDER.with_suffix(".model")
    notes = {"seen": ["cat", "dog"], "labels": ["wordnet"]}
    save(LSH(n_bits=16, random_state=0).fit(X), model, notes=notes)
    with Collection.create(FOLDER, model, keep_features=True, thumbnails=8) as photos:
        labels = ["cat", ["dog", "pet"], None, "вуж"] * 5
        metadata = [{"year": 2000 + i, "camera": {"model": "A"}} for i in range(20)]
        sources = [f"/photos/{i}.jpg" for i in range(19)] + ["/photos/caf\udce9.jpg"]
        photos.add(X[:20], labels=labels, metadata=metadata, sources=sources)
        photos.add_codes(photos.model.encode(X[20:30]), sources=[f"s3://a/{i}" for i in range(10)])
        photos.remove([3, 25])
        with photos._store.writing(), photos._store.changing() as change:
            change.put("thumbnails", {0: b"a JPEG would be here", 7: b"and here"})
            change.put("prints", {0: bytes(8), 7: bytes(range(8))})
            change.put("same_files", {7: b'["/photos/again.jpg"]'})
        photos.close()
        for name in ("writer.lock",):
            (FOLDER / name).unlink()
    with Collection.open(FOLDER) as photos:  # behind its snapshot
        photos._store.save = lambda: None
        photos.add(X[30:35])
    (FOLDER / "writer.lock").unlink()
    model.unlink()


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    main()
