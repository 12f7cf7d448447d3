import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zshash.semantics import Source, UnknownNames, WordVectors, average_similarity

WORDS = ["cat", "dog", "New_York", "ice-cream", "red", "lorry", "mouse", "Paris"]
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)
SIMILARITY = {
    "airplane": 0.2191,
    "automobile": 0.1567,
    "bird": 0.3565,
    "cat": 0.3661,
    "deer": 0.2981,
    "dog": 0.3826,
    "frog": 0.3485,
    "horse": 0.3015,
    "ship": 0.1663,
    "truck": 0.3358,
}


@pytest.fixture(scope="module")
def table():
    return WordVectors(WORDS, VECTORS)


def direction(*words):
    rows = VECTORS[[WORDS.index(word) for word in words]].astype(float)
    mean = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).mean(axis=0)
    return mean / np.linalg.norm(mean)


def text(header=True, end="\n", words=WORDS):
    values = [" ".join(map(repr, row)) for row in VECTORS.tolist()]
    rows = [f"{word} {row}" for word, row in zip(words, values, strict=True)]
    return end.join([f"{len(rows)} 5", *rows] if header else rows) + end


@pytest.mark.parametrize(
    "content",
    [
        text().encode(),
        text(header=False).encode(),
        text(end=" \r\n").encode(),
        text(end="\n\n").encode(),
        text().replace(" ", "\t").encode(),
        b"\xef\xbb\xbf" + text().encode(),
        gzip.compress(text().encode(), mtime=0),
        gzip.compress(text(header=False).encode(), mtime=0),
    ],
    ids=["word2vec", "glove", "crlf", "blank lines", "tabs", "bom", "gzip", "glove gzip"],
)
def test_text_files_in_every_dress(tmp_path, content):
    path = tmp_path / "misnamed.npz"
    path.write_bytes(content)
    table = WordVectors.load(path)
    assert table.words == WORDS
    np.testing.assert_array_equal(table.vectors, VECTORS)
    assert (len(table), table.dimension) == (8, 5)


@pytest.mark.parametrize("words", [np.array(WORDS), np.array([w.encode() for w in WORDS])])
def test_npz_files(tmp_path, words):
    np.savez(tmp_path / "vectors.npz", words=words, vectors=VECTORS.astype(float))
    table = WordVectors.load(str(tmp_path / "vectors.npz"))
    assert table.words == WORDS
    np.testing.assert_array_equal(table.vectors, VECTORS)
    few = WordVectors.load(tmp_path / "vectors.npz", only=["cats", "paris"])
    assert few.words == ["cat", "Paris"]


def test_words_with_spaces(tmp_path):
    words = [". . .", "at name@domain.com", "\u00a0", "1\u00a01/2", "a b", "x", "y", "z"]
    for header in (True, False):
        (tmp_path / "glove.txt").write_text(text(header, words=words), "utf-8")
        table = WordVectors.load(tmp_path / "glove.txt")
        assert table.words == words
        np.testing.assert_array_equal(table.vectors, VECTORS)
        assert WordVectors.load(tmp_path / "glove.txt", only=["a-b"]).words == ["a b"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cat", ["cat"]),
        (" CAT", ["cat"]),
        ("Paris", ["Paris"]),
        ("paris", ["Paris"]),
        ("new york", ["New_York"]),
        ("Ice cream", ["ice-cream"]),
        ("ice_creams", ["ice-cream"]),
        ("lorries", ["lorry"]),
        ("mice", ["mouse"]),
        ("red lorry", ["red", "lorry"]),
        ("red-lorries", ["red", "lorry"]),
        ("big garbage lorry", ["lorry"]),
        ("lorry of Paris", ["lorry"]),
        ("Felis catus, cat", ["cat"]),
        ("blue cat, dog", ["dog"]),
        ("blue cat, green dog", ["cat"]),
    ],
)
def test_look_up(table, name, words):
    np.testing.assert_allclose(table.embed([name])[0], direction(*words), atol=1e-6)
    assert name in table


def test_exact_beats_lower_case_beats_other_separators():
    table = WordVectors(["a_b", "A b", "a b", "a b"], np.eye(4))
    rows = table.embed(["A b", "a b", "a_b", "A B", "a-b"]).argmax(axis=1)
    assert rows.tolist() == [1, 2, 0, 2, 0]


