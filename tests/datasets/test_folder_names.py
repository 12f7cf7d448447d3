import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zshash.datasets.folder_names import as_label, is_plain_folder, label_folders

DATES = [
    *("1900", "1999", "2021", "2100", "2021-2022"),
    *("2021-08", "2021_08", "2021.8", "2021 08", "202108", "08-2021", "8.2021"),
    *("2021-08-14", "2021_08_14", "2021.8.14", "20210814", "14.08.2021", "08-14-2021"),
    *("2021-08-14 15.30.22", "2021-08-14T15:30", "20210814_153022"),
    *("August 2021", "Aug 2021", "2021 August", "2021-Aug-14", "14 August 2021", "August 14, 2021"),
    *("08 August", "01-Jan", "2021-08 August"),
]
CAMERAS = [
    *("IMG_2031", "IMG-20210814-WA0001", "DSC00012", "DSC_0012", "DSCN1234", "DSCF0001"),
    *("_MG_1234", "P1010001", "PXL_20210814_123456789", "GX010001", "DJI_0001"),
    *("100CANON", "101NIKON", "100APPLE", "102_PANA", "100MSDCF", "101_0814", "999GOPRO"),
    *("DCIM", "dcim", "Camera", "Camera Roll", "Camera Uploads"),
]
PROGRAMS = [
    *("New folder", "New Folder (2)", "new_folder", "untitled folder 3", "Neuer Ordner (2)"),
    *("Screenshots", "Screen Shots", "Saved Pictures", "WhatsApp Images", "Photos from 2019"),
    *("Downloads", "Untitled"),
]
HOMES = ["Photos", "pictures", "My Pictures", "My_Photos", "Images", "Bilder", "写真"]
NUMBERS = ["0", "7", "42", "123", "000123"]
LABELS = [
    *("Rex", "Müller", "東京", "cat", "tabby_cat", "n02123045", "7up", "Boeing 747", "B52"),
    *("camera", "reflex camera", "image", "screen", "folder", "New York", "May", "March", "August"),
    *("Italy 2021", "Summer 2021", "2021-08-14 Birthday", "101 dalmatians", "100 metres"),
    *("p001", "class 7", "001.Albatross", "1/2", "2021a", "3d", "-", "100canon"),
]


@pytest.mark.parametrize("name", [*DATES, *CAMERAS, *PROGRAMS, *HOMES, *NUMBERS, " 2021 ", " "])
def test_names_that_say_nothing(name):
    assert is_plain_folder(name)


@pytest.mark.parametrize("name", LABELS)
def test_names_that_a_person_gave(name):
    assert not is_plain_folder(name)


@given(st.dates())
def test_every_date(date):
    is_plain = 1900 <= date.year <= 2100
    assert is_plain_folder(date.isoformat()) == is_plain
    assert is_plain_folder(f"{date:%d.%m.}{date.year:04}") == is_plain


@pytest.mark.parametrize(
    "names",
    [
        list(map(str, range(10))),
        ["00", "01", "99"],
        list(map(str, range(1, 103))),
        ["0000045", "0000099"],
        ["7"],
    ],
)
def test_numbers_alone_are_labels(names):
    assert label_folders(names) == set(names)


@pytest.mark.parametrize("names", [["2020", "2021"], ["1", "2021"], ["20210814"], ["1", "DCIM"]])
def test_numbers_beside_dates_and_cameras_are_not(names):
    assert label_folders(names) == set()


@pytest.mark.parametrize("above", [["2021"], ["digits", "14.08.2021"], ["DCIM"], ["7"]])
def test_numbers_below_dates_and_cameras_are_not(above):
    assert label_folders(["1", "2"], above) == set()
    assert label_folders(["1", "2"], ["digits", "Images"]) == {"1", "2"}


@given(st.text())
def test_labels_are_text_in_one_form(name):
    bytes_on_disk = name.encode("utf-8", "replace") + b"\xe9"
    label = as_label(bytes_on_disk.decode("utf-8", "surrogateescape"))
    assert label == unicodedata.normalize("NFC", label)
    assert label.encode("utf-8").endswith("\ufffd".encode())
    assert as_label(label) == label


def test_other_names_stay_labels():
    assert label_folders(["Rex", "2021", "7", "DCIM", "東京"]) == {"Rex", "東京"}
    assert label_folders([]) == set()
