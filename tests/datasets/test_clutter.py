import pytest

from zshash.datasets.clutter import is_clutter, is_library, is_original

CLUTTER = [
    *("@eaDir", "@__thumb", "Thumbs", "thumbnails", "_thumbs", ".thumbnails", ".picasaoriginals"),
    *("Lightroom Catalog Previews.lrdata", "Smart Previews.lrdata", "appdata_oc7x3k", ".dtrash"),
    *("#recycle", "@Recycle", "$RECYCLE.BIN", "RECYCLER", ".Trash-1000", ".Trashes", "Trash-1000"),
    *("files_trashbin", "lost+found", "System Volume Information", "__MACOSX", ".git"),
]
PICTURES = [
    *("cats", "thumb", "Thumbelina", "recycling", "trash", "lost", "appdata", "lrdata", "2021"),
    *("originals", "macosx", "eaDir", "My Pictures", "京都"),
]


@pytest.mark.parametrize("name", CLUTTER)
def test_what_programs_leave(name):
    assert is_clutter(name)
    assert is_clutter(name.upper())


@pytest.mark.parametrize("name", PICTURES)
def test_folders_of_people(name):
    assert not is_clutter(name)
    assert not is_library(name)


def test_libraries():
    for name in ("Photos Library.photoslibrary", "iPhoto.photolibrary", "a.APLIBRARY"):
        assert is_library(name)
        assert not is_clutter(name)
    assert [is_original(name) for name in ("originals", "Masters", "resources", "Thumbnails")] == [
        *(True, True),
        *(False, False),
    ]
