"""Build the wheel, install it in an empty environment outside the checkout, and use it there.

First the core alone, then with pictures, then as a server, then with plots.

python tools/check_wheel.py
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
MUST_HOLD = (
    "zshash/py.typed",
    "zshash/semantics/data/nouns.npz",
    "zshash/semantics/data/LICENSE.wordnet",
    "zshash/studies/demo/pictures/001.webp",
    "zshash/studies/demo/pictures/CREDITS.md",
    "zshash/studies/demo/pictures/LICENSE.openclipart",
    "zshash/web/static/index.html",
    "zshash/web/static/style.css",
)
USE = """
import sys, zshash
from zshash.semantics import WordNet
assert WordNet().hops("cat", "dog") == 4
assert "site-packages" in zshash.__file__, zshash.__file__
heavy = {"torch", "dask", "fastapi", "matplotlib", "PIL", "onnxruntime"} & set(sys.modules)
assert not heavy, heavy
"""

DRAW = """
import sys
from pathlib import Path
import numpy as np
from PIL import Image
for seed, name in enumerate(["cat", "dog", "truck"] * 6):
    pixels = np.random.RandomState(seed).randint(0, 256, size=(9, 9, 3), dtype=np.uint8)
    Path("photos", name).mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).resize((90, 90)).save(f"photos/{name}/{seed}.jpg")
assert "torch" not in sys.modules
"""


def run(*command: str | Path, folder: Path) -> str:
    """Output of a command; if it fails, print all its output and exit."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def show_digits(binaries: Path, folder: Path) -> None:
    """Show the part of the demonstration that needs no extra; the whole must say what it needs."""
    command = (str(binaries / "zshash"), "demo", "--bits", "16", "--seeds", "1")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 2 or "pip install 'zshash[images]'" not in done.stderr:
        sys.exit(f"the demo does not say what it needs:\n{done.stdout}{done.stderr}")
    output = run(*command, "--digits", folder=folder)
    check_page(output, folder / "zshash-demo.html")


def show_clipart(binaries: Path, folder: Path) -> None:
    """Show the whole demonstration, and search the album that it has made."""
    command = ("demo", "--seeds", "1", "--album", "clipart", "-o", "clipart.html")
    output = run(binaries / "zshash", *command, folder=folder)
    check_page(output, folder / "clipart.html")
    found = run(binaries / "zshash", "search", "clipart", "--name", "guitar", folder=folder)
    if ".webp" not in found:
        sys.exit(f"a name did not find a drawing:\n{found}")


def check_page(output: str, page: Path) -> None:
    """Exit if the demonstration has not written its page."""
    if not page.is_file():
        sys.exit(f"the installed demo wrote no page:\n{output}")


def search_pictures(binaries: Path, wheel: Path, folder: Path) -> None:
    """Install the extra for pictures, learn from some pictures, and find one of them."""
    os.environ["ZSHASH_CACHE"] = str(folder / "cache")
    run(binaries / "pip", "install", "--quiet", f"{wheel}[images]", folder=folder)
    run(binaries / "python", "-c", DRAW, folder=folder)
    zshash = binaries / "zshash"
    model = ("-m", "model")
    run(zshash, "fit", "photos", "--unseen", "dog", "--bits", "16", "-o", "model", folder=folder)
    run(zshash, "encode", "photos", *model, "-o", "codes.npz", folder=folder)
    found = run(zshash, "search", "codes.npz", "photos/dog/1.jpg", *model, folder=folder)
    if "   0  photos/dog/1.jpg  dog" not in found:
        sys.exit(f"a picture did not find itself:\n{found}")
    run(zshash, "create", "album", *model, folder=folder)
    run(zshash, "add", "album", "photos", folder=folder)
    found = run(zshash, "search", "album", "photos/dog/1.jpg", folder=folder)
    nearest = [line for line in found.splitlines() if line.split()[1] == "0"]  # bits that differ
    if not any("photos/dog/1.jpg" in line for line in nearest):
        sys.exit(f"a picture did not find itself in a collection:\n{found}")
    found = run(zshash, "search", "album", "--name", "dog", "--k", "3", folder=folder)
    if found.count("photos/dog/") != 3:
        sys.exit(f"a name did not find what is labelled with it:\n{found}")


def serve(binaries: Path, wheel: Path, folder: Path) -> None:
    """Install the extra for the server, start it, search, and stop it."""
    run(binaries / "pip", "install", "--quiet", f"{wheel}[web]", folder=folder)
    command = [str(binaries / "zshash"), "serve", "album", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+/", process.stdout.readline())
            if found is None:
                sys.exit("zshash serve did not say where it listens")
            with urlopen(f"{found.group()}api/v1/search?name=dog&k=3") as answer:
                if len(json.load(answer)["results"]) != 3:
                    sys.exit("zshash serve did not find anything")
            with urlopen(found.group()) as answer:
                if b"<script" not in answer.read():
                    sys.exit("zshash serve has no page")
        finally:
            process.send_signal(signal.SIGINT)
            status = process.wait(60)
        if status:
            sys.exit(f"zshash serve ended with status {status}")


def reproduce(binaries: Path, wheel: Path, folder: Path) -> None:
    """Install the extra for plots, and run small versions of the paper's experiments."""
    run(binaries / "pip", "install", "--quiet", f"{wheel}[images,plot]", folder=folder)
    command = ("reproduce", "cifar10", "names", "--quick", "--seeds", "1")
    output = run(binaries / "zshash", *command, folder=folder)
    if not (folder / "reproduction-quick.html").is_file():
        sys.exit(f"there is no report:\n{output}")


def main() -> None:
    """Build the wheel, install it, and use it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, folder=folder)
        (wheel,) = folder.glob("*.whl")
        missing = set(MUST_HOLD) - set(zipfile.ZipFile(wheel).namelist())
        if missing:
            sys.exit(f"{wheel.name} lacks {', '.join(sorted(missing))}")
        venv.create(folder / "env", with_pip=True)
        binaries = folder / "env" / "bin"
        run(binaries / "pip", "install", "--quiet", wheel, folder=folder)
        run(binaries / "python", "-c", USE, folder=folder)
        show_digits(binaries, folder)
        search_pictures(binaries, wheel, folder)
        show_clipart(binaries, folder)
        serve(binaries, wheel, folder)
        reproduce(binaries, wheel, folder)
        print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MiB, installs and runs by itself")


if __name__ == "__main__":
    main()
