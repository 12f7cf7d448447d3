import pytest
from hypothesis import given
from hypothesis import strategies as st

from zshash.datasets import digits
from zshash.images.imagenet import imagenet_ids
from zshash.learning.aliases import AliasError, MeaningWarning
from zshash.learning.meanings import Meant, describe, has_letters, meanings
from zshash.semantics import WordNet
from zshash.semantics.known import Known
from zshash.semantics.senses import senses

MACHINE, BIRD, DOG, TABBY, LOLLY = (
    "n03126707",
    "n02012849",
    "n02084071",
    "n02123045",
    "n07615774",
)


def meant(label, **options):
    return meanings([label], **options)[0]


class TestDecisions:
    """Who says what a label means."""

    @pytest.mark.parametrize("alias", ["dog", "Dogs", "dog.n.01", DOG, "dog (animal)"])
    def test_an_alias(self, alias):
        found = meant("Rex", aliases={"Rex": alias})
        assert found == Meant("Rex", DOG, "dog (domestic animal)", alias)
        assert found.is_plain

    def test_an_alias_goes_before_the_data(self):
        found = meant("tabby", synsets=[TABBY], aliases={"tabby": "crane (bird)"})
        assert found.synset == BIRD
        assert meant("7", aliases={"7": "seven"}).synset == WordNet().synset("seven")

    def test_an_alias_means_what_is_known_by_sight(self):
        assert meant("Tom", aliases={"Tom": "crane"}, known=[MACHINE]).synset == MACHINE

    def test_an_unknown_alias(self):
        with pytest.raises(AliasError) as caught:
            meant("Rex", aliases={"Rex": "dgo"})
        text = str(caught.value)
        assert "WordNet does not know 'dgo', the alias of 'Rex' (did you mean 'dog'" in text
        with pytest.raises(AliasError, match=r"the alias of 'Rex'$"):
            meant("Rex", aliases={"Rex": "東京"})
        loose = meant("Rex", aliases={"Rex": "dgo"}, strict=False)
        assert (loose.synset, loose.text, loose.word) == ("", "", "dgo")

    def test_an_alias_for_nothing(self):
        with pytest.warns(MeaningWarning, match="no label is called Tom"):
            assert meant("dog", aliases={"Tom": "qqqq"}).synset == DOG

    def test_the_ids_of_the_data(self):
        first, second = meanings(["crane", "dog"], [BIRD, ""])
        assert first == Meant("crane", BIRD, "crane (wading bird)")
        assert second.synset == DOG
        assert meant("tabby", synsets=["n99999999"]).synset == TABBY

    @pytest.mark.parametrize("label", [f"crane ({BIRD})", f"Kranich ({BIRD})", "crane (bird)"])
    def test_a_remark(self, label):
        assert meant(label, known=[MACHINE]).synset == BIRD

    @pytest.mark.parametrize("known", [[MACHINE, BIRD], Known([BIRD, MACHINE])])
    def test_what_a_network_knows(self, known):
        assert meant("crane", known=known).synset == MACHINE
        assert meant("lolly", known=[LOLLY]).synset == LOLLY
        assert meant("lolly", known=[BIRD]).text == "lolly (money)"

    @pytest.mark.parametrize(
        "label", ["Bella", "東京", "qqqq", "", "()", "(bird)", ",", "n99999999"]
    )
    def test_nobody_knows_it(self, label):
        assert meant(label) == Meant(label, "", "", is_plain=False)

    @pytest.mark.parametrize("label", ["7", "2021", "2021-08", "3.5", "٧", "½", "-1", "+"])
    def test_numbers_are_not_looked_up(self, label):
        assert not has_letters(label)
        assert meant(label).synset == ""

    def test_digits_in_words(self):
        found = meanings(digits().names)
        assert [own.synset for own in found] == [WordNet().synset(n) for n in digits().names]
        assert describe(found) == ""

    @pytest.mark.parametrize(
        ("label", "name"),
        [
            ("Anna's wedding", "wedding"),
            ("red garbage lorry", "lorry"),
            ("Italy 2021", "Italy"),
            ("2021-08-14_Rome", "Rome"),
            ("dogs 2", "dog"),
        ],
    )
    def test_phrases(self, label, name):
        found = meant(label)
        assert found.synset == WordNet().synset(name)
        assert not found.is_plain

    @given(st.text(max_size=20))
    def test_any_text(self, label):
        found = meant(label)
        assert bool(found.synset) == bool(found.text)
        if found.text:
            assert WordNet().synset(found.synset) == found.synset

    @given(st.sampled_from(imagenet_ids()))
    def test_texts_lead_back(self, synset):
        found = meant("label", synsets=[synset])
        assert senses(found.text)[0].synset == found.synset == synset


class TestWords:
    """What is looked up in files of word vectors."""

    @pytest.mark.parametrize(
        ("alias", "word"),
        [("", "Rex"), ("hound", "hound"), (DOG, "dog"), ("crane.n.05", "crane")],
    )
    def test_the_alias_or_the_label(self, alias, word):
        assert Meant("Rex", "", "", alias).word == word


class TestTelling:
    """What a person is told."""

    @pytest.mark.parametrize(
        "label",
        [
            "dog",
            "Dogs",
            "tabby_cat",
            "cat",
            "ship",
            "goldfish, Carassius auratus",
            "T-shirt",
            "TV",
            "automobile",
            "Tokyo",
            "crane (bird)",
            "crane.n.05",
            TABBY,
        ],
    )
    @pytest.mark.parametrize("known", [(), imagenet_ids()])
    def test_plain_labels(self, label, known):
        assert describe(meanings([label], known=known)) == ""

    @pytest.mark.parametrize(
        ("label", "text"),
        [
            ("crane", "Crane (writer)"),
            ("Rex", "king (sovereign)"),
            ("Paris", "Paris (national capital)"),
            ("spring", "spring (season)"),
            ("Anna's wedding", "wedding (ceremony)"),
            ("Italy 2021", "Italy"),
        ],
    )
    def test_what_it_was_taken_for(self, label, text):
        assert describe(meanings(["dog", label])) == f"{label} was taken as {text}"

    def test_a_less_frequent_sense_is_told(self):
        known = imagenet_ids()
        text = "crane was taken as crane (lifting device) and lolly as lolly (frozen dessert)"
        assert describe(meanings(["crane", "lolly"], known=known)) == text

    def test_what_the_data_or_a_person_said_is_not_told(self):
        assert describe(meanings(["crane", "Rex"], [BIRD, ""], {"Rex": "dog"})) == ""

    def test_unknown_labels(self):
        assert describe(meanings(["dog", "Bella"])) == (
            "nobody knows Bella: it gets a vector of its own, so other names do not find it"
        )
        text = describe(meanings(["crane", "Bella", "東京"]))
        assert text == (
            "crane was taken as Crane (writer); nobody knows Bella and 東京: each gets a vector of "
            "its own, so other names do not find it"
        )

    def test_many_labels(self):
        text = describe(meanings([f"qqq{number}" for number in range(100)]))
        assert "qqq18, qqq19 and 80 more: each" in text
        assert "qqq20" not in text
