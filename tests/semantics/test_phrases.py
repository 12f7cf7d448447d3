import pytest
from hypothesis import given
from hypothesis import strategies as st

from zshash.semantics.nouns import nouns
from zshash.semantics.phrases import MAX_WORDS, read_phrase
from zshash.semantics.senses import senses

LEMMAS = st.deferred(lambda: st.sampled_from(sorted(nouns().lemmas)))


@pytest.mark.parametrize(
    ("text", "names", "left_out"),
    [
        ("a photo of a dog on a beach", "dog, beach", ""),
        ("red car", "car", "red"),
        ("two cats sleeping on the sofa", "cats, sofa", "sleeping"),
        ("2 dogs", "dogs", ""),
        ("my sister's birthday cake with candles", "birthday cake, candles", "sister's"),
        ("the dog's bed", "bed", "dog's"),
        ("cup of coffee", "cup, coffee", ""),
        ("golden retriever puppy", "puppy", "golden retriever"),
        ("big red garbage trucks", "garbage trucks", "big red"),
        (
            "black-and-white photo of the Eiffel Tower at night",
            "eiffel tower",
            "black-and-white night",
        ),
        ("Paris, Rome and London", "paris, rome, london", ""),
        ("cats/dogs & dogs", "cats, dogs", ""),
        ("man in blue", "man", "blue"),
        ("a group of people, a pair of shoes", "people, shoes", ""),
        ("man in front of a church next to a tree", "man, church, tree", ""),
        ("a forest, a herd and a crowd", "forest, herd, crowd", ""),
    ],
)
def test_phrases(text, names, left_out):
    assert read_phrase(text) == (tuple(names.split(", ")), tuple(left_out.split()))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("tabby cat", "tabby cat"),
        ("The Tabby_Cats!", "tabby cats"),
        ("ice-cream", "ice-cream"),
        ("king of beasts", "king of beasts"),
        ("red", "red"),
        ("running", "running"),
        ("my photo", "photo"),
        ("crane (the bird)", "crane (the bird)"),
        ("crane.n.05", "crane.n.05"),
        ("n02012849", "n02012849"),
    ],
)
def test_a_name_is_one_noun(text, name):
    assert read_phrase(text) == ((name,), ())
    assert senses(name)


@pytest.mark.parametrize(
    ("text", "names", "left_out"),
    [
        ("dog running", "dog", "running"),
        ("running dogs", "dogs", "running"),
        ("boy eating ice cream", "boy, ice cream", "eating"),
        ("woman wearing a red dress", "woman, dress", "wearing red"),
        ("a girl rides a horse", "girl, horse", "rides"),
        ("kids in a swimming pool", "kids, swimming pool", ""),
        ("a brick building", "building", "brick"),
        ("ring of the king in spring", "ring, king, spring", ""),
        ("a wedding in the morning", "wedding", "morning"),
    ],
)
def test_forms_of_verbs_are_no_things(text, names, left_out):
    assert read_phrase(text) == (tuple(names.split(", ")), tuple(left_out.split()))


def test_abstract_nouns_are_kept_where_there_is_nothing_else():
    assert read_phrase("a happy birthday at night") == (("birthday", "night"), ("happy",))
    assert read_phrase("reading and shopping in winter") == (("winter",), ("reading", "shopping"))
    assert read_phrase("reading and swimming") == (("reading", "swimming"), ())


@pytest.mark.parametrize(
    "text", ["photos with dogs", "show me pictures of dogs", "a close up of dogs", "image of dogs"]
)
def test_what_only_says_picture_is_dropped(text):
    assert read_phrase(text) == (("dogs",), ())


def test_a_picture_may_be_a_thing():
    assert read_phrase("picture on the wall").nouns == ("picture", "wall")
    assert read_phrase("a dog with a picture of a cat").nouns == ("dog", "picture", "cat")
    assert read_phrase("a photo of").nouns == ("photo",)


def test_names_with_small_words_stay_whole():
    text = "a photo of the Statue of Liberty and a bird of paradise"
    assert read_phrase(text) == (("statue of liberty", "bird of paradise"), ())
    assert read_phrase("a cup of tea on a table").nouns == ("cup", "tea", "table")


@pytest.mark.parametrize("text", ["собака на пляже", "हिन्दी पाठ", "狗 海滩", "qqq zzz", "happy 🐶"])
def test_texts_without_known_nouns(text):
    assert read_phrase(text) == ((), tuple(text.split()))


@pytest.mark.parametrize("text", ["", " ", "...", "-", "'", "the", "of my (all)"])
def test_texts_without_content(text):
    assert read_phrase(text) == ((), ())


def test_names_that_only_the_caller_knows():
    known = {"hund", "бобр", "sky", "la"}
    knows = known.__contains__
    assert read_phrase("Hunds", knows) == (("hunds",), ())
    assert read_phrase("a fine hund, бобр in the sky", knows) == (
        ("hund", "бобр", "sky"),
        ("fine",),
    )
    assert read_phrase("dog and hund", knows) == (("hund",), ("dog",))


def test_the_end_of_a_long_text_is_left_out():
    text = "dog " + "strange " * (MAX_WORDS - 1) + "and a cat"
    assert read_phrase(text) == (("dog",), ("strange",) * (MAX_WORDS - 1) + ("cat",))
    assert len(read_phrase("zzz " * 100_000).left_out) == 100_000
    assert read_phrase("e" * 1_000_000 + "ing").nouns == ()


@given(LEMMAS)
def test_every_lemma_is_one_noun(lemma):
    assert len(read_phrase(lemma).nouns) == 1
    assert not read_phrase(lemma).left_out


@given(st.lists(LEMMAS, min_size=1, max_size=4).map(" on ".join))
def test_nouns_are_parts_of_the_text_that_have_senses(text):
    for name in read_phrase(text).nouns:
        assert name in text
        assert senses(name)


@given(st.text(max_size=60))
def test_any_text_is_read(text):
    phrase = read_phrase(text)
    assert all((*phrase.nouns, *phrase.left_out))
    assert read_phrase(text) == phrase
