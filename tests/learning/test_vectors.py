import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from zshash.learning.vectors import place
from zshash.semantics import WordNet, WordVectors

SEEN = ["cat", "truck", "tulip"]


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("cat 1 0\ndog 3 4\nzero 0 0\n")
    return str(path)


def test_known_words_as_the_source_gives_them(words):
    placed = place("wordnet", SEEN, ["dog", "rose"])
    assert_array_equal(placed.vectors, WordNet(SEEN).embed([*SEEN, "dog", "rose"]))
    assert placed.is_known.all()
    placed = place(words, ["cat"], ["dog"])
    assert_array_equal(placed.vectors, WordVectors.load(words).embed(["cat", "dog"]))


def test_unknown_words_stand_behind_the_coordinates_of_the_source():
    plain = WordNet(SEEN).embed([*SEEN, "dog"])
    placed = place("wordnet", ["cat", "", "truck", "qqqq", "tulip"], ["dog", "zzzz", ""])
    width = plain.shape[1]
    known = [0, 2, 4, 5]
    assert_array_equal(placed.vectors[known, :width], plain)
    assert not placed.vectors[known, width:].any()
    assert_array_equal(placed.vectors[[1, 3, 6, 7], width:], np.eye(4))
    assert not placed.vectors[[1, 3, 6, 7], :width].any()
    assert placed.is_known.tolist() == [True, False, True, False, True, True, False, False]


def test_other_words_do_not_move_the_seen_ones():
    alone, among = place("wordnet", ["cat", ""]), place("wordnet", ["cat", ""], ["", "dog"])
    width = alone.vectors.shape[1]
    assert_array_equal(among.vectors[:2, :width], alone.vectors)
    assert not among.vectors[:2, width:].any()


@pytest.mark.parametrize("words", [["", "qqqq"], ["entity", ""], ["", "()"]])
def test_nothing_but_unknown_words_is_one_hot(words):
    placed = place("wordnet", words)
    assert_array_equal(placed.vectors, np.eye(2))
    assert not placed.is_known.any()


def test_a_word_that_shares_nothing_with_the_seen_ones():
    with pytest.raises(ValueError, match="no ancestor is shared"):
        WordNet(["cat"]).embed(["love"])
    placed = place("wordnet", ["cat"], ["love", "dog"])
    assert placed.is_known.tolist() == [True, False, True]
    assert_allclose(np.linalg.norm(placed.vectors, axis=1), 1, rtol=1e-6)


def test_files(words):
    placed = place(words, ["dog", "Rex", "cat", "zero", "()"])
    expected = [[0.6, 0.8, 0, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0]]
    assert_allclose(placed.vectors, [*expected, [0, 0, 0, 0, 1]], rtol=1e-6)
    assert_array_equal(place(words, ["Rex"]).vectors, [[0, 0, 1]])
    assert_array_equal(place(words, ["()"]).vectors, [[1]])


def test_a_file_that_has_changed_is_read_again(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("cat 1 0\n")
    assert not place(str(path), ["dog"]).is_known.any()
    path.write_text("cat 1 0\ndog 0 1\n")
    assert place(str(path), ["dog"]).is_known.all()


def test_a_file_that_is_missing_or_damaged(tmp_path):
    with pytest.raises(FileNotFoundError, match="no label source"):
        place(str(tmp_path / "nothing.txt"), ["cat"])
    (tmp_path / "bad.txt").write_text("cat 1 x\n")
    with pytest.raises(ValueError, match="line 1"):
        place(str(tmp_path / "bad.txt"), ["cat"])
