import numpy as np
import pytest

from zshash.semantics import Source, UnknownNames, WordNet, WordVectors, combine

NAMES = ["cat", "dog", "truck"]
TABLE = WordVectors(NAMES, [[1, 2], [2, 1], [-1, 3]])


def test_side_by_side_at_unit_length():
    source = combine(WordNet(basis=NAMES), TABLE)
    vectors = source.embed(NAMES)
    assert isinstance(source, Source)
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, source.dimension)
    assert source.dimension == WordNet(basis=NAMES).dimension + 2
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(vectors[:, -2:], TABLE.embed(NAMES) / np.sqrt(2), rtol=1e-6)


def test_cosine_is_the_mean_of_the_cosines():
    sources = [WordNet(), TABLE, WordVectors(NAMES, np.eye(3))]
    vectors = combine(*sources).embed(NAMES)
    parts = [source.embed(NAMES) for source in sources]
    expected = np.mean([part @ part.T for part in parts], axis=0)
    np.testing.assert_allclose(vectors @ vectors.T, expected, atol=1e-6)


def test_one_source_is_itself():
    np.testing.assert_array_equal(combine(TABLE).embed(NAMES), TABLE.embed(NAMES))


def test_combinations_combine():
    source = combine(combine(WordNet(), TABLE), TABLE)
    assert source.dimension == 516
    assert source.embed([]).shape == (0, 516)
    assert repr(combine(WordNet(), TABLE)) == (
        "combine(WordNet(), WordVectors(<3 words>, dimension=2))"
    )


def test_unknown_names_of_all_sources_come_together():
    with pytest.raises(UnknownNames) as caught:
        combine(WordNet(), TABLE).embed(["cat", "bird", "trukc", "qqqq"])
    assert caught.value.names == ("trukc", "qqqq", "bird")
    assert "truck" in caught.value.suggestions["trukc"]
    first, second = str(caught.value).split("; ")
    assert first.startswith("WordNet does not know 2 names: 'trukc' (did you mean ")
    assert second == (
        "WordVectors does not know 3 names: 'bird', 'trukc' (did you mean 'truck'?), 'qqqq'"
    )


def test_sources_of_one_kind_are_told_apart():
    with pytest.raises(UnknownNames) as caught:
        combine(TABLE, WordNet(), WordVectors(["frog"], [[1]])).embed(["frog", "dog"])
    assert str(caught.value) == (
        "WordVectors (source 1) does not know 'frog'; WordVectors (source 3) does not know 'dog'"
    )


def test_sources_inside_a_combination_are_told_apart():
    with pytest.raises(UnknownNames) as caught:
        combine(combine(TABLE), WordVectors(["frog"], [[1]])).embed(["frog", "dog"])
    assert str(caught.value) == (
        "WordVectors does not know 'frog'; WordVectors (source 2) does not know 'dog'"
    )


def test_errors():
    with pytest.raises(ValueError, match="combine needs at least one source"):
        combine()
    with pytest.raises(TypeError, match="'wordnet' is not a source of vectors"):
        combine(WordNet(), "wordnet")
    with pytest.raises(TypeError, match="not the single string 'cat'"):
        combine(TABLE).embed("cat")
    with pytest.raises(ValueError, match="no vector for 'freedom': no ancestor"):
        combine(WordNet(basis=["cat"]), WordVectors(["freedom"], [[1]])).embed(["freedom"])
