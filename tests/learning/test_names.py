import numpy as np
import pytest

from zshash.learning.names import NearName, _forecast


@pytest.mark.parametrize(
    ("cosine", "verdict", "rank"),
    [(0.95, "close", 1.0), (0.55, "close", 2 / 3), (0.4, "usual", 1 / 3), (0.05, "far", 0.0)],
)
def test_forecasts(cosine, verdict, rank):
    """Six seen categories in pairs, whose nearest others are at 0.2, 0.5 and 0.9."""
    seen = np.zeros((6, 6))
    for pair, near in enumerate([0.2, 0.5, 0.9]):
        seen[2 * pair, 2 * pair] = 1
        seen[2 * pair + 1, 2 * pair : 2 * pair + 2] = near, np.sqrt(1 - near**2)
    nearest = NearName("cat", cosine, True)
    forecast = _forecast("segway", nearest, False, seen)
    assert (forecast.verdict, forecast.similarity) == (verdict, cosine)
    assert forecast.rank == pytest.approx(rank)
    assert "No picture of segway" in forecast.text
    assert (
        f"Nearest to it in meaning is cat. Of the 6 seen categories {6 * rank:.0f}" in forecast.text
    )
    of_seen = _forecast("cat", nearest, True, seen)
    assert (of_seen.verdict, np.isnan(of_seen.rank)) == ("seen", True)
    of_few = _forecast("segway", nearest, False, seen[:2])
    assert (of_few.verdict, np.isnan(of_few.rank)) == ("unknown", True)
    assert "only 2 categories" in of_few.text