def test_it_is_a_source(table):
    assert isinstance(table, Source)
    vectors = table.embed(["cat", "red lorry"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert table.embed([]).shape == (0, 5)
    assert repr(table) == "WordVectors(<8 words>, dimension=5)"


NAME = st.lists(
    st.sampled_from(["cat", "dogs", "New", "York", "of", "ice", "cream", "red", "lorries", "x"]),
    min_size=1,
    max_size=3,
).flatmap(lambda words: st.sampled_from([" ", "_", "-", ", "]).map(lambda s: s.join(words)))


@settings(max_examples=60, deadline=None)
@given(names=st.lists(NAME, max_size=4))
def test_only_some_words_give_the_same_vectors(names, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "only.txt"
    if not path.exists():
        path.write_text(text(), "utf-8")
    table, few = WordVectors.load(path), WordVectors.load(path, only=names)
    known = [name for name in names if name in table]
    assert known == [name for name in names if name in few]
    np.testing.assert_array_equal(table.embed(known), few.embed(known))
    assert few.dimension == 5


def test_only_skips_lines_of_other_words(tmp_path):
    (tmp_path / "big.txt").write_text("3 2\ncat 1 2\nbroken 1\ndog 3 4\n", "utf-8")
    assert WordVectors.load(tmp_path / "big.txt", only=["cat", "dog"]).words == ["cat", "dog"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (b"2 2\ncat 1 2\ndog 1\n", "line 3 has 1 numbers where 2 are expected"),
        (b"2 2\ncat 1 2\ndog 1 2 3\n", "line 3 has 3 numbers where 2 are expected"),
        (b"cat 1 2\ndog\n", "line 2 has 0 numbers where 2 are expected"),
        (b"cat 1 2\n\nbig dog 1 2 3\n", "line 3 has 3 numbers where 2 are expected"),
        (b"cat 1 2\ndog 1 x\n", "line 2: 'x' is not a number"),
        (b"cat 1 2\ndog 1 nan\n", "the vector of 'dog' has values that are not finite"),
        (b"cat 1 2\ndog 1e99 2\n", "the vector of 'dog' has values that are not finite"),
        (b"cat 1 2\nd\xf8g 1 2\n", "line 2 is not UTF-8 text"),
        (b"1 2\ncat \x00\xff\x80?\n", "line 2 is not UTF-8 text (word2vec's binary format"),
        (b"just some prose\n", "line 1 is neither 'count dimension' nor a word and its numbers"),
        (b"3 0\n", "line 1 is neither 'count dimension' nor a word"),
        (b"1 99999999999999999999\ncat 1\n", "line 1 is neither 'count dimension' nor a word"),
        (b"3 2\ncat 1 2\n", "the first line promises 3 words, but 1 follow"),
        (
            gzip.compress(text().encode(), mtime=0)[:-20],
            "the compressed file is damaged or cut off",
        ),
        (b"\x1f\x8bnonsense", "the compressed file is damaged or cut off"),
        (b"PK\x03\x04nonsense", "the compressed file is damaged or cut off"),
    ],
)
def test_damaged_files(tmp_path, content, message):
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"vectors\.txt: ") as caught:
        WordVectors.load(path)
    assert str(caught.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"words": np.array(["cat"])}, "expected arrays 'words' and 'vectors', found ['words']"),
        ({"words": np.array([1]), "vectors": np.eye(1)}, "'words' must be a list of strings"),
        ({"words": np.array(["cat", "dog"]), "vectors": np.eye(1)}, "2 words, but 1 vectors"),
        ({"words": np.array(["cat"]), "vectors": np.ones(1)}, "vectors must be a matrix of num"),
        ({"words": np.array(["a"], object), "vectors": np.eye(1)}, "Object arrays cannot be"),
    ],
)
def test_npz_files_with_something_else(tmp_path, arrays, message):
    np.savez(tmp_path / "vectors.npz", **arrays)
    with pytest.raises(ValueError, match=r"vectors\.npz: ") as caught:
        WordVectors.load(tmp_path / "vectors.npz")
    assert message in str(caught.value)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file of word vectors at "):
        WordVectors.load(tmp_path / "nothing.txt")
    with pytest.raises(FileNotFoundError, match="no file of word vectors at "):
        WordVectors.load(tmp_path)


@pytest.mark.parametrize(
    ("words", "vectors", "kind", "message"),
    [
        ([1], [[1.0]], TypeError, "words must be strings"),
        (["cat"], [[1.0], [2.0]], ValueError, "1 words, but 2 vectors"),
        (["cat"], [1.0], ValueError, "vectors must be a matrix of numbers"),
        (["cat", "dog"], [[1.0], [2.0, 3.0]], ValueError, "vectors must be a matrix of numbers"),
        (["cat"], [["x"]], ValueError, "vectors must be a matrix of numbers"),
        (["cat"], [[np.inf]], ValueError, "the vector of 'cat' has values that are not finite"),
    ],
)
def test_bad_tables(words, vectors, kind, message):
    with pytest.raises(kind, match=message):
        WordVectors(words, vectors)


def test_zero_vectors_are_errors():
    table = WordVectors(["cat", "big", "small", "null"], [[0, 1], [1, 0], [-1, 0], [0, 0]])
    with pytest.raises(ValueError, match="the vector of 'null' is zero, so it has no direction"):
        table.embed(["cat", "null"])
    with pytest.raises(ValueError, match="the vector of 'null' is zero"):
        table.embed(["null cat"])
    with pytest.raises(ValueError, match="the vector of 'big small' is zero"):
        table.embed(["big small"])


def test_unknown_names_come_together(table):
    with pytest.raises(UnknownNames) as caught:
        table.embed(["cat", "parris", "qqqq", "parris"])
    assert str(caught.value) == (
        "WordVectors does not know 2 names: 'parris' (did you mean 'paris'?), 'qqqq'"
    )
    assert 7 not in table
    assert "" not in table
    with pytest.raises(ValueError, match="name 0 is empty"):
        table.embed([""])


def test_similarities_of_the_paper(data_folder):
    table = WordVectors.load(data_folder / "words" / "huang2012_50d.txt")
    found = average_similarity(table.embed(SIMILARITY))
    assert dict(zip(SIMILARITY, found.round(4).tolist(), strict=True)) == SIMILARITY


def test_glove_nouns_know_all_categories_of_tiny_imagenet(data_folder):
    path = data_folder / "words" / "glove6b_100d_nouns.txt.gz"
    with np.load(data_folder / "features" / "tiny100_lite0_pca256.npz") as archive:
        names = archive["names"].tolist()
    table, few = WordVectors.load(path), WordVectors.load(path, only=names)
    assert (len(table), table.dimension) == (20_101, 100)
    assert len(few) < 500
    np.testing.assert_array_equal(table.embed(names), few.embed(names))
