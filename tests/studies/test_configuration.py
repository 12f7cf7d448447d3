"""Configurations: those that are included, and what a user may write wrong in one."""

import pytest

from zshash.datasets import DataError
from zshash.studies import zsh2016
from zshash.studies.experiments import Changes
from zshash.studies.tasks import Retrieval
from zshash.studies.zsh2016 import STUDY
from zshash.studies.zsh2016.mirflickr import Transfer
from zshash.studies.zsh2016.names import Naming

NAMES, read_experiment = STUDY.names, STUDY.read

PART = '[[parts]]\ntask = "retrieval"\ndata = "digits"\nunseen = ["three"]\n'


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def read(write):
    return lambda text, **changes: read_experiment(write(text), Changes(**changes))


def test_every_module_has_the_name_of_its_experiment():
    for name in NAMES:
        module = getattr(zsh2016, name.replace("-", "_"))
        assert module.EXPERIMENT is read_experiment(name).about
        assert module.EXPERIMENT.name == name


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_included(name, quick):
    found = read_experiment(name, Changes(quick=quick))
    assert (found.name, found.quick) == (name, quick)
    assert found.title
    assert found.seeds >= 1
    paths = {task.path() for task in found.tasks}
    assert len(paths) == len(found.tasks) > 0
    assert {"digits"} == {task.data for task in found.tasks} or not quick


def test_a_configuration_of_one_s_own_says_what_is_run(read):
    text = 'title = "Digits"\nseeds = 3\nquick_seeds = 2\n' + PART + "n_train = 600\n"
    found = read(text + PART.replace("parts", "quick"))
    assert found.tasks == (Retrieval(data="digits", unseen=("three",), n_train=600),)
    assert (found.name, found.title, found.seeds, found.quick) == ("mine", "Digits", 3, False)
    small = read(text + PART.replace("parts", "quick"), quick=True)
    assert small.tasks == (Retrieval(data="digits", unseen=("three",)),)
    assert (small.seeds, small.quick) == (2, True)


def test_the_product_of_what_is_varied(read):
    vary = '[parts.vary]\nmethod = ["ZSH", "LSH"]\nbits = [16, 32, 64]\n'
    tasks = read(PART + vary).tasks
    assert [(task.method, task.bits) for task in tasks] == [
        *(("ZSH", 16), ("ZSH", 32), ("ZSH", 64)),
        *(("LSH", 16), ("LSH", 32), ("LSH", 64)),
    ]
    lists = '[parts.vary]\nlabels = [["wordnet"], ["onehot"]]\nunseen = [["one"], 2]\n'
    several = PART.replace('unseen = ["three"]\n', "") + lists
    assert [(task.labels, task.unseen) for task in read(several).tasks] == [
        *((("wordnet",), ("one",)), (("wordnet",), 2)),
        *((("onehot",), ("one",)), (("onehot",), 2)),
    ]


def test_parameters_of_a_method_hold_in_every_part_unless_a_part_has_its_own(read):
    text = (
        "[parameters.KSH]\nn_anchors = 50\n"
        + PART
        + '[parts.vary]\nmethod = ["KSH", "LSH"]\n'
        + PART.replace("retrieval", "convergence")
        + 'method = "KSH"\nparameters = { n_anchors = 70 }\n'
    )
    assert [task.parameters for task in read(text).tasks] == [
        {"n_anchors": 50},
        {},
        {"n_anchors": 70},
    ]


def test_none_is_written_as_a_word(read):
    vary = '[parts.vary]\nparameters = [{}, { graph = "none" }, { graph = "anchor" }]\n'
    tasks = read("[parameters.ZSH]\nmax_iter = 3\n" + PART + vary).tasks
    assert [task.parameters for task in tasks] == [
        {"max_iter": 3},
        {"max_iter": 3, "graph": None},
        {"max_iter": 3, "graph": "anchor"},
    ]


