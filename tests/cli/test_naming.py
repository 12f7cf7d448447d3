"""Search by name on the command line, and what it says about names."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import zshash
from tests.learning.known_things import BEAGLE, NAMES, TABBY, make_world
from zshash import LSH
from zshash.cli import main
from zshash.learning.knowledge import learn_knowledge
from zshash.learning.model import Model


def run(*arguments, code=0):
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done.output


def refused(*arguments):
    """The one line that says what is wrong."""
    output = run(*arguments, code=2)
    assert output.count("\n") == 1, output
    return output


def search(*arguments):
    (answer,) = json.loads(run("search", "col", *arguments, "--json"))
    return answer


def ids(answer):
    return [own["id"] for own in answer["neighbours"]]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A collection whose network knows names; five tabbies and a beagle have labels."""
    folder = tmp_path_factory.mktemp("naming")
    world = make_world()
    hasher = LSH(n_bits=48, random_state=0).fit(world.X)
    signs = np.where(hasher.project(world.X) >= 0, 1.0, -1.0).astype(np.float32)
    model = Model(hasher, knowledge=learn_knowledge(world.X, signs, world.network))
    labels = [None] * len(world.y)
    for row in np.flatnonzero(world.y == TABBY)[:5]:
        labels[row] = "tabby_cat"
    labels[int(np.flatnonzero(world.y == BEAGLE)[0])] = "Bella"
    with zshash.Collection.create(folder / "col", model) as col:
        col.add(world.X, labels=labels)
    np.save(folder / "one.npy", world.X[:1])
    return folder


@pytest.fixture
def world():
    return make_world()


@pytest.fixture(autouse=True)
def inside(place, monkeypatch):
    monkeypatch.chdir(place)


def test_the_sense_and_other_senses():
    first, second, *_ = run("search", "col", "--name", "crane", "--k", 3).splitlines()
    assert first == "crane: 3 neighbours"
    assert second.startswith(
        "  taken as crane (lifting device); it also means crane (wading bird): crane.n.05; "
    )
    output = run("search", "col", "--name", "crane.n.05")
    assert "  taken as crane (wading bird)\n" in output
    assert "it also means" not in output


def test_no_more_than_five_other_senses():
    (line,) = (own for own in run("search", "col", "--name", "cat").splitlines() if "taken" in own)
    assert line.count(".n.") == 5


def test_labels_come_first(world):
    lines = run("search", "col", "--name", "cat", "--k", 7).splitlines()
    assert "  first, what is labelled tabby_cat" in lines
    found = [line.split() for line in lines if line.startswith("     ")]
    assert [own[0] for own in found[:5]] == ["1.000"] * 5
    assert [own[-1] for own in found[:5]] == ["tabby_cat"] * 5
    answer = search("--name", "cat", "--k", 30)
    cats = [NAMES.index(name) for name in ("tabby", "Egyptian cat", "Persian cat")]
    assert np.mean(np.isin(world.y[ids(answer)], cats)) > 0.8


def test_a_label_that_nobody_knows(world):
    lines = run("search", "col", "--name", "bella", "--k", 2).splitlines()
    assert lines[1:3] == ["  the label bella", "  first, what is labelled Bella"]
    assert ids(search("--name", "Bella", "--k", 1)) == [int(np.flatnonzero(world.y == BEAGLE)[0])]


def test_words_that_are_not_understood():
    lines = run("search", "col", "--name", "a fuzzy xyzzy violin").splitlines()
    assert lines[1:3] == ["  taken as violin", "  not understood: fuzzy, xyzzy"]


def test_nothing_looks_like_it():
    said = "nothing here looks much like it"
    assert said in run("search", "col", "--name", "stethoscope")
    assert said not in run("search", "col", "--name", "violin")


def test_what_was_understood_as_json():
    answer = search("--name", "a fuzzy cat on a beach", "--k", 2)
    assert answer["query"] == "a fuzzy cat on a beach"
    reading = answer["reading"]
    assert [own["name"] for own in reading["things"]] == ["cat", "beach"]
    assert reading["things"][0]["sense"] == "cat (true cat)"
    assert reading["left_out"] == ["fuzzy"]
    assert (reading["labels"], reading["nothing"]) == ([], False)
    assert search("--name", "cat")["reading"]["labels"] == ["tabby_cat"]
    assert "reading" not in search("one.npy")
    assert all("bits" not in own for own in answer["neighbours"])


def test_a_name_and_what_is_not_wanted(world):
    answer = search("--name", "dog", "--not", "beagle", "--k", 10)
    assert answer["query"] == "dog, not beagle"
    assert BEAGLE not in world.y[ids(answer)]
    with zshash.Collection.open("col") as col:
        found = col.search(name="dog", without="beagle", k=10)
    assert ids(answer) == [match.id for match in found]
    lines = run("search", "col", "--name", "dog", "--not", "beagle").splitlines()
    assert lines[0] == "dog, not beagle: 10 neighbours"
    assert lines[2] == "  taken as beagle"


