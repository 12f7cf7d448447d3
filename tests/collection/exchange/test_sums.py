"""Checksums beside files of codes alone: damage, other models and mixed-up files are noticed."""

import hashlib
import subprocess

import numpy as np
import pytest

from zshash import LSH, Collection, load
from zshash.collection.exchange.exchange import export_codes, import_codes
from zshash.collection.exchange.file_search import CodeFile
from zshash.collection.exchange.sums import sums_beside
from zshash.datasets import DataError
from zshash.hashing import save

SUFFIXES = pytest.mark.parametrize("suffix", [".npy", ".faiss"])


def codes_of(n, seed=0):
    return np.random.RandomState(seed).randint(0, 256, (n, 2), dtype=np.uint8)


@pytest.fixture
def make(tmp_path, X):
    """Collections with the model of a seed."""
    made = []

    def new(name, seed=0):
        save(LSH(n_bits=16, random_state=seed).fit(X), tmp_path / f"model-{seed}")
        made.append(Collection.create(tmp_path / name, tmp_path / f"model-{seed}"))
        return made[-1]

    yield new
    for collection in made:
        collection.close()


@pytest.fixture
def full(make):
    collection = make("full")
    collection.add_codes(codes_of(40))
    collection.remove([3])
    return collection


@SUFFIXES
def test_a_program_that_everybody_has_can_check_them(full, tmp_path, suffix):
    path = tmp_path / f"codes{suffix}"
    said = export_codes(full, path)
    assert said["sha256"] == f"{path}.sha256"
    text = sums_beside(path).read_text()
    assert text.startswith(f"# zshash: 39 codes of 16 bits, model {full.info()['model']}\n")
    assert hashlib.sha256(path.read_bytes()).hexdigest() in text
    done = subprocess.run(
        ["sha256sum", "--strict", "-c", f"codes{suffix}.sha256"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b": OK") == (2 if suffix == ".faiss" else 1)


@SUFFIXES
def test_flipped_bits_are_noticed(full, make, tmp_path, suffix):
    path, other = tmp_path / f"codes{suffix}", make("other")
    export_codes(full, path)
    for file in (path, sums_beside(path)):
        whole = file.read_bytes()
        end = len(whole) if file is path else whole.index(b"codes", 100)
        for bit in range(0, 8 * end, 3):
            damaged = bytearray(whole)
            damaged[bit // 8] ^= 1 << bit % 8
            file.write_bytes(damaged)
            with pytest.raises(DataError, match=f"codes{suffix}"):
                import_codes(other, path)
        file.write_bytes(whole)
    assert len(other) == 0
    assert len(import_codes(other, path).ids) == 39


@SUFFIXES
def test_codes_of_another_model(full, make, tmp_path, suffix):
    path, other = tmp_path / f"codes{suffix}", make("other", seed=1)
    export_codes(full, path)
    with pytest.raises(DataError, match="codes of another model than the collection's"):
        import_codes(other, path)
    assert len(other) == 0
    sums_beside(path).unlink()  # then nobody knows whose they are
    assert len(import_codes(other, path).ids) == 39


def test_search_in_a_file_of_another_model(full, make, tmp_path):
    export_codes(full, tmp_path / "codes.npy")
    make("other", seed=1)
    CodeFile(tmp_path / "codes.npy", load(tmp_path / "model-0"))
    with pytest.raises(DataError, match="codes of another model"):
        CodeFile(tmp_path / "codes.npy", load(tmp_path / "model-1"))


@SUFFIXES
def test_another_file_of_the_same_name(full, make, tmp_path, suffix):
    path, other = tmp_path / f"codes{suffix}", make("other")
    export_codes(full, path)
    sums = sums_beside(path).read_bytes()
    full.remove([5])
    export_codes(full, path)
    assert len(import_codes(other, path).ids) == 38
    sums_beside(path).write_bytes(sums)
    with pytest.raises(DataError, match=f"or written after codes{suffix}.sha256"):
        import_codes(other, path)


def test_checksums_of_other_programs(make, tmp_path):
    path, other = tmp_path / "codes.npy", make("other")
    np.save(path, codes_of(5))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    sums_beside(path).write_text(f"{digest} *codes.npy\n")
    assert len(import_codes(other, path).ids) == 5
    for text in ("", "hello\n", f"{digest}\n", f"# hello\n{digest}  codes.npy\n"):
        sums_beside(path).write_text(text)
        with pytest.raises(DataError, match="holds no checksums: copy or export both"):
            import_codes(other, path)


def test_names_with_unusual_letters(full, make, tmp_path):
    for name in ("a\nb.npy", "a\\b.npy", "a\udcff.npy", "ä ö.npy"):
        export_codes(full, tmp_path / name)
        assert len(import_codes(make(f"of {name}"), tmp_path / name).ids) == 39
        done = subprocess.run(
            ["sha256sum", "--strict", "-c", f"./{name}.sha256"], cwd=tmp_path, capture_output=True
        )
        assert done.returncode == 0, done.stderr