def test_what_a_user_changes(read):
    varied = PART + '[parts.vary]\nmethod = ["ZSH", "KSH"]\nbits = [16, 32]\n'
    tasks = read(varied, methods=("ITQ", "LSH"), bits=(64,), data="mine.npz").tasks
    assert [(task.method, task.bits, task.data) for task in tasks] == [
        ("ITQ", 64, "mine.npz"),
        ("LSH", 64, "mine.npz"),
    ]
    assert read(varied, seeds=7).seeds == 7
    fixed = PART + "bits = 16\n"
    changed = read(fixed, methods=("LSH",), bits=(8, 24), training="other").tasks
    assert [(task.method, task.bits) for task in changed] == [("ZSH", 8), ("ZSH", 24)]
    (moved,) = read(
        '[[parts]]\ntask = "transfer"\ndata = "a"\ntraining = "b"\n', training="c"
    ).tasks
    assert moved == Transfer(data="a", training="c")


def test_what_is_other_where_data_is_replaced(read):
    text = '[[parts]]\ntask = "transfer"\ndata = "a"\ntraining = "b"\ntags = ["sky"]\n'
    text += "[parts.replaced]\ntags = []\nk = 70\n"
    assert read(text).tasks == (Transfer(data="a", training="b", tags=("sky",)),)
    assert read(text, data="c").tasks == (Transfer(data="c", training="b", k=70),)
    (task, *_) = read_experiment("mirflickr", Changes(data="c", training="d")).tasks
    assert (task.tags, task.k) == ((), 5000)


def test_data_that_is_varied_is_replaced(read):
    text = '[[parts]]\ntask = "retrieval"\nunseen = 1\nvary.data = ["a", "b"]\n'
    assert [task.data for task in read(text).tasks] == ["a", "b"]
    assert [task.data for task in read(text, data="c").tasks] == ["c"]


def test_what_a_method_does_not_look_at_makes_no_second_task(read):
    text = PART + 'vary.method = ["ZSH", "LSH"]\nvary.labels = [["wordnet"], ["onehot"]]\n'
    found = [(task.method, task.facts()["labels"]) for task in read(text).tasks]
    assert found == [("ZSH", ["wordnet"]), ("ZSH", ["onehot"]), ("LSH", [])]


def test_files_of_one_name_are_two_tasks(read):
    text = '[[parts]]\ntask = "retrieval"\nunseen = 1\nvary.data = ["a/f.npz", "b/f.npz"]\n'
    assert [task.data for task in read(text).tasks] == ["a/f.npz", "b/f.npz"]


def test_another_experiment_may_be_taken_over(read):
    found = read('like = "names"\ntitle = "Mine"\nquick_seeds = 3', quick=True)
    names = read_experiment("names", Changes(quick=True))
    assert (found.tasks, found.title, found.seeds) == (names.tasks, "Mine", 3)
    assert read_experiment("related").tasks == read_experiment("imagenet").tasks


def test_files_beside_the_configuration(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "words.txt").touch()
    (tmp_path / "sub" / "f.npz").touch()
    text = '[[parts]]\ntask = "retrieval"\nunseen = 1\ndata = "f.npz"\n'
    (tmp_path / "sub" / "mine.toml").write_text(text + 'labels = ["wordnet", "words.txt"]\n')
    monkeypatch.chdir(tmp_path)
    (task,) = read_experiment("sub/mine.toml").tasks
    assert (task.data, task.labels) == ("sub/f.npz", ("wordnet", "sub/words.txt"))


@pytest.mark.parametrize(
    ("name", "changes", "unused"),
    [
        ("seen-ratio", {"methods": ("LSH",)}, ["method"]),
        ("cifar10", {"methods": ("LSH",)}, []),
        ("cifar10", {"training": "x"}, ["training"]),
        ("mirflickr", {"training": "x", "data": "y"}, []),
    ],
)
def test_changes_without_effect(name, changes, unused):
    wanted = Changes(**changes)
    assert wanted.without_effect(read_experiment(name, wanted).tasks) == unused


def test_changes_of_an_included_experiment():
    found = read_experiment("names", Changes(quick=True, bits=(16,), seeds=1))
    assert [(type(task), task.bits) for task in found.tasks] == [(Naming, 16)]
    assert found.seeds == 1


