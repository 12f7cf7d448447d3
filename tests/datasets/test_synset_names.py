import pytest

from zshash.datasets import DataError
from zshash.datasets.synset_names import is_synset, read_words, synset_names


def test_form_of_an_id():
    assert is_synset("n02123045")
    for text in ("n0212304", "n021230455", "v02123045", "N02123045", "n02123045 ", "n0212304٣"):
        assert not is_synset(text)


def test_names_by_preference(tmp_path):
    here, above = tmp_path / "here", tmp_path
    here.mkdir()
    ids = ["n02123045", "n02084071", "n00000009"]
    assert synset_names(ids, [here, above]) == ("tabby", "dog", "n00000009")
    (above / "words.txt").write_text("n02123045\tabove\nn02084071\tdog above\n")
    assert synset_names(ids, [here, above]) == ("above", "dog above", "n00000009")
    (here / "words.txt").write_text("n02123045\there, of course\n")
    assert synset_names(ids, [here, above]) == ("here, of course", "dog", "n00000009")


def test_lines_that_are_no_words_are_skipped(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("\ufeffn02123045\ttabby\r\n\nnonsense\nx\ty\n", encoding="utf-8")
    assert read_words(path) == {"n02123045": "tabby"}
    path.write_bytes(b"n02123045\t\xff\n")
    with pytest.raises(DataError, match=r"words\.txt: not UTF-8 text"):
        read_words(path)
