"""Steps that several methods share: graphs, regressions, rotations, discrete descent, sums."""
