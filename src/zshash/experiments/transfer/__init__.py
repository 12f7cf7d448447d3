"""The study behind MTH: categories that nobody labelled, each hidden in its turn.

Splits → setups → parts → running → records → statistics → tables, report and figure; ``python -m
zshash.experiments.transfer OUTPUT`` does it all.
"""
