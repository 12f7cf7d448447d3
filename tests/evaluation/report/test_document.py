import pytest

from zshash.evaluation.report.document import (
    REPRODUCED,
    Claim,
    GalleryRow,
    Picture,
    Plot,
    Section,
    Table,
)


def test_a_table_refuses_rows_of_another_width():
    Table(["a", "b"], [["1", "2"]])
    with pytest.raises(ValueError, match="3 cells under a head of 2"):
        Table(["a", "b"], [["1", "2"], ["1", "2", "3"]])


def test_a_claim_has_one_of_four_verdicts():
    assert Claim("it works", REPRODUCED, "r = 0.9").verdict == "reproduced"
    with pytest.raises(ValueError, match="no such verdict: maybe"):
        Claim("it works", "maybe", "r = 0.9")


@pytest.mark.parametrize("name", ["", "../map", "a b", 'a"b', "map.svg"])
def test_names_are_fit_for_files_and_anchors(name):
    Plot("map-by_bits2", [], "")
    with pytest.raises(ValueError, match="not a name"):
        Plot(name, [], "")
    with pytest.raises(ValueError, match="not a name"):
        Section("Title", [], name)


def test_a_row_counts_what_is_right():
    found = [Picture(None, "cat", right) for right in (True, False, None, True)]
    row = GalleryRow("ZSH", Picture(None, "cat"), found)
    assert row.score == "2 of 4"
    assert "".join(picture.mark for picture in row.found) == "✓✗·✓"