def test_names_with_weights():
    answer = search("--name", "dog:2", "--name", "beach", "--k", 10)
    assert answer["query"] == "dog, beach"
    with zshash.Collection.open("col") as col:
        found = col.search(name={"dog": 2, "beach": 1}, k=10)
        alone = col.search(name="violin", k=4)
    assert ids(answer) == [match.id for match in found]
    same = search("--name", "violin:1", "--k", 4)
    assert (same["query"], ids(same)) == ("violin", [match.id for match in alone])
    assert ids(search("--name", "violin:2", "--k", 4)) == ids(same)


def test_a_picture_and_names(world):
    answer = search("one.npy", "--name", "violin", "--not", "sports car", "--k", 5)
    with zshash.Collection.open("col") as col:
        found = col.search(world.X[0], name="violin", without="sports car", k=5)
    assert ids(answer) == [match.id for match in found]
    assert answer["query"] == "one.npy, row 0"
    assert ids(search("one.npy", "--not", "sports car")) != ids(search("one.npy"))


def test_a_condition_beside_a_name():
    found = search("--name", "cat", "--where", "label = 'Bella'")
    assert len(found["neighbours"]) == 1
    assert found["neighbours"][0]["score"] < 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--not", "cat"), "say what to search for: QUERIES, or --name NAME"),
        (("--name", "cat:-1"), "say what to search for, not only what is not wanted"),
        (("--name", "cat", "--not", "cat"), "say what to search for, not only what is not wanted"),
        (("--name", "cat:0"), "the weight of a name is a number other than 0"),
        (("--name", "cat:nan"), "the weight of a name is a number other than 0"),
        (("--name", "cat:inf"), "the weight of a name is a number other than 0"),
        (("--name", "trukc"), "did you mean 'truck'"),
        (("--name", "cat", "--not", "qqqqq"), "WordNet does not know 'qqqqq'"),
        (("--name", "x" * 2000), "a name of 2000 letters is too long"),
        (("--name", "cat", "--not", "cats"), "cancel out: leave one of them out"),
        (("one.npy", "--not", "cat", "--radius", 2), "--not has no meaning with --radius"),
        (("one.npy", "--not", "cat", "--distance", "real"), "--not has no meaning with --dist"),
    ],
)
def test_mistakes(arguments, said):
    assert said in refused("search", "col", *arguments)


class TestAliases:
    """What labels mean, said with fit."""

    @pytest.fixture(autouse=True)
    def data(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        rng = np.random.RandomState(0)
        labels = np.repeat(np.arange(3), 20)
        X = (np.eye(12)[labels] * 4 + rng.randn(60, 12)).astype(np.float32)
        np.savez("data.npz", X=X, y=labels, names=np.array(["Rex", "crane", "ship"]))

    def fit(self, *arguments, code=0):
        options = ("--method", "ZSH", "--bits", 16, "--set", "n_anchors=20", "-o", "model")
        return run("fit", "data.npz", *options, *arguments, code=code)

    def meanings(self, *arguments):
        notes = json.loads(self.fit(*arguments, "--json"))
        return dict(zip(notes["seen"], notes["meanings"], strict=True)), notes.get("aliases")

    def test_one_by_one(self):
        pairs = ("--alias", "Rex=dog", "--alias", "crane = crane (bird)")
        meant, aliases = self.meanings(*pairs)
        assert (meant["Rex"], meant["crane"]) == ("n02084071", "n02012849")
        assert aliases == {"Rex": "dog", "crane": "crane (bird)"}

    def test_a_file(self, tmp_path):
        (tmp_path / "names.txt").write_text("# ours\nRex = dog\ncrane\tcrane.n.04\n\n")
        meant, _ = self.meanings("--aliases", "names.txt")
        assert (meant["Rex"], meant["crane"]) == ("n02084071", "n03126707")
        meant, _ = self.meanings("--aliases", "names.txt", "--alias", "crane=n02012849")
        assert (meant["Rex"], meant["crane"]) == ("n02084071", "n02012849")

    @pytest.mark.filterwarnings("default")
    def test_a_warning_tells_what_was_taken(self):
        assert "Rex was taken as king (sovereign) and crane as Crane (writer)" in self.fit()
        assert "was taken as" not in self.fit("--alias", "Rex=dog", "--alias", "crane=crane.n.05")

    @pytest.mark.parametrize(
        ("pairs", "said"),
        [
            (["Rex"], "'Rex': write LABEL=MEANING, as in Rex=dog"),
            (["=dog"], "'=dog': write LABEL=MEANING"),
            (["Rex="], "'Rex=': write LABEL=MEANING"),
            (["Rex=dog", "Rex=cat"], "'Rex' is both 'dog' and 'cat': leave one of them out"),
            (["Rex=dgo", "crane=crane.n.05"], "WordNet does not know 'dgo', the alias of 'Rex'"),
        ],
    )
    def test_wrong_forms(self, pairs, said):
        output = self.fit(*(part for pair in pairs for part in ("--alias", pair)), code=2)
        assert said in output

    def test_wrong_files(self, tmp_path):
        assert "does not exist" in self.fit("--aliases", "missing.txt", code=2)
        for text, said in (
            ("Rex\n", "names.txt: line 1 is no label with its meaning, such as Rex = dog: 'Rex'"),
            ("Rex=dog\nRex=cat\n", "line 2: 'Rex' is 'cat', but 'dog' further up"),
        ):
            (tmp_path / "names.txt").write_text(text)
            assert said in self.fit("--aliases", "names.txt", code=2)
