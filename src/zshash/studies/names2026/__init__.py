"""Search by the names of hidden categories, compared with the related work of zero-shot hashing.

dataset → `cases` (who is hidden) → `rules` (baselines, with `choosing`) → runs → `tables`

``baselines`` has a file for each paper.
"""

from zshash.studies.names2026.study import PREFACE, STUDY, TITLE

__all__ = ["PREFACE", "STUDY", "TITLE"]
