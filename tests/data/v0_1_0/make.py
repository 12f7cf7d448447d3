"""Write the files beside this script as zshash 0.1.0 writes them, and what it says of them.

It was run once, with version 0.1.0 (commit 2988add), and runs with no other one: every later
zshash has to read what it left. A later format gets a folder and a script of its own.

Everything is made in the folder /photos, which must not exist and is deleted at the end, for
albums keep absolute paths. ``expected.json`` holds the answers of 0.1.0 to all that the tests ask.
"""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
PHOTOS = Path("/photos")
SHAPES = ("circle", "square", "triangle", "cross")
SYNSETS = {
    "cat": "n02121620",
    "dog": "n02084071",
    "horse": "n02374451",
    "car": "n02958343",
    "ship": "n04194289",
    "truck": "n04490091",
}
ANCHORS = ["--set", "n_anchors=20"]
SETTINGS = {
    "ZSH": ["--set", "max_iter=3", *ANCHORS],
    "MTH": ["--set", "n_steps=5", "--set", "n_units=12"],
    "SDH": ANCHORS,
    "DGH": ANCHORS,
    "IMH": [*ANCHORS, "--set", "perplexity=3"],
    "KSH": ANCHORS,
    "AGH": ANCHORS,
    "MLH": ["--set", "max_iter=50"],
}
VARIANTS = {
    "AGH-one-layer": ["AGH", "--set", "n_layers=1"],
    "LSH-around-zero": ["LSH", "--set", "center=false", "--no-normalize"],
    "MTH-fast": ["MTH", "--set", "effort=fast"],
    "ZSH-anchor-graph": ["ZSH", "--set", "graph=anchor"],
    "ZSH-one-hot": ["ZSH", "--labels", "onehot"],
    "ZSH-words": ["ZSH", "--labels", "words.txt"],
    "ZSH-wordnet-and-words": ["ZSH", "--labels", "wordnet", "--labels", "words.txt"],
}


def main():
    """Make everything in /photos, ask for the answers, and move it all here."""
    import zshash

    if zshash.__version__ != "0.1.0":
        raise SystemExit(f"this is zshash {zshash.__version__}: these files are those of 0.1.0")
    PHOTOS.mkdir()
    try:
        os.chdir(PHOTOS)
        os.environ["ZSHASH_CACHE"] = str(PHOTOS / "cache")
        make_data()
        make_models()
        make_albums()
        make_exchange()
        make_results()
        tidy()
        Path("expected.json").write_text(to_lines(answers()))
        move()
    finally:
        os.chdir(HERE)
        shutil.rmtree(PHOTOS)


def run(*words):
    """A command of the command line."""
    from zshash.cli import main as command

    command.main([str(word) for word in words], standalone_mode=False)


def make_data():
    """Drawings, features and word vectors, from random numbers."""
    for name in ("models", "albums", "exchange", "results", "shards"):
        Path(name).mkdir()
    rng = np.random.RandomState(0)
    for folder, number in (("pictures", 3), ("training", 10)):
        for shape in SHAPES:
            Path(folder, shape).mkdir(parents=True)
            for i in range(number):
                draw(shape, rng).save(Path(folder, shape, f"{i}.png"), optimize=True)
    names = tuple(SYNSETS)
    y = np.arange(90) % len(names)
    X = (rng.randn(len(names), 16)[y] + 1.5 * rng.randn(90, 16)).astype(np.float32)
    facts = {"names": np.array(names), "wnids": np.array(list(SYNSETS.values()))}
    np.savez_compressed("animals.npz", X=X, y=y, **facts)
    for part in range(2):
        rows = slice(45 * part, 45 * (part + 1))
        np.savez_compressed(f"shards/{part}.npz", X=X[rows], y=y[rows], **facts)
    np.save("queries.npy", (X[:12] + 0.2 * rng.randn(12, 16)).astype(np.float32))
    lines = [f"{name} {' '.join(f'{v:.4f}' for v in rng.randn(6))}" for name in (*names, "bird")]
    Path("words.txt").write_text("\n".join(lines) + "\n")


def draw(shape, rng):
    """A white drawing on black."""
    from PIL import Image, ImageDraw

    image = Image.new("L", (32, 32))
    pen = ImageDraw.Draw(image)
    left, top = rng.randint(1, 10, 2)
    side = rng.randint(14, 21)
    right, bottom, middle = left + side, top + side, left + side // 2
    if shape == "circle":
        pen.ellipse((left, top, right, bottom), fill=255)
    elif shape == "square":
        pen.rectangle((left, top, right, bottom), fill=255)
    elif shape == "triangle":
        pen.polygon([(left, bottom), (right, bottom), (middle, top)], fill=255)
    else:
        pen.line((left, top, right, bottom), fill=255, width=4)
        pen.line((left, bottom, right, top), fill=255, width=4)
    return image


