"""The experiments of the study, and the opening of its page."""

from zshash.studies.configuration import Study
from zshash.studies.rivals2026 import worlds

__all__ = ["PREFACE", "STUDY", "TITLE"]

STUDY = Study(worlds.EXPERIMENTS)
TITLE = "All methods and quantisers at the same number of bytes"
PREFACE = (
    "MAP of three kinds of queries: pictures of hidden categories in the whole database, the same "
    "in a database of hidden categories alone, and pictures of seen categories in the whole "
    "database. Queries are real values and the database is codes, as everywhere in zshash unless "
    "one asks for bits; *by bits* compares codes with codes. Scores are expected values over "
    "random orders within ties, mean ± standard error over seeds; differences are paired by seed, "
    "and *lost* counts the seeds in which MTH is behind. *Learns from* says what a method is told "
    "of its training pictures. Codes are *binary* if they are compared by Hamming distance: any "
    "database can search them, and a hash table can look them up. *Inductive* methods learn from "
    "10,000 pictures of seen categories or fewer; *with unlabelled pictures*, those that can learn "
    "from all pictures of the database, of which the same ones have labels. Queries are in no "
    "training. Quantisers learn from 20,000 pictures at most. The networks were trained on "
    "ImageNet, so *hidden* means that no method was told of the category."
)
