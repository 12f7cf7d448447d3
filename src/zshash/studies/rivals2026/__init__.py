"""All methods and quantisers at the same number of bytes, on three worlds and two networks.

worlds (data, who is hidden) × `coding` (a method or a quantiser) → runs → `tables`, `charts`
"""

from zshash.studies.rivals2026.study import PREFACE, STUDY, TITLE

__all__ = ["PREFACE", "STUDY", "TITLE"]