def make_models():
    """Every method as ``zshash fit`` writes it, some in other ways, and hashers alone."""
    import zshash

    ways = {name: [name] for name in zshash.methods()} | VARIANTS
    for name, (method, *words) in ways.items():
        fit("animals.npz", name, method, *words, "--bits", 12, "--unseen", "truck")
    fit("shards", "ZSH-shards", "ZSH", "--bits", 12)
    for method in ("ZSH", "MTH", "ITQ"):
        words = ["--bits", 16, "--unseen", "cross", "--extractor", "pixels:8"]
        fit("training", f"{method}-pictures", method, *words)
    with np.load("animals.npz") as data:
        X, words = data["X"], data["names"][data["y"]]
    zshash.save(zshash.LSH(n_bits=8, random_state=np.random.RandomState(0)).fit(X), model("bare"))
    hasher = zshash.SDH(n_bits=8, n_anchors=20, random_state=0).fit(X, words)
    zshash.save(hasher, model("bare-SDH"))


def fit(data, name, method, *words):
    run("fit", data, "--method", method, *SETTINGS.get(method, []), *words, "-o", model(name))


def model(name):
    return f"models/{name}.zshash"


def make_albums():
    """Folders of every kind, each in a state that a user may have left it in."""
    make_album_of_pictures()
    make_album_of_features()
    make_album_of_words()
    in_child(make_unsaved_album)
    in_child(make_saved_album)
    in_child(leave_saved_album)


def make_album_of_pictures():
    """Pictures by path, as bytes and as pixels; closed as it should be."""
    import zshash

    options = {"keep_features": True, "thumbnails": 16, "semantics": "wordnet"}
    with zshash.Collection.create("albums/pictures", model("MTH-pictures"), **options) as album:
        album.add("pictures")
        files = [path.read_bytes() for path in sorted(Path("training").glob("*/[0-2].png"))]
        metadata = [{"year": 2000 + i, "camera": {"model": "AB"[i % 2]}} for i in range(12)]
        album.add_files(files, labels=[["upload", "drawing"]] * 12, metadata=metadata)
        pixels = np.zeros((1, 24, 24, 3), dtype=np.uint8)
        pixels[:, 6:18, 6:18] = 255
        album.add(pixels, labels=["кв\u0430драт"], metadata=[{"year": 1999, "note": None}])
        album.remove([3, 14])


def make_album_of_features():
    """Codes whose length is no whole number of bytes; nothing else is kept of the features."""
    import zshash

    X = features()
    with zshash.Collection.create("albums/features", model("ITQ"), thumbnails=0) as album:
        labels = ["cat", ["dog", "pet"], None, "horse"] * 5
        metadata = [{"row": i, "tags": ["a", "b"][: i % 3]} for i in range(20)]
        sources = [f"/photos/animals/{i}.jpg" for i in range(18)] + ["s3://a/1", None]
        album.add(X[:20], labels=labels, metadata=metadata, sources=sources)
        codes = album.hasher.encode(X[20:30])
        contents = [bytes([i]) * 16 for i in range(8)] + [None, None]
        album.add_codes(codes, contents=contents, labels=["code"] * 10)
        album.remove([0, 7, 21])


def make_album_of_words():
    """Names by a file of word vectors; encoded again; its index has been on a server."""
    import zshash

    X, folder = features(), "albums/words"
    with zshash.Collection.create(folder, model("ITQ"), keep_features=True) as album:
        album.add(X[:30], labels=[list(SYNSETS)[i % 6] for i in range(30)])
        album.reencode(model("ZSH-words"))
        album.remove([5])
        album.compact()
        with album._store.lock.held():
            album._store._note_place({"address": None, "owner": "0123456789abcdef" * 2})


def make_unsaved_album():
    """All of it is in the log, and there is no snapshot."""
    import zshash

    album = zshash.Collection.create("albums/unsaved", model("ZSH"), keep_features=True)
    sources = [f"/photos/{i}.jpg" for i in range(11)] + ["/photos/caf\udce9.jpg"]
    album.add(features()[:12], labels=["вуж"] * 12, sources=sources)
    album.remove([2])


