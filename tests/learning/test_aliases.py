import pytest

from zshash.datasets import DataError
from zshash.learning.aliases import AliasError, MeaningWarning, aliases_of, read_aliases


@pytest.fixture
def write(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "names.txt"
        path.write_text(text, encoding=encoding)
        return path

    return write


@pytest.mark.parametrize("mark", ["=", " = ", ",", ", ", "\t", " \t "])
def test_every_mark_between_label_and_meaning(write, mark):
    path = write(f"# pets\n\nRex{mark}dog\n  # more\n東京{mark}crane (bird)\nRex{mark}dog\n")
    assert read_aliases(str(path)) == {"Rex": "dog", "東京": "crane (bird)"}


def test_labels_with_commas(write):
    path = write('tabby, tabby cat = cat\n"Anna, Bert",person\nTom Cat\tcat, house cat\n')
    expected = {"tabby, tabby cat": "cat", "Anna, Bert": "person", "Tom Cat": "cat, house cat"}
    assert read_aliases(path) == expected


def test_a_file_of_a_spreadsheet(write):
    assert read_aliases(write("Rex,dog\r\n", "utf-8-sig")) == {"Rex": "dog"}


@pytest.mark.parametrize("line", ["Rex", "Rex =", "= dog", ",dog", "\tdog", "Rex,", '"Rex"'])
def test_half_a_line(write, line):
    with pytest.raises(AliasError, match=r"names\.txt: line 2 is no label with its meaning, such"):
        read_aliases(write(f"Tom = cat\n{line}\n"))


def test_two_meanings(write):
    with pytest.raises(AliasError, match="line 2: 'Rex' is 'cat', but 'dog' further up"):
        read_aliases(write("Rex = dog\nRex = cat\n"))


def test_files_that_can_not_be_read(tmp_path):
    with pytest.raises(DataError, match=r"nothing\.txt: No such file"):
        read_aliases(tmp_path / "nothing.txt")
    (tmp_path / "words.txt").write_bytes(b"R\xe9x = dog")
    with pytest.raises(DataError, match="not UTF-8 text"):
        read_aliases(tmp_path / "words.txt")


def test_labels_in_any_spelling():
    names = ["Rex", "old_car", "Müller", "dog"]
    given = {"REX": "dog", "Old-Car": "car", "Muller": "person"}
    assert aliases_of(names, given) == ["dog", "car", "person", ""]
    assert aliases_of(["Rex", "rex"], {"rex": "dog", "Rex": "king"}) == ["king", "dog"]


def test_no_aliases():
    assert aliases_of(["Rex"], None) == aliases_of(["Rex"], {}) == [""]


def test_labels_that_are_not_there():
    with pytest.warns(MeaningWarning, match="^no label is called Tom$"):
        assert aliases_of(["Rex"], {"Tom": "cat", "rex": "dog"}) == ["dog"]
    with pytest.warns(MeaningWarning, match="^no label is called Tom or Rex$"):
        aliases_of([], {"Tom": "cat", "Rex": "dog"})
    many = {f"name {number}": "cat" for number in range(30)}
    with pytest.warns(MeaningWarning, match="name 18, name 19 and 10 more$"):
        aliases_of([], many)


def test_the_warning_points_at_the_caller():
    with pytest.warns(MeaningWarning) as caught:
        aliases_of([], {"Tom": "cat"})
    assert caught[0].filename == __file__
