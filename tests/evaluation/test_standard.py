import numpy as np
import pytest
from PIL import Image

from zshash.datasets import DataError, Dataset, downloads, open_data
from zshash.evaluation.comparison import make_contest
from zshash.evaluation.protocol import Protocol
from zshash.evaluation.standard import STANDARD, load_standard


def protocol(name):
    own = STANDARD[name]
    return Protocol(
        own.unseen, own.n_train, own.n_queries, own.k, n_seen_queries=own.n_seen_queries
    )


@pytest.fixture
def no_files(tmp_path, monkeypatch):
    """A data folder without the features, and no installed drawings."""
    monkeypatch.setenv("ZSHASH_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(downloads, "INSTALLED", {})
    return tmp_path


def test_clip_art_comes_from_the_data_folder(no_files):
    path = no_files / "data" / STANDARD["clipart"].features
    path.parent.mkdir(parents=True)
    np.savez(path, X=np.eye(4, dtype=np.float16), y=[0, 0, 1, 1], names=["bird", "insect"])
    assert load_standard("clipart").names == ("bird", "insect")


def test_clip_art_is_read_from_the_drawings_where_there_is_no_file(no_files, monkeypatch):
    with pytest.raises(DataError, match=r"needs .*clipart_lite0_1280\.npz.*or have its pictures"):
        load_standard("clipart")
    rng = np.random.RandomState(0)
    for number in range(30):
        path = no_files / "png" / ("food/fruit", "food/desserts")[number % 2] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.randint(0, 256, (8, 8, 3), dtype=np.uint8)).save(path)
    monkeypatch.setattr(downloads, "INSTALLED", {"clipart": no_files / "png"})
    found = load_standard("clipart")
    assert (found.X.shape, found.names) == ((30, 1280), ("dessert", "fruit"))
    assert found.extractor["name"] == "efficientnet-lite0"


@pytest.mark.skipif(
    not downloads.INSTALLED["clipart"].is_dir(), reason="no package openclipart-png"
)
def test_every_seed_hides_enough_clip_art():
    pictures = open_data("clipart")
    dataset = Dataset(np.zeros((len(pictures), 1)), pictures.labels, pictures.names)
    for seed in range(20):
        split = protocol("clipart").split(dataset, seed)
        sizes = len(split.unseen), len(split.train), len(split.queries), len(split.seen_queries)
        assert sizes == (8, 1000, 100, 100)
        assert not np.isin(pictures.labels[split.train], split.unseen).any()


def test_real_clip_art(data_folder):
    if not (data_folder / STANDARD["clipart"].features).is_file():
        pytest.skip("no features of clip art in the data folder")
    contest = make_contest("clipart", {"ITQ": {}}, [64], [])
    assert contest.protocol == protocol("clipart")
    assert len(contest.dataset.names) == 40
    assert contest.dataset.X.shape[1] == 1280