NO_DATA = '[[parts]]\ntask = "retrieval"\nunseen = 1\n'
MISTAKES = {
    "unknown key": (PART + "n_querys = 3\n", "'n_querys' means nothing here: use .*n_queries"),
    "unknown key above": ("seed = 3\n" + PART, "'seed' means nothing here: use .*seeds"),
    "unknown task": ('[[parts]]\ntask = "dance"\n', "task is 'dance', .*retrieval"),
    "no task": ('[[parts]]\ndata = "digits"\n', "task is None, .*retrieval"),
    "tasks": ('[[parts]]\ntask = ["naming"]\n', r"task is \['naming'\], .*retrieval"),
    "unknown method": (PART + 'method = "ABC"\n', "'ABC' is no method: there are ZSH, "),
    "parameters of no method": ("[parameters.ABC]\n" + PART, "'ABC' is no method: .*ZSH"),
    "missing key": (NO_DATA, "a task 'retrieval' needs data"),
    "no parts": ("seeds = 3\n", r"there is no \[\[parts\]\]"),
    "one part": (PART.replace("[[parts]]", "[parts]"), r"parts must be written as \[\[parts\]\]"),
    "not TOML": ("seeds = \n", "not a configuration in TOML: .*line 1"),
    "nothing to vary": (PART + "vary.bits = []\n", "vary.bits must be a list of values"),
    "one value to vary": (PART + "vary.bits = 16\n", "vary.bits must be a list of values"),
    "vary is no table": (
        PART + "vary = 16\n",
        r"vary and replaced must be tables, .*\[parts.vary\]",
    ),
    "unknown parameter": (PART + "parameters = { anchor = 3 }\n", "'anchor' means .*n_anchors"),
    "unknown for all": ("[parameters.KSH]\nanchor = 3\n" + PART, "'anchor' means .*n_anchors"),
    "bits as a parameter": (PART + "parameters = { n_bits = 8 }\n", "'n_bits' means .*n_anchors"),
    "seed as a parameter": (
        "[parameters.ZSH]\nrandom_state = 1\n" + PART,
        "'random_state' means .*n_anchors",
    ),
    "no parameters": (
        "[parameters.SpectralHashing]\na = 1\n" + PART,
        "'a' means nothing here: leave it out",
    ),
    "parameters are a list": ("parameters = []\n" + PART, "parameters must be a table"),
    "parameters are a number": ("parameters.KSH = 3\n" + PART, "parameters must be a table"),
    "own parameters": (PART + "parameters = 3\n", "parameters must be a table"),
    "title": ("title = 3\n" + PART, "title is 3, and must be a text"),
    "seeds": ("seeds = 0\n" + PART, "seeds is 0, and must be a number of at least 1"),
    "yes": (PART + "k = true\n", "k is True, and must be a number of at least 1"),
    "text": (PART + 'n_train = "all"\n', "n_train is 'all', and must be a number of at least 1"),
    "bits": (PART + "bits = 7\n", "bits is 7, and must be a number of at least 8"),
    "radius": (PART + "radius = -1\n", "radius is -1, and must be a number of at least 0"),
    "data": (PART.replace('"digits"', "3"), "data is 3, and must be a text"),
    "labels": (PART + 'labels = "wordnet"\n', "labels is 'wordnet', and must be a list of texts"),
    "numbers": (PART + "labels = [1]\n", "labels must be a list of texts"),
    "unseen": (
        PART.replace('["three"]', '"three"'),
        "unseen is 'three', and must be a list of texts or a number of at least 1",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(write, mistake):
    text, cure = MISTAKES[mistake]
    with pytest.raises(DataError, match=rf"mine\.toml: {cure}"):
        read_experiment(write(text))


def test_there_is_no_small_version(read):
    with pytest.raises(DataError, match=r"mine\.toml: there is no \[\[quick\]\]"):
        read(PART, quick=True)


def test_a_name_that_there_is_not():
    with pytest.raises(DataError, match=r"^cifar: neither an .* did you mean 'cifar10'\?"):
        read_experiment("cifar")
    with pytest.raises(DataError, match=r"there are convergence, cifar10, .*structure"):
        read_experiment("absent.toml")