def make_saved_album():
    import zshash

    options = {"keep_features": True, "thumbnails": 0}
    with zshash.Collection.create("albums/behind", model("MTH"), **options) as album:
        album.add(features()[:20], labels=[list(SYNSETS)[i % 6] for i in range(20)])


def leave_saved_album():
    """The log holds more than the snapshot."""
    import zshash

    album = zshash.Collection.open("albums/behind")
    album.add(features()[20:26], metadata=[{"late": True}] * 6)
    album.remove([1, 22])


def in_child(work):
    """Do something in a process that ends without closing anything."""
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise SystemExit(f"{work.__name__} failed")


def features():
    with np.load("animals.npz") as data:
        return data["X"]


def make_exchange():
    """Codes and features for other programs."""
    os.environ["ZSHASH_CACHE"] = str(PHOTOS / "cache" / "pictures")
    run("extract", "pictures", "--extractor", "pixels:8", "-o", "exchange/features.npz")
    (shard,) = Path("cache/pictures").rglob("*.shard")
    shard.rename("exchange/features.shard")
    run("encode", "pictures", "-m", model("ZSH-pictures"), "-o", "exchange/codes.npz")
    run("encode", "animals.npz", "-m", model("ITQ"), "-o", "exchange/codes.npy")
    for suffix in ("npy", "npz", "parquet", "faiss"):
        run("export", "albums/features", f"exchange/exported.{suffix}")
    for suffix in ("npz", "parquet"):
        run("export", "albums/pictures", f"exchange/pictures.{suffix}")


def make_results():
    """A comparison, a selection, results of the paper's experiments and of the study."""
    from zshash.experiments.transfer.__main__ import main as study

    one = ["--seeds", 1]
    scored = ["animals.npz", "--unseen", "truck", "--bits", 8, "--train", 40, "--queries", 5, *one]
    scored += ["--method", "ITQ", "--method", "ZSH", "--method", "AGH", "--set", "AGH.n_anchors=4"]
    run("compare", *scored, "-o", "results/comparison")
    chosen = ["--grid", "nu=1e-5,1e-2", "--splits", 2, "--bits", 8, *ANCHORS]
    run("select", "animals.npz", "--method", "SDH", *chosen, "-o", "results/selection.json")
    small = ["--quick", "--jobs", 1, "--bits", 16, *one, "-o", "results/reproduction"]
    run("reproduce", "cifar10", *small, "--method", "ITQ", "--method", "ZSH")
    for name in ("convergence", "names", "alignment", "exemplars", "mirflickr"):
        run("reproduce", name, *small)
    parts = ["--part", "cosine", "--part", "lookup", "--part", "names"]
    study.main(["results/transfer", "--quick", *parts], standalone_mode=False)


def tidy():
    """Leave out what nobody reads again."""
    for name in ("md", "html"):
        Path(f"results/reproduction.{name}").unlink()
    for path in [*Path("results").rglob("*.svg"), *Path("albums").rglob("*-shm")]:
        path.unlink()
    for path in Path("albums").glob("*/writer.lock"):
        path.unlink()
    shutil.rmtree("cache")


def answers():
    """What 0.1.0 says of all of it; of copies of the albums, for who opens one changes it."""
    shutil.copytree("albums", "copies")
    found = {
        "models": {path.stem: of_model(path) for path in sorted(Path("models").iterdir())},
        "albums": {path.name: of_album(path) for path in sorted(Path("copies").iterdir())},
        "exchange": of_exchange(),
        "results": of_results(),
    }
    shutil.rmtree("copies")
    return found


