import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from zshash.hashing.steps.rows import unit_rows
from zshash.hashing.steps.statistics import (
    FOLDER,
    METADATA_KEY,
    OF_MEAN,
    SHIPPED,
    Statistics,
    StatisticsError,
    open_statistics,
)


def draw(n=400, d=9, seed=0):
    rng = np.random.RandomState(seed)
    return (1 + rng.standard_normal((n, d)) @ rng.standard_normal((d, d))).astype(np.float32)


def test_mean_and_covariance_of_unit_rows():
    X = draw()
    found, rows = Statistics.of(X), unit_rows(X)
    np.testing.assert_allclose(found.mean, rows.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(found.covariance, np.cov(rows.T, bias=True), atol=1e-6)


def test_there_and_back(tmp_path):
    X = draw()
    X[:, 3] = 0  # a feature that does not vary
    made = Statistics.of(X, {"name": "a network", "fingerprint": "abc"}, "some pictures")
    made.save(tmp_path / "s.safetensors")
    again = open_statistics(tmp_path / "s.safetensors")
    np.testing.assert_array_equal(again.mean, made.mean)
    scales = np.sqrt(np.outer(np.diag(made.covariance), np.diag(made.covariance)))
    assert (np.abs(again.covariance - made.covariance) <= 2e-5 * scales + 1e-12).all()
    assert (again.n, again.network, again.about) == (made.n, made.network, made.about)
    assert open_statistics(again) is again


def test_few_samples_count_little():
    known = Statistics.of(draw())
    mean, covariance = np.zeros(9, np.float32), np.eye(9)
    for n in (1, 100, 10**6):
        blended, own = known.blended(mean, covariance, n)
        share = n / (n + known.weight)
        expected = share * covariance + (1 - share) * known.covariance
        np.testing.assert_allclose(own, expected, atol=1e-12)
        np.testing.assert_allclose(blended, known.mean * OF_MEAN / (n + OF_MEAN), atol=1e-6)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_comes_with_the_package(name):
    known = open_statistics(name)
    assert (FOLDER / f"{name}.safetensors").stat().st_size < 2_000_000
    assert known.network["name"] == name
    values = np.linalg.eigvalsh(known.covariance)
    assert values.min() > -1e-4 * values.max()
    assert np.trace(known.covariance) + np.square(known.mean).sum() == pytest.approx(1, abs=1e-3)
    assert known.about


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "neither a file of statistics nor a network"),
        (b"", "not a file of statistics, or damaged"),
        (b"\x10" + b"\x00" * 30, "not a file of statistics, or damaged"),
    ],
)
def test_files_that_are_none(tmp_path, content, message):
    path = tmp_path / "s.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StatisticsError, match=message):
        open_statistics(path)


@pytest.mark.parametrize(
    ("changed", "facts"),
    [
        ({}, None),
        ({}, {"version": 2}),
        ({}, {"version": 1}),
        ({"mean": np.zeros((2, 2), np.float32)}, {}),
        ({"deviations": np.zeros(3, np.float32)}, {}),
        ({"correlations": np.zeros(5, np.int16)}, {}),
        ({"mean": np.full(9, np.nan, np.float32)}, {}),
        ({}, {"n": "many"}),
        ({}, {"network": []}),
    ],
)
def test_files_that_do_not_fit_together(tmp_path, changed, facts):
    tensors = {
        "mean": np.zeros(9, np.float32),
        "deviations": np.ones(9, np.float32),
        "correlations": np.zeros(36, np.int16),
    } | changed
    known = {"version": 1, "n": 5, "network": {}, "about": ""}
    known = facts if facts in (None, {"version": 1}) else known | facts
    save_file(tensors, tmp_path / "s", metadata={METADATA_KEY: json.dumps(known)})
    with pytest.raises(StatisticsError, match=r"not a file of statistics|do not fit together"):
        Statistics.load(tmp_path / "s")


@given(st.binary(max_size=300))
def test_any_bytes(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    path.write_bytes(content)
    with pytest.raises(StatisticsError):
        Statistics.load(path)


def test_too_few_samples():
    with pytest.raises(StatisticsError, match="99 samples are too few for statistics"):
        Statistics.of(draw(99))
