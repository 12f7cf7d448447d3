import pytest
from hypothesis import given
from hypothesis import strategies as st

from zshash.semantics import WordNet
from zshash.semantics.nouns import nouns
from zshash.semantics.senses import Sense, senses, synset_row

MACHINE, BIRD = "n03126707", "n02012849"
LEMMAS = st.deferred(lambda: st.sampled_from(sorted(nouns().lemmas)))


def synsets(name: str) -> list[str]:
    return [sense.synset for sense in senses(name)]


def test_the_senses_of_crane():
    assert [(sense.synset, sense.key, sense.text) for sense in senses("crane")] == [
        ("n10914447", "crane.n.01", "crane (writer)"),
        ("n10914331", "crane.n.02", "crane (poet)"),
        ("n09295455", "crane.n.03", "crane (constellation)"),
        (MACHINE, "crane.n.04", "crane (lifting device)"),
        (BIRD, "crane.n.05", "crane (wading bird)"),
    ]


@pytest.mark.parametrize("name", ["Crane", "cranes", " CRANES ", "crane_", "big old cranes"])
def test_spellings_of_crane(name):
    assert senses(name) == senses("crane")


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        ("tabby_cat", "tabby_cat.n.01", "tabby cat"),
        ("Tabby cats", "tabby_cat.n.01", "tabby cat"),
        ("T shirt", "t-shirt.n.01", "t-shirt"),
        ("mice", "mouse.n.01", "mouse (rodent)"),
        ("goldfish, Carassius auratus", "goldfish.n.01", "goldfish"),
        ("lorries", "lorry.n.01", "lorry (wagon)"),
        ("entity", "entity.n.01", "entity"),
    ],
)
def test_first_sense(name, key, text):
    assert (senses(name)[0].key, senses(name)[0].text) == (key, text)


def test_a_lolly_may_be_eaten():
    assert "n07615774" in synsets("lolly")


def test_a_lorry_may_be_a_truck():
    assert senses("lorry (truck)")[0].key == "lorry.n.02"
    assert WordNet().ancestors(senses("lorry (truck)")[0].synset)[0] == WordNet().synset("truck")


def test_senses_that_synonyms_share_come_first():
    first, *others = senses("monarch, milkweed butterfly")
    assert (first.synset, first.name) == ("n02279972", "monarch")
    assert {sense.synset for sense in others} >= {"n10628644"}
    assert synsets("goldfish, truck") == synsets("goldfish")


@pytest.mark.parametrize(
    "name",
    ["", " ", "qqqq", "(bird)", "n99999999", "crane.n.06", "crane.n.0", "qqqq.n.01", "крокодил"],
)
def test_names_without_senses(name):
    assert senses(name) == []


def test_an_id_is_one_sense_with_the_first_name_of_the_synset():
    assert senses("n10914331") == [Sense("n10914331", "crane.n.02", "Crane", "poet")]
    assert senses(" N02012849") == senses("n02012849 (machine)") == senses("crane.n.5")


def test_keys():
    assert synsets("crane.n.05") == synsets("Crane.N.5") == [BIRD]
    assert senses("Tabby_Cat.n.01") == senses("tabby cat")
    assert senses("t_shirt.n.01") == senses("t-shirt")


def test_rows_of_codes():
    assert synset_row("crane.n.05") == synset_row(BIRD) == nouns().row(BIRD)
    assert synset_row("crane") is None
    assert synset_row("crane (bird)") is None


@pytest.mark.parametrize(
    ("name", "synset"),
    [
        ("crane (bird)", BIRD),
        ("Cranes (the birds)", BIRD),
        ("crane (large wading bird)", BIRD),
        ("crane (whooping crane)", BIRD),
        ("crane (Crane.n.5)", BIRD),
        (f"crane ({BIRD})", BIRD),
        ("crane (device)", MACHINE),
        ("crane (machine)", MACHINE),
        ("crane (a derrick)", MACHINE),
        ("crane (building) (device)", MACHINE),
        ("crane (star constellation)", "n09295455"),
        ("mouse (computer)", "n03793489"),
        ("mouse (computers)", "n03793489"),
        ("mouse (animal)", "n02330245"),
        ("lolly (ice)", "n07615774"),
        ("golf club (equipment)", "n03446070"),
    ],
)
def test_a_remark_narrows_to_one_sense(name, synset):
    assert synsets(name) == [synset]


@pytest.mark.parametrize("remark", ["", "banana", "qqqq", "n99999999", "crane.n.77", "happily"])
def test_a_remark_that_fits_no_sense_is_ignored(remark):
    assert senses(f"crane ({remark})") == senses("crane")


def test_a_shown_remark_comes_before_other_senses_that_it_fits():
    assert [sense.remark for sense in senses("crane (writer)")] == ["writer", "poet"]
    assert [sense.remark for sense in senses("crane (person)")] == ["writer", "poet"]


def test_senses_with_the_same_parent_have_different_remarks():
    remarks = [sense.remark for sense in senses("night")]
    assert remarks[0] == "nighttime"
    assert len(set(remarks)) == len(remarks) == 8


@given(LEMMAS)
def test_keys_and_ids_lead_back(lemma):
    for sense in senses(lemma):
        assert senses(sense.key) == [sense]
        assert synsets(sense.synset) == [sense.synset]


@given(LEMMAS)
def test_texts_lead_back(lemma):
    found = senses(lemma)
    texts = [sense.text for sense in found]
    for sense in found:
        if texts.count(sense.text) == 1:
            assert senses(sense.text)[0] == sense


@given(LEMMAS)
def test_the_senses_of_a_lemma_are_all_and_in_order(lemma):
    found = senses(lemma)
    ids = [f"n{nouns().offsets[row]:08d}" for row in nouns().senses(lemma)]
    assert [sense.synset for sense in found] == ids
    assert [int(sense.key[-2:]) for sense in found] == list(range(1, len(ids) + 1))
    assert all(bool(sense.remark) == (len(found) > 1) for sense in found)


@given(st.lists(LEMMAS, min_size=1, max_size=3).map(", ".join))
def test_the_first_sense_is_what_a_source_takes(name):
    assert synsets(name)[0] == WordNet().synset(name)


@given(st.text(max_size=30))
def test_any_text_is_read(text):
    assert isinstance(senses(text), list)
    assert isinstance(senses(f"crane ({text})"), list)