def to_lines(content):
    """JSON with a line for each file."""
    sections = []
    for title, own in content.items():
        lines = [f"{json.dumps(key)}: {json.dumps(own[key], sort_keys=True)}" for key in own]
        sections.append(f"{json.dumps(title)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def of_model(path):
    import zshash
    from zshash.hashing import read_header

    hasher, header = zshash.load(path), read_header(path)
    rows = rows_for(hasher)
    values = hasher.project(rows)
    if np.abs(values).min() < 1e-4 * np.abs(values).mean():
        print(f"{path}: a bit hangs on {np.abs(values).min()}", file=sys.stderr)
    return {
        "method": type(hasher).__name__,
        "bits": int(hasher.n_bits),
        "parameters": header["parameters"],
        "notes": header["notes"],
        "codes": [code.tobytes().hex() for code in hasher.encode(rows)],
        "values": [round(float(value), 6) for value in values[0]],
    }


def rows_for(hasher):
    """Features that a model can hash."""
    if hasher.n_features_in_ == 16:
        return np.load("queries.npy")
    with np.load("exchange/features.npz") as data:
        return data["X"]


def of_album(path):
    import zshash

    with zshash.Collection.open(path) as album:
        facts = album.info()
        for key in ("path", "bytes", "format", "index"):
            del facts[key]
        return {
            "info": facts,
            "items": [of_item(album, item) for item in album.items()],
            "labels": album.labels(),
            "duplicates": album.duplicates(1),
            "searches": list(searches(album)),
            "problems": album.verify(),
        }


def of_item(album, item):
    thumbnail = album.thumbnail(item.id)
    return {
        "id": item.id,
        "code": item.code.hex(),
        "source": item.source,
        "content": item.content and item.content.hex(),
        "labels": list(item.labels),
        "metadata": item.metadata,
        "size": item.size,
        "thumbnail": thumbnail and hashlib.sha256(thumbnail).hexdigest(),
    }


def searches(album):
    """Questions with their answers: what was asked, ids and distances or scores."""
    rows = rows_for(album.hasher)
    where = "label = 'cat' or year >= 2004 and camera.model = 'A'"
    for row in (0, 7):
        yield asked("features", row, album.search(rows[row], 6), k=6)
        yield asked("features", row, album.search(rows[row], 4, where=where), k=4, where=where)
        found = album.search(rows[row], 6, distance="asymmetric")
        yield asked("real values", row, found, k=6)
        yield asked("radius", row, album.radius(rows[row], 3), r=3)
    if album.info()["extractor"]:
        for name in ("pictures/circle/1.png", "pictures/cross/2.png"):
            yield asked("picture", name, album.search(name, 5), k=5)
    for name in ("circle", "cross", "rectangle", "dog", "truck", "bird"):
        try:
            found = album.search_name(name, 5)
        except ValueError as error:
            yield {"by": "name", "query": name, "error": type(error).__name__}
        else:
            yield asked("name", name, found, k=5)
    for condition in (
        where,
        "label in ('dog', 'вуж') and id < 10",
        "camera.model != 'A' and not year < 2005",
        "path like '%.jpg' or path = null",
        "late = true",
        "row >= 12 and label = null",
    ):
        yield {"by": "condition", "query": condition, "ids": album.find(condition).tolist()}


def asked(by, query, found, **options):
    return {
        "by": by,
        "query": query,
        **options,
        "ids": [match.item.id for match in found],
        "distances": [round(float(match.distance), 6) for match in found],
    }


def of_exchange():
    """Which model made the codes of each file, and the items that come of them."""
    import zshash
    from zshash.collection.exchange import import_codes

    makers = {
        "codes.npy": "ITQ",
        "codes.npz": "ZSH-pictures",
        **{f"exported.{suffix}": "ITQ" for suffix in ("faiss", "npy", "npz", "parquet")},
        **{f"pictures.{suffix}": "MTH-pictures" for suffix in ("npz", "parquet")},
    }
    found = {}
    for name, maker in makers.items():
        with zshash.Collection.create(f"new-{name}", model(maker)) as album:
            import_codes(album, f"exchange/{name}")
            items = [of_item(album, item) for item in album.items()]
        shutil.rmtree(f"new-{name}")
        found[name] = {"model": maker, "items": items}
    return found


def of_results():
    """What the files of results hold, as far as a reader looks at it."""
    comparison = json.loads(Path("results/comparison.json").read_text())
    transfer = json.loads(Path("results/transfer.json").read_text())
    selection = json.loads(Path("results/selection.json").read_text())
    runs = sorted(Path("results/reproduction/runs").rglob("*.json"))
    return {
        "comparison": [[run["method"], run.get("map")] for run in comparison["runs"]],
        "selection": {key: selection[key] for key in ("best", "method")},
        "reproduction": {
            path.relative_to("results/reproduction/runs").as_posix(): seeds_of(path)
            for path in runs
        },
        "transfer": [[own["setup"], own["split"], own["map"]] for own in transfer],
    }


def seeds_of(path):
    return [run["seed"] for run in json.loads(path.read_text())["runs"]]


def move():
    """Bring everything here, in place of what was here before."""
    shutil.rmtree("training")
    for path in HERE.iterdir():
        if path.name != "make.py":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in PHOTOS.iterdir():
        shutil.move(path, HERE / path.name)


if __name__ == "__main__":
    main()
