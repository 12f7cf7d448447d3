"""The experiments of the study, and the opening of its page."""

from zshash.studies.configuration import Study
from zshash.studies.names2026 import any_name, name_baselines

__all__ = ["PREFACE", "STUDY", "TITLE"]

STUDY = Study([any_name.EXPERIMENT, name_baselines.EXPERIMENT])
TITLE = "Names of categories that nobody labelled"
PREFACE = (
    "Scores are expected values over random orders within ties, mean ± standard error over splits. "
    "A split deals the categories into groups at random, and each group is hidden in its turn. All "
    "pictures are searched, labelled ones included."
)
