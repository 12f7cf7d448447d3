"""Weights of samples on anchors, as the methods on anchor graphs make them."""

from zshash.hashing.steps.anchor_graph import nearest_anchors, weigh, width


def anchor_weights(X, anchors, n_nearest):
    distances, indices = nearest_anchors(X, anchors, n_nearest)
    return weigh(distances, indices, len(anchors), width(distances))
