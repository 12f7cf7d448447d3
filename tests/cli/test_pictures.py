"""From folders of pictures to neighbours, on the command line, through the real network."""

import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import zshash
from zshash.cli import main
from zshash.datasets import load_features

COLOURS = {"tabby_cat": (200, 60, 60), "dog": (60, 200, 60), "n04252225": (60, 60, 200)}


@pytest.fixture(scope="module", autouse=True)
def shared_cache(tmp_path_factory):
    """The network is built once, and features of other tests' pictures are not found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZSHASH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def draw(path, colour, seed):
    """A picture of stripes in shades of a colour."""
    rng = np.random.RandomState(seed)
    stripes = np.repeat(rng.randint(-50, 50, size=(8, 1, 1)), 8, axis=0)
    pixels = np.clip(np.array(colour) + stripes + rng.randint(-9, 9, size=(64, 48, 3)), 0, 255)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.astype(np.uint8)).save(path, quality=95)


@pytest.fixture
def photos(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, (name, colour) in enumerate(COLOURS.items()):
        for i in range(8):
            draw(tmp_path / "photos" / name / f"{i}.jpg", colour, 100 * number + i)
    return tmp_path / "photos"


def run(*arguments, code=0):
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


def fit(data, *arguments, model="model", code=0):
    common = ("--method", "ZSH", "--bits", 16, "--set", "n_anchors=10", "-o", model)
    return run("fit", data, *common, *arguments, code=code)


def test_folder_to_neighbours(photos):
    output = fit("photos", "--unseen", "n04252225").output
    assert "16 bits, 16 samples of 2 seen categories" in output
    assert "never seen: snowplow" in output
    run("encode", "photos", "-m", "model", "-o", "codes.npz")
    query = photos / "n04252225" / "3.jpg"
    (answer,) = json.loads(
        run("search", "codes.npz", query, "-m", "model", "--k", 8, "--json").output
    )
    assert answer["query"] == str(query)
    assert answer["neighbours"][0]["bits"] == 0
    at_zero = [item for item in answer["neighbours"] if item["bits"] == 0]
    assert any(item["path"] == "photos/n04252225/3.jpg" for item in at_zero)
    labels = [item["labels"] for item in answer["neighbours"]]
    assert labels.count(["snowplow"]) > 4
    plain = run("search", "codes.npz", query, "-m", "model", "--radius", 0).output
    assert f"{query}: " in plain
    assert "   0  photos/n04252225/3.jpg  snowplow" in plain
    scores = json.loads(run("eval", "photos", "-m", "model", "--json").output)
    assert scores["summary"][0]["map"] > 0.5


@pytest.mark.usefixtures("photos")
def test_words_in_any_spelling_name_a_folder():
    notes = json.loads(fit("photos", "--unseen", "Tabby cat", "--json").output)
    assert notes["unseen"] == ["tabby_cat"]
    assert notes["seen"] == ["dog", "snowplow"]
    assert notes["meanings"] == ["n02084071", "n04252225"]
    assert notes["extractor"]["name"] == "efficientnet-lite0"


@pytest.mark.usefixtures("photos")
def test_features_in_a_file_give_the_same_model():
    fit("photos", model="from_pictures")
    run("extract", "photos", "-o", "features.npz")
    table = load_features("features.npz")
    assert table.X.shape == (24, 1280)
    assert table.names == ("dog", "snowplow", "tabby_cat")
    assert table.synsets == ("", "n04252225", "")
    assert table.paths[0] == "photos/dog/0.jpg"
    fit("features.npz", model="from_features")
    one, two = zshash.load("from_pictures").hasher, zshash.load("from_features").hasher
    np.testing.assert_array_equal(one.encode(table.X), two.encode(table.X))
    run("encode", "photos", "-m", "from_features", "-o", "codes.npy")
    np.testing.assert_array_equal(np.load("codes.npy"), one.encode(table.X))


@pytest.mark.filterwarnings("default")
def test_only_pictures_to_train_on_are_read(photos):
    (photos / "n04252225" / "0.jpg").write_bytes(b"broken")
    assert "Warning" not in fit("photos", "--unseen", "n04252225").stderr
    done = fit("photos")
    assert "photos/n04252225/0.jpg: not a picture" in done.stderr
    assert "1 of 24 pictures could not be used" in done.stderr
    done = fit("photos", "--on-error", "fail", code=2)
    assert "photos/n04252225/0.jpg: not a picture" in done.stderr


def test_a_list_of_pictures_with_several_labels(photos):
    lines = ["path,labels"]
    for name in COLOURS:
        more = "" if name == "n04252225" else ";animal"
        lines += [f"{name}/{i}.jpg,{name}{more}" for i in range(8)]
    (photos / "list.csv").write_text("\n".join(lines))
    for method, labels in (("ZSH", "wordnet"), ("SDH", "onehot")):
        options = ("--method", method, "--meanings", labels, "--unseen", "dog")
        notes = json.loads(fit("photos/list.csv", *options, "--json").output)
        assert notes["seen"] == ["animal", "n04252225", "tabby_cat"]
        assert notes["n_train"] == 16
    scores = json.loads(run("eval", "photos/list.csv", "-m", "model", "--json").output)
    assert scores["runs"][0]["unseen"] == ["dog"]
    facts = json.loads(run("info", "photos/list.csv", "--json").output)
    assert facts["samples each"]["animal"] == 16


@pytest.mark.usefixtures("photos")
def test_models_keep_to_their_extractor(tmp_path):
    from tests.images.small_network import write_network

    write_network(tmp_path / "small.onnx")
    fit("photos", "--extractor", "onnx:small.onnx")
    run("encode", "photos", "-m", "model", "-o", "codes.npy")
    done = run(
        *("encode", "photos", "-m", "model", "-o", "x.npy", "--extractor", "efficientnet-lite0"),
        code=2,
    )
    assert "trained on features of onnx:small.onnx, but efficientnet-lite0" in done.stderr
    run("extract", "photos", "-o", "features.npz")
    done = run("encode", "features.npz", "-m", "model", "-o", "x.npy", code=2)
    assert "features.npz: 1280 features for each sample, but model was trained on" in done.stderr


def test_codes_of_another_model_are_not_searched(photos):
    fit("photos")
    run("encode", "photos", "-m", "model", "-o", "codes.npz")
    fit("photos", "--seed", 1, model="other")
    done = run("search", "codes.npz", photos / "dog" / "1.jpg", "-m", "other", code=2)
    assert "codes.npz: codes of another model than other: encode the data again" in done.stderr


@pytest.mark.usefixtures("photos")
def test_what_a_folder_holds():
    facts = json.loads(run("info", "photos", "--json").output)
    assert facts["pictures"] == 24
    assert facts["samples each"] == {"dog": 8, "snowplow": 8, "tabby_cat": 8}


@pytest.mark.usefixtures("photos")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "nowhere", "-o", "m"), "nowhere"),
        (("fit", "photos", "-o", "m", "--unseen", "dig"), "did you mean 'dog'"),
        (("fit", "photos", "-o", "m", "--extractor", "vgg"), "vgg"),
        (("fit", "photos", "-o", "m", "--extractor-option", "size"), "write NAME=VALUE"),
        (("fit", "photos", "-o", "m", "--no-cache", "--max-pixels", 100), "none of the 24"),
        (("fit", "photos", "-o", "m", "--no-cache", "--max-bytes", 100), "the limit of 100"),
        (("extract", "photos", "-o", "f.csv"), "features are written to .npz"),
        (("search", "photos/dog/1.jpg", "photos", "-m", "model"), "neither a collection nor codes"),
        (("search", "codes.npz", "photos", "-m", "model", "--k", 3, "--radius", 2), "--k has no"),
        (("fit", "empty", "-o", "m"), "empty"),
        (("fit", "imagenet", "-o", "m"), "read the data from that folder (--from PATH)"),
        (
            ("encode", "photos", "-m", "model", "-o", "x.npy", "--extractor-option", "mean=1"),
            "name the extractor, too (--extractor NETWORK)",
        ),
    ],
)
def test_mistakes_get_one_line(tmp_path, arguments, message):
    (tmp_path / "empty").mkdir()
    fit("photos")
    run("encode", "photos", "-m", "model", "-o", "codes.npz")
    done = run(*arguments, code=2)
    assert message in done.stderr
    assert len([line for line in done.stderr.splitlines() if "Warning" not in line]) == 1


@pytest.mark.usefixtures("photos")
def test_a_missing_extra_is_named():
    code = "import sys; sys.modules['PIL'] = None; from zshash.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", "photos", "-o", "m"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.endswith("is not installed: pip install 'zshash[images]'\n")
    assert "Traceback" not in done.stderr


def test_pictures_at_hand(data_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tiny = data_folder / "images" / "tiny"
    options = ("--unseen", "goldfish", "--unseen", "teapot", "--set", "effort=fast", "--json")
    notes = json.loads(run("fit", tiny, *options, "-o", "model").output)
    assert notes["n_train"] == 180
    assert len(notes["seen"]) == 18
    run("encode", tiny, "-m", "model", "-o", "codes.npz")
    full = data_folder / "images" / "full"
    answers = json.loads(run("search", "codes.npz", full, "-m", "model", "--json").output)
    assert len(answers) == 23
    query = next(iter(sorted((tiny / "n01443537").iterdir())))
    (answer,) = json.loads(run("search", "codes.npz", query, "-m", "model", "--json").output)
    found = [item["labels"][0].startswith("goldfish") for item in answer["neighbours"]]
    assert sum(found) > 3


def test_what_is_read_is_not_written_over(photos):
    (photos / "list.csv").write_text("path,label\n" + "dog/1.jpg,dog\n" * 3)
    before = (photos / "list.csv").read_bytes()
    for more, message in (
        ((), "is no model: choose"),
        (("--force",), "is also an input of this command: choose"),
    ):
        done = fit("photos/list.csv", *more, model="photos/list.csv", code=2)
        assert message in done.stderr
    assert (photos / "list.csv").read_bytes() == before
    fit("photos")
    run("extract", "photos", "-o", "f.npz")
    assert (
        "is also an input of this command" in run("extract", "f.npz", "-o", "f.npz", code=2).stderr
    )
    encode = ("encode", "f.npz", "-m", "model", "-o", "model")
    assert "'model' is there and is no NumPy file" in run(*encode, code=2).stderr
    assert "is also an input of this command" in run(*encode, "--force", code=2).stderr


@pytest.mark.filterwarnings("default")
def test_a_broken_query_does_not_stop_the_others(photos, tmp_path):
    fit("photos")
    run("encode", "photos", "-m", "model", "-o", "codes.npz")
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    queries = ("broken.jpg", photos / "dog" / "1.jpg", photos / "dog" / "2.jpg")
    done = run("search", "codes.npz", *queries, "-m", "model", "--k", 1, "--json")
    assert [answer["query"] for answer in json.loads(done.stdout)] == [str(q) for q in queries[1:]]
    assert "broken.jpg: not a picture" in done.stderr
    done = run("search", "codes.npz", queries[1], "nowhere.jpg", "-m", "model", code=2)
    assert not done.stdout
    assert (
        "broken.jpg: not a picture"
        in run("search", "codes.npz", "broken.jpg", "-m", "model", code=2).stderr
    )


def test_queries_of_several_kinds(photos):
    fit("photos")
    run("encode", "photos", "-m", "model", "-o", "codes.npy")
    run("extract", "photos", "-o", "f.npz")
    done = run("search", "codes.npy", "f.npz", photos / "dog" / "1.jpg", "-m", "model", "--json")
    answers = json.loads(done.output)
    assert len(answers) == 25
    assert answers[0]["query"] == str(photos / "dog" / "1.jpg")
    assert answers[0]["neighbours"] == answers[2]["neighbours"]
    assert set(answers[0]["neighbours"][0]) == {"score", "bits", "row"}


@pytest.mark.filterwarnings("default")
def test_samples_without_a_label(photos):
    lines = [f"{name}/{i}.jpg,{name if i else ''}" for name in COLOURS for i in range(8)]
    (photos / "list.csv").write_text("\n".join(["path,label", *lines]))
    done = fit("photos/list.csv", "--json")
    assert json.loads(done.stdout)["n_train"] == 21
    assert "3 of 24 samples have no label and are not trained on" in done.stderr
    common = ("--method", "LSH", "--bits", 16, "--unseen", "dog", "-o", "m", "--json")
    assert json.loads(run("fit", "photos/list.csv", *common).stdout)["n_train"] == 17


@pytest.mark.usefixtures("photos")
def test_features_need_no_extractor():
    run("extract", "photos", "-o", "f.npz")
    done = fit("f.npz", "--extractor", "efficientnet-lite0", code=2)
    assert "features need no extractor: leave out efficientnet-lite0" in done.stderr


def test_names_that_steer_a_terminal(photos):
    (photos / "dog").rename(photos / "dog\x1b[31m")
    assert "dog\\x1b[31m=8" in run("info", "photos").output


def test_pictures_by_name(photos):
    """The network's own categories are known, with the labels of the folders beside them."""
    fit("photos")
    knowledge = zshash.load("model").knowledge
    assert len(knowledge) == 1001  # a dog is above many categories, and is none of them
    assert knowledge.names[-1] == "dog"
    assert knowledge.counts[knowledge.labels["tabby_cat"]] == 8
    run("create", "album", "-m", "model")
    run("add", "album", "photos")
    (answer,) = json.loads(run("search", "album", "--name", "cat", "--k", 9, "--json").output)
    assert answer["reading"]["labels"] == ["tabby_cat"]
    found = answer["neighbours"]
    assert [own["labels"] for own in found[:8]] == [["tabby_cat"]] * 8
    assert [own["score"] for own in found[:8]] == [1.0] * 8
    assert found[8]["score"] < 1
    query = photos / "dog" / "3.jpg"
    output = run("search", "album", query, "--name", "cat", "--not", "snowplow", "--k", 2).output
    assert output.startswith(f"{query}: 2 neighbours\n  taken as cat (true cat); it also means")
    output = run("search", "album", "--name", "lorry").output
    assert "  taken as lorry (truck); it also means lorry (wagon): lorry.n.01\n" in output
